//! What one look at the branches of an event has shown: whether there was a moment at which none of them was ready.
//!
//! A look takes its time. While it goes from one channel to the next, a message may go the other way, and each of
//! them is found empty though one of them never was. So each object counts what may make it ready for somebody, and whoever finds
//! nothing there notes the count. If a second look finds nothing either, and the same counts, then nothing became
//! ready between, and the moment at which the first look was over is one at which nothing was.
//!
//! The counts are not kept but added up: they only grow, so the sums are equal only if all of them are.

use super::Step;
use std::cell::Cell;

/// What a look has shown so far. A poll reads it; the first look of a performance that goes on to publish needs to
/// know only what is [to come last](Evidence::is_to_come_last).
#[derive(Debug)]
#[doc(hidden)]
pub struct Evidence {
    /// How many branches have said what they saw, and from `OBJECT` on how many objects they have looked at; then the
    /// flags below. One word, since each performance begins with making it, and few ever read it.
    seen: Cell<u64>,
    /// The sum of their counts, and of their addresses, lest two looks at different objects seem the same.
    sum: Cell<usize>,
}

/// What two looks have in common if nothing became ready between.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct View(u64, usize);

const OBJECT: u64 = 1 << 30;
/// Two of them.
const OBJECTS: u64 = 2 * OBJECT;
/// A branch has not said what it saw.
const OPAQUE: u64 = 1 << 61;
/// What is ready has stood back.
const LATE: u64 = 1 << 62;
/// Nothing is to stand back.
const IN_TIME: u64 = 1 << 63;

impl Evidence {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Evidence { seen: Cell::new(0), sum: Cell::new(0) }
    }

    /// Begins another look.
    pub(super) fn forget(&self) {
        self.seen.set(self.seen.get() & IN_TIME);
        self.sum.set(0);
    }

    fn is(&self, flag: u64) -> bool {
        self.seen.get() & flag != 0
    }

    fn note(&self, flag: u64) {
        self.seen.set(self.seen.get() | flag);
    }

    /// Nothing was ready at `object`, when it had changed so many times. The count was read in the same moment: under
    /// the lock under which it changes, or in one word with what tells that nothing is ready. Who reads it without the
    /// lock acquires what was released with it.
    #[inline(always)]
    pub(crate) fn unready<T>(&self, object: &T, changes: usize) {
        let address = std::ptr::from_ref(object).addr();
        self.seen.set(self.seen.get() + OBJECT + 1);
        self.sum.set(self.sum.get().wrapping_add(address.rotate_right(20)).wrapping_add(changes));
    }

    /// What is not ready now has not been before either, in this performance; or it is the state of the world outside,
    /// which is looked at and not watched.
    #[inline]
    #[doc(hidden)]
    pub fn never_was(&self) {
        self.seen.set(self.seen.get() + 1);
    }

    /// Notes it if a branch that is not ready does not say what it saw.
    #[inline(always)]
    pub(super) fn of_branch(&self, look: impl FnOnce() -> Step) -> Step {
        let before = self.seen.get();
        let step = look();
        if step == Step::Waiting && self.seen.get() == before {
            self.seen.set((before + OBJECT + 1) | OPAQUE);
        }
        step
    }

    /// May something have become ready at one object while another was looked at?
    #[inline(always)]
    fn is_doubtful(&self) -> bool {
        self.seen.get() & (OPAQUE - 1) >= OBJECTS
    }

    /// Is what is ready, and stays so, to come after what has been looked at? If so, something is noted to be late.
    #[inline]
    pub(super) fn is_to_come_last(&self) -> bool {
        let is_late = self.is_doubtful() && !self.is(IN_TIME);
        if is_late {
            self.note(LATE);
        }
        is_late
    }

    /// Has something that is ready stood back?
    #[inline(always)]
    pub(super) fn is_late(&self) -> bool {
        self.is(LATE)
    }

    /// Nothing is to come last.
    #[cfg(not(lisle_loom))]
    pub(super) fn is_in_time(&self) {
        self.note(IN_TIME);
    }

    /// Does one look that has found nothing tell enough?
    #[inline(always)]
    pub(super) fn is_enough(&self) -> bool {
        !self.is_doubtful()
    }

    /// What another look is to be compared with. `None` if no other look could tell enough.
    pub(super) fn view(&self) -> Option<View> {
        (!self.is(OPAQUE | LATE)).then(|| View(self.seen.get(), self.sum.get()))
    }
}
