//! The result of one look at the branches of an event: whether there was a moment at which none of
//! them was ready.
//!
//! A look takes time. While it goes from one channel to the next, a message may go the other way,
//! and all of them are found empty though they never were at the same time. Therefore each object
//! counts the changes that may make it ready, and a look that finds nothing there records the
//! count. If a second look finds nothing either, and the same counts, then nothing became ready in
//! between, and at the end of the first look nothing was ready.
//!
//! The counts are not kept but added up: they only grow, so the sums are equal only if all counts
//! are.

use crate::event::Step;
use std::cell::Cell;

/// The evidence of a look so far. A poll reads it. The first look of a performance that publishes
/// afterwards only needs to know whether an event is [to come last](Evidence::is_to_come_last).
#[derive(Debug)]
#[doc(hidden)]
pub struct Evidence {
    /// The number of branches that have reported their looks; from `OBJECT` on, the number of
    /// objects at which they have looked; then the flags below. It is one word, since each
    /// performance begins by making it, and few ever read it.
    seen: Cell<u64>,
    /// The sum of the counts and of the addresses of the objects. The addresses distinguish looks
    /// at different objects.
    sum: Cell<usize>,
}

/// A value that is the same for two looks if nothing became ready in between.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::event) struct View(u64, usize);

const OBJECT: u64 = 1 << 30;
/// Two objects.
const OBJECTS: u64 = 2 * OBJECT;
/// A branch has not reported its look.
const OPAQUE: u64 = 1 << 61;
/// An event that is ready has stood back.
const LATE: u64 = 1 << 62;
/// No event is to stand back.
const IN_TIME: u64 = 1 << 63;

impl Evidence {
    #[inline(always)]
    pub(in crate::event) fn new() -> Self {
        Evidence { seen: Cell::new(0), sum: Cell::new(0) }
    }

    /// Begins another look.
    pub(in crate::event) fn forget(&self) {
        self.seen.set(self.seen.get() & IN_TIME);
        self.sum.set(0);
    }

    fn is(&self, flag: u64) -> bool {
        self.seen.get() & flag != 0
    }

    fn note(&self, flag: u64) {
        self.seen.set(self.seen.get() | flag);
    }

    /// Records that nothing was ready at `object` when it had changed `changes` times. The count
    /// was read in the same moment: under the lock under which it changes, or in one word with the
    /// hint that nothing is ready. A thread that reads it without the lock acquires the writes that
    /// were released with it.
    #[inline(always)]
    pub(crate) fn unready<T>(&self, object: &T, changes: usize) {
        let address = std::ptr::from_ref(object).addr();
        self.seen.set(self.seen.get() + OBJECT + 1);
        self.sum.set(self.sum.get().wrapping_add(address.rotate_right(20)).wrapping_add(changes));
    }

    /// Records that an object that is not ready now has not been ready before in this performance,
    /// or that it is a state of the world outside, at which a performance looks without watching
    /// it.
    #[inline]
    #[doc(hidden)]
    pub fn never_was(&self) {
        self.seen.set(self.seen.get() + 1);
    }

    /// Calls `look` for a branch, and notes it if the branch is not ready and does not report its
    /// look.
    #[inline(always)]
    pub(in crate::event) fn of_branch(&self, look: impl FnOnce() -> Step) -> Step {
        let before = self.seen.get();
        let step = look();
        if step == Step::Waiting && self.seen.get() == before {
            self.seen.set((before + OBJECT + 1) | OPAQUE);
        }
        step
    }

    /// Returns `true` if something may have become ready at one object while another was looked at.
    #[inline(always)]
    fn is_doubtful(&self) -> bool {
        self.seen.get() & (OPAQUE - 1) >= OBJECTS
    }

    /// Returns `true` if an event that is ready and stays ready must come after the objects at
    /// which the performance has looked. Then notes that an event is late.
    #[inline]
    pub(in crate::event) fn is_to_come_last(&self) -> bool {
        let is_late = self.is_doubtful() && !self.is(IN_TIME);
        if is_late {
            self.note(LATE);
        }
        is_late
    }

    /// Returns `true` if an event that is ready has stood back.
    #[inline(always)]
    pub(in crate::event) fn is_late(&self) -> bool {
        self.is(LATE)
    }

    /// Notes that no event is to come last.
    #[cfg(not(lisle_loom))]
    pub(in crate::event) fn is_in_time(&self) {
        self.note(IN_TIME);
    }

    /// Returns `true` if one look that has found nothing is enough.
    #[inline(always)]
    pub(in crate::event) fn is_enough(&self) -> bool {
        !self.is_doubtful()
    }

    /// Returns the value for a comparison with another look, or `None` if no other look could show
    /// enough.
    pub(in crate::event) fn view(&self) -> Option<View> {
        (!self.is(OPAQUE | LATE)).then(|| View(self.seen.get(), self.sum.get()))
    }
}
