//! The steps around a turn of a fiber if its runtime has hooks (`spawned/hooks.rs`), or its process
//! C++ (`exceptions` of `lisle-core`).
//!
//! The words of the C++ runtime are exchanged first before a turn, and last after it: the hooks find
//! the fiber's words, and a hook that exchanges them itself goes on doing so.

use super::Worker;
use crate::spawned::apart::Apart;
use crate::spawned::fiber_cell::Fiber;
use crate::spawned::hooks::Moment;
use std::ptr::{NonNull, null_mut};

impl Worker {
    /// Returns `true` if there is something to do around turns.
    #[inline]
    pub(super) fn is_hooked(&self) -> bool {
        !self.hooks.is_empty() || self.exceptions.is_some()
    }

    /// Exchanges the words of the C++ runtime for the words of `fiber`, or the other way round.
    fn swap_exceptions(&self, fiber: &Fiber) {
        // SAFETY: only the domain's own thread touches the field.
        let stack = unsafe { &*fiber.stack.get() }.as_ref();
        if let (Some(thread), Some(stack)) = (self.exceptions, stack) {
            // SAFETY: written when the fiber began, for as long as it has its stack.
            thread.swap(unsafe { stack.exceptions().as_ref() });
        }
    }

    /// Returns the fiber whose hooks run now.
    pub(crate) fn hooked_fiber(&self) -> Option<NonNull<Fiber>> {
        NonNull::new(self.hooked.get())
    }

    /// Calls `hooks`, which have the locals of `fiber`.
    fn for_fiber(&self, fiber: &Fiber, hooks: impl FnOnce(&Apart<'_>)) {
        struct Hooked<'a>(&'a Worker);
        impl Drop for Hooked<'_> {
            fn drop(&mut self) {
                self.0.hooked.set(null_mut());
            }
        }
        let apart = Apart::new(fiber);
        self.hooked.set(std::ptr::from_ref(fiber).cast_mut());
        let _hooked = Hooked(self);
        hooks(&apart);
    }

    /// Called before `fiber`, which is the current one, is resumed.
    #[cold]
    pub(super) fn before_turn(&self, fiber: &Fiber) {
        self.swap_exceptions(fiber);
        if !self.hooks.is_empty() {
            self.for_fiber(fiber, |_| self.hooks.resumed(fiber));
        }
    }

    /// Called after `fiber`, which is the current one, has run.
    #[cold]
    pub(super) fn after_turn(&self, fiber: &Fiber, moment: Moment) {
        if !self.hooks.is_empty() {
            self.for_fiber(fiber, |apart| {
                self.hooks.suspended(fiber, moment);
                if moment == Moment::Ends {
                    apart.clear_locals();
                }
            });
        }
        self.swap_exceptions(fiber);
    }
}
