//! Where a parasite stands: one word, by which those who wake it, cancel it, run it and hold its handle agree.
//!
//! ```text
//!             spawn                    take
//!               |          .-------------------------.
//!               v          v                         |
//!            RUNNING --park--> (parked) --wake--> QUEUED
//!               |                 |                  ^
//!               |               claim: RUNNING       |
//!               '---------------- requeue -----------'
//!               '--finish--> DONE
//! ```
//!
//! The parasite belongs to whoever made it RUNNING, and to whoever made it QUEUED until it lies in a queue; who has
//! parked it must not touch it again. A wake while it runs leaves the mark QUEUED beside RUNNING: then it is not
//! parked, but queued by who runs it. So a wake is one instruction, whatever the parasite does, and touches nothing
//! but this word unless it has found it parked.

use crate::shim::atomic::{AtomicU32, Ordering};

const RUNNING: u32 = 1;
/// In a queue, or on the way there; with RUNNING: woken since it was taken.
const QUEUED: u32 = 2;
/// It has ended, or has not begun: nobody can wake it.
const DONE: u32 = 4;
/// Its future is to be dropped instead of polled.
const CANCELLED: u32 = 8;
/// Its handle is gone.
const DETACHED: u32 = 16;

#[derive(Debug)]
pub(crate) struct State(AtomicU32);

impl State {
    crate::shim::const_fn! {
        /// Of memory in which no parasite lives.
        pub(crate) fn vacant() -> Self {
            State(AtomicU32::new(DONE))
        }
    }

    /// A parasite begins to run in vacant memory.
    #[inline(always)]
    pub(crate) fn begin(&self) {
        self.reset(RUNNING);
    }

    /// A parasite is made in vacant memory, by who is going to queue it.
    pub(crate) fn begin_queued(&self) {
        self.reset(QUEUED);
    }

    /// It has ended before anybody else could know of it, and its memory is vacant.
    #[inline(always)]
    pub(crate) fn vacate(&self) {
        self.reset(DONE);
    }

    /// Forgets what was, late wakes included.
    #[inline(always)]
    fn reset(&self, now: u32) {
        if cfg!(lisle_loom) {
            // Loom takes a store for concurrent with a late wake's read-modify-write of what was before, and then has
            // that wake come last all the same.
            self.0.swap(now, Ordering::Relaxed);
        } else {
            self.0.store(now, Ordering::Relaxed);
        }
    }

    /// Wakes the parasite. True: it was parked, and the caller has to queue it.
    #[inline]
    #[must_use]
    pub(crate) fn wake(&self) -> bool {
        // Release: what was done before happens before the turn that follows. Acquire: if it was parked it is ours.
        self.0.fetch_or(QUEUED, Ordering::AcqRel) & (RUNNING | QUEUED | DONE) == 0
    }

    /// Has the parasite's future dropped. True: it was parked, and the caller has to queue it.
    #[must_use]
    pub(crate) fn cancel(&self) -> bool {
        self.0.fetch_or(QUEUED | CANCELLED, Ordering::AcqRel) & (RUNNING | QUEUED | DONE) == 0
    }

    /// Takes hold of the parasite if it is parked: nobody else can run it until it is parked or requeued.
    pub(crate) fn claim(&self) -> bool {
        let now = self.0.load(Ordering::Relaxed);
        now & (RUNNING | QUEUED | DONE) == 0
            && self.0.compare_exchange(now, now | RUNNING, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Begins a turn of a parasite that has left its queue.
    #[inline]
    pub(crate) fn take(&self) {
        // Acquire: pairs with every wake before. From QUEUED to RUNNING, whatever else is set.
        self.0.fetch_sub(QUEUED - RUNNING, Ordering::AcqRel);
    }

    /// Parks a running parasite. False: it has been woken or cancelled meanwhile, and still runs.
    #[inline]
    #[must_use]
    pub(crate) fn park(&self) -> bool {
        let mut now = self.0.load(Ordering::Relaxed);
        while now & QUEUED == 0 {
            // Release: what it has done happens before who wakes it queues it.
            match self.0.compare_exchange_weak(now, now & !RUNNING, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(seen) => now = seen,
            }
        }
        false
    }

    /// Marks a running parasite as queued, by who is going to do that.
    pub(crate) fn requeue(&self) {
        // Woken or not: it is queued now. First the one mark, so that no moment shows it parked.
        self.0.fetch_or(QUEUED, Ordering::AcqRel);
        self.0.fetch_and(!RUNNING, Ordering::AcqRel);
    }

    /// Is the running parasite's future to be dropped?
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire) & CANCELLED != 0
    }

    /// Is its handle gone? Then it stays so.
    pub(crate) fn is_detached(&self) -> bool {
        self.0.load(Ordering::Acquire) & DETACHED != 0
    }

    /// The parasite has ended. True: its handle is gone, and the memory is the caller's.
    #[must_use]
    pub(crate) fn finish(&self) -> bool {
        self.0.fetch_or(DONE, Ordering::AcqRel) & DETACHED != 0
    }

    /// The handle goes. True: the parasite has ended, and the memory is the caller's.
    #[must_use]
    pub(crate) fn detach(&self) -> bool {
        self.0.fetch_or(DETACHED, Ordering::AcqRel) & DONE != 0
    }
}
