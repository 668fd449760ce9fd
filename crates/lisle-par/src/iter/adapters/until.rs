//! Loops that an event can stop.
//!
//! The loop is one performance of the event, at which whoever takes part looks between blocks: one at a time, and not
//! too often. When the event has happened, nobody begins anything more, and what it gave is the loop's result.

use crate::event::{Event, Polled};
use crate::iter::{Consumer, FromParallelIterator, ParallelIterator, Part, Plan, Try};
use crate::shim::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use crate::shim::sync::Mutex;
use crate::shim::ticks;
use lisle_runtime::sched::sharing::PERIOD;
use std::error::Error;
use std::fmt;
use std::iter;
use std::panic::Location;
use std::pin::pin;
use std::sync::PoisonError;

/// A loop was stopped by an event; this is what the event gave. See [`until`](ParallelIterator::until).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stopped<T>(pub T);

impl<T> fmt::Display for Stopped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a parallel loop was stopped by an event")
    }
}

impl<T: fmt::Debug> Error for Stopped<T> {}

/// A loop that an event can stop, to which its end is still to be given. See [`until`](ParallelIterator::until).
///
/// It is no parallel iterator: `map` and its like come before `until`, or into what [`run`](Until::run) is given.
///
/// ```compile_fail,E0599
/// use lisle::par::prelude::*;
///
/// (0..10).into_par_iter().until(lisle::never::<()>()).map(|n| n + 1);
/// ```
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Until<I, E> {
    base: I,
    event: E,
}

impl<I: ParallelIterator, E: Event<Output: Send> + Sync> Until<I, E> {
    pub(in crate::iter) fn new(base: I, event: E) -> Self {
        Until { base, event }
    }

