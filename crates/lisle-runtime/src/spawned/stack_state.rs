//! What a stack keeps for the tasks, loops and handled computations that run on it.

use super::handled::Handled;
use crate::jobs::pending::Pending;
use std::cell::Cell;

/// What a stack keeps for the tasks, loops and handled computations that run on it.
pub struct StackState {
    /// How many of the next tasks do not begin on this stack, since an earlier one took long there.
    pub(crate) penalty: Cell<u32>,
    /// No task begins on the stack below this address.
    pub limit: Cell<usize>,
    /// What loops have put off.
    pub pending: Pending,
    /// The handled computations that run on it.
    pub handled: Handled,
}

impl StackState {
    pub(super) const fn new() -> Self {
        StackState {
            penalty: Cell::new(0),
            limit: Cell::new(0),
            pending: Pending::new(),
            handled: Handled::new(),
        }
    }
}
