//! What a worker takes out of a queue, as what it is.

use crate::spawned::fiber_cell::Fiber;
use crate::spawned::runnable::{Kind, Runnable};
use crate::task::Task;
use std::ptr::NonNull;

/// A runnable, as what it is.
pub(super) enum Either {
    Fiber(NonNull<Fiber>),
    Task(NonNull<Task>),
}

/// Returns what `runnable` is the first field of.
///
/// # Safety
///
/// The runnable is alive, and what it is the first field of may be used by the caller.
#[inline(always)]
pub(super) unsafe fn either(runnable: NonNull<Runnable>) -> Either {
    // SAFETY: alive by the caller's promise.
    match unsafe { runnable.as_ref() }.kind() {
        Kind::Fiber | Kind::Runner => Either::Fiber(runnable.cast()),
        Kind::Task => Either::Task(runnable.cast()),
    }
}
