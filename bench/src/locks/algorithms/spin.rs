//! Spin locks of a single flag: a thread that finds it clear has the lock, and no thread is in
//! line.
//!
//! They come from Malte Skarupke, "Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler
//! Really is" (2019): his `terrible_spinlock`, `spinlock_amd` and `spinlock`, of which the second
//! follows a presentation of AMD's.

use super::Lock;
use crate::locks::wait::Wait;
use std::{
    marker::PhantomData,
    sync::atomic::{
        AtomicBool,
        Ordering::{Acquire, Relaxed, Release},
    },
};

/// Sets the flag again and again until it was clear. Each attempt takes the cache line away from
/// the others, and from the holder.
pub(crate) struct TestAndSet<W>(AtomicBool, PhantomData<fn(W)>);

/// Reads the flag until it is clear, and sets it only then, by a comparison.
pub(crate) struct TestAndTestAndSet<W>(AtomicBool, PhantomData<fn(W)>);

/// The same, by an exchange.
pub(crate) struct TryExchange<W>(AtomicBool, PhantomData<fn(W)>);

// SAFETY: `f` runs between a change of the flag from clear to set, which is atomic and acquires,
// and its clearing, which releases. Another call cannot change it from clear to set in between.
unsafe impl<W: Wait> Lock for TestAndSet<W> {
    fn new() -> Self {
        TestAndSet(AtomicBool::new(false), PhantomData)
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        let mut wait = W::new();
        while self.0.swap(true, Acquire) {
            wait.again();
        }
        let result = f();
        self.0.store(false, Release);
        result
    }
}

// SAFETY: as for `TestAndSet`.
unsafe impl<W: Wait> Lock for TestAndTestAndSet<W> {
    fn new() -> Self {
        TestAndTestAndSet(AtomicBool::new(false), PhantomData)
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        let mut wait = W::new();
        while self.0.load(Relaxed) || self.0.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
            wait.again();
        }
        let result = f();
        self.0.store(false, Release);
        result
    }
}

// SAFETY: as for `TestAndSet`.
unsafe impl<W: Wait> Lock for TryExchange<W> {
    fn new() -> Self {
        TryExchange(AtomicBool::new(false), PhantomData)
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        let mut wait = W::new();
        while self.0.load(Relaxed) || self.0.swap(true, Acquire) {
            wait.again();
        }
        let result = f();
        self.0.store(false, Release);
        result
    }
}
