//! The replacement for `parker.rs` where there are no fibers.

use super::context::{Ends, Unparked};
use super::limit::Limits;
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

/// Returns `false`, since no fiber runs.
pub(super) fn is_masked() -> bool {
    false
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

/// Returns `true` if a panic raised here reaches its callers. It does unless the code that runs here
/// does so because a panic unwinds already; what foreign frames do cannot be seen.
pub(super) fn can_be_unwound_to(_: usize, _: usize) -> bool {
    !std::thread::panicking()
}

/// Returns `true` if the code that runs here does so because a panic unwinds its stack.
pub(super) fn is_unwinding() -> bool {
    std::thread::panicking()
}

/// Does nothing.
pub(crate) fn raising() -> Option<()> {
    None
}
