//! Whose a suspended computation is.
//!
//! The frames of a suspended computation may refer to what belongs to the fiber, the task or the
//! thread in which it was suspended: to a value of a `fiber_local!`, for example, which is dropped
//! when the fiber ends. Therefore it goes on there or nowhere.

use crate::event::parker;
use crate::spawned::this_stack::this_stack;
use crate::task;
use std::cell::Cell;

thread_local! {
    static LAST: Cell<u64> = const { Cell::new(0) };
}

/// What tells a fiber, a task, or what is neither, from all others that have been or will be on the
/// same thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Home(u64);

fn next() -> u64 {
    LAST.with(|last| {
        last.set(last.get() + 1);
        last.get()
    })
}

static OF_TASK: task::LocalKey<u64> = task::LocalKey::new(next);

impl Home {
    /// Returns that of the code that runs here.
    ///
    /// The first time in a task it makes a task's local value.
    #[inline]
    pub fn here() -> Self {
        let stack = this_stack();
        if !stack.task.get().is_null() {
            return Home(OF_TASK.with(|home| *home));
        }
        let home = &stack.state().handled.home;
        if home.get() == 0 {
            home.set(next());
        }
        Home(home.get())
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
