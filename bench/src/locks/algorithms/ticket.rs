//! Ticket locks: everyone takes a number, and waits until it is called (Reed and Kanodia,
//! "Synchronization with eventcounts and sequencers", 1979).

use super::Lock;
use crate::locks::wait::Wait;
use std::{
    marker::PhantomData,
    sync::atomic::{
        AtomicU32,
        Ordering::{Acquire, Relaxed, Release},
    },
};

/// Fair, and all that wait look at the same number.
pub(crate) struct Ticket<W> {
    /// The next to be taken.
    next: AtomicU32,
    /// Whose turn it is.
    called: AtomicU32,
    wait: PhantomData<fn(W)>,
}

// SAFETY: `f` runs from when its ticket is called, which is read with acquire, until the next is
// called, which is written with release. Tickets are taken atomically, so no two calls have the
// same while fewer than 2^32 wait; and only the holder calls one, the one after its own.
unsafe impl<W: Wait> Lock for Ticket<W> {
    fn new() -> Self {
        Ticket { next: AtomicU32::new(0), called: AtomicU32::new(0), wait: PhantomData }
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        let mine = self.next.fetch_add(1, Relaxed);
        let mut wait = W::new();
        while self.called.load(Acquire) != mine {
            wait.again();
        }
        let result = f();
        // Nobody else writes it now, so this needs no locked instruction.
        self.called.store(mine.wrapping_add(1), Release);
        result
    }
}
