//! The work of a runner, and the runner that rests.

use super::joining::Taken;
use crate::spawned::fiber_cell::Fiber;
use crate::spawned::task_cell::Task;
use std::cell::Cell;
use std::ptr::NonNull;

/// The work of a runner.
#[derive(Clone, Copy)]
pub(in crate::sched::worker) enum Load {
    Task(NonNull<Task>),
    Job(Taken),
}

/// The runner that rests, if there is one, and the work that it begins with when it is resumed.
#[derive(Default)]
pub(in crate::sched::worker) struct Resting {
    pub(in crate::sched::worker) runner: Cell<Option<NonNull<Fiber>>>,
    pub(in crate::sched::worker) load: Cell<Option<Load>>,
}

impl Resting {
    /// Keeps a runner that has just begun to rest.
    #[inline]
    pub(in crate::sched::worker) fn keep(&self, runner: NonNull<Fiber>) {
        self.runner.set(Some(runner));
    }
}
