//! What a worker does around a turn of a fiber if its runtime has hooks (`fiber/hooks.rs`), or its
//! process C++ (`exceptions` of `lisle-core`).
//!
//! The words of the C++ runtime are exchanged first before a turn, and last after it: the hooks find
//! those of the fiber, and code that exchanges them itself, as a hook, goes on doing so.

use super::Worker;
use crate::spawned::fiber_cell::{self, Fiber};
use crate::spawned::hooks::Moment;

impl Worker {
    /// Returns `true` if there is something to do around turns.
    #[inline]
    pub(super) fn is_hooked(&self) -> bool {
        !self.hooks.is_empty() || self.exceptions.is_some()
    }

    /// Exchanges the words of the C++ runtime for those of `fiber`, or the other way round.
    fn swap_exceptions(&self, fiber: &Fiber) {
        // SAFETY: only the domain's own worker touches the field.
        let stack = unsafe { &*fiber.stack.get() }.as_ref();
        if let (Some(thread), Some(stack)) = (self.exceptions, stack) {
            // SAFETY: written when the fiber began, for as long as it has its stack.
            thread.swap(unsafe { stack.exceptions().as_ref() });
        }
    }

    /// Called before `fiber`, which is the current one, is resumed.
    #[cold]
    pub(super) fn before_turn(&self, fiber: &Fiber) {
        self.swap_exceptions(fiber);
        if !self.hooks.is_empty() {
            self.hooks.resumed(fiber);
        }
    }

    /// Called after `fiber`, which is the current one, has run.
    #[cold]
    pub(super) fn after_turn(&self, fiber: &Fiber, moment: Moment) {
        if !self.hooks.is_empty() {
            self.hooks.suspended(fiber, moment);
            if moment == Moment::Ends {
                // The hooks may have left locals of the fiber behind, which must not leave this
                // thread.
                fiber_cell::clear_locals(fiber);
            }
        }
        self.swap_exceptions(fiber);
    }
}
