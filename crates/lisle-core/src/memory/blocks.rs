//! Plain memory.

use super::classes::{LARGEST_STEP, STEP, class_of};
use super::pieces::Memory;
use super::threads::{Guard, Kind, Local, give_slot, take_slot};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// The largest block that is recycled.
const LARGEST: usize = LARGEST_STEP << 14;

/// The kind of slots in which nothing stays.
#[derive(Debug)]
pub struct Blocks;

static MEMORY: Memory<Blocks> = Memory::new();

thread_local! {
    static LOCAL: Local = const { Local::new() };
    static GUARD: Guard<Blocks> = const { Guard::new() };
}

// SAFETY: these are used only here.
unsafe impl Kind for Blocks {
    const STAYS: bool = false;

    fn memory() -> &'static Memory<Self> {
        &MEMORY
    }
    #[inline(always)]
    fn with_local<R>(f: impl FnOnce(&Local) -> R) -> R {
        LOCAL.with(f)
    }
    fn guard() -> bool {
        GUARD.try_with(|_| ()).is_ok()
    }
    unsafe fn make_vacant(_: NonNull<u8>, _: usize) {}
}

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
