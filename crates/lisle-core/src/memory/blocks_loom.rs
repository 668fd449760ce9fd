//! Plain blocks under loom, which sees each allocation, and reports leaked ones.

use std::alloc::Layout;
use std::ptr::NonNull;

/// Returns a block for `layout`, uninitialized. The layout must not be empty.
pub fn take(layout: Layout) -> NonNull<u8> {
    // SAFETY: the layout is not empty.
    NonNull::new(unsafe { loom::alloc::alloc(layout) }).expect("there is memory")
}

/// Gives back a block.
///
/// # Safety
///
/// The block came from [`take`] with the same layout, and is not used again.
pub unsafe fn give(block: NonNull<u8>, layout: Layout) {
    // SAFETY: by the caller's promise.
    unsafe { loom::alloc::dealloc(block.as_ptr(), layout) };
}
