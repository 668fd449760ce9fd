//! Flags by which participants tell each other to stop early.
//!
//! The flags are only hints. The items that were found come with the accumulators, and merging
//! these orders all steps before. A domain that sees a hint late does some work in vain. Hence
//! all accesses are relaxed.

use crate::event::{declare, gone};
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Whether a participant has found a result that suffices for all.
pub(in crate::iter) struct Found(AtomicBool);

impl Found {
    pub(in crate::iter) fn new() -> Self {
        Found(AtomicBool::new(false))
    }

    pub(in crate::iter) fn set(&self) {
        declare(self);
        self.0.store(true, Relaxed);
    }

    pub(in crate::iter) fn is_set(&self) -> bool {
        declare(self);
        self.0.load(Relaxed)
    }
}

/// The first block in which an item was found, by its first step.
pub(in crate::iter) struct First(AtomicUsize);

impl First {
    pub(in crate::iter) fn new() -> Self {
        First(AtomicUsize::new(usize::MAX))
    }

    /// Records that an item was found in the block that begins at step `at`.
    pub(in crate::iter) fn found_at(&self, at: usize) {
        declare(self);
        self.0.fetch_min(at, Relaxed);
    }

    /// Returns `true` if an item was found in a block before the one that begins at step `at`.
    pub(in crate::iter) fn is_before(&self, at: usize) -> bool {
        declare(self);
        self.0.load(Relaxed) < at
    }
}

/// The last block in which an item was found, by its first step.
pub(super) struct Last(AtomicUsize);

impl Last {
    pub(super) fn new() -> Self {
        Last(AtomicUsize::new(0))
    }

    pub(super) fn found_at(&self, at: usize) {
        declare(self);
        self.0.fetch_max(at, Relaxed);
    }

    /// Returns `true` if an item was found in a block after the one that begins at step `at`.
    /// Blocks do not overlap.
    pub(super) fn is_after(&self, at: usize) -> bool {
        declare(self);
        self.0.load(Relaxed) > at
    }
}

macro_rules! goes {
    ($($Stop:ident)*) => { $(
        /// A model has to know that another flag may come to the same place in memory.
        impl Drop for $Stop {
            #[inline]
            fn drop(&mut self) {
                gone(self);
            }
        }
    )* };
}

goes! { Found First Last }

#[cfg(test)]
mod tests {
    use super::{First, Found, Last};

    #[test]
    fn the_best_that_was_found_counts() {
        let found = Found::new();
        assert!(!found.is_set());
        found.set();
        assert!(found.is_set());

        let first = First::new();
        assert!(!first.is_before(usize::MAX));
        [7, 5, 9].into_iter().for_each(|at| first.found_at(at));
        assert!(first.is_before(6) && !first.is_before(5));

        let last = Last::new();
        assert!(!last.is_after(0));
        [7, 9, 5].into_iter().for_each(|at| last.found_at(at));
        assert!(last.is_after(8) && !last.is_after(9));
    }
}
