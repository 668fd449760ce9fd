//! Parallel iterators that know how many items they have.

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
/// So it can be run beside another one, numbered, cut, run from its end, and collected in place.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not know how many items it has",
    note = "`filter`, `flat_map_iter` and their like are no `IndexedParallelIterator`: `zip`, `enumerate`, `rev`, `take`, \
            `skip` and `chunks` go before them"
)]
pub trait IndexedParallelIterator: ParallelIterator {
    /// What is run if the items' places count.
    type Exact<'a>: ExactPart<Item = Self::Item>
    where
        Self: 'a;

    /// All steps, to be taken once: what is moved out of the iterator is not in a second part of it.
    fn exact(&mut self) -> Self::Exact<'_>;

    /// How many items there are.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!((0..10).into_par_iter().step_by(3).len(), 4);
    /// ```
    fn len(&self) -> usize;

    /// Are there none?
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs another one beside it; the shorter one says how long the loop is.
    ///
    /// ```
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

    /// Runs another one beside it that is as long.
    ///
    /// # Panics
    ///
    /// If it is not.
    ///
    /// ```should_panic
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
        assert_eq!(self.len(), other.len(), "iterators that are to be of one length are not");
        Zip::new(self, other)
    }

    /// Items with their numbers, from 0 on.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// let mut squares = vec![0; 100];
    /// squares.par_iter_mut().enumerate().for_each(|(i, square)| *square = i * i);
    /// assert_eq!(squares[9], 81);
    /// ```
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate::new(self)
    }

    /// From the last item to the first.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// let down: Vec<u8> = (0..4).into_par_iter().rev().collect();
    /// assert_eq!(down, [3, 2, 1, 0]);
    /// ```
    fn rev(self) -> Rev<Self> {
        Rev::new(self)
    }

    /// The first `count` items, or all.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!((0..10).into_par_iter().take(3).max(), Some(2));
    /// ```
    fn take(self, count: usize) -> Take<Self> {
        Take::new(self, count)
    }

    /// What comes after the first `count` items. Those are not made at all.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!((0..10).into_par_iter().skip(7).sum::<i32>(), 24);
    /// ```
    fn skip(self, count: usize) -> Skip<Self> {
        Skip::new(self, count)
    }

    /// The first item and then every `step`-th one.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// let thirds: Vec<i32> = (0..10).into_par_iter().step_by(3).collect();
    /// assert_eq!(thirds, [0, 3, 6, 9]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `step` is 0.
    #[track_caller]
    fn step_by(self, step: usize) -> StepBy<Self> {
        StepBy::new(self, step)
    }

    /// Vectors of `size` items, of which the last may be shorter.
    ///
    /// For slices there are [`par_chunks`](super::ParallelSlice::par_chunks), which allocate nothing.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// let sums: Vec<i32> = (0..5).into_par_iter().chunks(2).map(|pair| pair.iter().sum()).collect();
    /// assert_eq!(sums, [1, 5, 4]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    #[track_caller]
    fn chunks(self, size: usize) -> Chunked<Self> {
        Chunked::new(self, size)
    }

    /// Makes `target` hold the items and nothing else, in the memory that it has, as far as that goes.
    ///
    /// ```
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

    /// Makes `left` and `right` hold the halves of the items and nothing else.
    ///
    /// ```
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

    /// Where any item is that `predicate` wants.
    ///
    /// ```
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

    /// Where the first item is that `predicate` wants.
    ///
    /// ```
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

    /// Where the last item is that `predicate` wants.
    ///
    /// ```
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
