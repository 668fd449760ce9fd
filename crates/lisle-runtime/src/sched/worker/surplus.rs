//! Fibers that have not begun and found the ring full: the surplus of a domain.
//!
//! Each domain keeps its last ones, and moves them to the common queue, and back, many at a time: it
//! changes two shared counts for each [`BATCH`], instead of for each fiber. While any domain sleeps
//! it keeps only a few, unless more lie in the common queue than all could take at once.
//!
//! The domain that keeps some is awake and begins them itself. But it may stay in one turn, which
//! may even wait for them in a way that the library does not know. Then another domain that has
//! nothing to do moves them to the common queue. So they lie under a lock.

use super::Worker;
use super::held::stealing::LOOK;
use crate::sched::Domain;
use crate::sched::shared::Shared;
use crate::spawned::runnable::Runnable;
use std::ptr::NonNull;

/// How many a domain keeps at most. It takes at most half as many at once, so that it does not move
/// the same ones to and fro.
const BATCH: u64 = 64;

impl Worker {
    /// Keeps a fiber that has not begun, and that the ring has no room for.
    pub(super) fn keep_surplus(&self, fiber: NonNull<Runnable>) {
        let kept = {
            let surplus = self.domain.surplus.lock();
            // SAFETY: it is in no list, since the ring has given it back, and stays until it runs.
            unsafe { surplus.push_first(fiber) };
            self.domain.counts.surplus.add(1);
            self.domain.counts.surplus.get()
        };
        if kept >= BATCH || (kept.is_multiple_of(LOOK) && self.surplus_is_wanted()) {
            self.offer_surplus();
        }
    }

    /// Returns `true` if there is surplus. The answer may be out of date.
    #[inline]
    pub(super) fn has_surplus(&self) -> bool {
        self.domain.counts.surplus.get() > 0 || self.shared.common.surplus() > 0
    }

    /// Takes the youngest of the surplus. Wakes another domain if it has taken a share of the common
    /// queue and left some.
    pub(super) fn take_surplus(&self) -> Option<NonNull<Runnable>> {
        let is_wanted = self.surplus_is_wanted();
        if is_wanted {
            self.offer_surplus();
        }
        let count = &self.domain.counts.surplus;
        let surplus = self.domain.surplus.lock();
        let is_refilled = surplus.is_empty();
        if is_refilled {
            // A fair share among the domains that may run at the same time.
            let fair = self.shared.common.surplus() / self.shared.most_at_once() as u64;
            let share = if is_wanted { 1 } else { fair.clamp(1, BATCH / 2) };
            count.set(share);
            count.set(self.shared.common.take_surplus(share, &surplus));
        }
        let youngest = surplus.pop()?;
        count.set(count.get() - 1);
        drop(surplus);
        if is_refilled && self.shared.common.surplus() > 0 && self.shared.could_wake_one() {
            self.shared.wake_one(self.domain.index);
        }
        Some(youngest)
    }

    /// Returns `true` if a domain could be woken for this one's surplus, and would find too little
    /// in the common queue.
    fn surplus_is_wanted(&self) -> bool {
        let enough = BATCH / 2 * self.shared.most_at_once() as u64;
        self.shared.could_wake_one() && self.shared.common.surplus() < enough
    }

    /// Moves the domain's surplus to the common queue.
    pub(super) fn offer_surplus(&self) {
        self.shared.offer_surplus_of(&self.domain);
    }
}

impl Shared {
    /// Moves a domain's surplus to the common queue. Any thread. Returns `false` if there is none.
    pub(super) fn offer_surplus_of(&self, domain: &Domain) -> bool {
        let count = &domain.counts.surplus;
        if count.get() == 0 {
            return false;
        }
        let kept = {
            let surplus = domain.surplus.lock();
            let kept = count.get();
            self.common.push_surplus(&surplus, kept);
            count.set(0);
            kept
        };
        // Not under the lock: it may take a system call.
        if kept > 0 && self.could_wake_one() {
            self.wake_one(0);
        }
        kept > 0
    }
}
