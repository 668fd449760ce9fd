//! The memory of parasites: recycled, and never given back.
//!
//! It is never given back since a parasite's waker is the address of its *slot* (`event/resident.rs`). A wake may come
//! when the parasite has long ended; what it finds must still be the head of a slot, so slots are cut once and keep
//! their sizes. They come in multiples of 64 bytes up to a kilobyte, then in powers of two.
//!
//! Each thread keeps the slots that become vacant on it, and takes the last one first, which is still in its cache. A
//! thread that has more than it uses hands half to a shared list.

use super::record::Parasite;
use crate::event::lock::Lock;
use std::alloc::{Layout, alloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

/// The step of the sizes, and how slots are aligned.
pub(super) const STEP: usize = 64;
/// How many sizes are multiples of the step.
const STEPS: usize = 16;
pub(super) const LARGEST_STEP: usize = STEP * STEPS;
/// Then powers of two, of which this is the largest.
const POWERS: usize = 40;
const CLASSES: usize = STEPS + POWERS;
/// How many slots are cut from one piece of memory.
const CUT: usize = 32;
/// How many vacant slots of a size a thread keeps.
const KEPT: u32 = 1024;

/// Which of the sizes is for a block of this layout.
pub(super) const fn class_of(layout: Layout) -> usize {
    if layout.size() <= LARGEST_STEP && layout.align() <= STEP {
        return layout.size().div_ceil(STEP) - 1;
    }
    let size = if layout.size() > layout.align() { layout.size() } else { layout.align() };
    let size = if size > LARGEST_STEP { size.next_power_of_two() } else { LARGEST_STEP };
    let power = size.ilog2() - LARGEST_STEP.ilog2();
    STEPS + power as usize
}

/// How large the slots of a class are.
pub(super) const fn size_of(class: usize) -> usize {
    if class < STEPS { (class + 1) * STEP } else { LARGEST_STEP << (class - STEPS) }
}

/// A list of vacant slots, linked through themselves.
struct List {
    first: Cell<*mut Parasite>,
    count: Cell<u32>,
}

impl List {
    const fn new() -> Self {
        List { first: Cell::new(null_mut()), count: Cell::new(0) }
    }

    #[inline(always)]
    fn pop(&self) -> Option<NonNull<Parasite>> {
        let first = NonNull::new(self.first.get())?;
        // SAFETY: slots are never given back, and a vacant one is its list's alone.
        self.first.set(unsafe { first.as_ref() }.next_vacant());
        self.count.set(self.count.get() - 1);
        Some(first)
    }

    #[inline(always)]
    fn push(&self, slot: NonNull<Parasite>) {
        // SAFETY: as above; a slot in no list is the caller's alone.
        unsafe { slot.as_ref() }.set_next_vacant(self.first.replace(slot.as_ptr()));
        self.count.set(self.count.get() + 1);
    }

    fn move_to(&self, other: &List, count: u32) {
        for _ in 0..count {
            let Some(slot) = self.pop() else { return };
            other.push(slot);
        }
    }
}

/// The vacant slots that no thread keeps, and all pieces of memory that slots were cut from.
struct Shared {
    lists: [List; CLASSES],
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy)]
struct Piece {
    first: NonNull<u8>,
    class: usize,
    count: usize,
}

// SAFETY: vacant slots are plain memory, and who has the lock has the lists.
unsafe impl Send for Shared {}

static SHARED: Lock<Shared> =
    Lock::new(Shared { lists: [const { List::new() }; CLASSES], pieces: Vec::new() });

struct Local {
    lists: [List; CLASSES],
    /// Has it been seen to that what is kept goes to the shared lists when the thread ends?
    is_guarded: Cell<bool>,
}

thread_local! {
    static LOCAL: Local = const { Local { lists: [const { List::new() }; CLASSES], is_guarded: Cell::new(false) } };
    static GUARD: Guard = const { Guard };
}

