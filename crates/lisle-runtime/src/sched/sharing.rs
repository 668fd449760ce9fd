//! Decides when a loop looks at the needs of other domains, and counts the domains that could take
//! its work.

use super::shared::Shared;
use crate::shim::{ticks, unseen::Ordering};
use std::cell::Cell;

/// The time between two heartbeats: for this long, work that is put off stays on its domain if the
/// domains that could take it sleep. It is about the cost of waking a domain.
pub const PERIOD: u64 = 50 * ticks::A_MICROSECOND;

/// When the code of a thread had its last heartbeat, in ticks.
#[derive(Default)]
pub(crate) struct LastBeat(Cell<u64>);

impl LastBeat {
    pub(crate) const fn new() -> Self {
        LastBeat(Cell::new(0))
    }

    /// Notes a heartbeat.
    pub(crate) fn set(&self, now: u64) {
        self.0.set(now);
    }

    /// Makes the next heartbeat due at once.
    #[inline]
    pub(crate) fn hurry(&self) {
        self.0.set(0);
    }

    /// Returns `true` if it is time for another heartbeat.
    #[inline]
    pub(crate) fn is_past(&self, now: u64) -> bool {
        now.wrapping_sub(self.0.get()) >= PERIOD
    }
}

impl Shared {
    /// Returns how many domains can work at the same time.
    pub fn most_at_once(&self) -> usize {
        self.domains.len().min(self.processors)
    }

    /// Wakes the monitor, which looks at the pending work of threads that run no domain.
    #[inline]
    pub(crate) fn wake_monitor(&self) {
        self.monitor.wake();
    }

    /// Returns `true` if a domain sleeps for which there would be a processor.
    #[inline]
    pub(crate) fn could_wake_one(&self) -> bool {
        let asleep = self.idle.load(Ordering::SeqCst);
        asleep > 0 && self.domains.len() - asleep.min(self.domains.len()) < self.processors
    }

    /// Returns `true` if more domains are awake than there are processors.
    pub(crate) fn is_crowded(&self) -> bool {
        let asleep = self.idle.load(Ordering::Relaxed).min(self.domains.len());
        self.domains.len() - asleep > self.processors
    }

    /// Returns how many domains look for work and do not sleep.
    pub(crate) fn looking(&self) -> usize {
        let searching = self.searching.load(Ordering::SeqCst);
        searching.saturating_sub(self.idle.load(Ordering::SeqCst))
    }

    /// Returns how many domains could take something now, or once they have been woken.
    pub fn takers(&self) -> usize {
        let asleep = self.idle.load(Ordering::SeqCst).min(self.domains.len());
        let awake = self.domains.len() - asleep;
        self.looking() + asleep.min(self.processors.saturating_sub(awake))
    }

    /// Returns `true` if anything is offered.
    pub(super) fn has_offers(&self) -> bool {
        self.offers.len() > 0 || self.domains.iter().any(|domain| domain.offers.len() > 0)
    }

    /// Wakes a sleeping domain for a part of a loop. Tries `except` last, and prefers a domain that
    /// may take any part.
    pub(crate) fn wake_for_loop(&self, except: usize) {
        let count = self.domains.len();
        for may_take_any in [true, false] {
            for offset in 1..=count {
                let domain = &self.domains[(except + offset) % count];
                if domain.is_joining.load(Ordering::Relaxed) != may_take_any && domain.inbox.rouse() {
                    return domain.reactor.wake();
                }
            }
        }
    }
}
