//! Loops that end soon after a panic, also within a block.

use crate::event::parker;
use crate::iter::ends::stop::Found;
use crate::iter::exact::exact_part;
use crate::iter::{At, Consumer, IndexedParallelIterator, ParallelIterator, Plan};
use crate::kept::without;
use crate::panics::forget_panic;
use std::ops::ControlFlow;

/// See [`panic_fuse`](ParallelIterator::panic_fuse).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct PanicFuse<I> {
    base: I,
}

impl<I> PanicFuse<I> {
    pub(in crate::iter) fn new(base: I) -> Self {
        PanicFuse { base }
    }
}

impl<I: ParallelIterator> ParallelIterator for PanicFuse<I> {
    type Item = I::Item;
    /// A part has to give all of its items, since those who divide it may count them.
    type Part<'a>
        = I::Part<'a>
    where
        Self: 'a;

    fn part(&mut self) -> I::Part<'_> {
        self.base.part()
    }

    fn plan(&self) -> Plan {
        self.base.plan()
    }

    fn exact_len(&self) -> Option<usize> {
        self.base.exact_len()
    }

    #[track_caller]
    fn drive<C: Consumer<Item = I::Item>>(self, consumer: &C, plan: Plan) -> C::Acc {
        self.base.drive(&Fused { consumer, has_panicked: Found::new() }, plan)
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for PanicFuse<I> {
    exact_part!(I::Exact<'a>, |this| this.base.exact(), this.base.len());
}

/// A consumer whose blocks end when a participant has panicked.
struct Fused<'c, C> {
    consumer: &'c C,
    has_panicked: Found,
}

impl<C: Consumer> Consumer for Fused<'_, C> {
    type Item = C::Item;
    type Acc = C::Acc;

    fn begin(&self) -> C::Acc {
        self.consumer.begin()
    }

    #[inline]
    fn feed<I: Iterator<Item = C::Item>>(&self, acc: C::Acc, at: At<'_>, items: I) -> C::Acc {
        let watch = Watch { has_panicked: &self.has_panicked, was_unwinding: parker::is_unwinding() };
        let acc = self.consumer.feed(acc, at, FusedItems { items, has_panicked: &self.has_panicked });
        without(acc, watch)
    }

    /// The loop does not know of the panic yet, and the accumulators may have gaps.
    fn merge(&self, left: C::Acc, right: C::Acc) -> C::Acc {
        if self.has_panicked.is_set() {
            forget_panic(right);
            return left;
        }
        self.consumer.merge(left, right)
    }

    fn is_done(&self, acc: &C::Acc, at: At<'_>) -> bool {
        self.has_panicked.is_set() || self.consumer.is_done(acc, at)
    }

    fn needless(&self, at: At<'_>) -> usize {
        self.consumer.needless(at)
    }

    fn end(&self, acc: C::Acc) -> C::Acc {
        self.consumer.end(acc)
    }
}

/// Notices a panic in a block.
struct Watch<'f> {
    has_panicked: &'f Found,
    was_unwinding: bool,
}

impl Drop for Watch<'_> {
    #[inline]
    fn drop(&mut self) {
        if parker::is_unwinding() && !self.was_unwinding {
            self.has_panicked.set();
        }
    }
}

/// The items of a block until a participant has panicked.
struct FusedItems<'f, I> {
    items: I,
    has_panicked: &'f Found,
}

impl<I: Iterator> Iterator for FusedItems<'_, I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        if self.has_panicked.is_set() { None } else { self.items.next() }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.items.size_hint().1)
    }

    #[inline]
    fn fold<A, F: FnMut(A, I::Item) -> A>(mut self, init: A, mut op: F) -> A {
        let has_panicked = self.has_panicked;
        if has_panicked.is_set() {
            return without(init, self.items);
        }
        let folded = self.items.try_fold(init, |acc, item| {
            let acc = op(acc, item);
            if has_panicked.is_set() { ControlFlow::Break(acc) } else { ControlFlow::Continue(acc) }
        });
        match without(folded, self.items) {
            ControlFlow::Continue(acc) | ControlFlow::Break(acc) => acc,
        }
    }
}
