//! Memory of Windows.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::{self, NonNull};
use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, MEM_RESET, PAGE_READWRITE, VirtualAlloc, VirtualFree, VirtualUnlock,
};
use windows_sys::Win32::System::SystemInformation::GetSystemInfo;

pub(super) fn page_size() -> usize {
    let mut info = MaybeUninit::uninit();
    // SAFETY: the call writes the whole structure, and cannot fail.
    let info = unsafe {
        GetSystemInfo(info.as_mut_ptr());
        info.assume_init()
    };
    usize::try_from(info.dwPageSize).expect("a page is in the address space")
}

pub(super) fn map(len: usize) -> io::Result<NonNull<c_void>> {
    // SAFETY: a new mapping at an address that the kernel chooses disturbs nothing.
    let start = unsafe { VirtualAlloc(ptr::null(), len, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
    NonNull::new(start).ok_or_else(io::Error::last_os_error)
}

pub(super) fn map_dense(len: usize) -> io::Result<NonNull<c_void>> {
    map(len)
}

/// Does the work of the function with this name in `super`.
///
/// # Safety
///
/// As there.
pub(super) unsafe fn unmap(start: NonNull<c_void>, _: usize) {
    // A whole mapping is released by its address. SAFETY: passed on to the caller.
    unsafe { VirtualFree(start.as_ptr(), 0, MEM_RELEASE) };
}

/// Does the work of the function with this name in `super`. The pages leave the process's memory at
/// once, and the system need not write them anywhere.
///
/// # Safety
///
/// As there.
pub(super) unsafe fn give_back(range: Range<usize>) {
    let start = ptr::with_exposed_provenance_mut(range.start);
    // The results do not matter: if the pages are locked in memory, for example, they stay.
    // SAFETY: the caller promises that the range lies in a mapping and that its contents may be
    // lost.
    unsafe { VirtualAlloc(start, range.len(), MEM_RESET, PAGE_READWRITE) };
    // For pages that are not locked, this says that the process does not use them now. SAFETY: as
    // above. The call does not change the contents of the pages.
    unsafe { VirtualUnlock(start, range.len()) };
}
