//! Parallel iterators.

use super::adapters::chain::Chain;
use super::adapters::counted::Counted;
use super::adapters::flat_map::{FlatMap, Flatten};
use super::adapters::fold::{FoldWith, Folded, Folds, TryFoldWith, TryFolded};
use super::adapters::init::Clones;
use super::adapters::intersperse::Intersperse;
use super::adapters::map_init::{MapInit, MapWith};
use super::adapters::panic_fuse::PanicFuse;
use super::adapters::planned::Planned;
use super::adapters::stages::{
    Cloned, Cloning, Copied, Copying, Filter, FilterMap, FilterMapping, Filtering, FlatMapIter, FlatMapping,
    FlattenIter, Flattening, Gated, Inspect, Inspecting, Map, Mapping, SkipAny, SkipAnyWhile, SkippingAny,
    SkippingAnyWhile, Staged, TakeAny, TakeAnyWhile, TakingAny, TakingAnyWhile, TakingSome, Update, Updating,
    WhileSome,
};
use super::adapters::until::Until;
use super::collect::{partition, partition_map, unzip, vec_list};
use super::ends::each::{Count, ForEach};
use super::ends::find::{FindAny, FindFirst, FindLast};
use super::ends::reduce::{Reduce, ReduceWith};
use super::ends::sum::{Product, Sum};
use super::ends::tries::{TryForEach, TryReduce, TryReduceWith};
use super::run::{run, run_by};
use super::{Consumer, FromParallelIterator, IntoParallelIterator, ParallelExtend, Part, Plan, Try};
use crate::Progress;
use crate::kept::without;
use either::Either;
use lisle_core::Event;
use std::cmp::Ordering;
use std::collections::LinkedList;
use std::iter;
use std::marker::PhantomData;

/// A loop over all cores whose body has yet to be given.
///
/// Nothing happens until a method is called that does not return an iterator:
/// [`for_each`](Self::for_each), [`collect`](Self::collect), [`sum`](Self::sum),
/// [`reduce`](Self::reduce) and so on. These methods run the loop and return when all of it is
/// done.
///
/// To make a parallel iterator over a new source, implement [`Part`] for its parts; see
/// [`part`](Self::part).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parallel iterator",
    note = "`into_par_iter`, `par_iter` and `par_iter_mut` make one"
)]
pub trait ParallelIterator: Sized + Send {
    /// The type of the items.
    type Item: Send;
    /// The part that is run. It may borrow from the iterator, which stays in the frame of its
    /// caller.
    type Part<'a>: Part<Item = Self::Item>
    where
        Self: 'a;

    /// Returns a part with all steps. It is called once: values that are moved out of the iterator cannot be
    /// in a second part.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::iter::{ParallelIterator, Part};
    /// use std::ops::Range;
    ///
    /// /// The pairs of numbers below `n`, row by row.
    /// struct Pairs(u32);
    ///
    /// struct SomePairs {
    ///     n: u32,
    ///     steps: Range<u64>,
    /// }
    ///
    /// struct PairItems(SomePairs);
    ///
    /// impl Iterator for PairItems {
    ///     type Item = (u32, u32);
    ///     fn next(&mut self) -> Option<(u32, u32)> {
    ///         let n = u64::from(self.0.n);
    ///         self.0.steps.next().map(|step| ((step / n) as u32, (step % n) as u32))
    ///     }
    /// }
    ///
    /// impl Part for SomePairs {
    ///     type Item = (u32, u32);
    ///     type Items = PairItems;
    ///     fn len(&self) -> usize {
    ///         (self.steps.end - self.steps.start) as usize
    ///     }
    ///     fn split_at(self, at: usize) -> (Self, Self) {
    ///         let middle = self.steps.start + at as u64;
    ///         let (left, right) = (self.steps.start..middle, middle..self.steps.end);
    ///         (SomePairs { n: self.n, steps: left }, SomePairs { n: self.n, steps: right })
    ///     }
    ///     fn items(self) -> PairItems {
    ///         PairItems(self)
    ///     }
    /// }
    ///
    /// impl ParallelIterator for Pairs {
    ///     type Item = (u32, u32);
    ///     type Part<'a> = SomePairs;
    ///     fn part(&mut self) -> SomePairs {
    ///         SomePairs { n: self.0, steps: 0..u64::from(self.0).pow(2) }
    ///     }
    /// }
    ///
    /// assert_eq!(Pairs(100).filter(|(a, b)| a < b).count(), 4_950);
    /// ```
    fn part(&mut self) -> Self::Part<'_>;

    /// Returns the plan for dividing the loop.
    fn plan(&self) -> Plan {
        Plan::default()
    }

    /// Returns the number of items, if it is known. If the number is wrong,
    /// [`collect`](Self::collect) panics.
    fn exact_len(&self) -> Option<usize> {
        None
    }

    /// Runs the loop: feeds all items to `consumer`.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::iter::{At, Consumer};
    /// use lisle::par::prelude::*;
    ///
    /// /// Counts the items that are greater than the one before.
    /// struct Rises;
    ///
    /// impl Consumer for Rises {
    ///     type Item = i32;
    ///     /// The count, the first item and the last item.
    ///     type Acc = Option<(usize, i32, i32)>;
    ///     fn begin(&self) -> Self::Acc {
    ///         None
    ///     }
    ///     fn feed<I: Iterator<Item = i32>>(&self, acc: Self::Acc, _: At<'_>, items: I) -> Self::Acc {
    ///         items.fold(acc, |acc, item| self.merge(acc, Some((0, item, item))))
    ///     }
    ///     fn merge(&self, left: Self::Acc, right: Self::Acc) -> Self::Acc {
    ///         match (left, right) {
    ///             (Some((m, first, a)), Some((n, b, last))) => Some((m + n + usize::from(a < b), first, last)),
    ///             (left, right) => left.or(right),
    ///         }
    ///     }
    /// }
    ///
    /// let all = [1, 2, 1, 3, 4].into_par_iter();
    /// let plan = all.plan();
    /// assert_eq!(all.drive(&Rises, plan), Some((3, 1, 4)));
    /// ```
    #[track_caller]
    fn drive<C: Consumer<Item = Self::Item>>(mut self, consumer: &C, plan: Plan) -> C::Acc {
        let acc = run(self.part(), consumer, plan);
        without(acc, self)
    }

