//! The memory of tasks: slots, recycled by each thread.
//!
//! A task's waker is the address of its *slot* (`event/recycled.rs`). A wake may come when the task has long ended;
//! what it finds must still be the head of a slot, so slots are cut once and keep their places and sizes. They come in
//! multiples of 64 bytes up to a kilobyte, then in powers of two.
//!
//! Each thread keeps the slots that become vacant on it, and takes the last one first, which is still in its cache. A
//! thread that has more than it uses hands half back to the pieces that they were cut from, where others find them
//! (`pieces.rs`). What nobody uses for a while gives its memory back, and keeps its address.

use super::pieces::SHARED;
use super::record::Task;
use std::alloc::Layout;
use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

/// The step of the sizes, and how slots are aligned.
pub(super) const STEP: usize = 64;
/// How many sizes are multiples of the step.
pub(super) const STEPS: usize = 16;
pub(super) const LARGEST_STEP: usize = STEP * STEPS;
/// Then powers of two, of which this is the largest.
const POWERS: usize = 40;
pub(super) const CLASSES: usize = STEPS + POWERS;
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
        // SAFETY: a vacant slot that has been cut and is in a list is that list's alone.
        self.first.set(unsafe { first.as_ref() }.next_vacant());
        self.count.set(self.count.get() - 1);
        Some(first)
    }

    #[inline(always)]
    pub(super) fn push(&self, slot: NonNull<Task>) {
        // SAFETY: as above; a slot in no list is the caller's alone.
        unsafe { slot.as_ref() }.set_next_vacant(self.first.replace(slot.as_ptr()));
        self.count.set(self.count.get() + 1);
    }

    /// Forgets the slots that are in it.
    pub(super) fn forget(&self) {
        self.first.set(null_mut());
        self.count.set(0);
    }
}

struct Local {
    lists: [List; CLASSES],
    /// Has it been seen to that what is kept is handed back when the thread ends?
    is_guarded: Cell<bool>,
}

thread_local! {
    static LOCAL: Local = const { Local { lists: [const { List::new() }; CLASSES], is_guarded: Cell::new(false) } };
    static GUARD: Guard = const { Guard };
}

/// Hands the thread's slots back when the thread ends. Apart from them, so that to use them is to use plain memory.
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

/// A vacant slot of this class, for the caller alone.
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
        // A thread that ends keeps nothing, and what it had not used would be lost.
        let most = if local.is_guarded.get() { KEPT / 2 } else { 1 };
        SHARED.lock().take(class, mine, most);
        mine.pop().expect("some have just been put there")
    })
}

/// Makes sure that what this thread keeps is not lost with it. When the thread ends already, it is.
fn guard() {
    LOCAL.with(|local| local.is_guarded.set(GUARD.try_with(|_| ()).is_ok()));
}

/// Vacates a slot.
///
/// # Safety
///
/// It comes from [`take`] with this class, what was in it has been dropped, and its state is that of a vacant one; the
/// caller does not use it again.
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
