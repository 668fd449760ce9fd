//! The replacement for `parker.rs` where there are no fibers.

use super::context::Unparked;
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
    pub(super) unsafe fn park(&self, _: bool, _: Option<&ParkedEvent>) -> Unparked {
        match *self {}
    }
}

/// Returns `None`, since no fiber runs.
pub(crate) fn running<'a>() -> Option<&'a Parker> {
    None
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

/// Does nothing.
pub(crate) fn raising() -> Option<()> {
    None
}
