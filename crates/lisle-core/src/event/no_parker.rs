//! The replacement for `parker.rs` where there are no fibers.

use super::ends::{Ends, Unparked};
use super::limits::{Limits, Surroundings};
use super::record::Waker;
use super::recycled::{Recycled, TopTask};
use super::waits::ParkedEvent;

/// The parker of a fiber, which does not exist here.
pub enum Parker {}

impl Parker {
    pub(crate) fn random(&self) -> u64 {
        match *self {}
    }

    pub(super) fn waker(&self) -> Waker {
        match *self {}
    }

    /// # Safety
    ///
    /// There is no such parker.
    pub(super) unsafe fn park(&self, _: Ends, _: Option<&ParkedEvent>) -> Unparked {
        match *self {}
    }

    pub(super) fn limits(&self) -> &Limits {
        match *self {}
    }

    pub(super) fn disturb(&self) -> bool {
        match *self {}
    }
}

/// Returns `None`, since no fiber runs.
pub(crate) fn running<'a>() -> Option<&'a Parker> {
    None
}

/// Returns null, since no fiber runs.
pub(super) fn running_ptr() -> *const Parker {
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

/// What limits ask about the code that runs here. A panic reaches its callers, unless the code runs
/// because a panic unwinds already; what foreign frames do cannot be seen.
pub(super) static SURROUNDINGS: Surroundings = Surroundings {
    task: || top_task().get().addr(),
    is_unwinding: std::thread::panicking,
    can_be_unwound,
    can_be_unwound_to: |_, _| !std::thread::panicking(),
};

/// Does nothing.
pub(crate) fn raising() -> Option<()> {
    None
}
