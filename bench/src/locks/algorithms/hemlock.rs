//! Hemlock: a queue of threads rather than of nodes (Dice and Kogan, "Hemlock: compact and scalable
//! mutual exclusion", SPAA 2021).
//!
//! A lock is one word, and each thread has one more, its *grant*, for all locks. The holder writes
//! the lock's address there; the one behind it waits for that and takes it away, so that the word
//! may be used again. The thread behind is not known to the holder.

use super::Lock;
use crate::locks::wait::Wait;
use std::{
    marker::PhantomData,
    ptr,
    sync::atomic::{
        AtomicPtr, AtomicUsize,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
    },
};

/// Fair; one word for the lock.
pub(crate) struct Hemlock<W> {
    /// The grant of the last in the queue, the holder's if nobody waits; null if the lock is free.
    tail: AtomicPtr<Grant>,
    wait: PhantomData<fn(W)>,
}

/// The address of the lock that is handed to the one behind; 0 if none is.
#[repr(align(64))]
struct Grant(AtomicUsize);

thread_local! {
    static GRANT: Grant = const { Grant(AtomicUsize::new(0)) };
}

// SAFETY: the thread that finds the tail null holds the lock. Each other thread is granted it once,
// by the thread before it, after the `f` of that: the thread behind takes the grant away. The
// threads form one queue, as each is made the tail by an atomic exchange, which acquires what the
// compare-exchange has released that made it null. The grant is stored with release and taken with
// acquire.
unsafe impl<W: Wait> Lock for Hemlock<W> {
    fn new() -> Self {
        Hemlock { tail: AtomicPtr::default(), wait: PhantomData }
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        GRANT.with(|grant| {
            let mine = ptr::from_ref(grant).cast_mut();
            let before = self.tail.swap(mine, AcqRel);
            if !before.is_null() {
                // SAFETY: the thread before us does not return from `leave`, and so does not end,
                // before we have taken the grant away: that is the last that we do with it.
                self.take(unsafe { &*before });
            }
            let result = f();
            self.leave(grant);
            result
        })
    }
}

impl<W: Wait> Hemlock<W> {
    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    #[inline]
    fn take(&self, before: &Grant) {
        let mut wait = W::new();
        // By comparison, as the paper has it: the line is ours to write when the grant comes.
        while before.0.compare_exchange(self.address(), 0, AcqRel, Relaxed).is_err() {
            wait.again();
        }
    }

    #[inline]
    fn leave(&self, grant: &Grant) {
        let mine = ptr::from_ref(grant).cast_mut();
        if self.tail.compare_exchange(mine, ptr::null_mut(), Release, Relaxed).is_ok() {
            return;
        }
        grant.0.store(self.address(), Release);
        let mut wait = W::new();
        while grant.0.load(Acquire) != 0 {
            wait.again();
        }
    }
}
