//! The queues of a worker: what runs next, and where ready fibers and tasks go.

use super::thief::SHARE;
use super::worker::Worker;
use crate::event::parker::State;
use crate::event::tick;
use crate::sched::either::{Either, either};
use crate::shim::atomic::Ordering;
use crate::spawned::fiber_cell::Fiber;
use crate::spawned::runnable::Runnable;
use std::ptr::NonNull;

/// If a fiber leaves at least this many ready tasks, these go before the next fiber. One fiber can
/// unblock many tasks in a turn, and the next fiber as many again: the tasks would pile up.
const BACKLOG: u32 = 32;
/// How many in a row may be due, come from the run-next slot or be the youngest while others wait.
pub(super) const STREAK: u32 = 16;

impl Worker {
    /// Takes what runs next.
    #[inline]
    pub(super) fn pick(&self) -> Option<NonNull<Runnable>> {
        if !self.interrupting.get().is_null()
            && let Some(fiber) = self.next_interrupted()
        {
            return Some(fiber.cast());
        }
        if self.due()
            && let Some(woken) = self.take_woken()
        {
            return Some(woken);
        }
        if !self.timed.is_empty() && self.streak.get() < STREAK {
            self.streak.set(self.streak.get() + 1);
            return self.timed.pop();
        }
        if let Some(next) = self.next.take() {
            if self.streak.get() < STREAK {
                self.streak.set(self.streak.get() + 1);
                return Some(next);
            }
            self.postpone(next);
        } else if self.streak.get() < STREAK
            && let Some(youngest) = self.domain.stealable.take_youngest()
        {
            self.streak.set(self.streak.get() + 1);
            return Some(youngest);
        }
        self.streak.set(0);
        // Not by the parity of the turn: the turns of the slots may fall on every other one.
        let first = self.queue.get();
        self.queue.set((first + 1) % 3);
        (first..first + 3).find_map(|queue| match queue % 3 {
            0 => self.ready.pop(),
            1 => self.take_unbegun(),
            _ => self.take_woken(),
        })
    }

    /// Takes a fiber that has not begun: usually the one that has waited longest. If there is
    /// surplus, that is, more than the rings hold, takes the youngest of it: what that one spawns
    /// is then done before others begin to spawn. This limits the live fibers to those that the
    /// ring holds and those that they lead to. Even then, the one that has waited longest begins
    /// every 10 ms.
    fn take_unbegun(&self) -> Option<NonNull<Runnable>> {
        let oldest = || self.domain.stealable.take_oldest();
        let common = &self.shared.common;
        if !common.has_surplus() {
            return oldest();
        }
        let now = tick::now();
        if self.oldest_began.replace(now) == now { common.take_surplus().or_else(oldest) } else { oldest() }
    }

    /// Returns `true` if a task is ready, or anything that only this domain may run.
    #[inline]
    pub fn others_are_ready(&self) -> bool {
        !self.ready.is_empty() || !self.timed.is_empty() || !self.woken.is_empty()
    }

    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
            || !self.timed.is_empty()
            || !self.woken.is_empty()
            || self.next.get().is_some()
            || self.domain.stealable.len() > 0
    }

    /// Queues a fiber that has not begun.
    #[inline]
    pub(crate) fn spawn(&self, fiber: NonNull<Fiber>, domain: Option<usize>) {
        self.domain.counts.spawned.add(1);
        self.domain.counts.tally.fibers.add(1);
        match domain {
            None => match self.domain.stealable.push(fiber.cast()) {
                Ok(()) => self.share_work(),
                Err(older) => self.shared.push_surplus(older),
            },
            Some(index) if index == self.domain.index => {
                // SAFETY: a new fiber is in no list.
                unsafe { self.ready.push(fiber.cast()) };
                self.domain.counts.one_is_ready();
            }
            Some(index) => self.shared.domain(index).hand_over(fiber),
        }
    }

    /// Queues a fiber that has been woken. It runs next if a fiber woke it.
    #[inline]
    pub(super) fn wake(&self, fiber: NonNull<Fiber>) {
        // SAFETY: a fiber that is to be woken is alive.
        let this = unsafe { fiber.as_ref() };
        this.parker.woken.set(true);
        if !matches!(this.parker.state.get(), State::Parked | State::ParkedMasked) {
            return;
        }
        this.parker.state.set(State::Queued);
        self.put_next(fiber.cast());
    }

    /// Queues what has been woken. It runs next if a fiber runs now: that fiber has woken it.
    #[inline]
    pub(crate) fn put_next(&self, woken: NonNull<Runnable>) {
        if !self.current.get().is_null() {
            self.domain.counts.one_is_ready();
            if let Some(later) = self.next.replace(Some(woken)) {
                self.postpone(later);
            }
        } else if self.firing.get() {
            // SAFETY: it was parked, so it is in no list.
            unsafe { self.timed.push(woken) };
        } else {
            self.postpone(woken);
        }
    }

    /// Queues what is in no list, to go on after the others. A task goes where it may be stolen if
    /// a domain is idle, which could steal it, and if nothing lies there yet.
    #[inline]
    pub(crate) fn postpone(&self, later: NonNull<Runnable>) {
        // SAFETY: what is to be queued is alive.
        match unsafe { either(later) } {
            // SAFETY: it is in no list.
            Either::Fiber(_) => unsafe { self.ready.push(later) },
            Either::Task(_) => {
                let thieves = self.shared.idle.load(Ordering::Relaxed) > 0;
                if thieves && self.domain.stealable.len() == 0 && self.domain.stealable.append(later) {
                    self.share_work();
                } else {
                    self.backlog.set(self.backlog.get() + 1);
                    // SAFETY: it is in no list.
                    unsafe { self.woken.push(later) };
                }
            }
        }
    }

    /// Ends the turn of a fiber: if it has left too many ready tasks, makes them go before the next
    /// fiber.
    pub(super) fn look_at_backlog(&self) {
        if self.backlog.get() >= BACKLOG {
            self.due.set(self.backlog.get());
        }
    }

    /// Returns `true` if tasks are to run before the next fiber does.
    pub(super) fn due(&self) -> bool {
        self.due.get() > 0
    }

    /// Takes the next of the ready tasks.
    #[inline]
    pub(super) fn take_woken(&self) -> Option<NonNull<Runnable>> {
        let woken = self.woken.pop()?;
        self.backlog.set(self.backlog.get() - 1);
        self.due.set(self.due.get().saturating_sub(1));
        Some(woken)
    }

    /// Lets thieves have some of the ready tasks, if there are thieves.
    pub(super) fn offer_woken(&self) {
        if self.woken.is_empty() || self.shared.idle.load(Ordering::Relaxed) == 0 {
            return;
        }
        while self.domain.stealable.len() < SHARE
            && let Some(woken) = self.take_woken()
        {
            self.adopt(woken);
        }
        self.share_work();
    }

    /// Takes what other threads have handed over.
    pub(super) fn take_inbox(&self) {
        if !self.domain.inbox.has_news() {
            return;
        }
        self.domain.inbox.take_all(|handed_over| {
            let fiber = handed_over.cast::<Fiber>();
            // SAFETY: what is handed over is a fiber, and it is alive.
            if unsafe { fiber.as_ref() }.parker.state.get() == State::New {
                // SAFETY: it has just left the inbox.
                unsafe { self.ready.push(handed_over) };
            } else {
                self.wake(fiber);
            }
        });
    }
}
