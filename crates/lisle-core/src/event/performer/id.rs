//! The numbers of performers.

/// Returns a number for the performer that runs here: the task or the fiber, or else the thread.
/// The number is used again when that one has ended.
///
/// It identifies the owner of an object: the wait graph then shows that a performer that waits for
/// the object waits for its owner. A future of a foreign executor has no number of its own: it has
/// the number of the thread or fiber that polls it.
#[cfg(not(lisle_loom))]
#[inline(always)]
#[doc(hidden)]
pub fn performer_id() -> usize {
    thread_local! { static HERE: u8 = const { 0 }; }
    let task = super::parker::top_task().get();
    match super::parker::running() {
        _ if !task.is_null() => task.addr(),
        Some(parker) => std::ptr::from_ref(parker).addr(),
        None => HERE.with(|here| std::ptr::from_ref(here).addr()),
    }
}

/// Returns `true` if this code runs in no fiber, but on its thread's own stack.
#[cfg(not(lisle_loom))]
pub fn is_on_own_stack() -> bool {
    super::parker::running().is_none()
}

/// Returns `true` if this code is that of a task, which may run on the stack of any code that waits for it.
#[cfg(not(lisle_loom))]
pub fn is_in_task() -> bool {
    !super::parker::top_task().get().is_null()
}

/// Models do not use it.
#[cfg(lisle_loom)]
#[doc(hidden)]
pub fn performer_id() -> usize {
    1
}
