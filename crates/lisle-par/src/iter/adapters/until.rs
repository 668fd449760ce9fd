//! Loops that an event can stop.
//!
//! The loop performs the event once. The participants poll it between blocks, one participant at a
//! time, and not too often. When the event has happened, no participant begins another block, and
//! the value of the event is the result of the loop.

use crate::event::Polled;
use crate::event::is_modelled;
use crate::iter::{At, Consumer, FromParallelIterator, ParallelIterator, Part, Plan, Try};
use crate::shim::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use crate::shim::sync::Mutex;
use crate::shim::ticks;
use lisle_core::Event;
use lisle_runtime::internal::PERIOD;
use std::error::Error;
use std::fmt;
use std::iter;
use std::panic::Location;
use std::pin::pin;
use std::sync::PoisonError;

/// The error of a loop that an event stopped, with the value of the event. See
/// [`until`](ParallelIterator::until).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stopped<T>(pub T);

impl<T> fmt::Display for Stopped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a parallel loop was stopped by an event")
    }
}

impl<T: fmt::Debug> Error for Stopped<T> {}

/// A loop that an event can stop, without the method that runs it. See
/// [`until`](ParallelIterator::until).
///
/// This is not a parallel iterator: `map` and similar methods go before `until`, or into the
/// closure passed to [`run`](Until::run).
///
/// ```compile_fail,E0599
/// # use lisle_par::facade as lisle;
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

    /// Calls `run` with an iterator that the event can stop. Use this to run the loop with methods
    /// that are not provided here, and to add adapters after `until`.
    ///
    /// If the loop was stopped, the result of `run` is dropped: it comes only from the steps that
    /// were done. To keep it, store it elsewhere.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::{iter::Stopped, prelude::*};
    /// use lisle::sync::Condition;
    ///
    /// let stop = Condition::new();
    /// let mut done = 0;
    /// let all = (0..1_000_000).into_par_iter().until(stop.wait_evt()).run(|numbers| {
    ///     done = numbers.inspect(|n| _ = *n == 5_000 && stop.signal()).count();
    /// });
    /// match all {
    ///     Err(Stopped(())) => assert!(done > 0 && done < 1_000_000),
    ///     Ok(()) => assert_eq!(done, 1_000_000), // the event was not polled in time
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the loop was stopped. If the event was ready before the loop began,
    /// `run` was not called.
    ///
    /// # Panics
    ///
    /// Panics if the loop or a function of the event does. An event that has happened by then is
    /// not undone.
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
        // A participant that finds the lock taken need not poll, because another one does. After a
        // panic there is no event to poll either.
        let look = || polled.try_lock().is_ok_and(|mut polled| polled.look());
        let stop = Stop { is_set: AtomicBool::new(false), looked: AtomicU64::new(ticks::now()), look: &look };
        let result = run(Stoppable { base, stop: &stop, site: None });
        match polled.into_inner().unwrap_or_else(PoisonError::into_inner).into_output() {
            Some(by) => Err(Stopped(by)),
            None => Ok(result),
        }
    }
}

/// Implements the common methods that run a loop, through [`Until::run`].
macro_rules! ends {
    ($($(#[$doc:meta])* $end:ident [$($generics:tt)*] ($($arg:ident: $Arg:ty),*) -> $Result:ty where { $($bounds:tt)* })*) => {
        impl<I: ParallelIterator, E: Event<Output: Send> + Sync> Until<I, E> {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                ///
                /// Returns an error if the loop was stopped.
                ///
                /// # Examples
                ///
                /// With `count`, for instance:
                ///
                /// ```
                /// # use lisle_par::facade as lisle;
                /// use lisle::par::{iter::Stopped, prelude::*};
                /// use lisle::{always, never};
                ///
                /// let numbers = (0..10).into_par_iter();
                /// assert_eq!(numbers.clone().until(never::<()>()).count(), Ok(10));
                /// assert_eq!(numbers.until(always("stop")).count(), Err(Stopped("stop")));
                /// ```
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
    /// See [`try_for_each`](ParallelIterator::try_for_each). A failure of a loop that was stopped
    /// is dropped.
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
    /// See [`try_reduce`](ParallelIterator::try_reduce). A failure of a loop that was stopped is
    /// dropped.
    try_reduce[T, F, N](identity: N, op: F) -> I::Item where {
        F: Fn(T, T) -> I::Item + Sync + Send,
        N: Fn() -> T + Sync + Send,
        I::Item: Try<Output = T>,
    }
    /// See [`min`](ParallelIterator::min).
    min[]() -> Option<I::Item> where { I::Item: Ord }
    /// See [`max`](ParallelIterator::max).
    max[]() -> Option<I::Item> where { I::Item: Ord }
    /// See [`find_any`](ParallelIterator::find_any). An item found by a loop that was stopped is
    /// dropped.
    find_any[P](predicate: P) -> Option<I::Item> where { P: Fn(&I::Item) -> bool + Sync + Send }
    /// See [`find_first`](ParallelIterator::find_first). An item found by a loop that was stopped
    /// is dropped.
    find_first[P](predicate: P) -> Option<I::Item> where { P: Fn(&I::Item) -> bool + Sync + Send }
    /// See [`any`](ParallelIterator::any).
    any[P](predicate: P) -> bool where { P: Fn(I::Item) -> bool + Sync + Send }
    /// See [`all`](ParallelIterator::all).
    all[P](predicate: P) -> bool where { P: Fn(I::Item) -> bool + Sync + Send }
    /// See [`collect`](ParallelIterator::collect). Items collected by a loop that was stopped are
    /// dropped.
    collect[C]() -> C where { C: FromParallelIterator<I::Item> }
}

/// The state of the event, which the participants share.
struct Stop<'s> {
    /// Whether the event has happened. This is only a hint: its value is taken when all
    /// participants have ended.
    is_set: AtomicBool,
    /// The time of the last poll. The clocks of two processors may differ; then a poll comes too
    /// early.
    looked: AtomicU64,
    look: &'s (dyn Fn() -> bool + Sync),
}

impl Stop<'_> {
    /// Returns `true` if no more blocks are begun.
    #[inline]
    fn is_over(&self) -> bool {
        if self.is_set.load(Relaxed) {
            return true;
        }
        if is_modelled() {
            // In a model, time decides nothing.
            return (self.look)();
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

/// A parallel iterator that an event can stop; it then has fewer items. See [`Until::run`].
///
/// The number of its items is not known, so it cannot be zipped, numbered or cut; do that before.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Clone)]
pub struct Stoppable<'s, I> {
    base: I,
    stop: &'s Stop<'s>,
    /// The call on behalf of which it is run, if this is not its own call.
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

/// A part that gives no more items once the loop has been stopped.
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

/// A consumer that is done once the event has happened.
///
/// This is checked between blocks, and not when a block has been handed out: a block that takes no
/// time would teach the loop that its steps are cheap.
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
    fn feed<I: Iterator<Item = C::Item>>(&self, acc: C::Acc, at: At<'_>, items: I) -> C::Acc {
        self.consumer.feed(acc, at, items)
    }

    fn merge(&self, left: C::Acc, right: C::Acc) -> C::Acc {
        self.consumer.merge(left, right)
    }

    #[inline]
    fn is_done(&self, acc: &C::Acc, at: At<'_>) -> bool {
        // The consumer comes first: a loop that it has ended is not stopped as well.
        self.consumer.is_done(acc, at) || self.stop.is_over()
    }

    #[inline]
    fn needless(&self, at: At<'_>) -> usize {
        self.consumer.needless(at)
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
