//! A domain on which something runs for long, and what waits there meanwhile.
//!
//! Another thread looks, without the domain's help, since that is just what cannot be had. So the domain tells, by plain stores,
//! in which turn it is, whether something else was ready when that began or was woken in it, and a timer of its
//! wheel that is not much later than the first. The rest can be seen from outside: the inbox, the fibers that have not begun, and
//! the descriptors, see `reactor/waited.rs`.

use super::Domain;
use super::shared::Shared;
use crate::report::{Delayed, Stall};
use crate::shim::atomic::{AtomicU64, Ordering};
use crate::shim::clock;
use std::time::Duration;

/// What the monitor tells the others of a domain.
#[derive(Default)]
pub(super) struct Watched {
    /// The turn that it was in when the monitor looked last, and when it was first seen to be in that.
    turn: AtomicU64,
    since: AtomicU64,
}

impl Watched {
    /// Monitor only: the domain is in a turn that it was not in before.
    pub(super) fn begins(&self, turn: u64, now: u64) {
        self.since.store(now, Ordering::Relaxed);
        // Release: who sees the turn sees since when.
        self.turn.store(turn, Ordering::Release);
    }

    pub(super) fn turn(&self) -> u64 {
        self.turn.load(Ordering::Acquire)
    }

    pub(super) fn since(&self) -> u64 {
        self.since.load(Ordering::Relaxed)
    }
}

impl Domain {
    /// For how long it has been in the turn that it is in, as the monitor has seen.
    pub(super) fn lasted(&self, now: u64) -> Option<Duration> {
        let is_seen = self.watched.turn() == self.counts.turn() && !self.inbox.is_asleep();
        is_seen.then(|| Duration::from_nanos(now.saturating_sub(self.watched.since())))
    }

    /// What waits for it, but for descriptors. What lies in the common queue may be taken by any domain, and waits for this
    /// one only if all are busy.
    pub(super) fn delayed(&self, shared: &Shared, all_are_busy: bool, now: u64) -> Delayed {
        let common = if all_are_busy { shared.common.len() } else { 0 };
        let due = self.counts.next_timer.get();
        Delayed {
            ready: self.counts.others_are_ready(),
            unbegun: usize::try_from(self.stealable.len()).unwrap_or(usize::MAX).saturating_add(common),
            woken: self.inbox.has_news() && !self.inbox.is_asleep(),
            timer: now.checked_sub(due).map(Duration::from_nanos).filter(|late| !late.is_zero()),
            descriptors: Vec::new(),
        }
    }

    /// What is known of it without its help.
    pub(super) fn stall(&self, shared: &Shared, all_are_busy: bool) -> Stall {
        let now = clock::now();
        let mut delayed = self.delayed(shared, all_are_busy, now);
        delayed.descriptors = self.reactor.awaited();
        Stall { domain: self.index, fiber: self.running_now(), lasted: self.lasted(now), delayed }
    }
}
