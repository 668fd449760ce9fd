//! The locals of a thread, for code that runs in no fiber or in no task.

use super::locals::{Locals, Owner, contained};
use super::stack_state::state_of_thread;
use super::this_stack::this_stack;
use std::cell::Cell;
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
        self.0.clear(&OfThread, &|panic| contained("a thread's local", panic));
    }
}

/// The thread as the owner of its locals. At its end nothing can be unwound: other locals may have
/// gone before.
struct OfThread;

impl Owner for OfThread {
    fn describe(&self) -> String {
        "a thread".to_owned()
    }

    /// The home of a fiber, if it has called `exit`.
    fn home(&self) -> &Cell<u64> {
        &this_stack().state().handled.home
    }

    fn is_referred_to(&self) -> bool {
        let state = state_of_thread();
        state.is_referred_to.get() || !state.handled.kept.is_empty()
    }
}
