//! A domain on which something runs for long, and the fibers and tasks that wait there meanwhile.
//!
//! Another thread finds this out, without the domain's help, because a stuck domain cannot help. So
//! the domain publishes, by plain stores, its current turn; whether something else was ready when
//! that began or has been woken during it; and the deadline of a timer of its wheel that is not
//! much later than the first. The rest can be seen from outside: the inbox, the fibers that have
//! not begun, and the descriptors, see `reactor/waited.rs`.

use super::Domain;
use super::kernel;
use super::shared::Shared;
use crate::report::{Delayed, Stall};
use crate::shim::clock;
use crate::shim::unseen::{AtomicU64, Ordering};
use std::time::Duration;

/// A turn that has lasted for so long is a long one. Not less: the system may take the processor away
/// from a domain in the middle of a short turn, and a fiber lives where it is placed, for as long as
/// it lives.
const LONG: Duration = Duration::from_millis(100);

/// The facts that the monitor publishes about a domain.
#[derive(Default)]
pub(super) struct Watched {
    /// The turn that the domain was in when the monitor last looked, and when it was first seen in
    /// it.
    turn: AtomicU64,
    since: AtomicU64,
}

impl Watched {
    /// Notes that the domain is in a turn that it was not in before. Monitor only.
    pub(super) fn begins(&self, turn: u64, now: u64) {
        self.since.store(now, Ordering::Relaxed);
        // Release: a thread that sees the turn sees since when.
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
    /// Returns for how long the domain has been in its current turn, as far as the monitor has
    /// seen.
    pub(super) fn lasted(&self, now: u64) -> Option<Duration> {
        let lasted = || Duration::from_nanos(now.saturating_sub(self.watched.since()));
        self.is_in_a_seen_turn().then(lasted)
    }

    /// Returns `true` if something has run on the domain for so long that a handed-over fiber would
    /// wait.
    pub(super) fn is_in_a_long_turn(&self) -> bool {
        let is_running = !self.counts.site.load(Ordering::Relaxed).is_null();
        is_running
            && self.is_in_a_seen_turn()
            && self.lasted(clock::now()).is_some_and(|lasted| lasted >= LONG)
    }

    fn is_in_a_seen_turn(&self) -> bool {
        self.watched.turn() == self.counts.turn() && !self.inbox.is_asleep()
    }

    /// Returns the work that waits for this domain, without descriptors. Any domain may take
    /// entries of the common queue, so they wait for this domain only if all are busy.
    pub(super) fn delayed(&self, shared: &Shared, all_are_busy: bool, now: u64) -> Delayed {
        let common = if all_are_busy { shared.common.len() } else { 0 };
        let due = self.counts.next_timer.get();
        Delayed {
            ready: self.counts.others_are_ready(),
            unbegun: usize::try_from(self.unbegun() + common).unwrap_or(usize::MAX),
            woken: self.inbox.has_news() && !self.inbox.is_asleep(),
            timer: now.checked_sub(due).map(Duration::from_nanos).filter(|late| !late.is_zero()),
            descriptors: Vec::new(),
        }
    }

    /// Returns the facts about the domain that are known without its help.
    pub(super) fn stall(&self, shared: &Shared, all_are_busy: bool) -> Stall {
        let now = clock::now();
        let mut delayed = self.delayed(shared, all_are_busy, now);
        delayed.descriptors = self.reactor.awaited();
        let asleep = kernel::asleep(self.thread.load(Ordering::Relaxed));
        Stall { domain: self.index, fiber: self.running_now(), lasted: self.lasted(now), delayed, asleep }
    }
}
