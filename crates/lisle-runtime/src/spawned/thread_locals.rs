//! The locals of a thread, for code that runs in no fiber or in no task.

use super::locals::{Locals, contained};
use super::this_stack::this_stack;
use std::ops::Deref;

/// The locals of a thread. They are dropped with it, as a value of `thread_local!`.
pub(crate) struct ThreadLocals(Locals);

impl ThreadLocals {
    pub(crate) const fn new() -> Self {
        ThreadLocals(Locals::new())
    }
}

impl Deref for ThreadLocals {
    type Target = Locals;

    fn deref(&self) -> &Locals {
        &self.0
    }
}

impl Drop for ThreadLocals {
    /// A panic of their destructors would end the process.
    fn drop(&mut self) {
        let home = &this_stack().state().handled.home;
        self.0.clear(home, None, &|panic| contained("a thread's local", panic));
    }
}
