//! The stack on which code runs: a fiber's, or the stack of a thread that runs no fiber.

use super::fiber_cell::Fiber;
use super::stack_state::{StackState, state_of_thread};
use crate::event::parker;
use crate::event::recycled::{Recycled, TopTask};
use std::ops::Deref;

/// How many bytes the stack of a plain thread may grow, from where it first spawns a task, before
/// tasks no longer begin on it.
const ROOM_ON_THREADS: usize = 32 * 1024;

/// The stack on which this code runs. Only code that runs on that stack may use it, and only while
/// it does.
#[derive(Clone, Copy)]
pub struct ThisStack<'a> {
    /// The task whose code runs on top of the stack, or null if the stack's own code does.
    pub task: &'a TopTask,
    state: &'a StackState,
}

impl<'a> ThisStack<'a> {
    /// Returns `true` if enough of this stack is left for a task to run on it.
    #[inline(always)]
    pub(crate) fn has_room(self) -> bool {
        let here = 0_u8;
        let here = (&raw const here).addr();
        if self.limit.get() == 0 {
            self.limit.set(here.saturating_sub(ROOM_ON_THREADS));
        }
        here > self.limit.get()
    }

    /// Returns `true` if this is a fiber's own stack, and no task runs on it.
    #[inline(always)]
    pub fn is_of_fiber(self) -> bool {
        !parker::running_ptr().is_null() && self.task.get().is_null()
    }

    /// Returns the stack's state for tasks and loops.
    #[inline(always)]
    pub fn state(self) -> &'a StackState {
        self.state
    }
}

impl Deref for ThisStack<'_> {
    type Target = StackState;

    #[inline(always)]
    fn deref(&self) -> &StackState {
        self.state
    }
}

/// Returns the stack on which this code runs.
#[inline(always)]
pub fn this_stack<'a>() -> ThisStack<'a> {
    let Some(fiber) = Fiber::running() else {
        return ThisStack { task: Recycled::top_of_thread(), state: state_of_thread() };
    };
    // SAFETY: a fiber is alive while it runs.
    let fiber = unsafe { fiber.as_ref() };
    ThisStack { task: &fiber.parker.task, state: &fiber.stack_state }
}

/// Returns `true` if the code that runs here is part of a join or a loop.
pub(crate) fn is_in_loop() -> bool {
    this_stack().pending.inside.get() != crate::jobs::pending::Inside::Nothing
}

/// Returns `true` if the code that runs here has been called through frames that catch a panic and
/// raise it again: frames of a join, a loop, or a handled computation.
pub(crate) fn is_raised_again() -> bool {
    let handled = &this_stack().state().handled;
    is_in_loop() || !handled.top.get().is_null() || !handled.answering.get().is_null()
}
