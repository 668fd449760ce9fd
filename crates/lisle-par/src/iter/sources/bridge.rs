//! Sequential iterators that all participants of a loop share.
//!
//! The number of items is not known. A bridge has more steps than a loop can run, and each step
//! takes one item. The last step takes all items that are left, so that none is lost in a model,
//! where a bridge has few steps. Once the iterator has ended, the parts of a bridge have no more
//! steps.

use crate::event::is_modelled;
use crate::iter::ends::stop::Found;
use crate::iter::run::run;
use crate::iter::{At, Consumer, ParallelIterator, Part, Plan};
use crate::modelled;
use lisle_core::sync::Mutex;
use std::fmt;
use std::num::NonZeroUsize;

/// The number of steps. A loop that takes an item in each nanosecond would run for days.
const STEPS: usize = usize::MAX >> 16;

/// A conversion of a sequential iterator into a parallel one.
///
/// It is implemented for all iterators that can be sent, and whose items can.
pub trait ParallelBridge: Sized {
    /// Returns a parallel iterator over the items of a sequential iterator.
    ///
    /// The participants of the loop take the items one by one, so only the work behind the bridge
    /// is done in parallel. Use it for iterators that cannot be divided: over lines of a file, over
    /// messages of a channel. What can be divided costs less with
    /// [`into_par_iter`](crate::iter::IntoParallelIterator::into_par_iter).
    ///
    /// *The order of the items is lost*: each participant takes the next item when it is ready for
    /// it. Number the items before the bridge if their order matters.
    /// [`find_first`](ParallelIterator::find_first) finds any item, and the first failure of a
    /// [`try_for_each`](ParallelIterator::try_for_each) is any failure.
    ///
    /// A participant holds a [`Mutex`](lisle_core::sync::Mutex) while it calls `next`. Hence `next`
    /// may wait for events, and may run loops itself: other participants let their domains do other
    /// work meanwhile. Items are not buffered, so the iterator may be endless if the loop ends
    /// otherwise. After `next` has returned `None`, it is not called again.
    ///
    /// The loop checks after each item whether it is over and whether other domains want work; with
    /// [`grain`](ParallelIterator::grain) it does so after several items. The number of steps is
    /// not known, so the total of a [`Progress`](crate::Progress) says nothing.
    ///
    /// # Panics
    ///
    /// If `next` panics, no participant calls it again, and the loop panics.
    ///
    /// # Cost
    ///
    /// Each item costs a lock and a look at the clock: some ten nanoseconds, and more if several
    /// domains want the lock at the same time.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::{channel, par::prelude::*};
    ///
    /// lisle::run(|| {
    ///     let (numbers, all) = channel::unbounded();
    ///     lisle::spawn(move || (0..1_000_u64).for_each(|n| numbers.send(n).unwrap()));
    ///     let squares = all.into_iter().par_bridge().map(|n| n * n);
    ///     assert_eq!(squares.sum::<u64>(), 332_833_500);
    /// });
    /// ```
    ///
    /// It ends although the iterator does not:
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let powers = std::iter::successors(Some(1_u64), |n| Some(n.wrapping_mul(3)));
    /// assert!(powers.par_bridge().any(|n| n > 1_000_000));
    /// ```
    fn par_bridge(self) -> IterBridge<Self>;
}

impl<I: Iterator<Item: Send> + Send> ParallelBridge for I {
    fn par_bridge(self) -> IterBridge<I> {
        IterBridge { items: Mutex::new(self), is_over: Found::new() }
    }
}

/// See [`par_bridge`](ParallelBridge::par_bridge).
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct IterBridge<I> {
    items: Mutex<I>,
    /// Whether `next` is not called any more, since it has returned `None` or has panicked.
    is_over: Found,
}

impl<I: Clone> Clone for IterBridge<I> {
    fn clone(&self) -> Self {
        IterBridge { items: Mutex::new(self.items.lock().clone()), is_over: Found::new() }
    }
}

impl<I: fmt::Debug> fmt::Debug for IterBridge<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IterBridge").field("items", &*self.items.lock()).finish_non_exhaustive()
    }
}

impl<I: Iterator<Item: Send> + Send> IterBridge<I> {
    /// Takes the next item. Returns `None` if there is none, or if there is none any more.
    fn take(&self) -> Option<I::Item> {
        /// Ends the iteration, unless there was an item.
        struct Over<'a>(Option<&'a Found>);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.into_iter().for_each(Found::set);
            }
        }
        if self.is_over.is_set() {
            return None;
        }
        let mut items = self.items.lock();
        if self.is_over.is_set() {
            return None;
        }
        // It is dropped before the lock is free.
        let mut over = Over(Some(&self.is_over));
        let item = items.next();
        if item.is_some() {
            over.0 = None;
        }
        item
    }
}

impl<I: Iterator<Item: Send> + Send> ParallelIterator for IterBridge<I> {
    type Item = I::Item;
    type Part<'a>
        = BridgePart<'a, I>
    where
        Self: 'a;

    fn part(&mut self) -> BridgePart<'_, I> {
        // A model tries all divisions.
        let steps = if is_modelled() { modelled::most_parts().max(1) } else { STEPS };
        BridgePart { bridge: self, steps, has_last: true }
    }

    /// Items cost what they cost, and an iterator that has ended would teach the loop that they
    /// cost nothing.
    fn plan(&self) -> Plan {
        Plan { grain: Some(NonZeroUsize::MIN), ..Plan::default() }
    }

    #[track_caller]
    fn drive<C: Consumer<Item = I::Item>>(mut self, consumer: &C, plan: Plan) -> C::Acc {
        run(self.part(), &Unordered { consumer }, plan)
    }
}

/// A consumer of items that have no order: those that nobody has taken come after all others. Hence
/// a consumer that needs nothing after an item that it has found needs nothing more at all.
struct Unordered<'c, C> {
    consumer: &'c C,
}

impl<C: Consumer> Consumer for Unordered<'_, C> {
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

    fn is_done(&self, acc: &C::Acc, _: At<'_>) -> bool {
        self.consumer.is_done(acc, At::outermost(usize::MAX))
    }

    fn end(&self, acc: C::Acc) -> C::Acc {
        self.consumer.end(acc)
    }
}

/// Some of the steps of a bridge.
#[derive(Debug)]
pub struct BridgePart<'a, I> {
    bridge: &'a IterBridge<I>,
    steps: usize,
    /// Whether the last step of the loop is among them.
    has_last: bool,
}

impl<'a, I: Iterator<Item: Send> + Send> Part for BridgePart<'a, I> {
    type Item = I::Item;
    type Items = BridgeItems<'a, I>;

    fn len(&self) -> usize {
        self.steps
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = if self.bridge.is_over.is_set() { (0, 0) } else { (at, self.steps - at) };
        let has_last = self.has_last;
        (
            BridgePart { steps: left, has_last: has_last && right == 0, ..self },
            BridgePart { steps: right, has_last, ..self },
        )
    }

    fn items(self) -> BridgeItems<'a, I> {
        let left = if self.has_last { None } else { Some(self.steps) };
        BridgeItems { bridge: self.bridge, left }
    }
}

/// The iterator of a [`BridgePart`].
#[derive(Debug)]
pub struct BridgeItems<'a, I> {
    bridge: &'a IterBridge<I>,
    /// The number of items that it may still take, or `None` if it takes all.
    left: Option<usize>,
}

impl<I: Iterator<Item: Send> + Send> Iterator for BridgeItems<'_, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        self.bridge.take()
    }
}
