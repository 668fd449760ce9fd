//! The memory of tasks: slots, which each thread recycles.
//!
//! A task's waker is the address of its *slot* (`event/recycled.rs`). A wake may come long after
//! the task has ended, and must still find the head of a slot. So slots are cut once and keep their
//! places and sizes. The sizes are multiples of 64 bytes up to a kilobyte, then powers of two.
//!
//! Each thread keeps the slots that become vacant on it, and takes the last one first, which is
//! still in its cache. A thread that has more than it uses moves half of them back to the pieces
//! that they were cut from, where others find them (`pieces.rs`). A piece that is unused for a
//! while gives its memory back, and keeps its address.

use super::pieces::SHARED;
use super::record::Task;
use std::alloc::Layout;
use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

/// The step of the sizes, and the alignment of slots.
pub(super) const STEP: usize = 64;
/// The number of sizes that are multiples of the step.
pub(super) const STEPS: usize = 16;
pub(super) const LARGEST_STEP: usize = STEP * STEPS;
/// The number of sizes that follow, which are powers of two.
const POWERS: usize = 40;
pub(super) const CLASSES: usize = STEPS + POWERS;
/// The number of vacant slots of a size that a thread keeps.
const KEPT: u32 = 1024;

/// Returns the class of slots for a block of this layout.
pub(super) const fn class_of(layout: Layout) -> usize {
    if layout.size() <= LARGEST_STEP && layout.align() <= STEP {
        return layout.size().div_ceil(STEP) - 1;
    }
    let size = if layout.size() > layout.align() { layout.size() } else { layout.align() };
    let size = if size > LARGEST_STEP { size.next_power_of_two() } else { LARGEST_STEP };
    let power = size.ilog2() - LARGEST_STEP.ilog2();
    STEPS + power as usize
}

/// Returns the size of the slots of a class.
pub(super) const fn size_of(class: usize) -> usize {
    if class < STEPS { (class + 1) * STEP } else { LARGEST_STEP << (class - STEPS) }
}

/// A list of vacant slots, which are linked through themselves.
pub(super) struct List {
    first: Cell<*mut Task>,
    count: Cell<u32>,
}

impl List {
    pub(super) const fn new() -> Self {
        List { first: Cell::new(null_mut()), count: Cell::new(0) }
    }

    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        self.count.get()
    }

    #[inline(always)]
    pub(super) fn pop(&self) -> Option<NonNull<Task>> {
        let first = NonNull::new(self.first.get())?;
        // SAFETY: a vacant slot that has been cut and is in a list belongs to that list alone.
        self.first.set(unsafe { first.as_ref() }.next_vacant());
        self.count.set(self.count.get() - 1);
        Some(first)
    }

    #[inline(always)]
    pub(super) fn push(&self, slot: NonNull<Task>) {
        // SAFETY: a vacant slot in no list is the caller's alone.
        unsafe { slot.as_ref() }.set_next_vacant(self.first.replace(slot.as_ptr()));
        self.count.set(self.count.get() + 1);
    }

    /// Empties the list without touching its slots.
    pub(super) fn forget(&self) {
        self.first.set(null_mut());
        self.count.set(0);
    }
}

struct Local {
    lists: [List; CLASSES],
    /// Whether `GUARD` will hand back what is kept when the thread ends.
    is_guarded: Cell<bool>,
}

thread_local! {
    static LOCAL: Local = const { Local { lists: [const { List::new() }; CLASSES], is_guarded: Cell::new(false) } };
    static GUARD: Guard = const { Guard };
}

/// Hands the thread's slots back when the thread ends. It is apart from them, so they have no
/// destructor and are plain memory to use.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        let mut shared = SHARED.lock();
        LOCAL.with(|local| {
            for (class, mine) in local.lists.iter().enumerate() {
                shared.give(class, mine, u32::MAX);
            }
            local.is_guarded.set(false);
        });
    }
}

/// Takes a vacant slot of this class, which is the caller's alone.
#[inline(always)]
pub(super) fn take(class: usize) -> NonNull<Task> {
    LOCAL.with(|local| local.lists[class].pop()).unwrap_or_else(|| take_shared(class))
}

#[cold]
#[inline(never)]
fn take_shared(class: usize) -> NonNull<Task> {
    guard();
    LOCAL.with(|local| {
        let mine = &local.lists[class];
        // A thread that ends keeps nothing, and slots that it did not use would be lost.
        let most = if local.is_guarded.get() { KEPT / 2 } else { 1 };
        SHARED.lock().take(class, mine, most);
        mine.pop().expect("some have just been put there")
    })
}

/// Makes sure that the slots of this thread are handed back. That fails if the thread is ending.
fn guard() {
    LOCAL.with(|local| local.is_guarded.set(GUARD.try_with(|_| ()).is_ok()));
}

/// Gives a slot back.
///
/// # Safety
///
/// The slot comes from [`take`] with this class, its contents have been dropped, and its state is
/// that of a vacant one. The caller does not use it again.
#[inline(always)]
pub(super) unsafe fn give(slot: NonNull<Task>, class: usize) {
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
            SHARED.lock().give(class, mine, more);
        }
    });
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
