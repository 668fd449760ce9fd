//! Fibers that have not begun and found the ring full: the surplus of a domain.
//!
//! Each domain keeps its last ones to itself, and moves them to the common queue, and back, many at
//! a time: one lock and two counts for [`BATCH`], in place of as many for each. While any domain is
//! idle it keeps none: all lie where they can be taken.
//!
//! The domain that keeps some is awake. It begins them itself, and looks for idle domains before
//! each, so what it keeps waits for no longer than one turn while another domain has nothing to do.

use super::Worker;
use crate::spawned::runnable::Runnable;
use std::ptr::NonNull;

/// How many a domain keeps at most. It takes half as many at once, so that it does not move the
/// same ones to and fro.
const BATCH: u64 = 64;

impl Worker {
    /// Keeps a fiber that has not begun, and that the ring has no room for.
    pub(super) fn keep_surplus(&self, fiber: NonNull<Runnable>) {
        // SAFETY: it is in no list, since the ring has given it back, and stays until it runs.
        unsafe { self.queues.surplus.push_first(fiber) };
        self.domain.counts.surplus.add(1);
        if self.domain.counts.surplus.get() == BATCH || self.shared.could_wake_one() {
            self.offer_surplus();
        }
    }

    /// Returns `true` if there is surplus. The answer may be out of date.
    #[inline]
    pub(super) fn has_surplus(&self) -> bool {
        !self.queues.surplus.is_empty() || self.shared.common.has_surplus()
    }

    /// Takes the youngest of the surplus.
    pub(super) fn take_surplus(&self) -> Option<NonNull<Runnable>> {
        let count = &self.domain.counts.surplus;
        let is_wanted = self.shared.could_wake_one();
        if is_wanted {
            self.offer_surplus();
        }
        if self.queues.surplus.is_empty() {
            let share = if is_wanted { 1 } else { BATCH / 2 };
            count.set(share);
            count.set(self.shared.common.take_surplus(share, &self.queues.surplus));
        }
        let youngest = self.queues.surplus.pop()?;
        count.set(count.get() - 1);
        Some(youngest)
    }

    /// Moves what the domain keeps to where others can take it.
    pub(super) fn offer_surplus(&self) {
        let count = &self.domain.counts.surplus;
        if count.get() > 0 {
            self.shared.push_surplus(&self.queues.surplus, count.get());
            count.set(0);
        }
    }
}
