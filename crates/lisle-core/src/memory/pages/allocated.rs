//! Memory from the allocator, where there is no system to ask.

use std::alloc::{Layout, alloc_zeroed};
use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::ptr::NonNull;

/// A page of WebAssembly's memory is 16 times as large, but nothing here depends on it.
const PAGE: usize = 4096;

pub(super) fn page_size() -> usize {
    PAGE
}

pub(super) fn map(len: usize) -> io::Result<NonNull<c_void>> {
    let layout = Layout::from_size_align(len.max(1), PAGE).map_err(io::Error::other)?;
    // SAFETY: the layout is not of size 0.
    let start = unsafe { alloc_zeroed(layout) };
    NonNull::new(start.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Does nothing: the allocator keeps its memory.
///
/// # Safety
///
/// None, but the functions of other systems have some.
pub(super) unsafe fn give_back(_: Range<usize>) {}