    /// Runs the loop by calling `run` with an iterator that the event can stop. For the ends that have no method here, and
    /// for adapters that are to come after.
    ///
    /// What `run` returns for a loop that was stopped is dropped: it is made of those steps that were done. If you want it,
    /// have it put elsewhere.
    ///
    /// ```
    /// use lisle::par::{Stopped, prelude::*};
    /// use lisle::sync::Condition;
    ///
    /// let stop = Condition::new();
    /// let mut done = 0;
    /// let all = (0..1_000_000).into_par_iter().until(stop.wait_evt()).run(|numbers| {
    ///     done = numbers.inspect(|n| _ = *n == 5_000 && stop.signal()).count();
    /// });
    /// match all {
    ///     Err(Stopped(())) => assert!(done > 0 && done < 1_000_000),
    ///     Ok(()) => assert_eq!(done, 1_000_000), // nobody looked in time
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The loop was stopped. If the event was ready before the loop began, `run` was not called.
    ///
    /// # Panics
    ///
    /// If the loop does, or a function of the event's. An event that has happened by then has happened.
    pub fn run<R>(self, run: impl FnOnce(Stoppable<'_, I>) -> R) -> Result<R, Stopped<E::Output>> {
        let Until { base, event } = self;
        let branch = pin!(event.branch());
        let mut polled = Polled::new(&event, branch);
        if polled.look() {
            return polled
                .into_output()
                .map_or_else(|| unreachable!("it has happened"), |by| Err(Stopped(by)));
        }
        let polled = Mutex::new(polled);
        // Who finds the lock taken need not look: somebody does. Nor is there anything to look at after a panic.
        let look = || polled.try_lock().is_ok_and(|mut polled| polled.look());
        let stop = Stop { is_set: AtomicBool::new(false), looked: AtomicU64::new(ticks::now()), look: &look };
        let result = run(Stoppable { base, stop: &stop, site: None });
        match polled.into_inner().unwrap_or_else(PoisonError::into_inner).into_output() {
            Some(by) => Err(Stopped(by)),
            None => Ok(result),
        }
    }
}

/// The ends that are often used, by [`Until::run`].
macro_rules! ends {
    ($($(#[$doc:meta])* $end:ident [$($generics:tt)*] ($($arg:ident: $Arg:ty),*) -> $Result:ty where { $($bounds:tt)* })*) => {
        impl<I: ParallelIterator, E: Event<Output: Send> + Sync> Until<I, E> {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                ///
                /// The loop was stopped.
                #[track_caller]
                pub fn $end<$($generics)*>(self, $($arg: $Arg),*) -> Result<$Result, Stopped<E::Output>>
                where
                    $($bounds)*
                {
                    let site = Some(Location::caller());
                    self.run(|items| Stoppable { site, ..items }.$end($($arg),*))
                }
            )*
        }
    };
}

ends! {
    /// See [`for_each`](ParallelIterator::for_each).
    for_each[F](op: F) -> () where { F: Fn(I::Item) + Sync + Send }
    /// See [`for_each_init`](ParallelIterator::for_each_init).
    for_each_init[N, T, F](init: N, op: F) -> () where {
        N: Fn() -> T + Sync + Send,
        F: Fn(&mut T, I::Item) + Sync + Send,
    }
    /// See [`try_for_each`](ParallelIterator::try_for_each). A failure of a loop that was stopped is dropped.
    try_for_each[F, R](op: F) -> R where {
        F: Fn(I::Item) -> R + Sync + Send,
        R: Try<Output = ()> + Send,
    }
    /// See [`count`](ParallelIterator::count).
    count[]() -> usize where {}
    /// See [`sum`](ParallelIterator::sum).
    sum[S]() -> S where { S: Send + iter::Sum<I::Item> + iter::Sum<S> }
    /// See [`product`](ParallelIterator::product).
    product[S]() -> S where { S: Send + iter::Product<I::Item> + iter::Product<S> }
    /// See [`reduce`](ParallelIterator::reduce).
    reduce[F, N](identity: N, op: F) -> I::Item where {
        F: Fn(I::Item, I::Item) -> I::Item + Sync + Send,
        N: Fn() -> I::Item + Sync + Send,
    }
    /// See [`reduce_with`](ParallelIterator::reduce_with).
    reduce_with[F](op: F) -> Option<I::Item> where { F: Fn(I::Item, I::Item) -> I::Item + Sync + Send }
    /// See [`try_reduce`](ParallelIterator::try_reduce). A failure of a loop that was stopped is dropped.
    try_reduce[T, F, N](identity: N, op: F) -> I::Item where {
        F: Fn(T, T) -> I::Item + Sync + Send,
        N: Fn() -> T + Sync + Send,
        I::Item: Try<Output = T>,
    }
    /// See [`min`](ParallelIterator::min).
    min[]() -> Option<I::Item> where { I::Item: Ord }
    /// See [`max`](ParallelIterator::max).
    max[]() -> Option<I::Item> where { I::Item: Ord }
    /// See [`find_any`](ParallelIterator::find_any). What a loop had found that was stopped is dropped.
    find_any[P](predicate: P) -> Option<I::Item> where { P: Fn(&I::Item) -> bool + Sync + Send }
    /// See [`find_first`](ParallelIterator::find_first). What a loop had found that was stopped is dropped.
    find_first[P](predicate: P) -> Option<I::Item> where { P: Fn(&I::Item) -> bool + Sync + Send }
    /// See [`any`](ParallelIterator::any).
    any[P](predicate: P) -> bool where { P: Fn(I::Item) -> bool + Sync + Send }
    /// See [`all`](ParallelIterator::all).
    all[P](predicate: P) -> bool where { P: Fn(I::Item) -> bool + Sync + Send }
    /// See [`collect`](ParallelIterator::collect). What had been collected of a loop that was stopped is dropped.
    collect[C]() -> C where { C: FromParallelIterator<I::Item> }
}

/// What those who take part know of the event.
struct Stop<'s> {
    /// It has happened. A hint: what it gave is taken when all have ended.
    is_set: AtomicBool,
    /// When somebody has last looked. The clocks of two processors may differ: then one looks too early.
    looked: AtomicU64,
    look: &'s (dyn Fn() -> bool + Sync),
}

impl Stop<'_> {
    /// Is there nothing more to be begun?
    #[inline]
    fn is_over(&self) -> bool {
        if self.is_set.load(Relaxed) {
            return true;
        }
        let now = ticks::now();
        now.wrapping_sub(self.looked.load(Relaxed)) >= PERIOD && self.look(now)
    }

