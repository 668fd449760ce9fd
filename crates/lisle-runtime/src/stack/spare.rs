//! Spare stacks of one domain that another domain needs.
//!
//! A pool does not give address space back before it is dropped, and the limits on address space
//! apply to the whole process. So if a domain gets no stack from the system, the other domains of
//! its runtime hand it some of their free stacks.

use super::{Stack, slab};
use crate::event::lock::Lock;
use crate::shim::atomic::{AtomicUsize, Ordering};

/// The free stacks of a runtime that are in no pool.
#[derive(Debug)]
pub(crate) struct SpareStacks {
    stacks: Lock<Vec<Stack>>,
    /// The number of domains that want some.
    wanted: AtomicUsize,
}

impl SpareStacks {
    pub(crate) fn new() -> Self {
        SpareStacks { stacks: Lock::new(Vec::new()), wanted: AtomicUsize::new(0) }
    }

    /// Says that one more domain wants stacks. It then wakes the others.
    pub(crate) fn want(&self) {
        self.wanted.fetch_add(1, Ordering::SeqCst);
    }

    /// Says that a domain wants no stacks any more.
    pub(crate) fn no_longer_want(&self) {
        self.wanted.fetch_sub(1, Ordering::SeqCst);
    }

    /// Returns `true` if a domain wants stacks.
    #[inline]
    pub(crate) fn are_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) > 0
    }

    /// Adds stacks of any pool of this runtime.
    pub(crate) fn give(&self, stacks: impl IntoIterator<Item = Stack>) {
        self.stacks.lock().extend(stacks);
    }

    pub(crate) fn take(&self) -> Option<Stack> {
        self.stacks.lock().pop()
    }
}

impl Drop for SpareStacks {
    fn drop(&mut self) {
        let stacks = std::mem::take(self.stacks.get_mut());
        if !stacks.is_empty() {
            slab::leave(Vec::new(), stacks);
        }
    }
}
