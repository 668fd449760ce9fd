//! The fibers of a domain that get no stack.
//!
//! The memory for stacks is limited for the whole process, so a domain cannot know by itself that no
//! stack will become free. Its fibers wait: for others of the domain to end, for a stack that another
//! domain has left over, and for the system, which does not tell when it has room again and is asked
//! now and then. `deadlock.rs`, which sees all domains, judges whether no stack can come: a domain
//! that waits here sleeps as any other.

use super::Worker;
use super::held::starving::FIRST_PAUSE;
use crate::event::{Description, Label};
use crate::report::{Blocked, NoStack, Performer, Report};
use crate::shim::{atomic::Ordering, clock};
use crate::spawned::fiber_cell::Fiber;
use std::io;
use std::ptr::NonNull;

impl Worker {
    /// Puts aside a fiber that gets no stack, and reports that once.
    #[cold]
    pub(super) fn starves(&self, fiber: NonNull<Fiber>, error: &io::Error) {
        let starving = &self.starving;
        let is_first = starving.is_empty();
        // SAFETY: it was just taken out of its queue, and stays until it runs.
        unsafe { starving.fibers.push(fiber.cast()) };
        if is_first {
            starving.pause.set(FIRST_PAUSE);
            starving.try_later(error);
            self.domain.counts.starves.store(true, Ordering::Relaxed);
            self.shared.spare_stacks.want();
            self.shared.wake_all();
        }
        // SAFETY: a queued fiber is alive.
        let site = unsafe { fiber.as_ref() }.site();
        let report = || Report::NoStack(NoStack::new(self.domain.index, site, error));
        self.shared.report_once(&self.shared.has_told_of_stacks, report);
    }

    /// Looks whether there are stacks for the fibers that want some, here or on other domains.
    #[inline]
    pub(super) fn look_after_stacks(&self) {
        if !self.starving.is_empty() {
            self.feed();
        } else if self.shared.spare_stacks.are_wanted() {
            self.give_spare_stacks();
        }
    }

    /// Gives as many fibers their turn as there are stacks.
    #[cold]
    fn feed(&self) {
        let mut stacks = self.stacks.borrow_mut();
        let mut fed = 0;
        while !self.starving.is_empty() {
            if stacks.free() == fed {
                if let Some(spare) = self.shared.spare_stacks.take() {
                    stacks.adopt(spare);
                } else if clock::now() < self.starving.next_try.get() {
                    break;
                } else if let Err(error) = stacks.refill() {
                    self.starving.try_later(&error);
                    break;
                }
                self.starving.pause.set(FIRST_PAUSE);
            }
            fed += 1;
            if let Some(fiber) = self.starving.fibers.pop() {
                // SAFETY: it was just taken out of its list, and stays until it runs.
                unsafe { self.queues.push(fiber) };
            }
        }
        if self.starving.is_empty() {
            self.domain.counts.starves.store(false, Ordering::Relaxed);
            self.shared.spare_stacks.no_longer_want();
        }
    }

    /// Hands half of the stacks that are free here over to the domains that want some.
    #[cold]
    fn give_spare_stacks(&self) {
        let mut stacks = self.stacks.borrow_mut();
        let count = stacks.free().div_ceil(2);
        if count > 0 {
            self.shared.spare_stacks.give((0..count).map_while(|_| stacks.take_free()));
            self.shared.wake_all();
        }
    }

    /// Calls `told` with each fiber that waits for a stack.
    pub(super) fn tell_who_starves(&self, mut told: impl FnMut(Blocked)) {
        self.starving.fibers.for_each(|fiber| {
            // SAFETY: a fiber waits for the stack, and it is alive.
            let fiber = unsafe { fiber.cast::<Fiber>().as_ref() };
            if fiber.is_runner() {
                return; // It is not live; its task is.
            }
            let mut waits = Description::default();
            waits.on("wait for", &Label::anywhere("stack"), 0);
            waits.note(self.starving.error.borrow().as_str());
            told(Blocked {
                kind: Performer::Fiber,
                id: fiber.performer_id(),
                name: fiber.name().map(str::to_owned),
                site: Some(fiber.code_site()),
                domain: Some(self.domain.index),
                waits: waits.all,
                in_place: None,
            });
        });
    }
}
