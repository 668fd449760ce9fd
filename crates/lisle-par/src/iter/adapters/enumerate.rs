//! Items with their numbers.

use crate::iter::exact::{exact_part, parts_are_exact};
use crate::iter::{ExactPart, IndexedParallelIterator, ParallelIterator, Part, Plan};
use std::iter::{Rev, Zip};
use std::ops::Range;

/// See [`enumerate`](IndexedParallelIterator::enumerate).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Enumerate<I> {
    base: I,
}

impl<I> Enumerate<I> {
    pub(in crate::iter) fn new(base: I) -> Self {
        Enumerate { base }
    }
}

impl<I: IndexedParallelIterator> ParallelIterator for Enumerate<I> {
    type Item = (usize, I::Item);
    parts_are_exact!();

    fn plan(&self) -> Plan {
        self.base.plan()
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for Enumerate<I> {
    exact_part!(
        Numbered<I::Exact<'a>>,
        |this| Numbered { base: this.base.exact(), from: 0 },
        this.base.len()
    );
}

/// A part whose items are numbered from `from` on.
#[derive(Debug)]
pub struct Numbered<P> {
    base: P,
    from: usize,
}

impl<P: Part> Numbered<P> {
    fn numbers(&self) -> Range<usize> {
        self.from..self.from + self.base.len()
    }
}

impl<P: Part> Part for Numbered<P> {
    type Item = (usize, P::Item);
    /// The standard `Enumerate` would begin with 0.
    type Items = Zip<Range<usize>, P::Items>;

    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(at);
        (Numbered { base: left, from: self.from }, Numbered { base: right, from: self.from + at })
    }

    #[inline]
    fn items(self) -> Self::Items {
        self.numbers().zip(self.base.items())
    }
}

impl<P: ExactPart> ExactPart for Numbered<P> {
    type Back = Zip<Rev<Range<usize>>, P::Back>;

    fn back(self) -> Self::Back {
        self.numbers().rev().zip(self.base.back())
    }
}