/// Hands the thread's slots on when the thread ends. Apart from them, so that to use them is to use plain memory.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        let shared = SHARED.lock();
        LOCAL.with(|local| {
            for (mine, theirs) in local.lists.iter().zip(&shared.lists) {
                mine.move_to(theirs, u32::MAX);
            }
            local.is_guarded.set(false);
        });
    }
}

/// A vacant slot of this class, for the caller alone.
#[inline(always)]
pub(super) fn take(class: usize) -> NonNull<Parasite> {
    LOCAL.with(|local| local.lists[class].pop()).unwrap_or_else(|| take_shared(class))
}

#[cold]
#[inline(never)]
fn take_shared(class: usize) -> NonNull<Parasite> {
    guard();
    LOCAL.with(|local| {
        let mine = &local.lists[class];
        let mut shared = SHARED.lock();
        // A thread that ends keeps nothing, and what it had not used would be lost.
        let more = if local.is_guarded.get() { KEPT / 2 } else { 1 };
        if shared.lists[class].first.get().is_null() {
            shared.cut(class);
        }
        shared.lists[class].move_to(mine, more);
        mine.pop().expect("some have just been put there")
    })
}

/// Makes sure that what this thread keeps is not lost with it. When the thread ends already, it is.
fn guard() {
    LOCAL.with(|local| local.is_guarded.set(GUARD.try_with(|_| ()).is_ok()));
}

impl Shared {
    /// Cuts new slots.
    fn cut(&mut self, class: usize) {
        let size = size_of(class);
        let (count, align) = if class < STEPS { (CUT, STEP) } else { (1, size) };
        let layout = Layout::from_size_align(size * count, align).expect("a block of memory has a layout");
        // SAFETY: slots are not empty.
        let first = NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        let piece = Piece { first, class, count };
        for slot in piece.slots() {
            // SAFETY: fresh memory, large and aligned enough.
            unsafe { slot.write(Parasite::vacant(size)) };
            self.lists[class].push(slot);
        }
        self.pieces.push(piece);
    }
}

impl Piece {
    fn slots(self) -> impl Iterator<Item = NonNull<Parasite>> {
        // SAFETY: within the piece.
        (0..self.count).map(move |index| unsafe { self.first.add(index * size_of(self.class)) }.cast())
    }
}

/// Vacates a slot.
///
/// # Safety
///
/// It comes from [`take`] with this class, what was in it has been dropped, and its state is that of a vacant one; the
/// caller does not use it again.
#[inline(always)]
pub(super) unsafe fn give(slot: NonNull<Parasite>, class: usize) {
    LOCAL.with(|local| {
        let mine = &local.lists[class];
        mine.push(slot);
        if mine.count.get() > KEPT || !local.is_guarded.get() {
            give_shared(class);
        }
    });
}

#[cold]
#[inline(never)]
fn give_shared(class: usize) {
    guard();
    LOCAL.with(|local| {
        let mine = &local.lists[class];
        // A thread that ends keeps nothing.
        let more = if local.is_guarded.get() { mine.count.get().saturating_sub(KEPT / 2) } else { u32::MAX };
        if mine.count.get() > KEPT || !local.is_guarded.get() {
            mine.move_to(&SHARED.lock().lists[class], more);
        }
    });
}

/// Calls `look` with every slot there is, vacant or not. Others may use them meanwhile.
pub(super) fn for_each(look: impl FnMut(NonNull<Parasite>)) {
    let pieces = SHARED.lock().pieces.clone();
    pieces.into_iter().flat_map(Piece::slots).for_each(look);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layout_has_the_smallest_class_that_holds_it() {
        let class = |size, align| class_of(Layout::from_size_align(size, align).unwrap());
        assert_eq!([class(1, 1), class(64, 8), class(65, 8)].map(size_of), [64, 64, 128]);
        assert_eq!([class(1024, 64), class(1025, 8)].map(size_of), [1024, 2048]);
        assert_eq!([class(5000, 8), class(100, 128), class(1, 4096)].map(size_of), [8192, 1024, 4096]);
    }
}
