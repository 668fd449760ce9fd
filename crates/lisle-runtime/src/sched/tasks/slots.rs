//! The memory of tasks: recycled slots (see `memory`).
//!
//! A task's waker is the address of its *slot* (`event/performer/recycled/mod.rs`). A wake may come long after
//! the task has ended, and must still find the head of a slot: a late wake of a task whose memory
//! has been given back finds zeros, which are the state of a vacant slot
//! (`event/performer/recycled/state.rs`), in which the wake has no effect. So slots of all sizes stay.

use super::life::ready_recycled;
use crate::spawned::task_cell::Task;
use std::ptr::NonNull;

/// The kind of slots that tasks live in.
pub(crate) struct Slots;

lisle_core::kind_of_slots!(Slots, stays: true, make_vacant: make_vacant);

/// Makes memory a vacant slot of `size` bytes, as `Kind::make_vacant` does.
///
/// # Safety
///
/// As there. Late wakes, and code that looks at all slots, read the state and the home of a slot.
unsafe fn make_vacant(slot: NonNull<u8>, size: usize) {
    // SAFETY: passed on to the caller. The owner of a task may ready it.
    unsafe { Task::make_vacant(slot.as_ptr().cast(), size, ready_recycled) };
}
