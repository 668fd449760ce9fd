//! Makes a task a thread that its runtime knows, since it waits, or cannot begin here.

use crate::abort;
use crate::runtime::default_runtime;
use crate::sched::tasks::life;
use crate::sched::worker::{Worker, with_current};
use crate::spawned::task_cell::Task;
use std::ptr::NonNull;

/// Makes a task a thread: its runtime knows it from now on.
///
/// # Safety
///
/// The caller owns the task, which has not been reified.
pub(super) unsafe fn reify(task: NonNull<Task>) {
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { task.as_ref() };
    let size = this.table().contents.size();
    let enter = |worker: Option<&Worker>| match worker {
        Some(worker) => {
            life::set_home(this, worker.shared());
            this.domain.set(worker.domain().index);
            worker.domain().counts.begun_task(size);
            #[cfg(feature = "model")]
            worker.has_spawned(task.cast(), this.site());
        }
        None => {
            let shared = default_runtime();
            life::set_home(this, shared);
            shared.task_from_outside(size);
        }
    };
    // The task waits already. The awaited event may refer to the task, and to values that its
    // spawner has lent it.
    let why = "a task waits, and the runtime that it would belong to cannot be started";
    abort::if_it_unwinds(why, || with_current(enter));
    if let Some(scope) = this.scope.get() {
        // SAFETY: the spawner of the task is within the scope.
        unsafe { scope.as_ref() }.enter();
    }
}

/// Queues a task that has not begun for the first domain that takes it.
///
/// # Safety
///
/// The caller has just put the task into its slot.
pub(super) unsafe fn queue(task: NonNull<Task>) {
    // SAFETY: passed on to the caller.
    unsafe { reify(task) };
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { task.as_ref() };
    // The task has not had a turn.
    this.domain.set(usize::MAX);
    this.state().begin();
    // SAFETY: the task has just been reified, and its owner queues it here.
    unsafe { life::queue_anywhere(task) };
}
