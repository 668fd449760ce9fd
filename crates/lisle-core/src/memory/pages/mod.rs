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

/// Maps `len` bytes that read as zero and take memory only when touched. Windows counts them as used
/// before that, but keeps no memory for them.
///
/// # Errors
///
/// The system's.
pub fn map(len: usize) -> io::Result<NonNull<c_void>> {
    let start = system::map(len)?;
    start.as_ptr().expose_provenance();
    Ok(start)
}

/// Lets the kernel take away the pages of `range`. The next access to them finds zeros or, on
/// systems that free lazily, possibly the old contents.
///
/// # Safety
///
/// The range consists of whole pages of a mapping of [`map`], whose contents are not needed any
/// more.
pub unsafe fn give_back(range: Range<usize>) {
    if range.is_empty() {
        return;
    }
    // SAFETY: passed on to the caller.
    unsafe { system::give_back(range) };
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::{give_back, map, page_size};

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
