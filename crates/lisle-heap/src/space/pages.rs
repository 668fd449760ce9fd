//! Memory of the system, in whole pages. It counts as resident only when it is touched.

use std::io;

/// Pages that are mapped, and unmapped on drop.
pub(crate) struct Pages {
    begin: *mut u8,
    len: usize,
}

#[cfg(all(unix, not(miri)))]
mod system {
    use std::{io, ptr};

    pub(super) fn map(len: usize) -> io::Result<*mut u8> {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address that the kernel chooses disturbs nothing.
        let begin = unsafe { libc::mmap(ptr::null_mut(), len, access, flags, -1, 0) };
        if begin == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(begin.cast()) }
    }

    pub(super) unsafe fn unmap(begin: *mut u8, len: usize) {
        // SAFETY: passed on to the caller.
        unsafe { libc::munmap(begin.cast(), len) };
    }
}

#[cfg(not(all(unix, not(miri))))]
mod system {
    use std::alloc::{Layout, alloc, dealloc};
    use std::io;

    fn layout(len: usize) -> Option<Layout> {
        Layout::from_size_align(len, 4096).ok().filter(|layout| layout.size() > 0)
    }

    pub(super) fn map(len: usize) -> io::Result<*mut u8> {
        let layout = layout(len).ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: the size is not 0.
        let begin = unsafe { alloc(layout) };
        if begin.is_null() { Err(io::ErrorKind::OutOfMemory.into()) } else { Ok(begin) }
    }

    pub(super) unsafe fn unmap(begin: *mut u8, len: usize) {
        if let Some(layout) = layout(len) {
            // SAFETY: passed on to the caller.
            unsafe { dealloc(begin, layout) };
        }
    }
}

impl Pages {
    pub(crate) fn map(len: usize) -> io::Result<Self> {
        Ok(Self { begin: system::map(len)?, len })
    }

    pub(crate) fn begin(&self) -> *mut u8 {
        self.begin
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the pages are this value's own, and their user has dropped it.
        unsafe { system::unmap(self.begin, self.len) };
    }
}
