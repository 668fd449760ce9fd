//! Memory of a Unix system.

use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::ptr::{self, NonNull};

pub(super) fn page_size() -> usize {
    // SAFETY: `sysconf` only reads its argument.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).expect("the system has a page size")
}

pub(super) fn map(len: usize) -> io::Result<NonNull<c_void>> {
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
    NonNull::new(start).ok_or_else(|| io::Error::other("the kernel placed a mapping at address zero"))
}

/// Does the work of the function with this name in `super`.
///
/// # Safety
///
/// As there.
pub(super) unsafe fn give_back(range: Range<usize>) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let advice = libc::MADV_DONTNEED;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let advice = libc::MADV_FREE;
    // The result does not matter: if the pages are locked in memory, for example, they stay.
    // SAFETY: the caller promises that the range lies in a mapping and that its contents may be
    // lost.
    unsafe { libc::madvise(ptr::with_exposed_provenance_mut(range.start), range.len(), advice) };
}
