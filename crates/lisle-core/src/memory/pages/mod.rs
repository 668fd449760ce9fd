//! The system's calls for memory.

#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;
#[cfg(not(any(unix, windows)))]
#[path = "allocated.rs"]
mod system;

use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns the size of a page. Safe to call in a signal handler once it has been called.
pub fn page_size() -> usize {
    /// The size of a page, once it is known; 0 before that.
    static SIZE: AtomicUsize = AtomicUsize::new(0);
    let known = SIZE.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let size = system::page_size();
    SIZE.store(size, Ordering::Relaxed);
    size
}

/// Maps `len` bytes, most of which stay untouched: stacks. They read as zero and take memory only when
/// touched. Windows counts them as used before that, but keeps no memory for them.
///
/// # Errors
///
/// The system's.
pub fn map(len: usize) -> io::Result<NonNull<c_void>> {
    let start = system::map(len)?;
    start.as_ptr().expose_provenance();
    Ok(start)
}

/// Maps `len` bytes that will be used in full. They read as zero and take memory only when touched. The
/// system may give huge pages, and counts the bytes against its limits.
///
/// # Errors
///
/// The system's.
pub fn map_dense(len: usize) -> io::Result<NonNull<c_void>> {
    system::map_dense(len)
}

/// Unmaps a whole mapping.
///
/// # Safety
///
/// [`map`] or [`map_dense`] has returned `start` for `len` bytes. No code uses these bytes any more.
pub unsafe fn unmap(start: NonNull<c_void>, len: usize) {
    // SAFETY: passed on to the caller.
    unsafe { system::unmap(start, len) };
}

/// Lets the kernel take away the pages of `range`. The next access to them finds zeros or, on
/// systems that free lazily, possibly the old contents.
///
/// # Safety
///
/// The range consists of whole pages of a mapping of [`map`] or [`map_dense`], whose contents are not needed any
/// more.
pub unsafe fn give_back(range: Range<usize>) {
    // An interpreter has no such call.
    if range.is_empty() || cfg!(miri) {
        return;
    }
    // SAFETY: passed on to the caller.
    unsafe { system::give_back(range) };
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::{give_back, map, map_dense, page_size, unmap};

    #[test]
    fn memory_is_mapped_and_unmapped_many_times() {
        // All rounds together need more than an address space has. Windows takes long for each.
        let (len, rounds) = if cfg!(windows) { (1 << 20, 100) } else { (1 << 30, 1 << 18) };
        for _ in 0..rounds {
            let start = map_dense(len).unwrap();
            // SAFETY: the mapping is this test's own, and is not used afterwards.
            unsafe {
                start.cast::<u8>().write(1);
                unmap(start, len);
            }
        }
    }

    #[test]
    fn memory_that_was_given_back_is_of_zeros_or_as_before_and_can_be_used_again() {
        let (page, pages) = (page_size(), 4);
        assert!(page.is_power_of_two() && page >= 4096, "{page}");
        let start = map(pages * page).unwrap().cast::<u8>();
        // SAFETY: the mapping is this test's own, and stays.
        let bytes = || unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), pages * page) };
        assert!(bytes().iter().all(|byte| *byte == 0));
        bytes().fill(7);
        let from = start.addr().get();
        // SAFETY: these are the inner pages of the mapping, and nobody refers to them.
        unsafe { give_back(from + page..from + 3 * page) };
        for (at, byte) in bytes().iter().enumerate() {
            let is_inner = (page..3 * page).contains(&at);
            assert!(*byte == 7 || is_inner && *byte == 0, "byte {at} is {byte}");
        }
        bytes().fill(8);
        assert!(bytes().iter().all(|byte| *byte == 8));
    }
}
