//! The system's calls for memory.

use std::io;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns the size of a page. Safe to call in a signal handler once it has been called.
pub fn page_size() -> usize {
    /// Asked for at least once; 0 before that.
    static SIZE: AtomicUsize = AtomicUsize::new(0);
    let known = SIZE.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    // SAFETY: `sysconf` only reads its argument.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let size = usize::try_from(size).expect("the system has a page size");
    SIZE.store(size, Ordering::Relaxed);
    size
}

/// Maps `len` bytes that read as zero and take memory only when touched.
///
/// # Errors
///
/// The system's.
pub fn map(len: usize) -> io::Result<NonNull<libc::c_void>> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // Stacks are mostly untouched, so the kernel should not count them against its commit limit.
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
    let flags = flags | libc::MAP_NORESERVE | libc::MAP_STACK;
    #[cfg(target_os = "openbsd")]
    let flags = flags | libc::MAP_STACK;
    // SAFETY: a new mapping at an address that the kernel chooses disturbs nothing.
    let start = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // A kernel built without huge pages does not know the advice, and does not need it.
    // SAFETY: the mapping was made above; the advice does not change its contents.
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
    unsafe {
        libc::madvise(start, len, libc::MADV_NOHUGEPAGE)
    };
    start.expose_provenance();
    NonNull::new(start).ok_or_else(|| io::Error::other("the kernel placed a mapping at address zero"))
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
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let advice = libc::MADV_DONTNEED;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let advice = libc::MADV_FREE;
    // The result does not matter: if the pages are locked in memory, for example, they stay.
    // SAFETY: the caller promises that the range lies in a mapping and that its contents may be
    // lost.
    unsafe { libc::madvise(ptr::with_exposed_provenance_mut(range.start), range.len(), advice) };
}
