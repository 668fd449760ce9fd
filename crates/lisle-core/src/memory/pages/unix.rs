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
    // Stacks are mostly untouched, so the kernel should not count them against its commit limit.
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
    let flags = libc::MAP_NORESERVE | libc::MAP_STACK;
    #[cfg(target_os = "openbsd")]
    let flags = libc::MAP_STACK;
    #[cfg(not(any(all(any(target_os = "linux", target_os = "android"), not(miri)), target_os = "openbsd")))]
    let flags = 0;
    let start = map_with(flags, len)?;
    // A kernel built without huge pages does not know the advice, and does not need it.
    // SAFETY: the mapping was made above; the advice does not change its contents.
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
    unsafe {
        libc::madvise(start.as_ptr(), len, libc::MADV_NOHUGEPAGE)
    };
    Ok(start)
}

pub(super) fn map_dense(len: usize) -> io::Result<NonNull<c_void>> {
    map_with(0, len)
}

fn map_with(flags: libc::c_int, len: usize) -> io::Result<NonNull<c_void>> {
    let (access, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address that the kernel chooses disturbs nothing.
    let start = unsafe { libc::mmap(ptr::null_mut(), len, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(start).ok_or_else(|| io::Error::other("the kernel placed a mapping at address zero"))
}

/// Does the work of the function with this name in `super`.
///
/// # Safety
///
/// As there.
pub(super) unsafe fn unmap(start: NonNull<c_void>, len: usize) {
    // SAFETY: passed on to the caller.
    unsafe { libc::munmap(start.as_ptr(), len) };
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
