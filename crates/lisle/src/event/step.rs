//! What must not happen in the steps between publishing and withdrawing: waiting for something else.
//!
//! From the moment an attempt is published a partner may commit it and wake its performer, and that wake
//! belongs to the park that follows. If the performer waited for something else meanwhile (a function
//! given to a [`Source`](super::Source) that receives from a channel, say), the wake would end the
//! wrong park, or find the performer already queued to run. So each thread knows which attempts it is
//! in a step of, and whoever wants to suspend asks here first.

use super::record::{Record, misuse};
use std::cell::Cell;

#[cfg(not(lisle_loom))]
thread_local! {
    /// The innermost; each record knows the next one out.
    static CURRENT: Cell<*const Record> = const { Cell::new(std::ptr::null()) };
}

#[cfg(lisle_loom)]
loom::thread_local! {
    static CURRENT: Cell<*const Record> = Cell::new(std::ptr::null());
}

/// Marks a step of the attempt with this record, until dropped.
pub(super) struct InStep<'a>(&'a Record);

impl<'a> InStep<'a> {
    #[inline]
    pub(super) fn new(record: &'a Record) -> Self {
        record.outer.set(CURRENT.with(|current| current.replace(record)));
        InStep(record)
    }
}

impl Drop for InStep<'_> {
    #[inline]
    fn drop(&mut self) {
        CURRENT.with(|current| current.set(self.0.outer.get()));
    }
}

/// Suspends the performer now running by calling `park`. Ends the process if that happens within a step
/// of an attempt that partners can see.
#[inline(always)]
pub(crate) fn suspend<R>(park: impl FnOnce() -> R) -> R {
    let innermost = CURRENT.with(Cell::get);
    if innermost.is_null() { park() } else { suspend_in_step(innermost, park) }
}

#[cold]
fn suspend_in_step<R>(innermost: *const Record, park: impl FnOnce() -> R) -> R {
    /// Others that run on this thread meanwhile have steps of their own.
    struct Restore(*const Record);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.with(|current| current.set(self.0));
        }
    }
    let mut next = innermost;
    while !next.is_null() {
        // SAFETY: a record outlives the steps of its attempt, and this performer is in one of them.
        let record = unsafe { &*next };
        if record.is_exposed() {
            misuse("a function that it calls in `publish` or `withdraw` waits for something else");
        }
        next = record.outer.get();
    }
    let _restore = Restore(innermost);
    CURRENT.with(|current| current.set(std::ptr::null()));
    park()
}
