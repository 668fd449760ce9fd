//! Calling a function with each item, and counting items.

use crate::iter::{At, Consumer};
use std::marker::PhantomData;

/// Calls a function with each item.
pub(in crate::iter) struct ForEach<T, F> {
    op: F,
    takes: PhantomData<fn(T)>,
}

impl<T, F: Fn(T) + Sync> ForEach<T, F> {
    pub(in crate::iter) fn new(op: F) -> Self {
        ForEach { op, takes: PhantomData }
    }
}

impl<T, F: Fn(T) + Sync> Consumer for ForEach<T, F> {
    type Item = T;
    type Acc = ();

    fn begin(&self) {}

    #[inline]
    fn feed<I: Iterator<Item = T>>(&self, (): (), _: At<'_>, items: I) {
        items.for_each(&self.op);
    }

    fn merge(&self, (): (), (): ()) {}
}

/// Counts the items.
pub(in crate::iter) struct Count<T>(PhantomData<fn(T)>);

impl<T> Count<T> {
    pub(in crate::iter) fn new() -> Self {
        Count(PhantomData)
    }
}

impl<T> Consumer for Count<T> {
    type Item = T;
    type Acc = usize;

    fn begin(&self) -> usize {
        0
    }

    #[inline]
    fn feed<I: Iterator<Item = T>>(&self, acc: usize, _: At<'_>, items: I) -> usize {
        acc + items.count()
    }

    fn merge(&self, left: usize, right: usize) -> usize {
        left + right
    }
}
