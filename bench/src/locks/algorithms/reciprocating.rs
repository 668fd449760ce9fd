//! Reciprocating locks: threads that come are pushed on a stack, and the stack is taken over as a
//! whole when all threads of the stack before have been served (Dice and Kogan, "Reciprocating
//! Locks", PPoPP 2025).
//!
//! The thread that came last is served first, but no thread that comes later can pass more than
//! once. So each other thread passes a waiting one at most twice, and leaving takes a constant
//! time. A *segment* is a stack that has been taken over. Its members know the element below them,
//! and each learns the end of the segment: the element of the thread that held the lock when the
//! segment began, which the lowest member takes for the element below it.

use super::Lock;
use crate::locks::wait::Wait;
use std::{
    marker::PhantomData,
    ptr,
    sync::atomic::{
        AtomicPtr,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
    },
};

/// Fair to a factor of two; one word for the lock.
pub(crate) struct Reciprocating<W> {
    /// The element of the last thread to come; null if the lock is free, [`NOBODY`] if it is held
    /// and nobody came since.
    arrivals: AtomicPtr<Element>,
    wait: PhantomData<fn(W)>,
}

/// Where one waits: null, until the lock is handed over with the end of the segment.
#[repr(align(64))]
struct Element(AtomicPtr<Element>);

/// The lock is held, and nobody has come since. No element has this address: they are aligned.
const NOBODY: *mut Element = ptr::without_provenance_mut(1);

// SAFETY: the thread that finds `arrivals` null holds the lock. Each other thread is handed it
// once, by a holder, after the holder's `f`. This holder is above it in its segment, or has taken
// over the stack whose top the thread is. A holder takes the stack over by an atomic exchange, and
// only while there are arrivals. The exchanges acquire what the compare-exchange has released that
// made `arrivals` null; an element is stored to with release and loaded with acquire.
unsafe impl<W: Wait> Lock for Reciprocating<W> {
    fn new() -> Self {
        Reciprocating { arrivals: AtomicPtr::default(), wait: PhantomData }
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        let element = Element(AtomicPtr::default());
        let mine = (&raw const element).cast_mut();
        // Whom we will serve next, and where our segment ends.
        let mut below = ptr::null_mut();
        let mut end = mine;
        let before = self.arrivals.swap(mine, AcqRel);
        if !before.is_null() {
            if before != NOBODY {
                below = before;
            }
            let mut wait = W::new();
            end = loop {
                let end = element.0.load(Acquire);
                if !end.is_null() {
                    break end;
                }
                wait.again();
            };
            if below == end {
                // We are the lowest.
                below = ptr::null_mut();
                end = NOBODY;
            }
        }
        let result = f();
        self.leave(below, end);
        result
    }
}

impl<W: Wait> Reciprocating<W> {
    #[inline]
    fn leave(&self, below: *mut Element, end: *mut Element) {
        if !below.is_null() {
            // SAFETY: `below` has pushed its element before ours and waits at it until it is handed
            // the lock, which only we do, who are above it. It was not the end of the segment,
            // which may be gone.
            unsafe { &(*below).0 }.store(end, Release);
            return;
        }
        if self.arrivals.compare_exchange(end, ptr::null_mut(), Release, Relaxed).is_ok() {
            return;
        }
        let top = self.arrivals.swap(NOBODY, AcqRel);
        // SAFETY: the compare-exchange has failed, so somebody has come since the lock was taken or
        // the last stack was taken over, and only a holder, which we are, takes them away. The top
        // waits at its element until it is handed the lock.
        unsafe { &(*top).0 }.store(end, Release);
    }
}
