//! What the owner of a domain tells the others, by plain stores.

use crate::fiber::host::Host;
use crate::shim::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::panic::Location;

/// A number that only its owner changes, and anybody may read.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Owner only.
    #[inline]
    pub(crate) fn add(&self, more: u64) {
        self.set(self.0.load(Ordering::Relaxed) + more);
    }

    /// Owner only.
    #[inline]
    pub(crate) fn set(&self, value: u64) {
        // Release: what was counted has been done.
        self.0.store(value, Ordering::Release);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

#[derive(Default)]
pub(crate) struct Counts {
    /// Hosts, and parasites from when they are reified or queued.
    pub(super) spawned: Counter,
    pub(super) finished: Counter,
    pub(crate) tally: Tally,
    /// The current turn; its lowest bit tells whether other hosts wait for theirs.
    pub(super) turn: AtomicU64,
    /// Where the running host or parasite was spawned; null if the domain rests.
    pub(super) site: AtomicPtr<Location<'static>>,
    /// The running host, if it has a name.
    pub(super) named: AtomicPtr<Host>,
    /// While the worker waits in its poller, having seen that there is nothing to do: the number of that sleep.
    pub(super) asleep: AtomicU64,
    /// Whether a timer is armed in its wheel, as of its last sleep.
    pub(super) timers: AtomicBool,
}

impl Counts {
    /// A parasite of this size has been reified. Owner only.
    pub(crate) fn begun_parasite(&self, bytes: usize) {
        self.spawned.add(1);
        self.tally.reified(bytes);
    }
}

/// What is counted for [`Statistics`](super::Statistics).
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) hosts: Counter,
    /// As of the last look at what the thread has counted for itself.
    pub(crate) parasites: Counter,
    pub(super) communications: Counter,
    pub(crate) reifications: Counter,
    pub(crate) reified_bytes: Counter,
    pub(crate) largest_parasite: Counter,
    pub(crate) inflations: Counter,
    pub(crate) migrations: Counter,
}

impl Tally {
    /// Counts a reification of a parasite of this size. Owner only.
    pub(crate) fn reified(&self, bytes: usize) {
        let bytes = bytes as u64;
        self.reifications.add(1);
        self.reified_bytes.add(bytes);
        if bytes > self.largest_parasite.get() {
            self.largest_parasite.set(bytes);
        }
    }
}
