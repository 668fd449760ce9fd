//! The fibers that have begun on a domain and have not ended.

use crate::event::parker::ParkState;
use crate::spawned::fiber_cell::Fiber;
use std::cell::{Cell, RefCell};
use std::ptr::{NonNull, null_mut};

/// A list of fibers, linked through their `siblings`.
pub(in crate::sched::worker) struct Begun {
    first: Cell<*mut Fiber>,
    /// Set while all fibers are being interrupted, also fibers that begin.
    pub(in crate::sched::worker) stopping: Cell<bool>,
    /// The next fiber to interrupt. A parked fiber that has been committed may lie in the inbox, so
    /// it is run straight from here and put into no other list.
    interrupting: Cell<*mut Fiber>,
    /// Fibers that were parked when a limit of theirs passed, and are to look at it. They are run in
    /// the same way.
    disturbed: RefCell<Vec<NonNull<Fiber>>>,
    /// Set if there may be a fiber to run in either of these.
    any: Cell<bool>,
    /// Set when a fiber that has caught an interrupt waits again.
    pub(in crate::sched::worker) stubborn: Cell<bool>,
}

impl Begun {
    pub(in crate::sched::worker) fn new() -> Self {
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
    pub(in crate::sched::worker) fn is_empty(&self) -> bool {
        self.first.get().is_null()
    }

    /// Adds a fiber.
    ///
    /// # Safety
    ///
    /// It is not in the list, and stays until it is removed. Only this thread touches it.
    #[inline]
    pub(in crate::sched::worker) unsafe fn insert(&self, fiber: NonNull<Fiber>) {
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
    pub(in crate::sched::worker) unsafe fn remove(&self, fiber: NonNull<Fiber>) {
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
    pub(in crate::sched::worker) fn for_each(&self, mut look: impl FnMut(&Fiber)) {
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
    pub(in crate::sched::worker) fn go_on(&self) {
        self.stopping.set(false);
        self.stubborn.set(false);
        self.interrupting.set(null_mut());
        self.any.set(!self.disturbed.borrow().is_empty());
        // A runner rests.
        self.for_each(|fiber| fiber.parker.set_interrupted(false));
    }

    /// Notes that a fiber that has caught an interrupt waits again.
    #[inline]
    pub(in crate::sched::worker) fn one_is_stubborn(&self) {
        self.stubborn.set(true);
    }

    /// Has all fibers that are parked now interrupted.
    pub(in crate::sched::worker) fn interrupt_all(&self) {
        self.interrupting.set(self.first.get());
        self.any.set(true);
    }

    /// Has `fiber` run, which is parked, so that it looks whether one of its limits has passed.
    ///
    /// # Safety
    ///
    /// It is in the list.
    #[cold]
    pub(in crate::sched::worker) unsafe fn disturb(&self, fiber: NonNull<Fiber>) {
        self.disturbed.borrow_mut().push(fiber);
        self.any.set(true);
    }

    /// Returns `true` if there is a fiber to run because a limit of its has passed. (One that is
    /// interrupted again and again by the end of its runtime may wait for a while.)
    #[inline]
    pub(in crate::sched::worker) fn has_disturbed(&self) -> bool {
        self.any.get() && !self.disturbed.borrow().is_empty()
    }

    /// Returns `true` if there may be a fiber that is parked and to be interrupted.
    #[inline]
    pub(in crate::sched::worker) fn is_interrupting(&self) -> bool {
        self.any.get()
    }

    /// Takes the next fiber that is parked and to be interrupted.
    #[cold]
    pub(in crate::sched::worker) fn next_interrupted(&self) -> Option<NonNull<Fiber>> {
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
            if this.parker.state.get() == ParkState::Parked {
                return Some(fiber);
            }
        }
        self.any.set(false);
        None
    }
}
