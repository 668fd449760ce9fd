//! Collections from which a loop removes the elements.

use super::ParallelIterator;
use std::ops::{Bound, Range, RangeBounds};

/// A collection all of whose elements a loop can remove, so that its memory can be used again:
/// implemented for unique references to `HashMap`, `HashSet` and `BinaryHeap`.
///
/// From a vector, a deque and a string, [`ParallelDrainRange`] removes them all by `par_drain(..)`.
pub trait ParallelDrainFull {
    /// The type of the iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// The type of its items: the elements.
    type Item: Send;

    /// Returns an iterator over the elements, which are removed.
    ///
    /// They are removed also if the iterator is dropped, or if the loop ends early. If it is leaked,
    /// it is not said which elements are left.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    /// use std::collections::HashSet;
    ///
    /// let mut words = HashSet::from(["a", "few", "words"]);
    /// assert_eq!(words.par_drain().map(str::len).sum::<usize>(), 9);
    /// assert!(words.is_empty() && words.capacity() >= 3);
    /// ```
    fn par_drain(self) -> Self::Iter;
}

/// A collection from which a loop can remove a range of elements: implemented for unique references
/// to `Vec`, `VecDeque` and `String`.
pub trait ParallelDrainRange<Idx = usize> {
    /// The type of the iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// The type of its items: the elements.
    type Item: Send;

    /// Returns an iterator over the elements in `range`, which are removed.
    ///
    /// They are removed also if the iterator is dropped, or if the loop ends early; elements that
    /// are not consumed are dropped. If the iterator is leaked, it is not said which elements are
    /// left. The elements of a vector are moved from their place, and nothing is allocated.
    ///
    /// # Panics
    ///
    /// Panics if the range is not within the collection. A range of a string must begin and end at
    /// a character.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut numbers: Vec<u32> = (0..10).collect();
    /// assert_eq!(numbers.par_drain(2..8).sum::<u32>(), 27);
    /// assert_eq!(numbers, [0, 1, 8, 9]);
    /// ```
    fn par_drain<R: RangeBounds<Idx>>(self, range: R) -> Self::Iter;
}

/// Returns the range of indices below `len` that `range` stands for.
///
/// # Panics
///
/// Panics if there are elements in `range` beyond `len`, or if it ends before it begins.
#[track_caller]
pub(in crate::iter) fn checked(range: impl RangeBounds<usize>, len: usize) -> Range<usize> {
    let overflow = || -> ! { panic!("a range of elements must end below usize::MAX") };
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.checked_add(1).unwrap_or_else(|| overflow()),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.checked_add(1).unwrap_or_else(|| overflow()),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    assert!(start <= end && end <= len, "there is no range {start}..{end} in {len} elements");
    start..end
}