    // Methods that make another iterator.

    /// Returns an iterator over the results of `map` for each item.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let doubled: Vec<i32> = [1, 2, 3].par_iter().map(|n| n * 2).collect();
    /// assert_eq!(doubled, [2, 4, 6]);
    /// ```
    fn map<F, R>(self, map: F) -> Map<Self, F>
    where
        F: Fn(Self::Item) -> R + Sync + Send,
        R: Send,
    {
        Staged::new(self, Mapping(map))
    }

    /// Returns an iterator over the results of `map` for each item, which also gets a value made by
    /// `init`, such as a buffer or a generator.
    ///
    /// There is one value for each range of neighbouring steps that one domain runs: a single one
    /// if no other domain takes part, and one more each time that a part of the loop is given away.
    /// If an adapter that numbers, cuts or joins (`enumerate`, `zip`, `take`, `rev`, `chain` and
    /// similar ones) follows, there is one value for each block of some microseconds; put
    /// `map_init` behind those adapters. The value stays on the thread that has made it and need
    /// not be `Send`.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let lengths: Vec<usize> = (0..100)
    ///     .into_par_iter()
    ///     .map_init(String::new, |buffer, n: i32| {
    ///         use std::fmt::Write;
    ///         buffer.clear();
    ///         write!(buffer, "{n}").unwrap();
    ///         buffer.len()
    ///     })
    ///     .collect();
    /// assert_eq!(lengths.iter().sum::<usize>(), 190);
    /// ```
    fn map_init<F, N, T, R>(self, init: N, map: F) -> MapInit<Self, N, F>
    where
        N: Fn() -> T + Sync + Send,
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        R: Send,
    {
        MapInit::new(self, init, map)
    }

    /// Does the same as [`map_init`](Self::map_init), with clones of `init` as the values.
    ///
    /// `init` need not be `Sync`: the participants clone it one after the other.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    /// use std::sync::mpsc::channel;
    ///
    /// let (tx, rx) = channel();
    /// let sent = (0..5).into_par_iter().map_with(tx, |tx, n| tx.send(n).is_ok());
    /// assert!(sent.all(|is_ok| is_ok));
    /// assert_eq!(rx.iter().sum::<i32>(), 10);
    /// ```
    #[track_caller]
    fn map_with<F, T, R>(self, init: T, map: F) -> MapWith<Self, T, F>
    where
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        T: Send + Clone,
        R: Send,
    {
        MapInit::new(self, Clones::new(init), map)
    }

    /// Returns an iterator over clones of the values that the items refer to.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let names = [String::from("a")];
    /// let copies: Vec<String> = names.par_iter().cloned().collect();
    /// assert_eq!(names[..], copies);
    /// ```
    fn cloned<'a, T>(self) -> Cloned<Self>
    where
        T: 'a + Clone + Send,
        Self: ParallelIterator<Item = &'a T>,
    {
        Staged::new(self, Cloning)
    }

    /// Returns an iterator over copies of the values that the items refer to.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([1, 2].par_iter().copied().max(), Some(2));
    /// ```
    fn copied<'a, T>(self) -> Copied<Self>
    where
        T: 'a + Copy + Send,
        Self: ParallelIterator<Item = &'a T>,
    {
        Staged::new(self, Copying)
    }

    /// Calls `inspect` with a reference to each item and passes the item on.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let seen = AtomicUsize::new(0);
    /// let sum: i32 = [1, 2].into_par_iter().inspect(|_| _ = seen.fetch_add(1, Ordering::Relaxed)).sum();
    /// assert_eq!((sum, seen.into_inner()), (3, 2));
    /// ```
    fn inspect<F>(self, inspect: F) -> Inspect<Self, F>
    where
        F: Fn(&Self::Item) + Sync + Send,
    {
        Staged::new(self, Inspecting(inspect))
    }

    /// Calls `update` with a mutable reference to each item and passes the item on.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let all: Vec<Vec<i32>> = (0..2).into_par_iter().map(|n| vec![n]).update(|v| v.push(9)).collect();
    /// assert_eq!(all, [[0, 9], [1, 9]]);
    /// ```
    fn update<F>(self, update: F) -> Update<Self, F>
    where
        F: Fn(&mut Self::Item) + Sync + Send,
    {
        Staged::new(self, Updating(update))
    }

