//! Recycled memory for control blocks. Once warm, spawning allocates nothing.
//!
//! Each thread keeps free blocks of three sizes. A thread that frees more than it spawns (it
//! steals, or others spawn onto it) moves half of what it keeps to a shared list, where the others
//! find it.

use crate::event::lock::Lock;
use crate::shim::sync::OnceLock;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::ptr::NonNull;

const SIZES: [usize; 3] = [512, 640, 1216];
const ALIGN: usize = 64;
/// The number of free blocks of a size that a thread keeps.
const KEPT: usize = 1024;

type Blocks = [Vec<NonNull<u8>>; SIZES.len()];

/// The free blocks of one thread. When the thread ends, they go to the shared list.
#[derive(Default)]
struct Local(Blocks);

#[derive(Default)]
pub struct Shared(Blocks);

// SAFETY: free blocks are plain memory.
unsafe impl Send for Shared {}

thread_local! {
    static LOCAL: RefCell<Local> = RefCell::default();
}

fn shared() -> &'static Lock<Shared> {
    static SHARED: OnceLock<Lock<Shared>> = OnceLock::new();
    SHARED.get_or_init(|| Lock::new(Shared::default()))
}

impl Drop for Local {
    fn drop(&mut self) {
        let mut shared = shared().lock();
        for (mine, theirs) in self.0.iter_mut().zip(&mut shared.0) {
            theirs.append(mine);
        }
    }
}

#[inline]
fn class_of(layout: Layout) -> Option<usize> {
    (layout.align() <= ALIGN).then(|| SIZES.iter().position(|&size| layout.size() <= size)).flatten()
}

#[inline]
fn layout_of(class: usize) -> Layout {
    Layout::from_size_align(SIZES[class], ALIGN).expect("a small size, a power of two")
}

/// Returns a block for `layout`, uninitialized.
#[inline]
pub fn take(layout: Layout) -> NonNull<u8> {
    let Some(class) = class_of(layout) else { return allocate(layout) };
    let kept = LOCAL.try_with(|local| local.borrow_mut().0[class].pop()).ok().flatten();
    kept.unwrap_or_else(|| take_shared(class))
}

#[cold]
fn take_shared(class: usize) -> NonNull<u8> {
    let found = {
        let mut shared = shared().lock();
        let found = shared.0[class].pop();
        let more = shared.0[class].len().min(KEPT / 2);
        let from = shared.0[class].len() - more;
        let _ = LOCAL.try_with(|local| local.borrow_mut().0[class].extend(shared.0[class].drain(from..)));
        found
    };
    found.unwrap_or_else(|| allocate(layout_of(class)))
}

fn allocate(layout: Layout) -> NonNull<u8> {
    // SAFETY: control blocks are not empty.
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Gives back a block that came from [`take`] with the same layout and is not used again.
#[inline]
pub fn give(block: NonNull<u8>, layout: Layout) {
    let Some(class) = class_of(layout) else {
        // SAFETY: `take` allocated it with this layout.
        return unsafe { dealloc(block.as_ptr(), layout) };
    };
    let kept = LOCAL.try_with(|local| {
        let blocks = &mut local.borrow_mut().0[class];
        if blocks.len() >= KEPT {
            shared().lock().0[class].extend(blocks.drain(KEPT / 2..));
        }
        blocks.push(block);
    });
    if kept.is_err() {
        shared().lock().0[class].push(block);
    }
}
