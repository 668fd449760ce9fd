//! Two iterators side by side.

use crate::iter::exact::{exact_part, first, parts_are_exact};
use crate::iter::{ExactPart, IndexedParallelIterator, ParallelIterator, Part, Plan};
use std::iter;

/// See [`zip`](IndexedParallelIterator::zip).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Zip<A, B> {
    a: A,
    b: B,
}

impl<A, B> Zip<A, B> {
    pub(in crate::iter) fn new(a: A, b: B) -> Self {
        Zip { a, b }
    }
}

impl<A: IndexedParallelIterator, B: IndexedParallelIterator> ParallelIterator for Zip<A, B> {
    type Item = (A::Item, B::Item);
    parts_are_exact!();

    fn plan(&self) -> Plan {
        self.a.plan().and(self.b.plan())
    }
}

impl<A: IndexedParallelIterator, B: IndexedParallelIterator> IndexedParallelIterator for Zip<A, B> {
    exact_part!(
        ZipPart<A::Exact<'a>, B::Exact<'a>>,
        |this| ZipPart::new(this.a.exact(), this.b.exact()),
        this.a.len().min(this.b.len())
    );
}

/// Two parts of the same length, side by side.
#[derive(Debug)]
pub struct ZipPart<A, B> {
    a: A,
    b: B,
}

impl<A: Part, B: Part> ZipPart<A, B> {
    /// Combines two parts; the shorter one determines the length.
    pub(in crate::iter) fn new(a: A, b: B) -> Self {
        let len = a.len().min(b.len());
        ZipPart { a: first(a, len), b: first(b, len) }
    }
}

impl<A: Part, B: Part> Part for ZipPart<A, B> {
    type Item = (A::Item, B::Item);
    type Items = iter::Zip<A::Items, B::Items>;

    #[inline]
    fn len(&self) -> usize {
        self.a.len()
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        let (a_left, a_right) = self.a.split_at(at);
        let (b_left, b_right) = self.b.split_at(at);
        (ZipPart { a: a_left, b: b_left }, ZipPart { a: a_right, b: b_right })
    }

    #[inline]
    fn items(self) -> Self::Items {
        self.a.items().zip(self.b.items())
    }
}

impl<A: ExactPart, B: ExactPart> ExactPart for ZipPart<A, B> {
    type Back = iter::Zip<A::Back, B::Back>;

    fn back(self) -> Self::Back {
        self.a.back().zip(self.b.back())
    }
}
