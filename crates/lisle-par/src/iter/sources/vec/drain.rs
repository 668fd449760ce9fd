//! Ranges that are removed from a vector.

use super::Moved;
use crate::iter::drain::checked;
use crate::iter::exact::{exact_part, parts_are_exact};
use crate::iter::{IndexedParallelIterator, ParallelDrainRange, ParallelIterator};
use std::ops::{Range, RangeBounds};
use std::ptr;

/// See [`par_drain`](ParallelDrainRange::par_drain).
///
/// Elements that are not consumed are dropped.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct Drain<'data, T> {
    vec: &'data mut Vec<T>,
    gap: Gap,
}

/// A range of elements that a loop removes from a vector, and the elements after it.
///
/// The vector ends before the range until the gap is closed. If the gap is never closed, the
/// elements are leaked.
#[derive(Debug)]
pub(in crate::iter::sources) struct Gap {
    range: Range<usize>,
    /// The number of elements after the range.
    after: usize,
    /// Whether the elements of the range have been given away.
    is_taken: bool,
}

impl Gap {
    /// Makes a gap of the elements of `vec` in `range`, which must be [`checked`].
    pub(in crate::iter::sources) fn new<T>(vec: &mut Vec<T>, range: Range<usize>) -> Self {
        let after = vec.len() - range.end;
        // SAFETY: the range begins within the vector, and all elements before it are initialized.
        unsafe { vec.set_len(range.start) };
        Gap { range, after, is_taken: false }
    }

    pub(in crate::iter::sources) fn len(&self) -> usize {
        if self.is_taken { 0 } else { self.range.len() }
    }

    /// Returns the elements of the range. Returns none if they have been returned before.
    ///
    /// # Safety
    ///
    /// The gap has been made in `vec`, which has not been changed since then.
    pub(in crate::iter::sources) unsafe fn take<'v, T>(&mut self, vec: &'v mut Vec<T>) -> Moved<'v, T> {
        let len = self.len();
        self.is_taken = true;
        // SAFETY: the slots after the end of the vector held the elements of the range. The vector
        // does not own them, and nobody else takes them: the gap gives them once.
        unsafe { Moved::new(&mut vec.spare_capacity_mut()[..len]) }
    }

    /// Drops the elements of the range if they have not been taken, and moves the elements after it
    /// to its beginning.
    ///
    /// # Safety
    ///
    /// As for [`take`](Gap::take). The gap is not used afterwards.
    pub(in crate::iter::sources) unsafe fn close<T>(&mut self, vec: &mut Vec<T>) {
        /// Closes the gap when dropped, also if a destructor panics.
        struct Close<'a, T>(&'a mut Vec<T>, &'a mut Gap);
        impl<T> Drop for Close<'_, T> {
            fn drop(&mut self) {
                let Close(vec, Gap { range, after, .. }) = self;
                let start = vec.as_mut_ptr();
                // SAFETY: the range is within the memory of the vector.
                let (from, to) = unsafe { (start.add(range.end), start.add(range.start)) };
                // SAFETY: the elements after the range lie there, and no element lies in the slots
                // from the start of the range on.
                unsafe { ptr::copy(from, to, *after) };
                // SAFETY: the elements before the range and those after it are initialized.
                unsafe { vec.set_len(range.start + *after) };
            }
        }
        let close = Close(vec, self);
        // SAFETY: passed on to the caller.
        drop(unsafe { close.1.take(close.0) });
    }
}

impl<'data, T: Send> ParallelDrainRange<usize> for &'data mut Vec<T> {
    type Iter = Drain<'data, T>;
    type Item = T;

    #[track_caller]
    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Drain<'data, T> {
        let range = checked(range, self.len());
        Drain { gap: Gap::new(self, range), vec: self }
    }
}

impl<T: Send> ParallelIterator for Drain<'_, T> {
    type Item = T;
    parts_are_exact!();
}

impl<T: Send> IndexedParallelIterator for Drain<'_, T> {
    exact_part!(
        Moved<'a, T>,
        // SAFETY: the gap is in this vector, which nobody else can change.
        |this| unsafe { this.gap.take(this.vec) },
        this.gap.len()
    );
}

impl<T> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        // SAFETY: as above, and this is the last use.
        unsafe { self.gap.close(self.vec) };
    }
}