    #[cold]
    fn look(&self, now: u64) -> bool {
        self.looked.store(now, Relaxed);
        let is_over = (self.look)();
        if is_over {
            self.is_set.store(true, Relaxed);
        }
        is_over
    }
}

/// A parallel iterator that an event can stop: then there are fewer items. See [`Until::run`].
///
/// Nobody knows how many they are, so it cannot be zipped, numbered or cut; do that before.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Clone)]
pub struct Stoppable<'s, I> {
    base: I,
    stop: &'s Stop<'s>,
    /// On behalf of what call it is run, if not of its own.
    site: Option<&'static Location<'static>>,
}

impl<I: ParallelIterator> ParallelIterator for Stoppable<'_, I> {
    type Item = I::Item;
    type Part<'a>
        = StoppablePart<'a, I::Part<'a>>
    where
        Self: 'a;

    fn part(&mut self) -> Self::Part<'_> {
        StoppablePart { base: self.base.part(), stop: self.stop }
    }

    fn plan(&self) -> Plan {
        let plan = self.base.plan();
        Plan { site: self.site.or(plan.site), ..plan }
    }

    #[track_caller]
    fn drive<C: Consumer<Item = I::Item>>(self, consumer: &C, plan: Plan) -> C::Acc {
        self.base.drive(&WhileGoing { stop: self.stop, consumer }, plan)
    }
}

/// A part that gives nothing more once it has been stopped.
pub struct StoppablePart<'s, P> {
    base: P,
    stop: &'s Stop<'s>,
}

impl<P: Part> Part for StoppablePart<'_, P> {
    type Item = P::Item;
    type Items = iter::Flatten<std::option::IntoIter<P::Items>>;

    fn len(&self) -> usize {
        self.base.len()
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(at);
        (StoppablePart { base: left, stop: self.stop }, StoppablePart { base: right, stop: self.stop })
    }

    fn items(self) -> Self::Items {
        let goes_on = !self.stop.is_over();
        goes_on.then(|| self.base.items()).into_iter().flatten()
    }
}

/// A consumer that has enough once the event has happened.
///
/// That is asked between blocks, and not when a block has been handed out: to take no time for a block would teach the
/// loop that its steps are cheap.
struct WhileGoing<'s, C> {
    stop: &'s Stop<'s>,
    consumer: &'s C,
}

impl<C: Consumer> Consumer for WhileGoing<'_, C> {
    type Item = C::Item;
    type Acc = C::Acc;

    fn begin(&self) -> C::Acc {
        self.consumer.begin()
    }

    #[inline]
    fn feed<I: Iterator<Item = C::Item>>(&self, acc: C::Acc, at: usize, items: I) -> C::Acc {
        self.consumer.feed(acc, at, items)
    }

    fn merge(&self, left: C::Acc, right: C::Acc) -> C::Acc {
        self.consumer.merge(left, right)
    }

    #[inline]
    fn is_done(&self, acc: &C::Acc, at: usize) -> bool {
        // The consumer first: what it has ended is not to be stopped as well.
        self.consumer.is_done(acc, at) || self.stop.is_over()
    }

    fn end(&self, acc: C::Acc) -> C::Acc {
        self.consumer.end(acc)
    }
}

impl fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop").field("is_set", &self.is_set.load(Relaxed)).finish_non_exhaustive()
    }
}

impl<I: fmt::Debug> fmt::Debug for Stoppable<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stoppable").field("base", &self.base).field("stop", self.stop).finish()
    }
}

impl<P: fmt::Debug> fmt::Debug for StoppablePart<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoppablePart").field("base", &self.base).field("stop", self.stop).finish()
    }
}
