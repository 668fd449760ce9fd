//! The home of the computations that a fiber's hooks suspend.

use super::fiber_cell::{Fiber, detached};
use super::locals::Owner;
use super::stack_state::{StackState, state_of_thread};
use std::cell::Cell;

/// A guard for hooks, which run on the thread's own stack and have the locals of a fiber. Until it is
/// dropped, the thread has another home: computations that are suspended there refer to the locals of
/// that fiber, and must not go on when the thread has its own locals again, or another fiber's. If a
/// computation is left, the fiber does not drop its locals.
pub(crate) struct Apart<'a> {
    fiber: &'a Fiber,
    thread: &'a StackState,
    home: u64,
}

impl<'a> Apart<'a> {
    pub(crate) fn new(fiber: &'a Fiber) -> Self {
        let thread = state_of_thread();
        Apart { fiber, thread, home: thread.handled.home.replace(0) }
    }

    /// Drops the locals that the last hooks have left behind, which must not leave this thread.
    pub(crate) fn clear_locals(&self) {
        self.fiber.locals.clear(self, &|panic| detached(self.fiber, panic));
    }

    /// Returns `true` if a computation waits that was suspended since the home was last made another.
    fn has_suspended(&self) -> bool {
        self.thread.handled.kept.is_last_of(self.home().get())
    }
}

impl Owner for Apart<'_> {
    fn describe(&self) -> String {
        self.fiber.describe()
    }

    fn home(&self) -> &Cell<u64> {
        &self.thread.handled.home
    }

    fn is_referred_to(&self) -> bool {
        self.fiber.is_referred_to() || self.has_suspended()
    }
}

impl Drop for Apart<'_> {
    fn drop(&mut self) {
        if self.has_suspended() {
            self.fiber.stack_state.is_referred_to.set(true);
        }
        self.home().set(self.home);
    }
}
