//! The state of a recycled task: one word for the threads that wake it, cancel it, run it and hold
//! its handle.
//!
//! ```text
//!                         .---------------- park -----------------.
//!                         v                                       |
//! vacant --begin-->    parked --wake, claim--> owned --(queued, taken)--> owned
//!    ^   (owned)                                 |
//!    '-------------- vacate -- ended <-- finish -'
//! ```
//!
//! The word counts the wakes since the task was parked. The thread that raises the count from zero
//! to one *owns* the task and queues it; the thread that takes it from the queue runs it, and so
//! on, until its owner parks it, which lowers the count to zero. A wake of an owned task changes
//! only the count; then the task is not parked but continues. Therefore a wake is one addition,
//! whatever the task does, and touches nothing but this word unless it has found the task parked.
//! Taking a task from its queue needs no access to the word.
//!
//! Zero is the word of a vacant place, and so is a word without the flag `LIVES` that counts late
//! wakes. Pages in which no task lives may be released, and then read as zeros.
//!
//! A second count, that of *arrivals*, counts the wakes for an event that the task waits for
//! *directly*, see `recycled.rs`.

use crate::abort;
use crate::shim::atomic::{AtomicU64, Ordering};

/// The lowest bits count the wakes. The process ends when a task is woken 2^39 times in one turn,
/// before the count overflows.
const WAKE: u64 = 1;
const WAKES: u64 = (1 << 40) - 1;
/// The task has begun and not ended. Without this flag a wake has no effect.
const LIVES: u64 = 1 << 40;
/// Its future is to be dropped instead of polled.
const CANCELLED: u64 = 1 << 41;
/// Its handle is gone.
const DETACHED: u64 = 1 << 42;
/// The highest bits count the arrivals, and wrap around.
const ARRIVAL: u64 = 1 << 48;

#[derive(Debug)]
pub struct State(AtomicU64);

/// Returns `true` if a task lives there and waits.
#[inline(always)]
fn is_parked(word: u64) -> bool {
    word & (LIVES | WAKES) == LIVES
}

/// The number of wakes that have arrived for the events of a task, to be compared with a later
/// number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrivals(u64);

/// Ends the process, because a count on which memory safety rests is about to overflow.
#[cold]
fn too_many() -> ! {
    abort::process("a task has been woken 2^39 times without a turn in between")
}

impl State {
    /// Creates the state of memory in which no task lives.
    #[cfg(all(test, lisle_loom))]
    pub(super) fn vacant() -> Self {
        State(AtomicU64::new(0))
    }

    /// Begins a task in vacant memory; the task runs or is about to be queued.
    #[inline(always)]
    pub fn begin(&self) {
        self.reset(LIVES | WAKE);
    }

    /// Makes the memory of an ended task vacant. Only late wakes can still reach it.
    #[inline(always)]
    pub fn vacate(&self) {
        self.reset(0);
    }

    /// Stores `now` and forgets the previous word, including late wakes.
    #[inline(always)]
    fn reset(&self, now: u64) {
        if cfg!(lisle_loom) {
            // Loom takes a store for concurrent with a late wake's earlier read-modify-write, and
            // then orders that wake last nevertheless.
            self.0.swap(now, Ordering::Relaxed);
        } else {
            self.0.store(now, Ordering::Relaxed);
        }
    }

    fn add(&self, more: u64) -> bool {
        // Release: what was done before happens before the turn that follows. Acquire: if the task
        // was parked, it is ours.
        let before = self.0.fetch_add(more, Ordering::AcqRel);
        if before & WAKES > WAKES / 2 {
            too_many();
        }
        is_parked(before)
    }

    /// Wakes the task. Returns `true` if it was parked; then the caller owns it and must queue it.
    #[inline(always)]
    #[must_use]
    pub fn wake(&self) -> bool {
        self.add(WAKE)
    }

    /// Wakes the task like [`wake`](State::wake), for an event that the task waits for directly.
    #[inline(always)]
    #[must_use]
    pub(crate) fn arrive(&self) -> bool {
        self.add(WAKE | ARRIVAL)
    }

    /// Returns the number of arrivals, for the owner of the task. What was done before those wakes
    /// happens before.
    #[inline(always)]
    pub(crate) fn arrivals(&self) -> Arrivals {
        Arrivals(self.0.load(Ordering::Acquire) / ARRIVAL)
    }

    /// Marks the task's future to be dropped and wakes the task. Returns `true` if it was parked;
    /// then the caller owns it and must queue it.
    #[must_use]
    #[inline]
    pub fn cancel(&self) -> bool {
        // The mark is set first, since the woken task looks for it.
        self.0.fetch_or(CANCELLED, Ordering::AcqRel);
        self.wake()
    }

    /// Claims the task if it is parked. Returns `true` if the caller now owns it, until it parks it
    /// again or queues it.
    #[inline]
    pub fn claim(&self) -> bool {
        let now = self.0.load(Ordering::Relaxed);
        is_parked(now)
            && self.0.compare_exchange(now, now + WAKE, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Parks a task that is owned. Returns `false` if it has been woken or cancelled since it was
    /// queued; then it is still owned.
    #[inline(always)]
    #[must_use]
    pub fn park(&self) -> bool {
        let mut now = self.0.load(Ordering::Relaxed);
        while now & WAKES == WAKE {
            // Release: what it has done happens before the next owner runs it.
            match self.0.compare_exchange_weak(now, now - WAKE, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(seen) => now = seen,
            }
        }
        false
    }

    /// Forgets the wakes since the task became owned. Its owner must give it another turn.
    #[inline]
    pub fn absorb(&self) {
        let more = (self.0.load(Ordering::Relaxed) & WAKES) - WAKE;
        // Acquire: that turn sees what was done before these wakes.
        self.0.fetch_sub(more, Ordering::AcqRel);
    }

    /// Returns `true` if the task's future is to be dropped.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire) & CANCELLED != 0
    }

    /// Returns `true` if its handle is gone; that does not change any more.
    #[inline]
    pub fn is_detached(&self) -> bool {
        self.0.load(Ordering::Acquire) & DETACHED != 0
    }

    /// Ends the task. Returns `true` if its handle is gone; then the memory belongs to the caller.
    #[must_use]
    #[inline]
    pub fn finish(&self) -> bool {
        self.0.fetch_and(!LIVES, Ordering::AcqRel) & DETACHED != 0
    }

    /// Marks the handle as gone. Returns `true` if the task has ended; then the memory belongs to
    /// the caller.
    #[must_use]
    #[inline]
    pub fn detach(&self) -> bool {
        self.0.fetch_or(DETACHED, Ordering::AcqRel) & LIVES == 0
    }
}
