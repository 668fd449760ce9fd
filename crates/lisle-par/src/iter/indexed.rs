//! Parallel iterators that know their number of items.

use super::adapters::blocks::Blocks;
use super::adapters::chunked::{Chunked, FoldChunks, FoldChunksWith, Gathering};
use super::adapters::cut::{Skip, Take};
use super::adapters::enumerate::Enumerate;
use super::adapters::fold::Folded;
use super::adapters::init::Clones;
use super::adapters::interleave::{Interleave, InterleaveShortest};
use super::adapters::planned::Planned;
use super::adapters::rev::Rev;
use super::adapters::stages::{Gated, Positioning, Positions, Staged};
use super::adapters::step_by::StepBy;
use super::adapters::zip::Zip;
use super::collect::{extend_in_place, extend_two_in_place};
use super::{ExactPart, IntoParallelIterator, ParallelIterator};
use std::cmp::Ordering;

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

    /// Returns an iterator over the items of this iterator and of `other` in turn. When one of the two
    /// has ended, the rest of the other one follows.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let both: Vec<i32> = [1, 2].into_par_iter().interleave([10, 20, 30, 40]).collect();
    /// assert_eq!(both, [1, 10, 2, 20, 30, 40]);
    /// ```
    fn interleave<I>(self, other: I) -> Interleave<Self, I::Iter>
    where
        I: IntoParallelIterator<Item = Self::Item>,
        I::Iter: IndexedParallelIterator<Item = Self::Item>,
    {
        Interleave::new(self, other.into_par_iter())
    }

    /// Returns an iterator over the items of this iterator and of `other` in turn, until the one whose
    /// turn it is has ended.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let both: Vec<i32> = [1, 2, 3, 4].into_par_iter().interleave_shortest([10, 20]).collect();
    /// assert_eq!(both, [1, 10, 2, 20, 3]);
    /// ```
    fn interleave_shortest<I>(self, other: I) -> InterleaveShortest<Self, I::Iter>
    where
        I: IntoParallelIterator<Item = Self::Item>,
        I::Iter: IndexedParallelIterator<Item = Self::Item>,
    {
        InterleaveShortest::shortest(self, other.into_par_iter())
    }

    /// Returns an iterator over the numbers of the items for which `predicate` returns `true`, from 0
    /// on.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let odd: Vec<usize> = [2, 3, 4, 5].par_iter().positions(|n| n % 2 == 1).collect();
    /// assert_eq!(odd, [1, 3]);
    /// ```
    fn positions<P>(self, predicate: P) -> Positions<Self, P>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        Staged::new(self.enumerate(), Gated(Positioning(predicate)))
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
        Chunked::new(self, size, Gathering, "chunks")
    }

    /// Returns an iterator over accumulators, each of `size` items; the last may be of fewer. Each
    /// accumulator starts as `identity()`, and `op` adds item after item to it.
    ///
    /// Unlike those of [`fold`](ParallelIterator::fold), the accumulators do not depend on how the
    /// loop is divided.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let sums: Vec<i32> = (0..5).into_par_iter().fold_chunks(2, || 0, |sum, n| sum + n).collect();
    /// assert_eq!(sums, [1, 5, 4]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `size` is 0.
    #[track_caller]
    fn fold_chunks<T, N, F>(self, size: usize, identity: N, op: F) -> FoldChunks<Self, N, F>
    where
        N: Fn() -> T + Send + Sync,
        F: Fn(T, Self::Item) -> T + Send + Sync,
        T: Send,
    {
        Chunked::new(self, size, Folded { identity, op }, "fold_chunks")
    }

    /// Does the same as [`fold_chunks`](Self::fold_chunks), with clones of `init` as the initial
    /// accumulators.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let lines = ['a', 'b', 'c'].into_par_iter().fold_chunks_with(2, String::from("> "), |mut line, c| {
    ///     line.push(c);
    ///     line
    /// });
    /// assert_eq!(lines.collect::<Vec<_>>(), ["> ab", "> c"]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `size` is 0.
    #[track_caller]
    fn fold_chunks_with<T, F>(self, size: usize, init: T, op: F) -> FoldChunksWith<Self, T, F>
    where
        T: Send + Clone,
        F: Fn(T, Self::Item) -> T + Send + Sync,
    {
        Chunked::new(self, size, Folded { identity: Clones::new(init), op }, "fold_chunks_with")
    }

    // Methods that say how the loop is divided.

    /// Sets the least number of steps of a piece: a range of neighbouring steps that one domain
    /// runs, with one accumulator. A loop of fewer than `2 * min` steps is not divided at all.
    ///
    /// Lisle measures how long the steps take and does not divide ranges that take only some
    /// microseconds, so most loops need no such limit. It also does not stop a domain from checking
    /// more often whether the loop is over. Zipped and chained iterators have the greater of their
    /// limits. With a [`grain`](ParallelIterator::grain) as well, a block has at least `min` steps.
    /// A `min` of 0 is no limit.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let pieces = (0..100_000).into_par_iter().with_min_len(1_000).fold(|| 0, |steps, _| steps + 1);
    /// assert!(pieces.min() >= Some(1_000));
    /// ```
    #[doc(alias = "MinLen")]
    fn with_min_len(self, min: usize) -> Planned<Self> {
        Planned::with_least(self, min)
    }

    /// Sets the greatest number of steps of a piece: a range of neighbouring steps that one domain
    /// runs, with one accumulator. After each piece another domain may take over the rest.
    ///
    /// Use it to bound the accumulators of [`fold`](ParallelIterator::fold), as in batches of some
    /// size. Each piece has its own value of [`map_init`](ParallelIterator::map_init) as well, and
    /// is merged with the pieces before it. If only the time between two checks whether another
    /// domain wants work is too long, [`grain`](ParallelIterator::grain) costs less. Zipped and
    /// chained iterators have the smaller of their limits. If a piece cannot keep both limits, that
    /// of [`with_min_len`](Self::with_min_len) counts. A `max` of 0 is the same as 1.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let batches = (0..1_000).into_par_iter().with_max_len(64).fold(Vec::new, |mut batch, n| {
    ///     batch.push(n);
    ///     batch
    /// });
    /// batches.for_each(|batch| assert!(batch.len() <= 64));
    /// ```
    #[doc(alias = "MaxLen")]
    fn with_max_len(self, max: usize) -> Planned<Self> {
        Planned::with_most(self, max)
    }

    /// Runs the loop as a sequence of loops over `size` items each. No item of a later block is
    /// begun before all items of a block are done.
    ///
    /// The domains wait for each other after each block, so choose blocks that take much longer than
    /// some microseconds. If another adapter divides the loop ([`chain`](ParallelIterator::chain),
    /// [`progress`](ParallelIterator::progress)), it is not run in blocks.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let done = AtomicUsize::new(0);
    /// (0..1_000).into_par_iter().by_uniform_blocks(100).for_each(|n| {
    ///     assert!(done.fetch_add(1, Relaxed) >= n / 100 * 100);
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `size` is 0.
    #[doc(alias = "UniformBlocks")]
    #[track_caller]
    fn by_uniform_blocks(self, size: usize) -> Blocks<Self> {
        Blocks::uniform(self, size)
    }

    /// Runs the loop as a sequence of loops, each over twice as many items as the one before it.
    /// The first has an item for each domain.
    ///
    /// A search for the [first](ParallelIterator::find_first) item then looks at few items after it.
    /// Otherwise most domains begin far behind the item, and work in vain. Other than that, it is as
    /// [`by_uniform_blocks`](Self::by_uniform_blocks).
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let cubes = (0..1_000_000_u64).into_par_iter().by_exponential_blocks();
    /// assert_eq!(cubes.find_first(|n| n.pow(3) > 1_000), Some(11));
    /// ```
    #[doc(alias = "ExponentialBlocks")]
    fn by_exponential_blocks(self) -> Blocks<Self> {
        Blocks::exponential(self)
    }

    // Methods that run the loop.

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

    /// Compares the items with those of another iterator lexicographically, as vectors of them
    /// would be compared.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// use std::cmp::Ordering;
    ///
    /// assert_eq!([1, 2].par_iter().cmp(&[1, 3, 0]), Ordering::Less);
    /// assert_eq!([1, 2].par_iter().cmp(&[1]), Ordering::Greater);
    /// ```
    #[track_caller]
    fn cmp<I>(self, other: I) -> Ordering
    where
        I: IntoParallelIterator<Item = Self::Item>,
        I::Iter: IndexedParallelIterator,
        Self::Item: Ord,
    {
        let other = other.into_par_iter();
        let of_lengths = self.len().cmp(&other.len());
        let unequal = |(a, b): (Self::Item, Self::Item)| Some(a.cmp(&b)).filter(|order| order.is_ne());
        self.zip(other).find_map_first(unequal).unwrap_or(of_lengths)
    }

    /// Does the same as [`cmp`](Self::cmp) for items of which some cannot be compared. Returns `None` if
    /// the first two that are not equal cannot.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// use std::cmp::Ordering;
    ///
    /// assert_eq!([1.0, 2.0].par_iter().partial_cmp(&[1.0, 3.0]), Some(Ordering::Less));
    /// assert_eq!([1.0, f64::NAN].par_iter().partial_cmp(&[1.0, 3.0]), None);
    /// ```
    #[track_caller]
    fn partial_cmp<I>(self, other: I) -> Option<Ordering>
    where
        I: IntoParallelIterator,
        I::Iter: IndexedParallelIterator,
        Self::Item: PartialOrd<I::Item>,
    {
        let other = other.into_par_iter();
        let of_lengths = self.len().cmp(&other.len());
        let unequal = |(a, b): (Self::Item, I::Item)| match a.partial_cmp(&b) {
            Some(Ordering::Equal) => None,
            order => Some(order),
        };
        self.zip(other).find_map_first(unequal).unwrap_or(Some(of_lengths))
    }

    /// Returns `true` if there are as many items as in another iterator, and each is equal to the one at
    /// the same place. If the numbers differ, no item is made.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert!((0..3).into_par_iter().eq([0, 1, 2]));
    /// assert!(!(0..3).into_par_iter().eq(0..4));
    /// ```
    #[track_caller]
    fn eq<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator,
        I::Iter: IndexedParallelIterator,
        Self::Item: PartialEq<I::Item>,
    {
        let other = other.into_par_iter();
        self.len() == other.len() && self.zip(other).all(|(a, b)| a == b)
    }

    /// Returns the opposite of [`eq`](Self::eq).
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert!((0..3).into_par_iter().ne(0..4));
    /// ```
    #[track_caller]
    fn ne<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator,
        I::Iter: IndexedParallelIterator,
        Self::Item: PartialEq<I::Item>,
    {
        !self.eq(other)
    }

    /// Returns `true` if the items are less than those of another iterator, as
    /// [`partial_cmp`](Self::partial_cmp) compares them.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert!([1, 2].par_iter().lt(&[1, 3]));
    /// ```
    #[track_caller]
    fn lt<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator,
        I::Iter: IndexedParallelIterator,
        Self::Item: PartialOrd<I::Item>,
    {
        self.partial_cmp(other).is_some_and(Ordering::is_lt)
    }

    /// Returns `true` if the items are less than or equal to those of another iterator, as
    /// [`partial_cmp`](Self::partial_cmp) compares them.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert!([1, 2].par_iter().le(&[1, 2]));
    /// ```
    #[track_caller]
    fn le<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator,
        I::Iter: IndexedParallelIterator,
        Self::Item: PartialOrd<I::Item>,
    {
        self.partial_cmp(other).is_some_and(Ordering::is_le)
    }

    /// Returns `true` if the items are greater than those of another iterator, as
    /// [`partial_cmp`](Self::partial_cmp) compares them.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert!([1, 2].par_iter().gt(&[1]));
    /// ```
    #[track_caller]
    fn gt<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator,
        I::Iter: IndexedParallelIterator,
        Self::Item: PartialOrd<I::Item>,
    {
        self.partial_cmp(other).is_some_and(Ordering::is_gt)
    }

    /// Returns `true` if the items are greater than or equal to those of another iterator, as
    /// [`partial_cmp`](Self::partial_cmp) compares them.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert!([1, 2].par_iter().ge(&[1, 2]));
    /// ```
    #[track_caller]
    fn ge<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator,
        I::Iter: IndexedParallelIterator,
        Self::Item: PartialOrd<I::Item>,
    {
        self.partial_cmp(other).is_some_and(Ordering::is_ge)
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
        self.enumerate().find_map_any(move |(at, item)| predicate(item).then_some(at))
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
        self.enumerate().find_map_first(move |(at, item)| predicate(item).then_some(at))
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
        self.enumerate().rev().find_map_first(move |(at, item)| predicate(item).then_some(at))
    }
}
