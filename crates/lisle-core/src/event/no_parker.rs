//! What stands in for `parker.rs` where there are no fibers.

use super::context::Unparked;
use super::record::Waker;
use super::recycled::Recycled;
use super::waits::ParkedEvent;
use std::cell::Cell;

/// There is none.
pub enum Parker {}

impl Parker {
    pub(crate) fn random(&self) -> u64 {
        match *self {}
    }

    pub(super) fn waker(&self) -> Waker {
        match *self {}
    }

    pub(super) fn park(&self, _: bool, _: Option<&ParkedEvent>) -> Unparked {
        match *self {}
    }
}

/// No fiber runs.
pub(crate) fn running<'a>() -> Option<&'a Parker> {
    None
}

thread_local! {
    static TASK: Cell<*const Recycled> = const { Cell::new(std::ptr::null()) };
}

/// Whose code runs on top of this stack: a task's, or, if null, the stack's own. For use by what runs on that stack, and no
/// longer.
pub(crate) fn top_task<'a>() -> &'a Cell<*const Recycled> {
    // SAFETY: the thread's own stays, without a destructor, as long as the thread does.
    unsafe { &*TASK.with(std::ptr::from_ref) }
}

/// Nothing is unwound from where it waits.
pub(crate) fn can_be_unwound() -> bool {
    false
}

/// Notes nothing.
pub(crate) fn raising() -> Option<()> {
    None
}
