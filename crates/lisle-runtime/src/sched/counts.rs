//! The counts that the owner of a domain publishes by plain stores.

use crate::event::tally;
use crate::shim::unseen::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use crate::spawned::fiber_cell::Fiber;
use std::panic::Location;

/// A number that only its owner changes and any thread may read.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds `more`. Owner only.
    #[inline]
    pub(crate) fn add(&self, more: u64) {
        self.set(self.0.load(Ordering::Relaxed) + more);
    }

    /// Sets the number. Owner only.
    #[inline]
    pub(crate) fn set(&self, value: u64) {
        // Release: the counted steps have been done.
        self.0.store(value, Ordering::Release);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

#[derive(Default)]
pub(crate) struct Counts {
    /// Counts fibers, and tasks from when they are reified or queued.
    pub(super) spawned: Counter,
    pub(crate) finished: Counter,
    /// How many fibers that have not begun lie in the surplus that the domain keeps; never too few.
    /// Written under the lock of the surplus.
    pub(super) surplus: Counter,
    pub(crate) tally: Tally,
    /// The current turn. The lowest bit says whether others are ready for theirs.
    turn: AtomicU64,
    pub(super) next_timer: NextTimer,
    /// The spawn location of the running fiber or task, with a mark if it is a task; null while
    /// nothing runs.
    pub(super) site: AtomicPtr<Location<'static>>,
    /// The running fiber, if it has a name.
    pub(super) named: AtomicPtr<Fiber>,
    /// The number of the current sleep, while the domain waits in its poller and has nothing to do;
    /// 0 otherwise.
    pub(super) asleep: AtomicU64,
    /// Set if a timer of a fiber was armed in the domain's wheel at its last sleep.
    pub(super) timers: AtomicBool,
    /// Set while fibers wait for a stack.
    pub(super) starves: AtomicBool,
}

/// The deadline of an armed timer: the first one, or one that is not much later. `u64::MAX` if no
/// timer is armed.
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

    /// Sets the deadline. Owner only.
    #[inline]
    pub(super) fn set(&self, deadline: u64) {
        self.0.store(deadline, Ordering::Relaxed);
    }

    /// Notes that one more timer is armed. Owner only.
    #[inline]
    pub(super) fn armed(&self, deadline: u64) {
        if deadline < self.get() {
            self.set(deadline);
        }
    }
}

impl Counts {
    /// Notes that a turn begins, and whether others are ready. Owner only.
    #[inline]
    pub(crate) fn begin_turn(&self, turn: u32, others_are_ready: bool) {
        self.turn.store(u64::from(turn) << 1 | u64::from(others_are_ready), Ordering::Relaxed);
    }

    /// Notes that something has become ready within a turn or between two. Owner only.
    #[inline]
    pub(super) fn one_is_ready(&self) {
        self.turn.store(self.turn.load(Ordering::Relaxed) | 1, Ordering::Relaxed);
    }

    /// Returns the current turn.
    pub(super) fn turn(&self) -> u64 {
        self.turn.load(Ordering::Acquire) >> 1
    }

    /// Returns `true` if something else was ready when the turn began or has become ready since.
    pub(super) fn others_are_ready(&self) -> bool {
        self.turn.load(Ordering::Relaxed) & 1 == 1
    }

    /// Counts a task of `bytes` bytes that has been reified. Owner only.
    pub(crate) fn begun_task(&self, bytes: usize) {
        self.spawned.add(1);
        self.tally.reified(bytes);
    }
}

/// The counts for `Statistics`.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) fibers: Counter,
    /// As of the last time that the thread's own count was read.
    pub(crate) tasks: Counter,
    pub(crate) communications: Counter,
    pub(crate) reifications: Counter,
    pub(crate) reified_bytes: Counter,
    pub(crate) largest_task: Counter,
    pub(crate) inflations: Counter,
    pub(crate) migrations: Counter,
}

impl Tally {
    /// Publishes the own counts of the domain's thread, less its counts `before`. Owner only.
    pub(super) fn tell(&self, before: (u64, u64)) {
        let (communications, tasks) = tally::read();
        self.communications.set(communications - before.0);
        self.tasks.set(tasks - before.1);
    }

    /// Counts a reification of a task of `bytes` bytes. Owner only.
    pub(crate) fn reified(&self, bytes: usize) {
        let bytes = bytes as u64;
        self.reifications.add(1);
        self.reified_bytes.add(bytes);
        if bytes > self.largest_task.get() {
            self.largest_task.set(bytes);
        }
    }
}
