//! The snapshot: collects the waits of all domains of a runtime.
//!
//! The wait of a fiber is described on its stack. Only the thread of its own domain may look there,
//! while the fiber is parked. So a thread that requests a snapshot leaves a question for all
//! domains and wakes them, and each answers between two turns. Where a domain visits its inbox
//! anyway, it also looks at the number of questions; a running fiber costs no more than that.

use super::Domain;
use super::questions::{DomainSnapshot, Question, lock};
use super::shared::Shared;
use super::worker::{self, Worker};
use crate::event::{parker, sleepers};
use crate::report::{Blocked, Performer, WaitGraph};
use crate::sched::tasks::snapshot;
use crate::shim::{
    atomic::Ordering,
    clock,
    sync::{Arc, Mutex},
};
use crate::spawned::this_stack::this_stack;
use std::time::Duration;

/// How long a domain has to answer. One that does not answer has a fiber that runs for that long.
const TIME_TO_ANSWER: Duration = Duration::from_millis(100);

/// The combined answers.
pub(crate) struct Snapshot {
    pub(crate) graph: WaitGraph,
    /// Set if all domains have answered, and only parked fibers are on any of them.
    pub(crate) is_still: bool,
}

impl Shared {
    /// Takes a snapshot. Blocks the thread until all domains have answered, or for
    /// [`TIME_TO_ANSWER`].
    pub(crate) fn snapshot(&self) -> Snapshot {
        let question = Arc::new(Question(Mutex::new(self.domains.iter().map(|_| None).collect())));
        self.snapshot.ask(question.clone());
        self.wake_all();
        let end = clock::now().saturating_add(clock::saturating_nanos(TIME_TO_ANSWER));
        loop {
            // A fiber that asks keeps its own domain from answering, and a fiber of another domain
            // may be waiting for that answer.
            worker::with_current(|worker| worker.into_iter().for_each(Worker::answer));
            let open = lock(&self.snapshot.open);
            let is_answered = |(domain, answer): (&Arc<Domain>, &Option<DomainSnapshot>)| {
                answer.is_some() || domain.has_left.load(Ordering::Acquire)
            };
            let left = end.saturating_sub(clock::now());
            if self.domains.iter().zip(&*lock(&question.0)).all(is_answered) || left == 0 {
                break;
            }
            if !worker::with_current(|worker| worker.is_some_and(Worker::is_asked)) {
                drop(self.snapshot.changed.wait_timeout(open, Duration::from_nanos(left)));
            }
        }
        lock(&self.snapshot.open).retain(|open| !Arc::ptr_eq(open, &question));
        let answers = std::mem::take(&mut *lock(&question.0));
        self.put_together(answers)
    }

    fn put_together(&self, answers: Vec<Option<DomainSnapshot>>) -> Snapshot {
        let mut graph = WaitGraph::default();
        let mut is_still = true;
        let mut members = Vec::new();
        for (domain, answer) in self.domains.iter().zip(answers) {
            match answer {
                Some(snapshot) => {
                    is_still &= snapshot.is_still;
                    graph.fibers.extend(snapshot.fibers);
                    graph.running.extend(snapshot.running);
                    graph.ready += snapshot.ready;
                    members.extend(snapshot.members);
                }
                None if domain.has_left.load(Ordering::Acquire) => is_still = false,
                None => {
                    is_still = false;
                    graph.silent.push(domain.index);
                    graph.stuck.push(domain.stall(self, false));
                    graph.running.extend(domain.running_now());
                }
            }
        }
        // The description of an event is the user's code, which must not park here.
        let told = {
            let _between = Between::new();
            snapshot::waiting(self)
        };
        members.extend(told.iter().filter_map(|told| Some((told.scope?, told.id))));
        graph.tasks = told
            .into_iter()
            .map(|told| Blocked {
                kind: Performer::Task,
                id: told.id,
                name: None,
                site: Some(told.site),
                domain: None,
                waits: told.waits.all,
                in_place: None,
            })
            .collect();
        graph.unbegun = if graph.silent.is_empty() {
            let begun = graph.tasks.len() + graph.fibers.len() + graph.running.len() + graph.ready;
            usize::try_from(self.live()).unwrap_or(usize::MAX).saturating_sub(begun)
        } else {
            self.waiting_to_begin()
        };
        graph.threads = threads();
        graph.link_scopes(&members);
        Snapshot { graph, is_still }
    }
}

/// Returns the plain threads that wait.
pub(crate) fn threads() -> Vec<Blocked> {
    let told = sleepers::ask(TIME_TO_ANSWER).into_iter();
    told.map(|told| Blocked {
        kind: Performer::Thread,
        id: told.id,
        name: told.name,
        site: None,
        domain: None,
        waits: told.waits,
        in_place: None,
    })
    .collect()
}

/// A guard for a domain's own steps during the turn of a fiber. Until it is dropped, the thread
/// counts as between fibers: the running code must not park.
pub(crate) struct Between {
    running: *const parker::Parker,
    /// The limit of the thread's own stack, which is not the current stack if a fiber runs.
    limit: usize,
}

impl Between {
    pub(crate) fn new() -> Self {
        let running = parker::running_ptr();
        // SAFETY: no fiber runs while the guard exists, as far as this thread's code can tell.
        unsafe { parker::set_running(std::ptr::null()) };
        let thread = &this_stack().state().limit;
        let limit = thread.get();
        if !running.is_null() {
            // How much is left of the fiber's stack is not known here, so no task may begin on it.
            thread.set(usize::MAX);
        }
        Between { running, limit }
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        this_stack().limit.set(self.limit);
        // SAFETY: that fiber still runs.
        unsafe { parker::set_running(self.running) };
    }
}
