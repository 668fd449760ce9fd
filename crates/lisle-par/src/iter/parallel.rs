//! Parallel iterators.

use super::adapters::chain::Chain;
use super::adapters::counted::Counted;
use super::adapters::flat_map::FlatMap;
use super::adapters::fold::{Folded, Folds, TryFolded};
use super::adapters::map_init::MapInit;
use super::adapters::planned::Planned;
use super::adapters::stages::{
    Cloned, Cloning, Copied, Copying, Filter, FilterMap, FilterMapping, Filtering, FlatMapIter, FlatMapping,
    FlattenIter, Flattening, Inspect, Inspecting, Map, Mapping, Staged, Update, Updating,
};
use super::adapters::until::Until;
use super::collect::{partition, unzip};
use super::ends::each::{Count, ForEach};
use super::ends::find::{FindAny, FindFirst, FindLast};
use super::ends::reduce::{Reduce, ReduceWith};
use super::ends::sum::{Product, Sum};
use super::ends::tries::{TryForEach, TryReduce};
use super::run::run;
use super::{Consumer, FromParallelIterator, IntoParallelIterator, ParallelExtend, Part, Plan, Try};
use crate::Progress;
use crate::event::Event;
use std::cmp::Ordering;
use std::iter;
use std::marker::PhantomData;

/// A loop over all cores, to which its body is still to be given.
///
/// Nothing happens until one of the methods is called that give something else than an iterator: [`for_each`](Self::for_each),
/// [`collect`](Self::collect), [`sum`](Self::sum), [`reduce`](Self::reduce) and so on. These run the loop and return when all
/// of it is done.
///
/// To make one of another thing than those that are there, say what a [`Part`] of it is; see [`part`](Self::part).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no parallel iterator",
    note = "`into_par_iter`, `par_iter` and `par_iter_mut` make one"
)]
pub trait ParallelIterator: Sized + Send {
    /// What it gives.
    type Item: Send;
    /// What is run: it may borrow from the iterator, which stays in its caller's frame.
    type Part<'a>: Part<Item = Self::Item>
    where
        Self: 'a;

    /// All steps, to be taken once: what is moved out of the iterator is not in a second part of it.
    ///
    /// ```
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
    ///         Part::len(&self.steps)
    ///     }
    ///     fn split_at(self, at: usize) -> (Self, Self) {
    ///         let (left, right) = self.steps.split_at(at);
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

    /// How it wants to be divided.
    fn plan(&self) -> Plan {
        Plan::default()
    }

    /// How many items there are, if that is known. If it is wrong, [`collect`](Self::collect) panics.
    fn exact_len(&self) -> Option<usize> {
        None
    }

