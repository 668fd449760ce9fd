//! An entry of a queue, by its kind.

use crate::spawned::fiber_cell::Fiber;
use crate::spawned::runnable::{Kind, Runnable};
use crate::spawned::task_cell::Task;
use std::ptr::NonNull;

/// A runnable, by its kind.
pub(super) enum Either {
    Fiber(NonNull<Fiber>),
    Task(NonNull<Task>),
}

/// Returns the fiber or task whose first field is `runnable`.
///
/// # Safety
///
/// The runnable is alive, and the caller may use its fiber or task.
#[inline(always)]
pub(super) unsafe fn either(runnable: NonNull<Runnable>) -> Either {
    // SAFETY: alive, by the caller's promise.
    match unsafe { runnable.as_ref() }.kind() {
        Kind::Fiber | Kind::Runner => Either::Fiber(runnable.cast()),
        Kind::Task => Either::Task(runnable.cast()),
    }
}
