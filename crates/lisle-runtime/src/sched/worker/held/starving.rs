//! The fibers of a domain that have no stack, and the time at which the system is asked again.

use crate::queue::fifo::Fifo;
use crate::shim::clock;
use crate::spawned::runnable::Runnable;
use std::cell::{Cell, RefCell};
use std::io;
use std::ptr::NonNull;

/// The first and the longest time between two attempts to get a stack from the system, in
/// nanoseconds.
pub(in crate::sched::worker) const FIRST_PAUSE: u64 = 1_000_000;
pub(in crate::sched::worker) const LONGEST_PAUSE: u64 = 250_000_000;

/// The fibers without a stack, none of which has begun.
#[derive(Default)]
pub(in crate::sched::worker) struct Starving {
    pub(in crate::sched::worker) fibers: Fifo<Runnable>,
    /// When to ask the system again, and how long after that.
    pub(in crate::sched::worker) next_try: Cell<u64>,
    pub(in crate::sched::worker) pause: Cell<u64>,
    /// The error of the system.
    pub(in crate::sched::worker) error: RefCell<String>,
}

impl Starving {
    #[inline]
    pub(in crate::sched::worker) fn is_empty(&self) -> bool {
        self.fibers.is_empty()
    }

    /// Returns when to ask the system again, if a fiber wants that.
    pub(in crate::sched::worker) fn deadline(&self) -> Option<u64> {
        (!self.is_empty()).then(|| self.next_try.get())
    }

    pub(in crate::sched::worker) fn take_any(&self) -> Option<NonNull<Runnable>> {
        self.fibers.pop()
    }

    pub(in crate::sched::worker) fn try_later(&self, error: &io::Error) {
        self.next_try.set(clock::now().saturating_add(self.pause.get()));
        self.pause.set((2 * self.pause.get()).min(LONGEST_PAUSE));
        *self.error.borrow_mut() = error.to_string();
    }
}
