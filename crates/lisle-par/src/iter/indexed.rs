//! Parallel iterators that know their number of items.

use super::adapters::chunked::Chunked;
use super::adapters::cut::{Skip, Take};
use super::adapters::enumerate::Enumerate;
use super::adapters::rev::Rev;
use super::adapters::step_by::StepBy;
use super::adapters::zip::Zip;
use super::collect::{extend_in_place, extend_two_in_place};
use super::{ExactPart, IntoParallelIterator, ParallelIterator};

/// A parallel iterator each of whose steps gives exactly one item.
///
/// It can be zipped with another one, numbered, cut, reversed, and collected in place.
#[diagnostic::on_unimplemented(
    message = "the number of items of `{Self}` is not known beforehand",
    note = "`filter`, `flat_map_iter` and the like do not give an `IndexedParallelIterator`: call `zip`, `enumerate`, \
            `rev`, `take`, `skip` and `chunks` before them"
)]
pub trait IndexedParallelIterator: ParallelIterator {
    /// The part that is run if the positions of the items matter.
    type Exact<'a>: ExactPart<Item = Self::Item>
    where
        Self: 'a;

    /// Returns a part with all steps. It is called once: values that are moved out of the iterator
    /// cannot be in a second part.
    fn exact(&mut self) -> Self::Exact<'_>;

    /// Returns the number of items.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!((0..10).into_par_iter().step_by(3).len(), 4);
    /// ```
    fn len(&self) -> usize;

    /// Returns `true` if there are no items.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert!((0..10).into_par_iter().skip(10).is_empty());
    /// ```
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Zips this iterator with another one; the shorter one determines the length of the loop.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let (a, b) = ([1, 2, 3], [4, 5, 6]);
    /// let mut sums = [0; 3];
    /// sums.par_iter_mut().zip(&a).zip(&b).for_each(|((sum, a), b)| *sum = a + b);
    /// assert_eq!(sums, [5, 7, 9]);
    /// ```
    fn zip<Z>(self, other: Z) -> Zip<Self, Z::Iter>
    where
        Z: IntoParallelIterator,
        Z::Iter: IndexedParallelIterator,
    {
        Zip::new(self, other.into_par_iter())
    }

    /// Zips this iterator with another one of the same length.
    ///
    /// # Panics
    ///
    /// Panics if the lengths differ.
    ///
    /// ```should_panic
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// (0..3).into_par_iter().zip_eq(0..4).for_each(drop);
    /// ```
    #[track_caller]
    fn zip_eq<Z>(self, other: Z) -> Zip<Self, Z::Iter>
    where
        Z: IntoParallelIterator,
        Z::Iter: IndexedParallelIterator,
    {
        let other = other.into_par_iter();
        assert_eq!(self.len(), other.len(), "`zip_eq` needs two iterators of one length");
        Zip::new(self, other)
    }

    /// Returns an iterator over pairs of a number, from 0 on, and an item.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut squares = vec![0; 100];
    /// squares.par_iter_mut().enumerate().for_each(|(i, square)| *square = i * i);
    /// assert_eq!(squares[9], 81);
    /// ```
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate::new(self)
    }

    /// Returns an iterator over the items from the last to the first.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let down: Vec<u8> = (0..4).into_par_iter().rev().collect();
    /// assert_eq!(down, [3, 2, 1, 0]);
    /// ```
    fn rev(self) -> Rev<Self> {
        Rev::new(self)
    }

    /// Returns an iterator over the first `count` items, or all if there are fewer.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!((0..10).into_par_iter().take(3).max(), Some(2));
    /// ```
    fn take(self, count: usize) -> Take<Self> {
        Take::new(self, count)
    }

    /// Returns an iterator over the items after the first `count`. The skipped items are not made
    /// at all.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!((0..10).into_par_iter().skip(7).sum::<i32>(), 24);
    /// ```
    fn skip(self, count: usize) -> Skip<Self> {
        Skip::new(self, count)
    }

    /// Returns an iterator over the first item and then every `step`-th one.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let thirds: Vec<i32> = (0..10).into_par_iter().step_by(3).collect();
    /// assert_eq!(thirds, [0, 3, 6, 9]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `step` is 0.
    #[track_caller]
    fn step_by(self, step: usize) -> StepBy<Self> {
        StepBy::new(self, step)
    }

    /// Returns an iterator over vectors of `size` items, the last of which may be shorter.
    ///
    /// For slices, [`par_chunks`](crate::slice::ParallelSlice::par_chunks) does the same without
    /// allocation.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let sums: Vec<i32> = (0..5).into_par_iter().chunks(2).map(|pair| pair.iter().sum()).collect();
    /// assert_eq!(sums, [1, 5, 4]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `size` is 0.
    #[track_caller]
    fn chunks(self, size: usize) -> Chunked<Self> {
        Chunked::new(self, size)
    }

    /// Replaces the elements of `target` by the items, and reuses its memory as far as it suffices.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut line = vec![7; 100];
    /// (0..3).into_par_iter().collect_into_vec(&mut line);
    /// assert_eq!(line, [0, 1, 2]);
    /// assert!(line.capacity() >= 100);
    /// ```
    #[track_caller]
    fn collect_into_vec(self, target: &mut Vec<Self::Item>) {
        target.clear();
        let len = self.len();
        extend_in_place(target, self, len);
    }

    /// Replaces the elements of `left` and `right` by the first and second elements of the items.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let (mut a, mut b) = (Vec::new(), Vec::new());
    /// [(1, 'x'), (2, 'y')].into_par_iter().unzip_into_vecs(&mut a, &mut b);
    /// assert_eq!((a, b), (vec![1, 2], vec!['x', 'y']));
    /// ```
    #[track_caller]
    fn unzip_into_vecs<A: Send, B: Send>(self, left: &mut Vec<A>, right: &mut Vec<B>)
    where
        Self: IndexedParallelIterator<Item = (A, B)>,
    {
        left.clear();
        right.clear();
        let len = self.len();
        extend_two_in_place(left, right, self, len);
    }

    /// Returns the position of any item for which `predicate` returns `true`.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let at = [2, 3, 4, 5].par_iter().position_any(|n| n % 2 == 1);
    /// assert!(at == Some(1) || at == Some(3));
    /// ```
    #[track_caller]
    fn position_any<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.enumerate().find_map_any(|(at, item)| predicate(item).then_some(at))
    }

    /// Returns the position of the first item for which `predicate` returns `true`.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([2, 3, 4, 5].par_iter().position_first(|n| n % 2 == 1), Some(1));
    /// ```
    #[track_caller]
    fn position_first<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.enumerate().find_map_first(|(at, item)| predicate(item).then_some(at))
    }

    /// Returns the position of the last item for which `predicate` returns `true`.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([2, 3, 4, 5].par_iter().position_last(|n| n % 2 == 1), Some(3));
    /// ```
    #[track_caller]
    fn position_last<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.enumerate().rev().find_map_first(|(at, item)| predicate(item).then_some(at))
    }
}
