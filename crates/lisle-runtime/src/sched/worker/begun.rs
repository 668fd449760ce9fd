//! The fibers that have begun on a domain and have not ended; and how a worker disturbs those that
//! wait, when time is up for one, and ends all and the rest of what it has when its runtime ends.

use super::Worker;
use super::either::{Either, either};
use crate::event::parker::State;
use crate::event::step::{self, Forbidden};
use crate::sched::tasks::{life, snapshot};
use crate::spawned::fiber_cell::{self, Fiber};
use std::cell::{Cell, RefCell};
use std::ptr::{NonNull, null_mut};

/// A list of fibers, linked through their `siblings`.
pub(super) struct Begun {
    first: Cell<*mut Fiber>,
    /// Set while the fibers are being interrupted, and those that begin, too.
    stopping: Cell<bool>,
    /// The next fiber to interrupt. A parked fiber that has been committed may lie in the inbox, so
    /// it is run straight from here and put into no other list.
    interrupting: Cell<*mut Fiber>,
    /// Fibers that were parked when a limit of theirs passed, and are to look at it. They are run in
    /// the same way.
    disturbed: RefCell<Vec<NonNull<Fiber>>>,
    /// Set if there may be a fiber to run in either of these.
    any: Cell<bool>,
    /// Set when a fiber that has caught an interrupt waits again.
    stubborn: Cell<bool>,
}

impl Begun {
    pub(super) fn new() -> Self {
        Begun {
            first: Cell::new(null_mut()),
            stopping: Cell::new(false),
            interrupting: Cell::new(null_mut()),
            disturbed: RefCell::new(Vec::new()),
            any: Cell::new(false),
            stubborn: Cell::new(false),
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first.get().is_null()
    }

    /// Adds a fiber.
    ///
    /// # Safety
    ///
    /// It is not in the list, and stays until it is removed. Only this thread touches it.
    #[inline]
    pub(super) unsafe fn insert(&self, fiber: NonNull<Fiber>) {
        // SAFETY: alive, by the caller's promise.
        let this = unsafe { fiber.as_ref() };
        this.parker.set_interrupted(self.stopping.get());
        let first = self.first.replace(fiber.as_ptr());
        this.siblings.set((null_mut(), first));
        if let Some(first) = NonNull::new(first) {
            // SAFETY: fibers in the list are alive.
            let siblings = unsafe { &first.as_ref().siblings };
            siblings.set((fiber.as_ptr(), siblings.get().1));
        }
    }

    /// Removes a fiber.
    ///
    /// # Safety
    ///
    /// It is in the list.
    #[inline]
    pub(super) unsafe fn remove(&self, fiber: NonNull<Fiber>) {
        // SAFETY: fibers in the list are alive, and this one is in it, by the caller's promise.
        let (before, after) = unsafe { fiber.as_ref() }.siblings.get();
        if self.any.get() {
            if self.interrupting.get() == fiber.as_ptr() {
                self.interrupting.set(after);
            }
            self.disturbed.borrow_mut().retain(|disturbed| *disturbed != fiber);
        }
        match NonNull::new(before) {
            // SAFETY: fibers in the list are alive.
            Some(before) => unsafe { before.as_ref() }.siblings.update(|(first, _)| (first, after)),
            None => self.first.set(after),
        }
        if let Some(after) = NonNull::new(after) {
            // SAFETY: as above.
            unsafe { after.as_ref() }.siblings.update(|(_, second)| (before, second));
        }
    }

    /// Calls `look` with each fiber. `look` must neither run fibers nor end any.
    pub(super) fn for_each(&self, mut look: impl FnMut(&Fiber)) {
        let mut next = NonNull::new(self.first.get());
        while let Some(fiber) = next {
            // SAFETY: fibers in the list are alive.
            let this = unsafe { fiber.as_ref() };
            look(this);
            next = NonNull::new(this.siblings.get().1);
        }
    }

    /// Lets fibers that begin from now on run undisturbed, when all that were interrupted have
    /// ended.
    #[cfg(feature = "model")]
    pub(super) fn go_on(&self) {
        self.stopping.set(false);
        self.stubborn.set(false);
        self.interrupting.set(null_mut());
        self.any.set(!self.disturbed.borrow().is_empty());
        // A runner rests.
        self.for_each(|fiber| fiber.parker.set_interrupted(false));
    }

    /// Notes that a fiber that has caught an interrupt waits again.
    #[inline]
    pub(super) fn one_is_stubborn(&self) {
        self.stubborn.set(true);
    }

    /// Has all fibers that are parked now interrupted.
    fn interrupt_all(&self) {
        self.interrupting.set(self.first.get());
        self.any.set(true);
    }

    /// Has `fiber` run, which is parked, so that it looks whether one of its limits has passed.
    ///
    /// # Safety
    ///
    /// It is in the list.
    #[cold]
    pub(super) unsafe fn disturb(&self, fiber: NonNull<Fiber>) {
        self.disturbed.borrow_mut().push(fiber);
        self.any.set(true);
    }

    /// Returns `true` if there is a fiber to run because a limit of its has passed. (One that is
    /// interrupted again and again by the end of its runtime may wait for a while.)
    #[inline]
    pub(super) fn has_disturbed(&self) -> bool {
        self.any.get() && !self.disturbed.borrow().is_empty()
    }

    /// Returns `true` if there may be a fiber that is parked and to be interrupted.
    #[inline]
    pub(super) fn is_interrupting(&self) -> bool {
        self.any.get()
    }

    /// Takes the next fiber that is parked and to be interrupted.
    #[cold]
    pub(super) fn next_interrupted(&self) -> Option<NonNull<Fiber>> {
        while let Some(fiber) = self.disturbed.borrow_mut().pop() {
            // SAFETY: fibers in the list are alive; `remove` takes out one that ends.
            if unsafe { fiber.as_ref() }.parker.may_be_disturbed() {
                return Some(fiber);
            }
        }
        while let Some(fiber) = NonNull::new(self.interrupting.get()) {
            // SAFETY: fibers in the list are alive; `remove` moves on from one that ends.
            let this = unsafe { fiber.as_ref() };
            self.interrupting.set(this.siblings.get().1);
            if this.parker.state.get() == State::Parked {
                return Some(fiber);
            }
        }
        self.any.set(false);
        None
    }
}

impl Worker {
    /// Starts interrupting the fibers of this domain: those that are parked now, and the others at
    /// their next park.
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
            if begun.len() < limit && fiber.parker.state.get() != State::Resting {
                begun.push(fiber.describe());
            }
        });
        begun
    }

    /// Ends what is queued and will not be run, because the runtime has ended or was abandoned.
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
                    step::fenced(given_up(site), || unsafe { life::run(task, self) });
                }
            }
        }
        self.retire_runner();
    }
}
