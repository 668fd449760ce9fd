//! The fibers that have begun on a domain and have not ended. The domain disturbs a fiber whose
//! time is up while it waits. When the runtime ends, the domain ends all of its fibers, and the
//! rest of its queues.

use super::Worker;
use super::either::{Either, either};
use crate::event::parker::ParkState;
use crate::event::step::{self, Forbidden};
use crate::sched::tasks::{life, snapshot};
use crate::spawned::fiber_cell::{self};

impl Worker {
    /// Starts interrupting the fibers of this domain: parked fibers now, and the others at their
    /// next park.
    ///
    /// Looking for tasks that wait takes time in proportion to all there are, so that is done at
    /// the start, and then only when there is nothing else to do.
    pub(super) fn stop(&self, is_idle: bool) {
        let begun = &self.begun;
        if (is_idle || !begun.stopping.get()) && self.shared.live() > 0 {
            snapshot::wake_all(&self.shared);
        }
        if begun.stopping.replace(true) {
            if begun.stubborn.take() {
                begun.interrupt_all();
            }
            return;
        }
        begun.for_each(|fiber| fiber.parker.set_interrupted(true));
        begun.interrupt_all();
    }

    /// Returns `true` if all fibers that began here have ended.
    pub(crate) fn is_empty(&self) -> bool {
        self.begun.is_empty()
    }

    /// Describes the first fibers that have begun here and have not ended, at most `limit` of them.
    pub(crate) fn begun(&self, limit: usize) -> Vec<String> {
        let mut begun = Vec::new();
        self.begun.for_each(|fiber| {
            if begun.len() < limit && fiber.parker.state.get() != ParkState::Resting {
                begun.push(fiber.describe());
            }
        });
        begun
    }

    /// Ends queued entries that will not run, because the runtime has ended or was abandoned.
    pub(crate) fn wind_up(&self) {
        self.take_inbox();
        self.offer_surplus();
        let next = || {
            self.queues
                .take_any()
                .or_else(|| self.starving.take_any())
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
            // SAFETY: a queued entry is alive.
            match unsafe { either(queued) } {
                Either::Fiber(fiber) => {
                    // SAFETY: as above.
                    let this = unsafe { fiber.as_ref() };
                    // A fiber that has begun is left as it is.
                    if this.parker.state.get() == ParkState::New {
                        // SAFETY: it has not begun, and was just taken out of its list.
                        step::fenced(given_up(this.site()), || unsafe { fiber_cell::refuse(fiber) });
                    }
                }
                Either::Task(task) => {
                    // SAFETY: as above.
                    let site = unsafe { task.as_ref() }.site();
                    // SAFETY: it was just taken out of its list.
                    step::fenced(given_up(site), || unsafe { life::run(task, self) });
                }
            }
        }
        self.retire_runner();
    }
}
