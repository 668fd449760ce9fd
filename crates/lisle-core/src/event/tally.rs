//! Counts that each thread keeps for itself and a domain collects now and then. Each is an addition
//! to a thread-local, where even finding the domain would cost too much.

use std::cell::Cell;

thread_local! {
    static COMMUNICATIONS: Cell<u64> = const { Cell::new(0) };
    static TASKS: Cell<u64> = const { Cell::new(0) };
}

/// Counts a message that has passed from a sender to a receiver.
#[inline(always)]
pub(crate) fn communication() {
    COMMUNICATIONS.with(|count| count.set(count.get().wrapping_add(1)));
}

/// Counts a task that has been spawned.
#[inline(always)]
pub fn task() {
    TASKS.with(|count| count.set(count.get().wrapping_add(1)));
}

/// Returns how many messages have passed, and how many tasks have been spawned, by this thread so
/// far.
#[inline]
pub fn read() -> (u64, u64) {
    (COMMUNICATIONS.with(Cell::get), TASKS.with(Cell::get))
}
