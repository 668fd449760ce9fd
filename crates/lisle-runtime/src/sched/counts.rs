//! What the owner of a domain tells the others, by plain stores.

use crate::shim::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use crate::spawned::fiber_cell::Fiber;
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
    /// Fibers, and tasks from when they are reified or queued.
    pub(super) spawned: Counter,
    pub(crate) finished: Counter,
    pub(crate) tally: Tally,
    /// The current turn; its lowest bit tells whether others are ready for theirs.
    turn: AtomicU64,
    pub(super) next_timer: NextTimer,
    /// Where the running fiber or task was spawned, with a mark if it is a task; null if the domain rests.
    pub(super) site: AtomicPtr<Location<'static>>,
    /// The running fiber, if it has a name.
    pub(super) named: AtomicPtr<Fiber>,
    /// While the worker waits in its poller, having seen that there is nothing to do: the number of that sleep.
    pub(super) asleep: AtomicU64,
    /// Whether a timer is armed in its wheel, as of its last sleep.
    pub(super) timers: AtomicBool,
}

/// The deadline of a timer that is armed: of the first one, or of one that is not much later. The end of time if none is.
pub(super) struct NextTimer(AtomicU64);

impl Default for NextTimer {
    fn default() -> Self {
        NextTimer(AtomicU64::new(u64::MAX))
    }
}

impl NextTimer {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Owner only.
    #[inline]
    pub(super) fn set(&self, deadline: u64) {
        self.0.store(deadline, Ordering::Relaxed);
    }

    /// One more is armed. Owner only.
    #[inline]
    pub(super) fn armed(&self, deadline: u64) {
        if deadline < self.get() {
            self.set(deadline);
        }
    }
}

impl Counts {
    /// A turn begins, and others are ready, or none is. Owner only.
    #[inline]
    pub(crate) fn begin_turn(&self, turn: u32, others_are_ready: bool) {
        self.turn.store(u64::from(turn) << 1 | u64::from(others_are_ready), Ordering::Relaxed);
    }

    /// Something becomes ready within a turn, or between two. Owner only.
    #[inline]
    pub(super) fn one_is_ready(&self) {
        self.turn.store(self.turn.load(Ordering::Relaxed) | 1, Ordering::Relaxed);
    }

    /// The turn that it is in.
    pub(super) fn turn(&self) -> u64 {
        self.turn.load(Ordering::Acquire) >> 1
    }

    /// Was something else ready when the turn began, or has become so since?
    pub(super) fn others_are_ready(&self) -> bool {
        self.turn.load(Ordering::Relaxed) & 1 == 1
    }

    /// A task of this size has been reified. Owner only.
    pub(crate) fn begun_task(&self, bytes: usize) {
        self.spawned.add(1);
        self.tally.reified(bytes);
    }
}

/// What is counted for [`Statistics`](super::Statistics).
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) fibers: Counter,
    /// As of the last look at what the thread has counted for itself.
    pub(crate) tasks: Counter,
    pub(crate) communications: Counter,
    pub(crate) reifications: Counter,
    pub(crate) reified_bytes: Counter,
    pub(crate) largest_task: Counter,
    pub(crate) inflations: Counter,
    pub(crate) migrations: Counter,
}

impl Tally {
    /// Counts a reification of a task of this size. Owner only.
    pub(crate) fn reified(&self, bytes: usize) {
        let bytes = bytes as u64;
        self.reifications.add(1);
        self.reified_bytes.add(bytes);
        if bytes > self.largest_task.get() {
            self.largest_task.set(bytes);
        }
    }
}
