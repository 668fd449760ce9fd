//! The locks that are no library's: each is written as its source describes it, for any [way of
//! waiting](super::wait).
//!
//! [`Lock`] is their common trait, and [`Guarded`] makes a mutex of it that protects a number. A
//! thread that waits in a queue has a node there. The node lies on the stack of [`Lock::with`],
//! which therefore calls a function under the lock rather than return a guard: a guard could be
//! moved, and the node with it.

mod clh;
mod hemlock;
mod mcs;
mod pthread;
mod reciprocating;
mod spin;
mod ticket;

pub(crate) use clh::Clh;
pub(crate) use hemlock::Hemlock;
pub(crate) use mcs::Mcs;
pub(crate) use pthread::{Adaptive, Normal, Pthread};
pub(crate) use reciprocating::Reciprocating;
pub(crate) use spin::{TestAndSet, TestAndTestAndSet, TryExchange};
pub(crate) use ticket::Ticket;

use crate::peers::BlockingMutex;
use std::cell::UnsafeCell;

/// A lock that nobody holds twice.
///
/// # Safety
///
/// The calls of [`with`](Lock::with) on one lock run their `f`s one after the other, and each sees
/// the writes of the `f`s before it.
pub(crate) unsafe trait Lock: Send + Sync + 'static {
    fn new() -> Self;

    /// Calls `f` under the lock.
    ///
    /// A panic of `f` may leave the lock held for ever: nothing here goes on after one.
    fn with<R>(&self, f: impl FnOnce() -> R) -> R;
}

/// A number under a lock. The lock and the number share a cache line, as in a mutex that holds a
/// value.
pub(crate) struct Guarded<L> {
    lock: L,
    value: UnsafeCell<u64>,
}

// SAFETY: the number is touched under the lock only, by one thread at a time, as `Lock` guarantees.
unsafe impl<L: Lock> Sync for Guarded<L> {}

impl<L: Lock> BlockingMutex for Guarded<L> {
    fn new() -> Self {
        Guarded { lock: L::new(), value: UnsafeCell::new(0) }
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
        self.lock.with(|| {
            // SAFETY: we are under the lock, so there is no other reference to the number, by
            // `Lock`'s contract; and this one ends with `f`, before the lock is given back.
            f(unsafe { &mut *self.value.get() })
        })
    }
}

#[cfg(test)]
mod tests;
