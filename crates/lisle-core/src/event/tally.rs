//! What a thread counts for itself, for a worker to pass on now and then: an addition to a thread-local each, where
//! even a look at the worker would be too much.

use std::cell::Cell;

thread_local! {
    static COMMUNICATIONS: Cell<u64> = const { Cell::new(0) };
    static TASKS: Cell<u64> = const { Cell::new(0) };
}

/// A message has passed from a sender to a receiver.
#[inline(always)]
pub(crate) fn communication() {
    COMMUNICATIONS.with(|count| count.set(count.get().wrapping_add(1)));
}

/// A task has been spawned.
#[inline(always)]
pub fn task() {
    TASKS.with(|count| count.set(count.get().wrapping_add(1)));
}

/// How many messages have passed, and how many tasks have been spawned, by this thread, ever.
#[inline]
pub fn read() -> (u64, u64) {
    (COMMUNICATIONS.with(Cell::get), TASKS.with(Cell::get))
}