    /// Runs the loop: feeds all items to `consumer`.
    ///
    /// ```
    /// use lisle::par::iter::Consumer;
    /// use lisle::par::prelude::*;
    ///
    /// /// How often one item is above the one before it.
    /// struct Rises;
    ///
    /// impl Consumer for Rises {
    ///     type Item = i32;
    ///     /// How often, the first one and the last one.
    ///     type Acc = Option<(usize, i32, i32)>;
    ///     fn begin(&self) -> Self::Acc {
    ///         None
    ///     }
    ///     fn feed<I: Iterator<Item = i32>>(&self, acc: Self::Acc, _: usize, items: I) -> Self::Acc {
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
        run(self.part(), consumer, plan)
    }

    // What makes another one of it.

    /// What `map` makes of each item.
    ///
    /// ```
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

    /// What `map` makes of each item, with a value at hand that `init` makes: a buffer, a generator.
    ///
    /// There is one value for each run of neighbouring steps that one domain does: one in all if nobody takes part, and one more
    /// each time that a part of the loop is given away. Only where the iterator is a part of another one that
    /// numbers, cuts or joins (`enumerate`, `zip`, `take`, `rev`, `chain` and their like), there is one for each block of
    /// some microseconds: put `map_init` behind those. The value stays with the thread that has made it and need not be `Send`.
    ///
    /// ```
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

    /// Clones of what the items refer to.
    ///
    /// ```
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

    /// Copies of what the items refer to.
    ///
    /// ```
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

    /// Shows each item to `inspect` on its way.
    ///
    /// ```
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

    /// Lets `update` change each item on its way.
    ///
    /// ```
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

    /// The items that `predicate` wants.
    ///
    /// ```
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

    /// What `map` makes of the items, where it makes something.
    ///
    /// ```
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

    /// All that is in what `map` makes of each item; that is a parallel loop itself.
    ///
    /// If it is short, [`flat_map_iter`](Self::flat_map_iter) costs less.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// let pairs = (0..3).into_par_iter().flat_map(|a| (0..a).into_par_iter().map(move |b| (a, b)));
    /// assert_eq!(pairs.collect::<Vec<_>>(), [(1, 0), (2, 0), (2, 1)]);
    /// ```
    fn flat_map<F, U>(self, map: F) -> FlatMap<Self, F>
    where
        F: Fn(Self::Item) -> U + Sync + Send,
        U: IntoParallelIterator,
    {
        FlatMap::new(self, map)
    }

    /// All that is in each item; that is a parallel loop itself.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// let rows = [vec![1, 2], vec![], vec![3]];
    /// assert_eq!(rows.par_iter().flatten().sum::<i32>(), 6);
    /// ```
    fn flatten(self) -> FlatMap<Self, impl Fn(Self::Item) -> Self::Item + Sync + Send>
    where
        Self::Item: IntoParallelIterator,
    {
        self.flat_map(|item| item)
    }

    /// All that is in what `map` makes of each item; that is run through as a plain iterator.
    ///
    /// ```
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

    /// All that is in each item; that is run through as a plain iterator.
    ///
    /// ```
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

    /// All items of this one, and then all of `next`.
    ///
    /// ```
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

    /// Accumulators, one for each run of neighbouring steps that one domain does: each is begun with `identity`, and takes
    /// in item after item with `op`. How many there are depends on how the loop is divided; they are in order, and there is
    /// at least one.
    ///
    /// This is for accumulators that are of another kind than the items. To have one in the end,
    /// [`reduce`](Self::reduce) them.
    ///
    /// ```
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

    /// [`fold`](Self::fold) that begins with clones of `init`.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// let bits = [1_u8, 2, 8].par_iter().fold_with(0, |bits, bit| bits | bit).reduce(|| 0, |a, b| a | b);
    /// assert_eq!(bits, 11);
    /// ```
    fn fold_with<F, T>(self, init: T, op: F) -> Folds<Self, Folded<impl Fn() -> T + Sync + Send, F>>
    where
        F: Fn(T, Self::Item) -> T + Sync + Send,
        T: Send + Sync + Clone,
    {
        self.fold(move || init.clone(), op)
    }

    /// [`fold`](Self::fold) with an operation that may fail: then that accumulator is what it returned, and takes in no
    /// more. Others may have gone on.
    ///
    /// ```
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

    // How it is divided.

    /// How many steps are done between two looks at whether anybody wants work. Without it, as many as take some
    /// microseconds, which is measured.
    ///
    /// It is worth something where steps are very unequal, or to say what a block of
    /// [`map_init`](Self::map_init) is. A step is one of this iterator's. Of two iterators that are run as one, the larger
    /// grain counts.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// (0..100).into_par_iter().grain(1).for_each(|_| { /* something long */ });
    /// ```
    ///
    /// # Panics
    ///
    /// If `steps` is 0.
    #[track_caller]
    fn grain(self, steps: usize) -> Planned<Self> {
        Planned::new(self, steps, false)
    }

    /// Divides by the number of steps and by `grain` alone, and not by who wants work when: so that the same is put
    /// together in the same order each time and on any number of domains.
    ///
    /// That is for operations that are almost associative, such as the addition of floating-point numbers. `grain` steps,
    /// or fewer, are done one after the other; take as many as last some microseconds.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// let sum = || (1..10_000).into_par_iter().map(|n| 1.0 / f64::from(n)).deterministic(256).sum::<f64>();
    /// assert_eq!(sum().to_bits(), sum().to_bits());
    /// ```
    ///
    /// # Panics
    ///
    /// If `grain` is 0.
    #[track_caller]
    fn deterministic(self, grain: usize) -> Planned<Self> {
        Planned::new(self, grain, true)
    }

    // What stops and watches it.

    /// Lets `event` stop the loop: a condition, a message, a point in time, the cancellation of a fiber. Comes last, before
    /// the end.
    ///
    /// Since then there may be no result, the ends give a `Result`: [`Stopped`](super::Stopped) with what the event gave,
    /// if it has happened. All ends are to be had by [`run`](super::Until::run), the usual ones as methods.
    ///
    /// The loop is one performance of the event, from when the end is called until it returns; so a time of
    /// [`after`](lisle_core::time::after) counts from there, and guards run once. It is looked at before anything is begun and
    /// then between blocks of steps, without waiting: by one at a time of those who take part, every 50 microseconds or so.
    /// Blocks that have begun are finished, no others are begun, and their items are dropped. A loop whose steps wait for
    /// something long is stopped only when they have ended: let them wait for the same event as well. Nor is there a look
    /// within a loop that has been over in some microseconds before, since it is run as one block.
    ///
    /// # Cancel safety
    ///
    /// If the loop ends first, nothing has happened to the event: no message has been taken. If the event happens, its
    /// value is returned, also by a loop that had no more to do than some last blocks. It happens at most once. If a step
    /// panics after it has happened, its value is dropped.
    ///
    /// # Fairness
    ///
    /// The event is looked at now and then, and not queued: among others that wait for the same message, those that wait
    /// are served first.
    ///
    /// # Cost
    ///
    /// A poll of the event and some ten nanoseconds when the loop begins, a look at the clock for each block, and a poll
    /// every 50 microseconds. Nothing is allocated.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::par::{Stopped, prelude::*};
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
    /// use lisle::fiber;
    /// use lisle::par::{Progress, Stopped, prelude::*};
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
    /// That there may be no result cannot be overlooked:
    ///
    /// ```compile_fail,E0308
    /// use lisle::par::prelude::*;
    ///
    /// let sum: i32 = (0..10).into_par_iter().until(lisle::never::<()>()).sum::<i32>();
    /// ```
    ///
    /// What stops a loop is looked at by all who take part, and what it gives goes from one to the other:
    ///
    /// ```compile_fail,E0277
    /// use lisle::{Event, par::prelude::*};
    ///
    /// let count = std::cell::Cell::new(0);
    /// let counts = lisle::never::<()>().wrap(|()| count.set(1));
    /// (0..10).into_par_iter().until(counts);
    /// ```
    ///
    /// ```compile_fail,E0277
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

    /// Counts the steps that have been done in `progress`, which others may watch meanwhile. What exactly is counted is
    /// said at [`Progress`].
    ///
    /// Put it where the steps are that you want to see counted, close to the source: behind a [`fold`](Self::fold) it would
    /// have an accumulator made for each block, and after [`until`](Self::until) the blocks would be counted in which there
    /// was nothing left to do.
    ///
    /// ```
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

    // What runs it.

    /// Calls `op` with each item.
    ///
    /// ```
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
        let plan = self.plan();
        self.drive(&ForEach::new(op), plan);
    }

    /// Calls `op` with each item and with a value at hand that `init` makes for each run of neighbouring steps that one domain
    /// does, as in [`map_init`](Self::map_init).
    ///
    /// ```
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

    /// Calls `op` with each item until it fails, and returns its first failure.
    ///
    /// As in a plain loop it is the first one in order: what comes after a failure is not begun any more, but what comes
    /// before it is done still.
    ///
    /// ```
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
        let plan = self.plan();
        self.drive(&TryForEach::new(op), plan)
    }

    /// How many items there are.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!((0..100).into_par_iter().filter(|n| n % 7 == 0).count(), 15);
    /// ```
    #[track_caller]
    fn count(self) -> usize {
        let plan = self.plan();
        self.drive(&Count::new(), plan)
    }

    /// Makes one of all items with `op`, which is to be associative. `identity` gives a value that changes nothing; each
    /// run is begun with one.
    ///
    /// ```
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
        let plan = self.plan();
        self.drive(&Reduce::new(identity, op), plan)
    }

    /// Makes one of all items with `op`, which is to be associative; of no items nothing.
    ///
    /// ```
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
        let plan = self.plan();
        self.drive(&ReduceWith::new(op), plan)
    }

    /// Makes one of what all items hold with an operation that may fail, until it fails or an item is a failure.
    ///
    /// ```
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
        let plan = self.plan();
        self.drive(&TryReduce::new(identity, op), plan)
    }

    /// Adds all items.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!((1..=100).into_par_iter().sum::<i32>(), 5_050);
    /// ```
    #[track_caller]
    fn sum<S>(self) -> S
    where
        S: Send + iter::Sum<Self::Item> + iter::Sum<S>,
    {
        let plan = self.plan();
        Sum::<Self::Item, S>::of(self.drive(&Sum::new(), plan))
    }

    /// Multiplies all items.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!((1..=10).into_par_iter().product::<i32>(), 3_628_800);
    /// ```
    #[track_caller]
    fn product<S>(self) -> S
    where
        S: Send + iter::Product<Self::Item> + iter::Product<S>,
    {
        let plan = self.plan();
        Product::<Self::Item, S>::of(self.drive(&Product::new(), plan))
    }

    /// The least item, of several the first.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([3, 1, 2].par_iter().min(), Some(&1));
    /// ```
    #[track_caller]
    fn min(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        self.reduce_with(Ord::min)
    }

    /// The least item in the order of `compare`, of several the first.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([3.0, 1.0].par_iter().min_by(|a, b| f64::total_cmp(a, b)), Some(&1.0));
    /// ```
    #[track_caller]
    fn min_by<F>(self, compare: F) -> Option<Self::Item>
    where
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Sync + Send,
    {
        self.reduce_with(|a, b| if compare(&a, &b).is_gt() { b } else { a })
    }

    /// The item of which `key` gives the least, of several the first.
    ///
    /// ```
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
        let least = self.map(|item| (key(&item), item)).min_by(|a, b| a.0.cmp(&b.0));
        least.map(|(_, item)| item)
    }

    /// The greatest item, of several the last.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([3, 1, 2].par_iter().max(), Some(&3));
    /// ```
    #[track_caller]
    fn max(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        self.reduce_with(Ord::max)
    }

    /// The greatest item in the order of `compare`, of several the last.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([3.0, 1.0].par_iter().max_by(|a, b| f64::total_cmp(a, b)), Some(&3.0));
    /// ```
    #[track_caller]
    fn max_by<F>(self, compare: F) -> Option<Self::Item>
    where
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Sync + Send,
    {
        self.reduce_with(|a, b| if compare(&a, &b).is_gt() { a } else { b })
    }

    /// The item of which `key` gives the greatest, of several the last.
    ///
    /// ```
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
        let greatest = self.map(|item| (key(&item), item)).max_by(|a, b| a.0.cmp(&b.0));
        greatest.map(|(_, item)| item)
    }

    /// Any item that `predicate` wants. When one is found, the loop ends.
    ///
    /// ```
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
        self.find_map_any(|item| if predicate(&item) { Some(item) } else { None })
    }

    /// The first item that `predicate` wants. What comes after one that has been found is not begun any more.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([1, 2, 4].par_iter().find_first(|n| *n % 2 == 0), Some(&2));
    /// ```
    #[track_caller]
    fn find_first<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        self.find_map_first(|item| if predicate(&item) { Some(item) } else { None })
    }

    /// The last item that `predicate` wants. If the iterator can be [`rev`](super::IndexedParallelIterator::rev)ersed, do
    /// that and look for the first: the steps are begun from the front.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!([1, 2, 4].par_iter().find_last(|n| *n % 2 == 0), Some(&4));
    /// ```
    #[track_caller]
    fn find_last<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        self.find_map_last(|item| if predicate(&item) { Some(item) } else { None })
    }

    /// Anything that `map` makes of an item. When there is something, the loop ends.
    ///
    /// ```
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
        let plan = self.plan();
        self.drive(&FindAny::new(map), plan)
    }

    /// The first thing that `map` makes of an item.
    ///
    /// ```
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
        let plan = self.plan();
        self.drive(&FindFirst::new(map), plan)
    }

    /// The last thing that `map` makes of an item.
    ///
    /// ```
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
        let plan = self.plan();
        self.drive(&FindLast::new(map), plan)
    }

    /// Does `predicate` hold for any item? When one is found, the loop ends.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// assert!([1, 2].par_iter().any(|n| *n == 2));
    /// ```
    #[track_caller]
    fn any<P>(self, predicate: P) -> bool
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.find_map_any(|item| predicate(item).then_some(())).is_some()
    }

    /// Does `predicate` hold for all items? When one is found for which it does not, the loop ends.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// assert!([1, 2].par_iter().all(|n| *n > 0));
    /// ```
    #[track_caller]
    fn all<P>(self, predicate: P) -> bool
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        !self.any(|item| !predicate(item))
    }

    /// Makes a collection of all items, in their order.
    ///
    /// A vector of an iterator that knows its length is written in place. A `Result` or an `Option` of a collection ends with
    /// the first failure in order.
    ///
    /// ```
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

    /// Makes a collection of the first halves of all items, and one of the second ones.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// let (n, c): (Vec<i32>, String) = [(1, 'a'), (2, 'b')].into_par_iter().unzip();
    /// assert_eq!((n, c), (vec![1, 2], String::from("ab")));
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

    /// Makes a collection of all items that `predicate` wants, and one of the others.
    ///
    /// ```
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
}
