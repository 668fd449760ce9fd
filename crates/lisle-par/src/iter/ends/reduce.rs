//! Reductions: two items become one, until one is left.

use crate::iter::{At, Consumer};
use std::marker::PhantomData;

/// Begins each range with a value of its own.
pub(in crate::iter) struct Reduce<N, F> {
    identity: N,
    op: F,
}

impl<N, F> Reduce<N, F> {
    pub(in crate::iter) fn new(identity: N, op: F) -> Self {
        Reduce { identity, op }
    }
}

impl<T: Send, N: Fn() -> T + Sync, F: Fn(T, T) -> T + Sync> Consumer for Reduce<N, F> {
    type Item = T;
    type Acc = T;

    fn begin(&self) -> T {
        (self.identity)()
    }

    #[inline]
    fn feed<I: Iterator<Item = T>>(&self, acc: T, _: At<'_>, items: I) -> T {
        items.fold(acc, &self.op)
    }

    fn merge(&self, left: T, right: T) -> T {
        (self.op)(left, right)
    }
}

/// Begins each range with its first item.
pub(in crate::iter) struct ReduceWith<T, F> {
    op: F,
    takes: PhantomData<fn(T)>,
}

impl<T, F: Fn(T, T) -> T + Sync> ReduceWith<T, F> {
    pub(in crate::iter) fn new(op: F) -> Self {
        ReduceWith { op, takes: PhantomData }
    }
}

impl<T: Send, F: Fn(T, T) -> T + Sync> Consumer for ReduceWith<T, F> {
    type Item = T;
    type Acc = Option<T>;

    fn begin(&self) -> Option<T> {
        None
    }

    #[inline]
    fn feed<I: Iterator<Item = T>>(&self, acc: Option<T>, _: At<'_>, mut items: I) -> Option<T> {
        let first = match acc {
            Some(acc) => acc,
            None => items.next()?,
        };
        Some(items.fold(first, &self.op))
    }

    fn merge(&self, left: Option<T>, right: Option<T>) -> Option<T> {
        match (left, right) {
            (Some(left), Some(right)) => Some((self.op)(left, right)),
            (left, right) => left.or(right),
        }
    }
}
