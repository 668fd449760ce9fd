//! The replacement for `parker.rs` where there are no fibers.

use super::limits::{Limits, Surroundings};
use super::recycled::{Recycled, TopTask};
use crate::event::ends::{Ends, Unparked};
use crate::event::telling::parked::ParkedEvent;
use crate::event::waker::PerformerWaker;

/// The parker of a fiber, which does not exist here.
pub enum Parker {}

impl Parker {
    pub(crate) fn random(&self) -> u64 {
        match *self {}
    }

    pub(in crate::event) fn waker(&self) -> PerformerWaker {
        match *self {}
    }

    /// # Safety
    ///
    /// There is no such parker.
    pub(in crate::event) unsafe fn park(&self, _: Ends, _: Option<&ParkedEvent>) -> Unparked {
        match *self {}
    }

    pub(in crate::event) fn limits(&self) -> &Limits {
        match *self {}
    }

    pub(in crate::event) fn disturb(&self) -> bool {
        match *self {}
    }
}

/// Returns `None`, since no fiber runs.
pub(crate) fn running<'a>() -> Option<&'a Parker> {
    None
}

/// Returns null, since no fiber runs.
pub(in crate::event) fn running_ptr() -> *const Parker {
    std::ptr::null()
}

/// Returns the place of the innermost task that runs on this stack. To be used only by code on that
/// stack.
pub(crate) fn top_task<'a>() -> &'a TopTask {
    Recycled::top_of_thread()
}

/// Returns `false`: nothing is unwound from where it waits.
pub(crate) fn can_be_unwound() -> bool {
    false
}

/// The answers to limits about the code that runs here. A panic reaches its callers, unless the
/// code runs because a panic unwinds already; the library cannot see foreign frames here.
pub(in crate::event) static SURROUNDINGS: Surroundings = Surroundings {
    task: || top_task().get().addr(),
    is_unwinding: std::thread::panicking,
    can_be_unwound,
    can_be_unwound_to: |_, _| !std::thread::panicking(),
};

/// Does nothing.
pub(crate) fn raising() -> Option<()> {
    None
}
