//! Plain memory.

use super::classes::{LARGEST_STEP, STEP, class_of};
use super::threads::{give_slot, take_slot};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// The largest block that is recycled.
const LARGEST: usize = LARGEST_STEP << 14;

/// The kind of slots in which nothing stays.
#[derive(Debug)]
pub struct Blocks;

crate::kind_of_slots!(Blocks, stays: false, make_vacant: |_, _| ());

/// Returns `true` if blocks of this layout are recycled.
#[inline(always)]
const fn is_recycled(layout: Layout) -> bool {
    layout.size() <= LARGEST && layout.align() <= STEP
}

/// Returns a block for `layout`, uninitialized. The layout must not be empty.
#[inline(always)]
pub fn take(layout: Layout) -> NonNull<u8> {
    if is_recycled(layout) { take_slot::<Blocks>(class_of(layout)) } else { allocate(layout) }
}

#[cold]
fn allocate(layout: Layout) -> NonNull<u8> {
    assert!(layout.size() > 0, "a block is not empty");
    // SAFETY: the layout is not empty.
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Gives back a block.
///
/// # Safety
///
/// The block came from [`take`] with the same layout, and is not used again.
#[inline(always)]
pub unsafe fn give(block: NonNull<u8>, layout: Layout) {
    if is_recycled(layout) {
        // SAFETY: passed on to the caller. Nothing of a block is read by others.
        unsafe { give_slot::<Blocks>(block, class_of(layout)) };
    } else {
        // SAFETY: `take` allocated it with this layout.
        unsafe { dealloc(block.as_ptr(), layout) };
    }
}
