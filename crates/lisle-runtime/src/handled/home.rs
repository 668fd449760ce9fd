//! Whose a suspended computation is.
//!
//! The frames of a suspended computation may refer to what belongs to the fiber, the task or the
//! thread in which it was suspended: to a value of a `fiber_local!`, for example, which is dropped
//! when the fiber ends. Therefore it goes on there or nowhere.
//!
//! When locals are dropped, their owner gets another home before each of them: one may keep what
//! refers to one that is gone.

use crate::event::parker;
use crate::spawned::this_stack::this_stack;
use crate::task;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static LAST: Cell<u64> = const { Cell::new(0) };
    static THREAD: Thread = const { Thread };
}

/// Ends the home of a thread with its locals.
struct Thread;

impl Drop for Thread {
    fn drop(&mut self) {
        this_stack().state().handled.home.set(0);
    }
}

/// What tells a fiber, a task, or what is neither, from all others that have been or will be on the
/// same thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Home {
    /// That of the fiber or thread, whose locals a task may use, too, where it is polled.
    stack: u64,
    /// That of the task, or 0.
    task: u64,
}

impl Home {
    /// Returns that of the code that runs here.
    #[inline]
    pub fn here() -> Self {
        let stack = this_stack();
        let of_stack = &stack.state().handled.home;
        if of_stack.get() == 0 {
            of_stack.set(next());
        }
        let task = if stack.task.get().is_null() { 0 } else { of_task() };
        Home { stack: of_stack.get(), task }
    }

    /// Describes what runs here, for messages.
    pub fn describe() -> &'static str {
        if !this_stack().task.get().is_null() {
            "a task"
        } else if parker::running().is_some() {
            "a fiber"
        } else {
            "a thread"
        }
    }
}

/// Returns a number that no fiber of this thread, nor the thread, has had.
#[cold]
fn next() -> u64 {
    if parker::running().is_none() {
        // It is to be dropped before what was made earlier, and may be gone already.
        let _ = THREAD.try_with(|_| ());
    }
    LAST.with(|last| {
        last.set(last.get() + 1);
        last.get()
    })
}

/// Returns the number of the current task. Tasks come from other threads, so all have different
/// ones.
#[cold]
fn of_task() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let Some(task) = task::current() else { return 0 };
    // SAFETY: the current task is alive, and only the thread that runs it touches its cells.
    let number = unsafe { &task.as_ref().number };
    if number.get() == 0 {
        number.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
    }
    number.get()
}
