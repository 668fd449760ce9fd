//! The state of a recycled task: one word for the threads that wake it, cancel it, run it and hold
//! its handle.
//!
//! ```text
//! vacant --begin--> owned --park--> parked --wake, cancel, claim--> owned
//! owned --finish--> ended --vacate--> vacant
//! ```
//!
//! An owned task runs, or lies in a queue, or is about to do one of the two. Two threads have to
//! leave an ended task: the thread that ends it, and the thread that drops its handle. The second
//! one makes the task vacant.
//!
//! The low bits count the wakes since the task was parked. If they are zero, the task is parked.
//! The thread that raises them from zero *owns* the task and must queue it; ownership passes to the
//! thread that takes the task from the queue, which runs it. The owner ends its turn with `park`,
//! which sets the count from one to zero and fails if it is higher; the owner then gives the task
//! another turn. Therefore a wake is one addition, whatever the task does, and touches nothing but
//! this word unless it has found the task parked. Taking a task from its queue needs no access to
//! the word.
//!
//! A word without the flag `LIVES` belongs to a vacant place or to an ended task. A late wake adds
//! to its counts and does nothing else. Pages in which no task lives may be released, and then read
//! as zeros, which is also the word of a vacant place.
//!
//! A second count, the *arrivals*, counts the wakes for an event for which the task waits
//! *directly*, see `recycled/mod.rs`.

use crate::abort;
use crate::shim::atomic::{AtomicU64, Ordering};

/// The lowest bits count the wakes. The process ends when 2^39 of them have come since the count
/// was last lowered, before it overflows.
const WAKE: u64 = 1;
const WAKES: u64 = (1 << 40) - 1;
/// The task has begun and not ended. Without this flag a wake changes only the counts.
const LIVES: u64 = 1 << 40;
/// Its future is to be dropped instead of polled.
const CANCELLED: u64 = 1 << 41;
/// Its handle is gone.
const DETACHED: u64 = 1 << 42;
/// The highest bits count the arrivals, and wrap around. A future only compares the number of now
/// with the one of when it published, and at most one arrival lies between the two: one future at a
/// time waits directly, and it is woken once.
const ARRIVAL: u64 = 1 << 48;

#[derive(Debug)]
pub struct TaskWord(AtomicU64);

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
    abort::process("a task's waker was called 2^39 times without a turn of the task in between")
}

impl TaskWord {
    /// Creates the state of memory in which no task lives.
    #[cfg(all(test, any(lisle_loom, miri)))]
    pub(super) fn vacant() -> Self {
        TaskWord(AtomicU64::new(0))
    }

    /// Begins a task in vacant memory. The caller owns the task, and runs or queues it.
    #[inline(always)]
    pub fn begin(&self) {
        self.reset(LIVES | WAKE);
    }

    /// Makes the memory of an ended task vacant. Only late wakes, and code that looks at all
    /// places, can still reach it.
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
        // Release: earlier steps happen before the turn that follows. Acquire: if the task was
        // parked, it is ours.
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

    /// Wakes the task like [`wake`](TaskWord::wake), for an event that the task waits for directly.
    #[inline(always)]
    #[must_use]
    pub(crate) fn arrive(&self) -> bool {
        self.add(WAKE | ARRIVAL)
    }

    /// Returns the number of arrivals. The steps before the counted wakes happen before this call
    /// returns.
    #[inline(always)]
    pub(crate) fn arrivals(&self) -> Arrivals {
        Arrivals(self.0.load(Ordering::Acquire) / ARRIVAL)
    }

    /// Marks the task's future to be dropped and wakes the task. Returns `true` if it was parked;
    /// then the caller owns it, and must queue it or end it. The caller has the task's handle, so
    /// the memory is not made vacant between the two steps.
    #[must_use]
    #[inline]
    pub fn cancel(&self) -> bool {
        // The mark is set first, since the woken task looks for it.
        self.0.fetch_or(CANCELLED, Ordering::AcqRel);
        self.wake()
    }

    /// Claims the task if it is parked. Returns `true` if the caller now owns it; then the caller
    /// must run it, queue it, or park it again. May be called for a place that is vacant or holds
    /// another task by now: a caller that means a certain task looks after the claim which one it
    /// has.
    #[inline]
    pub fn claim(&self) -> bool {
        let mut now = self.0.load(Ordering::Relaxed);
        while is_parked(now) {
            match self.0.compare_exchange_weak(now, now + WAKE, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(seen) => now = seen,
            }
        }
        false
    }

    /// Parks a task that is owned. Returns `false` if it has been woken or cancelled since it
    /// became owned or since the last `absorb`; then it is still owned.
    #[inline(always)]
    #[must_use]
    pub fn park(&self) -> bool {
        let mut now = self.0.load(Ordering::Relaxed);
        while now & WAKES == WAKE {
            // Release: this owner's steps happen before the next owner runs the task.
            match self.0.compare_exchange_weak(now, now - WAKE, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(seen) => now = seen,
            }
        }
        false
    }

    /// Forgets all wakes but the one by which the task is owned. Only its owner may call this, and
    /// must then give the task another turn, or queue it.
    #[inline]
    pub fn absorb(&self) {
        let more = (self.0.load(Ordering::Relaxed) & WAKES) - WAKE;
        // Acquire: that turn sees the steps before these wakes.
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
    /// Otherwise it belongs to the handle, and the caller must not use it any more.
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
