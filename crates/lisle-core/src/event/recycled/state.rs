//! Where a recycled task stands: one word, by which those who wake it, cancel it, run it and hold its handle agree.
//!
//! ```text
//!                         .---------------- park -----------------.
//!                         v                                       |
//! vacant --begin-->    parked --wake, claim--> owned --(queued, taken)--> owned
//!    ^   (owned)                                 |
//!    '-------------- vacate -- ended <-- finish -'
//! ```
//!
//! The word counts the wakes since the task was parked. Who takes the count from none to one *owns* the task: it queues it,
//! whoever takes it from the queue runs it, and so on, until somebody parks it, which takes the count back to
//! none. A wake of a task that is owned changes nothing but the count, and then the task is not parked: it goes on. So a
//! wake is one addition, whatever the task does, and touches nothing but this word unless it has found the task
//! parked; and to take a task from its queue takes nothing.
//!
//! Zero is the word of a vacant place, as is one that counts wakes which came too late: the memory of places in which nobody
//! lives may be taken away, and then reads as zeros.
//!
//! A second count, that of *arrivals*, is of the wakes that belong to an event which the task waits for *directly*, see
//! `recycled.rs`.

use crate::abort;
use crate::shim::atomic::{AtomicU64, Ordering};

/// The lowest bits count the wakes. Who wakes one task 2^39 times in one turn is stopped before the
/// count overflows.
const WAKE: u64 = 1;
const WAKES: u64 = (1 << 40) - 1;
/// It has begun and not ended: otherwise a wake is for nothing.
const LIVES: u64 = 1 << 40;
/// Its future is to be dropped instead of polled.
const CANCELLED: u64 = 1 << 41;
/// Its handle is gone.
const DETACHED: u64 = 1 << 42;
/// The highest bits count the arrivals, and come round.
const ARRIVAL: u64 = 1 << 48;

#[derive(Debug)]
pub struct State(AtomicU64);

/// Does a task live there, which waits?
#[inline(always)]
fn is_parked(word: u64) -> bool {
    word & (LIVES | WAKES) == LIVES
}

/// How many wakes have arrived for the events of a task; to be compared with how many later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrivals(u64);

/// Ends the process: a count is about to overflow on which memory safety rests.
#[cold]
fn too_many() -> ! {
    abort::process("a task has been woken 2^39 times without a turn in between")
}

impl State {
    /// Of memory in which no task lives.
    #[cfg(all(test, lisle_loom))]
    pub(super) fn vacant() -> Self {
        State(AtomicU64::new(0))
    }

    /// A task begins to run in vacant memory, or is about to be queued.
    #[inline(always)]
    pub fn begin(&self) {
        self.reset(LIVES | WAKE);
    }

    /// It has ended, and nobody that matters knows of it: its memory is vacant.
    #[inline(always)]
    pub fn vacate(&self) {
        self.reset(0);
    }

    /// Forgets what was, late wakes included.
    #[inline(always)]
    fn reset(&self, now: u64) {
        if cfg!(lisle_loom) {
            // Loom takes a store for concurrent with a late wake's read-modify-write of what was before, and then has
            // that wake come last all the same.
            self.0.swap(now, Ordering::Relaxed);
        } else {
            self.0.store(now, Ordering::Relaxed);
        }
    }

    fn add(&self, more: u64) -> bool {
        // Release: what was done before happens before the turn that follows. Acquire: if it was parked it is ours.
        let before = self.0.fetch_add(more, Ordering::AcqRel);
        if before & WAKES > WAKES / 2 {
            too_many();
        }
        is_parked(before)
    }

    /// Wakes the task. True: it was parked, and is the caller's, who has to queue it.
    #[inline(always)]
    #[must_use]
    pub fn wake(&self) -> bool {
        self.add(WAKE)
    }

    /// As [`wake`](State::wake), for an event that the task waits for directly.
    #[inline(always)]
    #[must_use]
    pub(crate) fn arrive(&self) -> bool {
        self.add(WAKE | ARRIVAL)
    }

    /// How many wakes have arrived, for who runs the task. What was done before them happens before.
    #[inline(always)]
    pub(crate) fn arrivals(&self) -> Arrivals {
        Arrivals(self.0.load(Ordering::Acquire) / ARRIVAL)
    }

    /// Has the task's future dropped. True: it was parked, and is the caller's, who has to queue it.
    #[must_use]
    #[inline]
    pub fn cancel(&self) -> bool {
        // The mark first: who is woken looks for it.
        self.0.fetch_or(CANCELLED, Ordering::AcqRel);
        self.wake()
    }

    /// Takes hold of the task if it is parked: nobody else has it until it is parked again or queued.
    #[inline]
    pub fn claim(&self) -> bool {
        let now = self.0.load(Ordering::Relaxed);
        is_parked(now)
            && self.0.compare_exchange(now, now + WAKE, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Parks a task that is owned. False: it has been woken or cancelled since it was queued, and is owned still.
    #[inline(always)]
    #[must_use]
    pub fn park(&self) -> bool {
        let mut now = self.0.load(Ordering::Relaxed);
        while now & WAKES == WAKE {
            // Release: what it has done happens before who wakes it runs it.
            match self.0.compare_exchange_weak(now, now - WAKE, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(seen) => now = seen,
            }
        }
        false
    }

    /// Forgets the wakes since the task became owned: its owner sees to it that it has another turn.
    #[inline]
    pub fn absorb(&self) {
        let more = (self.0.load(Ordering::Relaxed) & WAKES) - WAKE;
        // Acquire: that turn sees what was done before these wakes.
        self.0.fetch_sub(more, Ordering::AcqRel);
    }

    /// Is the task's future to be dropped?
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire) & CANCELLED != 0
    }

    /// Is its handle gone? Then it stays so.
    #[inline]
    pub fn is_detached(&self) -> bool {
        self.0.load(Ordering::Acquire) & DETACHED != 0
    }

    /// The task has ended. True: its handle is gone, and the memory is the caller's.
    #[must_use]
    #[inline]
    pub fn finish(&self) -> bool {
        self.0.fetch_and(!LIVES, Ordering::AcqRel) & DETACHED != 0
    }

    /// The handle goes. True: the task has ended, and the memory is the caller's.
    #[must_use]
    #[inline]
    pub fn detach(&self) -> bool {
        self.0.fetch_or(DETACHED, Ordering::AcqRel) & LIVES == 0
    }
}
