//! The numbers of performers.

/// The performer that runs here, and its surroundings.
#[cfg(not(lisle_loom))]
#[derive(Clone, Copy, Debug)]
pub struct Here {
    /// See [`performer_id`].
    pub id: usize,
    /// Whether this code runs in no fiber, but on its thread's own stack.
    pub is_on_own_stack: bool,
    /// Whether this code is that of a task, which may run on the stack of any code that waits for it.
    pub is_in_task: bool,
}

/// Returns the performer that runs here: the task or the fiber, or else the thread.
#[cfg(not(lisle_loom))]
#[inline(always)]
pub fn here() -> Here {
    thread_local! { static HERE: u8 = const { 0 }; }
    let (fiber, task) = (super::parker::running(), super::parker::top_task().get());
    let id = match fiber {
        _ if !task.is_null() => task.addr(),
        Some(parker) => std::ptr::from_ref(parker).addr(),
        None => HERE.with(|here| std::ptr::from_ref(here).addr()),
    };
    Here { id, is_on_own_stack: fiber.is_none(), is_in_task: !task.is_null() }
}

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
    here().id
}

/// Models do not use it.
#[cfg(lisle_loom)]
#[doc(hidden)]
pub fn performer_id() -> usize {
    1
}
