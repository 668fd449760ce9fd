//! Answers requests for the waits of a domain. `snapshot.rs` makes the requests.

use super::Worker;
use crate::event::{Description, parker};
use crate::report::{Blocked, Performer};
use crate::sched::questions::{DomainSnapshot, lock};
use crate::sched::snapshot::Between;
use crate::shim::atomic::Ordering;
use crate::spawned::fiber_cell::Fiber;
use crate::spawned::task_cell::Task;

impl Worker {
    /// Returns `true` if there is a question that this domain has not answered.
    #[inline]
    pub(in crate::sched) fn is_asked(&self) -> bool {
        self.shared.snapshot.asked.load(Ordering::SeqCst) != self.answered.0.get()
    }

    /// Answers all open questions, between turns or during the turn of a fiber that asks.
    #[cold]
    pub(in crate::sched) fn answer(&self) {
        // Read first: a question that is asked later is then seen as new.
        self.answered.0.set(self.shared.snapshot.asked.load(Ordering::SeqCst));
        let open = lock(&self.shared.snapshot.open).clone();
        for question in open {
            let index = self.domain.index;
            if lock(&question.0).get(index).is_some_and(Option::is_none) {
                let snapshot = self.snapshot();
                if let Some(answer) = lock(&question.0).get_mut(index) {
                    *answer = Some(snapshot);
                }
                self.shared.snapshot.tell();
            }
        }
    }

    fn snapshot(&self) -> DomainSnapshot {
        let _between = Between::new();
        let mut snapshot = DomainSnapshot {
            fibers: Vec::new(),
            members: Vec::new(),
            running: None,
            ready: 0,
            is_still: !self.has_ready() && self.timers.is_empty() && self.domain.tasks_timers.is_empty(),
        };
        let running = self.current_fiber();
        self.begun.for_each(|fiber| {
            let id = fiber.performer_id();
            if let Some(scope) = fiber.scope.get() {
                snapshot.members.push((scope.addr().get(), id));
            }
            if running.is_some_and(|running| std::ptr::eq(running.as_ptr(), fiber)) {
                snapshot.running = self.domain.running_now();
            } else if fiber.parker.state.get() == parker::ParkState::Resting {
                // A runner without a load.
            } else if fiber.parker.is_parked() {
                snapshot.fibers.push(self.waiter(fiber, id));
            } else {
                snapshot.ready += 1;
            }
        });
        self.tell_who_starves(|starves| snapshot.fibers.push(starves));
        snapshot.is_still &= snapshot.running.is_none() && snapshot.ready == 0;
        snapshot
    }

    fn waiter(&self, fiber: &Fiber, id: usize) -> Blocked {
        let Description { all: waits } = fiber.parker.describe();
        let name = fiber.name().map(str::to_owned);
        let (kind, site, id) = match Task::borne_by(fiber) {
            Some(task) => (Performer::Task, task.site(), task.id()),
            None => (Performer::Fiber, fiber.code_site(), id),
        };
        let in_place = Task::on_top_of(fiber).map(|task| task.site());
        Blocked { kind, id, name, site: Some(site), domain: Some(self.domain.index), waits, in_place }
    }
}
