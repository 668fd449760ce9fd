//! Memory of the system, in whole pages.

use lisle_core::internal::memory::pages::{map_dense, unmap};
use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

/// Pages that are mapped, and unmapped on drop.
pub(crate) struct Pages {
    begin: NonNull<c_void>,
    len: usize,
}

// SAFETY: the value is only an address and a length; who may use the memory is not decided here.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    pub(crate) fn map(len: usize) -> io::Result<Self> {
        Ok(Self { begin: map_dense(len)?, len })
    }

    #[inline]
    pub(crate) fn begin(&self) -> *mut u8 {
        self.begin.as_ptr().cast()
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the pages are this value's own, and their user has dropped it.
        unsafe { unmap(self.begin, self.len) };
    }
}
