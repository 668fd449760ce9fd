//! How a worker ends what it has when its runtime ends.

use super::worker::Worker;
use crate::event::parker::State;
use crate::event::step::{self, Forbidden};
use crate::sched::either::{Either, either};
use crate::spawned::fiber_cell::{self, Fiber};
use crate::task;
use std::ptr::NonNull;

impl Worker {
    /// Starts interrupting the fibers of this domain: those that are parked now, and the others at
    /// their next park.
    ///
    /// Looking for tasks that wait takes time in proportion to all there are, so that is done at
    /// the start, and then only when there is nothing else to do.
    pub(super) fn stop(&self, is_idle: bool) {
        if (is_idle || !self.stopping.get()) && self.shared.live() > 0 {
            task::wake_all(&self.shared);
        }
        if self.stopping.replace(true) {
            if self.stubborn.take() {
                self.interrupting.set(self.begun.get());
            }
            return;
        }
        self.for_each_begun(|fiber| fiber.parker.interrupted.set(true));
        self.interrupting.set(self.begun.get());
    }

    /// Takes the next fiber that is parked and to be interrupted.
    #[cold]
    pub(super) fn next_interrupted(&self) -> Option<NonNull<Fiber>> {
        while let Some(fiber) = NonNull::new(self.interrupting.get()) {
            // SAFETY: fibers in the list are alive; `end` moves on from one that ends.
            let this = unsafe { fiber.as_ref() };
            self.interrupting.set(this.siblings.get().1);
            if this.parker.state.get() == State::Parked {
                return Some(fiber);
            }
        }
        None
    }

    /// Returns `true` if all fibers that began here have ended.
    pub(crate) fn is_empty(&self) -> bool {
        self.begun.get().is_null()
    }

    /// Describes the first fibers that have begun here and have not ended, at most `limit` of them.
    pub(crate) fn begun(&self, limit: usize) -> Vec<String> {
        let mut begun = Vec::new();
        self.for_each_begun(|fiber| {
            if begun.len() < limit && fiber.parker.state.get() != State::Resting {
                begun.push(fiber.describe());
            }
        });
        begun
    }

    /// Ends what is queued and will not be run, because the runtime has ended or was abandoned.
    pub(crate) fn wind_up(&self) {
        self.take_inbox();
        let next = || {
            self.next
                .take()
                .or_else(|| self.timed.pop())
                .or_else(|| self.ready.pop())
                .or_else(|| self.take_woken())
                .or_else(|| self.domain.stealable.take_oldest())
                .or_else(|| self.shared.common.take())
        };
        while let Some(queued) = next() {
            // Their destructors run on this thread's own stack, and nothing that they could wait
            // for becomes ready any more.
            let given_up = |site| Forbidden {
                by: "the end of a runtime that had no time left for a fiber spawned at",
                site,
            };
            // SAFETY: what is queued is alive.
            match unsafe { either(queued) } {
                Either::Fiber(fiber) => {
                    // SAFETY: as above.
                    let this = unsafe { fiber.as_ref() };
                    // A fiber that has begun is left as it is.
                    if this.parker.state.get() == State::New {
                        // SAFETY: it has not begun, and was just taken out of its list.
                        step::fenced(given_up(this.site()), || unsafe { fiber_cell::refuse(fiber) });
                    }
                }
                Either::Task(task) => {
                    // SAFETY: as above.
                    let site = unsafe { task.as_ref() }.site();
                    // SAFETY: it was just taken out of its list.
                    step::fenced(given_up(site), || unsafe { task::run(task, self) });
                }
            }
        }
        self.retire_runner();
    }
}