    /// Returns an iterator over the items for which `predicate` returns `true`.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let even: Vec<i32> = (0..7).into_par_iter().filter(|n| n % 2 == 0).collect();
    /// assert_eq!(even, [0, 2, 4, 6]);
    /// ```
    fn filter<P>(self, predicate: P) -> Filter<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        Staged::new(self, Filtering(predicate))
    }

    /// Returns an iterator over the values that `map` returns as `Some`.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let numbers: Vec<i32> = ["1", "x", "3"].par_iter().filter_map(|text| text.parse().ok()).collect();
    /// assert_eq!(numbers, [1, 3]);
    /// ```
    fn filter_map<P, R>(self, map: P) -> FilterMap<Self, P>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        Staged::new(self, FilterMapping(map))
    }

    /// Calls `map` with each item and returns an iterator over the items of all results. Each
    /// result is run as a parallel loop itself.
    ///
    /// If the results are short, [`flat_map_iter`](Self::flat_map_iter) costs less.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let pairs = (0..3).into_par_iter().flat_map(|a| (0..a).into_par_iter().map(move |b| (a, b)));
    /// assert_eq!(pairs.collect::<Vec<_>>(), [(1, 0), (2, 0), (2, 1)]);
    /// ```
    #[track_caller]
    fn flat_map<F, U>(self, map: F) -> FlatMap<Self, F>
    where
        F: Fn(Self::Item) -> U + Sync + Send,
        U: IntoParallelIterator,
    {
        FlatMap::new(self, map)
    }

    /// Flattens the items: returns an iterator over the items of each item. Each item is run as a parallel
    /// loop itself.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let rows = [vec![1, 2], vec![], vec![3]];
    /// assert_eq!(rows.par_iter().flatten().sum::<i32>(), 6);
    /// ```
    #[track_caller]
    fn flatten(self) -> Flatten<Self>
    where
        Self::Item: IntoParallelIterator,
    {
        self.flat_map(std::convert::identity as fn(_) -> _)
    }

    /// Calls `map` with each item and returns an iterator over the items of all results. Each
    /// result is run as a plain iterator.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let words: Vec<&str> = ["a b", "c"].par_iter().flat_map_iter(|line| line.split(' ')).collect();
    /// assert_eq!(words, ["a", "b", "c"]);
    /// ```
    fn flat_map_iter<F, U>(self, map: F) -> FlatMapIter<Self, F>
    where
        F: Fn(Self::Item) -> U + Sync + Send,
        U: IntoIterator,
        U::Item: Send,
    {
        Staged::new(self, FlatMapping(map))
    }

    /// Flattens the items: returns an iterator over the items of each item. Each item is run as a plain
    /// iterator.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let all: Vec<i32> = [vec![1], vec![], vec![2, 3]].into_par_iter().flatten_iter().collect();
    /// assert_eq!(all, [1, 2, 3]);
    /// ```
    fn flatten_iter(self) -> FlattenIter<Self>
    where
        Self::Item: IntoIterator,
        <Self::Item as IntoIterator>::Item: Send,
    {
        Staged::new(self, Flattening)
    }

    /// Returns an iterator over the values in the items until an item is `None`. Then the loop ends.
    ///
    /// Values after the first `None` may be among them if other domains have come to them before, and
    /// values before it may be missing.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let small = (0..u64::MAX).into_par_iter().map(|n| n.checked_mul(1 << 60)).while_some();
    /// assert!(small.max() < Some(u64::MAX));
    /// ```
    fn while_some<T>(self) -> WhileSome<Self>
    where
        Self: ParallelIterator<Item = Option<T>>,
        T: Send,
    {
        Staged::new(self, Gated(TakingSome::new()))
    }

    /// Returns an iterator over `count` items from anywhere, or all if there are fewer. They are in
    /// order.
    ///
    /// These are the items that come first in time. For the first items in order, see
    /// [`take`](super::IndexedParallelIterator::take).
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let some: Vec<u32> = (0..1_000).into_par_iter().filter(|n| n % 2 == 0).take_any(5).collect();
    /// assert_eq!(some.len(), 5);
    /// assert!(some.is_sorted());
    /// ```
    fn take_any(self, count: usize) -> TakeAny<Self> {
        Staged::new(self, Gated(TakingAny::new(count)))
    }

    /// Returns an iterator over all items but `count` from anywhere. They are in order.
    ///
    /// The items that are left out are those that come first in time. To leave out the first items in
    /// order, see [`skip`](super::IndexedParallelIterator::skip).
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let odd = (0..1_000).into_par_iter().filter(|n| n % 2 == 1);
    /// assert_eq!(odd.skip_any(5).count(), 495);
    /// ```
    fn skip_any(self, count: usize) -> SkipAny<Self> {
        Staged::new(self, Gated(SkippingAny::new(count)))
    }

    /// Returns an iterator over items until `predicate` returns `false` for any item. Then the loop
    /// ends.
    ///
    /// Items after that one may be among them if other domains have come to them before, and items
    /// before it may be missing.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    ///
    /// // Adds numbers until the sum is large enough.
    /// let sum = AtomicU64::new(0);
    /// let numbers = (0..u64::MAX).into_par_iter().map(|n| n % 100);
    /// numbers.take_any_while(|n| sum.fetch_add(*n, Relaxed) < 10_000).for_each(drop);
    /// assert!(sum.into_inner() >= 10_000);
    /// ```
    fn take_any_while<P>(self, predicate: P) -> TakeAnyWhile<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        Staged::new(self, Gated(TakingAnyWhile::new(predicate)))
    }

    /// Returns an iterator over the items that come after `predicate` has returned `false` for any
    /// item, in time, and over that item.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let seen = AtomicUsize::new(0);
    /// let late = (0..100).into_par_iter().skip_any_while(|_| seen.fetch_add(1, Relaxed) < 10);
    /// assert_eq!(late.count(), 90);
    /// ```
    fn skip_any_while<P>(self, predicate: P) -> SkipAnyWhile<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        Staged::new(self, Gated(SkippingAnyWhile::new(predicate)))
    }

    /// Returns an iterator over the items with a clone of `element` between each two.
    ///
    /// `element` need not be `Sync`: the participants clone it one after the other. If the number of
    /// items is not known and another adapter divides the loop ([`chain`](Self::chain),
    /// [`progress`](Self::progress)), the items are collected first.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let list: String = ["a", "b", "c"].into_par_iter().intersperse(", ").collect();
    /// assert_eq!(list, "a, b, c");
    /// ```
    #[track_caller]
    fn intersperse(self, element: Self::Item) -> Intersperse<Self, Self::Item>
    where
        Self::Item: Clone,
    {
        Intersperse::new(self, element)
    }

    /// Returns an iterator over the items of this iterator, followed by those of `next`.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let all: Vec<i32> = (0..2).into_par_iter().chain(5..7).collect();
    /// assert_eq!(all, [0, 1, 5, 6]);
    /// ```
    fn chain<C>(self, next: C) -> Chain<Self, C::Iter>
    where
        C: IntoParallelIterator<Item = Self::Item>,
    {
        Chain::new(self, next.into_par_iter())
    }

    /// Returns an iterator over accumulators, one for each range of neighbouring steps that one
    /// domain runs. Each accumulator starts as `identity()`, and `op` adds item after item to it.
    /// Their number depends on how the loop is divided; they are in order, and there is at least
    /// one.
    ///
    /// Use this for accumulators of another type than the items. To get a single one in the end,
    /// [`reduce`](Self::reduce) them.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    /// use std::collections::HashMap;
    ///
    /// let text = "the cat and the dog and the bird";
    /// let words: Vec<&str> = text.split(' ').collect();
    /// let counts = words
    ///     .par_iter()
    ///     .fold(HashMap::new, |mut counts: HashMap<&str, u32>, word| {
    ///         *counts.entry(word).or_default() += 1;
    ///         counts
    ///     })
    ///     .reduce(HashMap::new, |mut left, right| {
    ///         for (word, count) in right {
    ///             *left.entry(word).or_default() += count;
    ///         }
    ///         left
    ///     });
    /// assert_eq!(counts["the"], 3);
    /// ```
    fn fold<T, N, F>(self, identity: N, op: F) -> Folds<Self, Folded<N, F>>
    where
        F: Fn(T, Self::Item) -> T + Sync + Send,
        N: Fn() -> T + Sync + Send,
        T: Send,
    {
        Folds::new(self, Folded { identity, op })
    }

    /// Does the same as [`fold`](Self::fold), with clones of `init` as the initial accumulators.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let bits = [1_u8, 2, 8].par_iter().fold_with(0, |bits, bit| bits | bit).reduce(|| 0, |a, b| a | b);
    /// assert_eq!(bits, 11);
    /// ```
    #[track_caller]
    fn fold_with<F, T>(self, init: T, op: F) -> FoldWith<Self, T, F>
    where
        F: Fn(T, Self::Item) -> T + Sync + Send,
        T: Send + Clone,
    {
        Folds::new(self, Folded { identity: Clones::new(init), op })
    }

    /// Does the same as [`fold`](Self::fold), with an operation that may fail. After a failure the
    /// accumulator is the value that the operation has returned, and takes no more items. Other accumulators
    /// may have gone on.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let sum = [1_u8, 2, 3]
    ///     .par_iter()
    ///     .try_fold(|| 0_u8, |sum, &n| sum.checked_add(n))
    ///     .try_reduce(|| 0, u8::checked_add);
    /// assert_eq!(sum, Some(6));
    /// ```
    fn try_fold<T, R, N, F>(self, identity: N, op: F) -> Folds<Self, TryFolded<N, F, R>>
    where
        F: Fn(T, Self::Item) -> R + Sync + Send,
        N: Fn() -> T + Sync + Send,
        R: Try<Output = T> + Send,
    {
        Folds::new(self, TryFolded { identity, op, gives: PhantomData })
    }

    /// Does the same as [`try_fold`](Self::try_fold), with clones of `init` as the initial
    /// accumulators.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let sums = [200_u8, 3].par_iter().try_fold_with(0_u8, |sum, &n| sum.checked_add(n));
    /// assert_eq!(sums.try_reduce(|| 0, u8::checked_add), Some(203));
    /// ```
    #[track_caller]
    fn try_fold_with<F, T, R>(self, init: T, op: F) -> TryFoldWith<Self, T, F, R>
    where
        F: Fn(T, Self::Item) -> R + Sync + Send,
        R: Try<Output = T> + Send,
        T: Send + Clone,
    {
        Folds::new(self, TryFolded { identity: Clones::new(init), op, gives: PhantomData })
    }

    // Methods that say how the loop is divided.

    /// Sets the number of steps between two checks whether another domain wants work. By default, a block has
    /// as many steps as take some microseconds; this time is measured.
    ///
    /// This helps if the steps are very unequal, and it determines the blocks of
    /// [`map_init`](Self::map_init). A step is a step of this iterator. If two iterators are run as
    /// one, the larger grain counts.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// (0..100).into_par_iter().grain(1).for_each(|_| { /* something long */ });
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `steps` is 0.
    #[track_caller]
    fn grain(self, steps: usize) -> Planned<Self> {
        Planned::new(self, steps, false)
    }

    /// Divides the loop by the number of steps and by `grain` alone, and not by timing. The same
    /// results are merged in the same order each time, on any number of domains.
    ///
    /// This is for operations that are almost associative, such as the addition of floating-point
    /// numbers. Blocks of at most `grain` steps are run in sequence; choose as many as take some
    /// microseconds. The loops of [`flat_map`](Self::flat_map) are divided in the same way, each by
    /// its own grain if it has one.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let sum = || (1..10_000).into_par_iter().map(|n| 1.0 / f64::from(n)).deterministic(256).sum::<f64>();
    /// assert_eq!(sum().to_bits(), sum().to_bits());
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `grain` is 0.
    #[track_caller]
    fn deterministic(self, grain: usize) -> Planned<Self> {
        Planned::new(self, grain, true)
    }

    // Methods that stop and watch the loop.

    /// Lets a panic end the loop within a block, too.
    ///
    /// After a panic in one of the closures, no participant of a loop begins another block of steps,
    /// but blocks that have begun are run to their end. With this adapter, no item that comes through
    /// it is begun after the panic. A block mostly takes some microseconds. It may take longer if it
    /// is the first one, if some steps take much longer than others, or if a large
    /// [`grain`](Self::grain) was set. Items that are collected in place, and loops that another
    /// adapter divides (`zip`, `chain` and the like), end between blocks.
    ///
    /// ```should_panic
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// (0..1_000).into_par_iter().panic_fuse().for_each(|n| assert!(n != 500, "500 was not expected"));
    /// ```
    fn panic_fuse(self) -> PanicFuse<Self> {
        PanicFuse::new(self)
    }

    /// Lets `event` stop the loop. The event may be a condition, a message, a point in time, or the
    /// cancellation of a fiber. This is the last adapter, directly before the method that runs the
    /// loop.
    ///
    /// The loop may then have no result, so the methods that run it return a `Result`. The error is
    /// [`Stopped`](super::Stopped), with the value of the event. The usual methods are available directly,
    /// all others through [`run`](super::Until::run).
    ///
    /// The loop performs the event once, from the call of the method that runs the loop until this method
    /// returns. So the time of [`after`](lisle_core::time::after) counts from the call, and guards run once.
    /// The event is polled before the first block and then between blocks of steps, without waiting, by one
    /// participant at a time, about every 50 microseconds. Blocks that have begun are finished. No other
    /// blocks are begun, and their items are dropped. If the steps wait for a long time, the loop is stopped
    /// only when they have ended; let such steps wait for the same event as well. The event is not polled
    /// within a loop that took only some microseconds in earlier runs, because such a loop is run as one
    /// block.
    ///
    /// # Cancel safety
    ///
    /// If the loop ends first, the event is not performed: no message has been taken. If the event
    /// happens, its value is returned, even if only some last blocks of the loop were left. The
    /// event happens at most once. If a step panics after the event has happened, its value is
    /// dropped.
    ///
    /// # Fairness
    ///
    /// The event is polled and not queued: performers that wait for the same message are served first.
    ///
    /// # Cost
    ///
    /// It costs a poll of the event and some ten nanoseconds at the start of the loop, a look at the clock
    /// for each block, and a poll every 50 microseconds. Nothing is allocated.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::{iter::Stopped, prelude::*};
    /// use std::time::Duration;
    ///
    /// let (tx, rx) = lisle::channel::bounded(1);
    /// let squares = |n: u64| (0..n).into_par_iter().map(|n| n * n).until(rx.recv_evt()).sum::<u64>();
    /// assert_eq!(squares(5), Ok(30));
    /// tx.send("that will do").unwrap();
    /// assert_eq!(squares(5), Err(Stopped(Ok("that will do"))));
    /// assert_eq!(squares(5), Ok(30)); // the message has been taken
    ///
    /// let soon = lisle::time::after(Duration::from_millis(1));
    /// let many = 0..u64::MAX / 2; // more than can be counted, for all practical purposes
    /// let forever = many.into_par_iter().until(soon).for_each(|_| std::hint::spin_loop());
    /// assert_eq!(forever, Err(Stopped(())));
    /// ```
    ///
    /// A fiber that is asked to end stops its loops:
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::{Progress, iter::Stopped, prelude::*};
    /// use lisle::fiber;
    /// use lisle::Event;
    /// use std::sync::Arc;
    ///
    /// lisle::run(|| {
    ///     let progress = Arc::new(Progress::new());
    ///     let counted = progress.clone();
    ///     let fiber = lisle::spawn(move || {
    ///         let numbers = (0..u64::MAX / 2).into_par_iter().progress(&counted);
    ///         numbers.until(fiber::cancelled_evt()).for_each(|_| std::hint::spin_loop())
    ///     });
    ///     progress.reached_evt(1).sync(); // it is at work
    ///     fiber.cancel();
    ///     assert_eq!(fiber.join().unwrap(), Err(Stopped(())));
    /// });
    /// ```
    ///
    /// The compiler does not let the caller overlook that there may be no result:
    ///
    /// ```compile_fail,E0308
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let sum: i32 = (0..10).into_par_iter().until(lisle::never::<()>()).sum::<i32>();
    /// ```
    ///
    /// All participants poll the event, so it must be `Sync`, and its value moves between them, so
    /// it must be `Send`:
    ///
    /// ```compile_fail,E0277
    /// # use lisle_par::facade as lisle;
    /// use lisle::{Event, par::prelude::*};
    ///
    /// let count = std::cell::Cell::new(0);
    /// let counts = lisle::never::<()>().wrap(|()| count.set(1));
    /// (0..10).into_par_iter().until(counts);
    /// ```
    ///
    /// ```compile_fail,E0277
    /// # use lisle_par::facade as lisle;
    /// use lisle::{Event, par::prelude::*};
    ///
    /// (0..10).into_par_iter().until(lisle::never::<()>().wrap(std::rc::Rc::new));
    /// ```
    fn until<E>(self, event: E) -> Until<Self, E>
    where
        E: Event<Output: Send> + Sync,
    {
        Until::new(self, event)
    }

    /// Counts the steps that have been done in `progress`, which other threads may watch meanwhile.
    /// [`Progress`] says what exactly is counted.
    ///
    /// Put it after the iterator whose steps you want to count, close to the source. After a
    /// [`fold`](Self::fold) it would make one accumulator for each block. After [`until`](Self::until) it
    /// would count blocks in which no step was done.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::{Progress, prelude::*};
    ///
    /// let progress = Progress::new();
    /// let small = (0..100).into_par_iter().progress(&progress).filter(|n| *n < 10).count();
    /// assert_eq!((small, progress.done(), progress.total()), (10, 100, 100));
    /// (0..50).into_par_iter().progress(&progress).for_each(drop);
    /// assert_eq!((progress.done(), progress.total()), (150, 150));
    /// ```
    fn progress(self, progress: &Progress) -> Counted<'_, Self> {
        Counted::new(self, progress)
    }

    // Methods that run the loop.

    /// Calls `op` with each item.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut data = [1, 2, 3];
    /// data.par_iter_mut().for_each(|n| *n += 1);
    /// assert_eq!(data, [2, 3, 4]);
    /// ```
    #[track_caller]
    fn for_each<F>(self, op: F)
    where
        F: Fn(Self::Item) + Sync + Send,
    {
        run_by(self, ForEach::new(op));
    }

    /// Calls `op` with each item and a value that `init` makes for each range of neighbouring steps
    /// that one domain runs, as in [`map_init`](Self::map_init).
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    /// use std::sync::mpsc::channel;
    ///
    /// let (tx, rx) = channel();
    /// (0..5).into_par_iter().for_each_init(|| tx.clone(), |tx, n| tx.send(n).unwrap());
    /// drop(tx);
    /// assert_eq!(rx.iter().sum::<i32>(), 10);
    /// ```
    #[track_caller]
    fn for_each_init<F, N, T>(self, init: N, op: F)
    where
        N: Fn() -> T + Sync + Send,
        F: Fn(&mut T, Self::Item) + Sync + Send,
    {
        self.map_init(init, op).for_each(|()| ());
    }

    /// Does the same as [`for_each_init`](Self::for_each_init), with clones of `init` as the values.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    /// use std::sync::mpsc::channel;
    ///
    /// let (tx, rx) = channel();
    /// (0..5).into_par_iter().for_each_with(tx, |tx, n| tx.send(n).unwrap());
    /// assert_eq!(rx.iter().sum::<i32>(), 10);
    /// ```
    #[track_caller]
    fn for_each_with<F, T>(self, init: T, op: F)
    where
        F: Fn(&mut T, Self::Item) + Sync + Send,
        T: Send + Clone,
    {
        self.map_with(init, op).for_each(|()| ());
    }

    /// Calls `op` with each item until it fails, and returns the first failure.
    ///
    /// As in a plain loop, this is the first failure in the order of the items: items after a
    /// failure are not begun any more, but items before it are still run.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let all = ["1", "x", "y"].par_iter().try_for_each(|text| match text.parse::<i32>() {
    ///     Ok(_) => Ok(()),
    ///     Err(_) => Err(*text),
    /// });
    /// assert_eq!(all, Err("x"));
    /// ```
    #[track_caller]
    fn try_for_each<F, R>(self, op: F) -> R
    where
        F: Fn(Self::Item) -> R + Sync + Send,
        R: Try<Output = ()> + Send,
    {
        run_by(self, TryForEach::new(op))
    }

    /// Does the same as [`try_for_each`](Self::try_for_each), with values that `init` makes as in
    /// [`map_init`](Self::map_init).
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let all = (0..1_000).into_par_iter().try_for_each_init(String::new, |buffer, n: i32| {
    ///     use std::fmt::Write;
    ///     buffer.clear();
    ///     write!(buffer, "{n}").unwrap();
    ///     if buffer.len() < 3 { Ok(()) } else { Err(n) }
    /// });
    /// assert_eq!(all, Err(100));
    /// ```
    #[track_caller]
    fn try_for_each_init<F, N, T, R>(self, init: N, op: F) -> R
    where
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        N: Fn() -> T + Sync + Send,
        R: Try<Output = ()> + Send,
    {
        self.map_init(init, op).try_for_each(|outcome| outcome)
    }

    /// Does the same as [`try_for_each_init`](Self::try_for_each_init), with clones of `init` as the
    /// values.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    /// use std::sync::mpsc::channel;
    ///
    /// let (tx, rx) = channel();
    /// drop(rx);
    /// assert!((0..5).into_par_iter().try_for_each_with(tx, |tx, n| tx.send(n)).is_err());
    /// ```
    #[track_caller]
    fn try_for_each_with<F, T, R>(self, init: T, op: F) -> R
    where
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        T: Send + Clone,
        R: Try<Output = ()> + Send,
    {
        self.map_with(init, op).try_for_each(|outcome| outcome)
    }

    /// Returns the number of items.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!((0..100).into_par_iter().filter(|n| n % 7 == 0).count(), 15);
    /// ```
    #[track_caller]
    fn count(self) -> usize {
        run_by(self, Count::new())
    }

    /// Reduces all items to one with `op`, which has to be associative. `identity` returns a
    /// neutral value; the reduction of each range of steps starts with one.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let text = ["a", "b", "c"].par_iter().map(|s| s.to_string()).reduce(String::new, |a, b| a + &b);
    /// assert_eq!(text, "abc");
    /// ```
    #[track_caller]
    fn reduce<F, N>(self, identity: N, op: F) -> Self::Item
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
        N: Fn() -> Self::Item + Sync + Send,
    {
        run_by(self, Reduce::new(identity, op))
    }

    /// Reduces all items to one with `op`, which has to be associative. Returns `None` if there are
    /// no items.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let longest = ["a", "ccc", "bb"].into_par_iter().reduce_with(|a, b| if b.len() > a.len() { b } else { a });
    /// assert_eq!(longest, Some("ccc"));
    /// ```
    #[track_caller]
    fn reduce_with<F>(self, op: F) -> Option<Self::Item>
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
    {
        run_by(self, ReduceWith::new(op))
    }

    /// Reduces the values in all items to one with an operation that may fail. Stops when the
    /// operation fails or an item is a failure.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let sum = ["1", "2"].par_iter().map(|text| text.parse()).try_reduce(|| 0, |a, b| Ok(a + b));
    /// assert_eq!(sum, Ok(3));
    /// ```
    #[track_caller]
    fn try_reduce<T, F, N>(self, identity: N, op: F) -> Self::Item
    where
        F: Fn(T, T) -> Self::Item + Sync + Send,
        N: Fn() -> T + Sync + Send,
        Self::Item: Try<Output = T>,
    {
        run_by(self, TryReduce::new(identity, op))
    }

    /// Does the same as [`try_reduce`](Self::try_reduce), without a neutral value. Returns `None` if
    /// there are no items.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let sum = ["1", "2"].par_iter().map(|text| text.parse()).try_reduce_with(|a: i32, b| Ok(a + b));
    /// assert_eq!(sum, Some(Ok(3)));
    /// ```
    #[track_caller]
    fn try_reduce_with<T, F>(self, op: F) -> Option<Self::Item>
    where
        F: Fn(T, T) -> Self::Item + Sync + Send,
        Self::Item: Try<Output = T>,
    {
        run_by(self, TryReduceWith::new(op))
    }

    /// Returns the sum of all items.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!((1..=100).into_par_iter().sum::<i32>(), 5_050);
    /// ```
    #[track_caller]
    fn sum<S>(self) -> S
    where
        S: Send + iter::Sum<Self::Item> + iter::Sum<S>,
    {
        Sum::<Self::Item, S>::of(run_by(self, Sum::new()))
    }

    /// Returns the product of all items.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!((1..=10).into_par_iter().product::<i32>(), 3_628_800);
    /// ```
    #[track_caller]
    fn product<S>(self) -> S
    where
        S: Send + iter::Product<Self::Item> + iter::Product<S>,
    {
        Product::<Self::Item, S>::of(run_by(self, Product::new()))
    }

    /// Returns the least item, or the first of several least items.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([3, 1, 2].par_iter().min(), Some(&1));
    /// ```
    #[track_caller]
    fn min(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        self.min_by(Ord::cmp)
    }

    /// Returns the least item in the order of `compare`, or the first of several.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([3.0, 1.0].par_iter().min_by(|a, b| f64::total_cmp(a, b)), Some(&1.0));
    /// ```
    #[track_caller]
    fn min_by<F>(self, compare: F) -> Option<Self::Item>
    where
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Sync + Send,
    {
        self.reduce_with(move |a, b| if compare(&a, &b).is_gt() { without(b, a) } else { without(a, b) })
    }

    /// Returns the item for which `key` returns the least value, or the first of several.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([-3, 1, -1].par_iter().min_by_key(|n: &&i32| n.abs()), Some(&1));
    /// ```
    #[track_caller]
    fn min_by_key<K, F>(self, key: F) -> Option<Self::Item>
    where
        K: Ord + Send,
        F: Fn(&Self::Item) -> K + Sync + Send,
    {
        let least = self.map(move |item| (key(&item), item)).min_by(|a, b| a.0.cmp(&b.0));
        least.map(|(key, item)| without(item, key))
    }

    /// Returns the greatest item, or the last of several greatest items.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([3, 1, 2].par_iter().max(), Some(&3));
    /// ```
    #[track_caller]
    fn max(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        self.max_by(Ord::cmp)
    }

    /// Returns the greatest item in the order of `compare`, or the last of several.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([3.0, 1.0].par_iter().max_by(|a, b| f64::total_cmp(a, b)), Some(&3.0));
    /// ```
    #[track_caller]
    fn max_by<F>(self, compare: F) -> Option<Self::Item>
    where
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Sync + Send,
    {
        self.reduce_with(move |a, b| if compare(&a, &b).is_gt() { without(a, b) } else { without(b, a) })
    }

    /// Returns the item for which `key` returns the greatest value, or the last of several.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([-1, 0, 1].par_iter().max_by_key(|n: &&i32| n.abs()), Some(&1));
    /// ```
    #[track_caller]
    fn max_by_key<K, F>(self, key: F) -> Option<Self::Item>
    where
        K: Ord + Send,
        F: Fn(&Self::Item) -> K + Sync + Send,
    {
        let greatest = self.map(move |item| (key(&item), item)).max_by(|a, b| a.0.cmp(&b.0));
        greatest.map(|(key, item)| without(item, key))
    }

    /// Returns any item for which `predicate` returns `true`. The loop ends when one is found.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let even = [1, 2, 4].par_iter().find_any(|n| *n % 2 == 0);
    /// assert!(even == Some(&2) || even == Some(&4));
    /// ```
    #[track_caller]
    fn find_any<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        self.find_map_any(move |item| if predicate(&item) { Some(item) } else { None })
    }

    /// Returns the first item for which `predicate` returns `true`. Items after one that was found
    /// are not begun any more.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([1, 2, 4].par_iter().find_first(|n| *n % 2 == 0), Some(&2));
    /// ```
    #[track_caller]
    fn find_first<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        self.find_map_first(move |item| if predicate(&item) { Some(item) } else { None })
    }

    /// Returns the last item for which `predicate` returns `true`. The steps are begun from the
    /// front. If the iterator has [`rev`](super::IndexedParallelIterator::rev), reversing it and
    /// looking for the first item is faster.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([1, 2, 4].par_iter().find_last(|n| *n % 2 == 0), Some(&4));
    /// ```
    #[track_caller]
    fn find_last<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        self.find_map_last(move |item| if predicate(&item) { Some(item) } else { None })
    }

    /// Returns any value that `map` returns as `Some`. The loop ends when there is one.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let number = ["x", "2"].par_iter().find_map_any(|text| text.parse().ok());
    /// assert_eq!(number, Some(2));
    /// ```
    #[track_caller]
    fn find_map_any<F, R>(self, map: F) -> Option<R>
    where
        F: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        run_by(self, FindAny::new(map))
    }

    /// Returns the value of the first item for which `map` returns `Some`.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let number = ["x", "2", "3"].par_iter().find_map_first(|text| text.parse().ok());
    /// assert_eq!(number, Some(2));
    /// ```
    #[track_caller]
    fn find_map_first<F, R>(self, map: F) -> Option<R>
    where
        F: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        run_by(self, FindFirst::new(map))
    }

    /// Returns the value of the last item for which `map` returns `Some`.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let number = ["2", "3", "x"].par_iter().find_map_last(|text| text.parse().ok());
    /// assert_eq!(number, Some(3));
    /// ```
    #[track_caller]
    fn find_map_last<F, R>(self, map: F) -> Option<R>
    where
        F: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        run_by(self, FindLast::new(map))
    }

    /// Returns `true` if `predicate` returns `true` for any item. The loop ends when such an item
    /// is found.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert!([1, 2].par_iter().any(|n| *n == 2));
    /// ```
    #[track_caller]
    fn any<P>(self, predicate: P) -> bool
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.find_map_any(move |item| predicate(item).then_some(())).is_some()
    }

    /// Returns `true` if `predicate` returns `true` for all items. The loop ends when an item is
    /// found for which it does not.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert!([1, 2].par_iter().all(|n| *n > 0));
    /// ```
    #[track_caller]
    fn all<P>(self, predicate: P) -> bool
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        !self.any(move |item| !predicate(item))
    }

    /// Collects all items into a collection, in their order.
    ///
    /// If the length of the iterator is known, a vector is written in place. A `Result` or an
    /// `Option` of a collection ends with the first failure in order.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    /// use std::collections::HashMap;
    ///
    /// let squares: HashMap<i32, i32> = (0..10).into_par_iter().map(|n| (n, n * n)).collect();
    /// assert_eq!(squares[&7], 49);
    ///
    /// let numbers: Result<Vec<i32>, _> = ["1", "2"].par_iter().map(|text| text.parse()).collect();
    /// assert_eq!(numbers, Ok(vec![1, 2]));
    /// ```
    #[track_caller]
    fn collect<C>(self) -> C
    where
        C: FromParallelIterator<Self::Item>,
    {
        C::from_par_iter(self)
    }

    /// Collects the first elements of all pairs into one collection, and the second elements into
    /// another. A pair of collections is a collection of pairs, so pairs of pairs become nested pairs
    /// of collections.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let (n, c): (Vec<i32>, String) = [(1, 'a'), (2, 'b')].into_par_iter().unzip();
    /// assert_eq!((n, c), (vec![1, 2], String::from("ab")));
    ///
    /// let nested = [((1, 2), 'a'), ((3, 4), 'b')].into_par_iter();
    /// let ((a, b), c): ((Vec<i32>, Vec<i32>), String) = nested.unzip();
    /// assert_eq!((a, b, c.as_str()), (vec![1, 3], vec![2, 4], "ab"));
    /// ```
    #[track_caller]
    fn unzip<A, B, FromA, FromB>(self) -> (FromA, FromB)
    where
        Self: ParallelIterator<Item = (A, B)>,
        FromA: Default + Send + ParallelExtend<A>,
        FromB: Default + Send + ParallelExtend<B>,
        A: Send,
        B: Send,
    {
        unzip(self)
    }

    /// Collects all items for which `predicate` returns `true` into one collection, and all others
    /// into another.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let (even, odd): (Vec<i32>, Vec<i32>) = (0..5).into_par_iter().partition(|n| n % 2 == 0);
    /// assert_eq!((even, odd), (vec![0, 2, 4], vec![1, 3]));
    /// ```
    #[track_caller]
    fn partition<A, B, P>(self, predicate: P) -> (A, B)
    where
        A: Default + Send + ParallelExtend<Self::Item>,
        B: Default + Send + ParallelExtend<Self::Item>,
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        partition(self, predicate)
    }

    /// Calls `map` with each item, and collects all left values into one collection, and all right
    /// values into another.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::iter::Either::{Left, Right};
    /// use lisle::par::prelude::*;
    ///
    /// let (numbers, others): (Vec<i32>, Vec<&str>) =
    ///     ["1", "x", "3"].into_par_iter().partition_map(|text| match text.parse::<i32>() {
    ///         Ok(number) => Left(number),
    ///         Err(_) => Right(text),
    ///     });
    /// assert_eq!((numbers, others), (vec![1, 3], vec!["x"]));
    /// ```
    #[track_caller]
    fn partition_map<A, B, F, L, R>(self, map: F) -> (A, B)
    where
        A: Default + Send + ParallelExtend<L>,
        B: Default + Send + ParallelExtend<R>,
        F: Fn(Self::Item) -> Either<L, R> + Sync + Send,
        L: Send,
        R: Send,
    {
        partition_map(self.map(map))
    }

    /// Collects all items into vectors, in their order: one for each range of neighbouring steps
    /// that one domain runs, if the number of items is not known beforehand. No vector is empty.
    ///
    /// Use this to write a collection of your own, or if the items are not needed in one vector:
    /// then they are not moved.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let odd = (0..1_000).into_par_iter().filter(|n| n % 2 == 1).collect_vec_list();
    /// assert!(odd.into_iter().flatten().eq((1..1_000).step_by(2)));
    /// ```
    #[track_caller]
    fn collect_vec_list(self) -> LinkedList<Vec<Self::Item>> {
        vec_list(self)
    }

    /// Returns the same as [`exact_len`](Self::exact_len), under the name that rayon gives it.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!((0..10).into_par_iter().opt_len(), Some(10));
    /// assert_eq!((0..10).into_par_iter().filter(|n| *n > 1).opt_len(), None);
    /// ```
    fn opt_len(&self) -> Option<usize> {
        self.exact_len()
    }
}
