//! Iteration from the last item to the first.

use crate::iter::exact::{exact_part, parts_are_exact};
use crate::iter::{ExactPart, IndexedParallelIterator, ParallelIterator, Part, Plan};

/// See [`rev`](IndexedParallelIterator::rev).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Rev<I> {
    base: I,
}

impl<I> Rev<I> {
    pub(in crate::iter) fn new(base: I) -> Self {
        Rev { base }
    }
}

impl<I: IndexedParallelIterator> ParallelIterator for Rev<I> {
    type Item = I::Item;
    parts_are_exact!();

    fn plan(&self) -> Plan {
        self.base.plan()
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for Rev<I> {
    exact_part!(FromEnd<I::Exact<'a>>, |this| FromEnd(this.base.exact()), this.base.len());
}

/// A part that is run from its end.
#[derive(Debug)]
pub struct FromEnd<P>(P);

impl<P: ExactPart> Part for FromEnd<P> {
    type Item = P::Item;
    type Items = P::Back;

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        let middle = self.0.len() - at;
        let (left, right) = self.0.split_at(middle);
        (FromEnd(right), FromEnd(left))
    }

    #[inline]
    fn items(self) -> P::Back {
        self.0.back()
    }
}

impl<P: ExactPart> ExactPart for FromEnd<P> {
    type Back = P::Items;

    fn back(self) -> P::Items {
        self.0.items()
    }
}
