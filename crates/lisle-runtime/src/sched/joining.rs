//! The fibers that wait for parts of what they do, and what was taken meanwhile.

use crate::jobs::job::{Descendants, Job};
use crate::spawned::fiber_cell::Fiber;
use crate::sync::Condition;
use std::cell::Cell;
use std::ptr::NonNull;

/// The work of a runner.
#[derive(Clone, Copy)]
pub(crate) enum Load {
    Task(NonNull<crate::task::Task>),
    Job(Taken),
}

/// A fiber that waits for a part of its work.
pub struct Joining {
    pub(super) fiber: Option<NonNull<Fiber>>,
    /// What the domain may take meanwhile.
    pub(super) descendants: Descendants,
    /// The fiber that waited before.
    pub(super) before: Cell<*const Joining>,
    /// The number of jobs that were taken meanwhile and have not begun.
    pub(super) expected: Cell<usize>,
    /// The last of the helpers that have not ended.
    pub(super) helpers: Cell<*const Helper>,
    /// Signalled when no helper is at work, while the fiber waits for nothing else.
    pub(super) helper_ended: Cell<Option<NonNull<Condition>>>,
}

/// A job that was taken, and the fiber that waited last at that time.
#[derive(Clone, Copy)]
pub struct Taken {
    pub(super) job: NonNull<Job>,
    pub(super) joining: *const Joining,
}

/// A job that runs and was taken while a fiber waited.
pub(super) struct Helper {
    /// The fiber that runs it.
    pub(super) fiber: NonNull<Fiber>,
    /// The fiber that waited; null once that has gone on.
    pub(super) joining: Cell<*const Joining>,
    /// The helper before.
    pub(super) before: Cell<*const Helper>,
}
