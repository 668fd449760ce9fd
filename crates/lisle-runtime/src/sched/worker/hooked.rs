//! What a worker does around a turn of a fiber if its runtime has hooks (`fiber/hooks.rs`).

use super::Worker;
use crate::spawned::fiber_cell::{self, Fiber};
use crate::spawned::hooks::Moment;

impl Worker {
    /// Calls the hooks before `fiber`, which is the current one, is resumed.
    #[cold]
    pub(super) fn before_turn(&self, fiber: &Fiber) {
        self.hooks.resumed(fiber);
    }

    /// Calls the hooks after `fiber`, which is the current one, has run.
    #[cold]
    pub(super) fn after_turn(&self, fiber: &Fiber, moment: Moment) {
        self.hooks.suspended(fiber, moment);
        if moment == Moment::Ends {
            // The hooks may have left locals of the fiber behind, which must not leave this thread.
            fiber_cell::clear_locals(fiber);
        }
    }
}
