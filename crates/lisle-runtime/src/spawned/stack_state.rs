//! The state that a stack keeps for the tasks, loops and handled computations that run on it.

use super::handled::Handled;
use crate::jobs::pending::Pending;
use std::cell::Cell;

thread_local! {
    /// The state for code that runs in no fiber.
    static OF_THREAD: StackState = const { StackState::new() };
}

/// Returns the state for code of this thread that runs in no fiber.
#[inline(always)]
pub(crate) fn state_of_thread<'a>() -> &'a StackState {
    // SAFETY: the thread's own state has no destructor, and stays as long as the thread does.
    unsafe { &*OF_THREAD.with(std::ptr::from_ref) }
}

/// The state that a stack keeps for the tasks, loops and handled computations that run on it.
pub struct StackState {
    /// How many of the next tasks do not begin on this stack, since an earlier one took long there.
    pub(crate) penalty: Cell<u32>,
    /// Set if a computation is left that is in no list any more, and whose frames may refer to locals
    /// of the fiber or thread.
    pub(crate) is_referred_to: Cell<bool>,
    /// No task begins on the stack below this address.
    pub limit: Cell<usize>,
    /// The pending work of loops.
    pub pending: Pending,
    /// The handled computations that run on it.
    pub handled: Handled,
}

impl StackState {
    pub(super) const fn new() -> Self {
        StackState {
            penalty: Cell::new(0),
            is_referred_to: Cell::new(false),
            limit: Cell::new(0),
            pending: Pending::new(),
            handled: Handled::new(),
        }
    }
}
