//! The common queues: fibers and tasks that belong to no domain.
//!
//! They are taken in the order in which they came. The surplus, for which rings had no room, is
//! taken last, and the youngest first, see `Worker::take_unbegun`.

use crate::event::lock::Lock;
use crate::queue::fifo::Fifo;
use crate::shim::unseen::{AtomicU64, Ordering};
use crate::spawned::runnable::Runnable;
use std::cell::Cell;
use std::ptr::NonNull;

pub(crate) struct Common {
    queues: Lock<Queues>,
    /// How many are in either queue; never too few. Part of how a domain falls asleep, see the
    /// README.
    waiting: AtomicU64,
    /// About how many are surplus. Usually there are none, and then no lock is taken.
    surplus: AtomicU64,
}

struct Queues {
    /// Entries from outside, or for another domain.
    first_come: Fifo<Runnable>,
    /// The surplus, for which rings had no room.
    surplus: Fifo<Runnable>,
    /// Set when nothing more is accepted from outside.
    closed: Cell<bool>,
}

impl Common {
    pub(crate) fn new() -> Self {
        Common {
            queues: Lock::new(Queues {
                first_come: Fifo::default(),
                surplus: Fifo::default(),
                closed: Cell::new(false),
            }),
            waiting: AtomicU64::new(0),
            surplus: AtomicU64::new(0),
        }
    }

    /// Returns how many wait here.
    #[inline]
    pub(super) fn len(&self) -> u64 {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Adds an entry from outside, or for another domain.
    ///
    /// # Safety
    ///
    /// It is in no list, and stays until it is taken.
    pub(super) unsafe fn push(&self, movable: NonNull<Runnable>) {
        self.add(&self.queues.lock(), movable);
    }

    /// Adds an entry from outside, and calls `count` before it can be taken. Returns `false` and
    /// adds nothing if the queue is closed.
    ///
    /// # Safety
    ///
    /// As for [`Common::push`].
    pub(super) unsafe fn push_if_open(&self, movable: NonNull<Runnable>, count: impl FnOnce()) -> bool {
        let queues = self.queues.lock();
        let is_open = !queues.closed.get();
        if is_open {
            count();
            self.add(&queues, movable);
        }
        is_open
    }

    /// Calls `count` for an entry from outside that goes elsewhere. Returns `false` and does nothing if the
    /// queue is closed.
    pub(super) fn count_if_open(&self, count: impl FnOnce()) -> bool {
        let queues = self.queues.lock();
        let is_open = !queues.closed.get();
        if is_open {
            count();
        }
        is_open
    }

    /// Closes the queue: from here on [`push_if_open`](Common::push_if_open) adds nothing, and its
    /// earlier entries have been counted.
    pub(super) fn close(&self) {
        self.queues.lock().closed.set(true);
    }

    fn add(&self, queues: &Queues, movable: NonNull<Runnable>) {
        // SAFETY: it is in no list and stays until it is taken, by the promise of the callers of
        // `push` and `push_if_open`.
        unsafe { queues.first_come.push(movable) };
        self.waiting.fetch_add(1, Ordering::SeqCst);
    }

    /// Adds surplus of rings, `count` entries, the youngest first. They are younger than the
    /// entries here.
    pub(super) fn push_surplus(&self, youngest_first: &Fifo<Runnable>, count: u64) {
        let queues = self.queues.lock();
        queues.surplus.prepend(youngest_first);
        self.surplus.fetch_add(count, Ordering::Relaxed);
        self.waiting.fetch_add(count, Ordering::SeqCst);
    }

    /// Takes the entry that came first, or surplus if there is nothing else.
    #[inline]
    pub(super) fn take(&self) -> Option<NonNull<Runnable>> {
        let taken = Fifo::default();
        self.take_share(1, &taken);
        taken.pop()
    }

    /// Moves at most `count` entries to the end of `to`: first entries in the order of their
    /// coming, and then surplus.
    #[inline]
    pub(super) fn take_share(&self, count: u64, to: &Fifo<Runnable>) {
        if self.len() == 0 {
            return;
        }
        let queues = self.queues.lock();
        let first = move_from(&queues.first_come, count, to);
        let surplus = move_from(&queues.surplus, count - first, to);
        self.has_lost(first, surplus);
    }

    /// Returns about how many are surplus. The answer may be out of date.
    #[inline]
    pub(super) fn surplus(&self) -> u64 {
        self.surplus.load(Ordering::Relaxed)
    }

    /// Moves the youngest of the surplus, at most `count`, to the end of `to`. Returns how many
    /// there were.
    pub(super) fn take_surplus(&self, count: u64, to: &Fifo<Runnable>) -> u64 {
        let queues = self.queues.lock();
        let taken = move_from(&queues.surplus, count, to);
        self.has_lost(0, taken);
        taken
    }

    /// Counts the taken entries, under the lock.
    fn has_lost(&self, first_come: u64, surplus: u64) {
        if surplus > 0 {
            self.surplus.fetch_sub(surplus, Ordering::Relaxed);
        }
        if first_come + surplus > 0 {
            self.waiting.fetch_sub(first_come + surplus, Ordering::SeqCst);
        }
    }
}

/// Moves the first of one queue, at most `count`, to the end of another. Returns how many that were.
fn move_from(from: &Fifo<Runnable>, count: u64, to: &Fifo<Runnable>) -> u64 {
    let mut moved = 0;
    while moved < count
        && let Some(next) = from.pop()
    {
        // SAFETY: it was just taken out of its queue, and stays until it runs.
        unsafe { to.push(next) };
        moved += 1;
    }
    moved
}
