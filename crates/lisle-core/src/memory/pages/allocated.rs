//! Memory from the allocator, where there is no system to ask.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::ptr::NonNull;

/// A page of WebAssembly's memory is 16 times as large, but nothing here depends on it.
const PAGE: usize = 4096;

pub(super) fn page_size() -> usize {
    PAGE
}

fn layout(len: usize) -> io::Result<Layout> {
    Layout::from_size_align(len.max(1), PAGE).map_err(io::Error::other)
}

pub(super) fn map(len: usize) -> io::Result<NonNull<c_void>> {
    let layout = layout(len)?;
    // SAFETY: the layout is not of size 0.
    let start = unsafe { alloc_zeroed(layout) };
    NonNull::new(start.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

pub(super) fn map_dense(len: usize) -> io::Result<NonNull<c_void>> {
    map(len)
}

/// Does the work of the function with this name in `super`.
///
/// # Safety
///
/// As there.
pub(super) unsafe fn unmap(start: NonNull<c_void>, len: usize) {
    if let Ok(layout) = layout(len) {
        // SAFETY: `map` has allocated with this layout. The rest is passed on to the caller.
        unsafe { dealloc(start.as_ptr().cast(), layout) };
    }
}

/// Does nothing: the allocator keeps its memory.
///
/// # Safety
///
/// None, but the functions of other systems have some.
pub(super) unsafe fn give_back(_: Range<usize>) {}
