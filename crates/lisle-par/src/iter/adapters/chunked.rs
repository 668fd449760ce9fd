//! Vectors of a fixed number of items.

use crate::iter::exact::{exact_part, parts_are_exact, rest};
use crate::iter::{ExactPart, IndexedParallelIterator, ParallelIterator, Part, Plan};

/// See [`chunks`](IndexedParallelIterator::chunks).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Chunked<I> {
    base: I,
    size: usize,
}

impl<I> Chunked<I> {
    #[track_caller]
    pub(in crate::iter) fn new(base: I, size: usize) -> Self {
        assert!(
            size != 0,
            "`chunks(0)`: an iterator cannot be divided into chunks of 0 items; the size must be at least 1"
        );
        Chunked { base, size }
    }
}

impl<I: IndexedParallelIterator> ParallelIterator for Chunked<I> {
    type Item = Vec<I::Item>;
    parts_are_exact!();

    fn plan(&self) -> Plan {
        self.base.plan().with_steps_of(self.size)
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for Chunked<I> {
    exact_part!(
        ChunkedPart<I::Exact<'a>>,
        |this| ChunkedPart { base: this.base.exact(), size: this.size },
        this.base.len().div_ceil(this.size)
    );
}

/// A part whose steps are `size` steps of another one; the last may be fewer.
#[derive(Debug)]
pub struct ChunkedPart<P> {
    base: P,
    size: usize,
}

impl<P: Part<Item: Send>> Part for ChunkedPart<P> {
    type Item = Vec<P::Item>;
    type Items = ChunkedItems<P>;

    #[inline]
    fn len(&self) -> usize {
        self.base.len().div_ceil(self.size)
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let size = self.size;
        let middle = at.saturating_mul(size).min(self.base.len());
        let (left, right) = self.base.split_at(middle);
        (ChunkedPart { base: left, size }, ChunkedPart { base: right, size })
    }

    fn items(self) -> ChunkedItems<P> {
        ChunkedItems { rest: Some(self.base), size: self.size }
    }
}

impl<P: ExactPart<Item: Send>> ExactPart for ChunkedPart<P> {
    type Back = ChunkedBack<P>;

    fn back(self) -> ChunkedBack<P> {
        ChunkedBack { rest: Some(self.base), size: self.size }
    }
}

/// The iterator of a [`ChunkedPart`].
#[derive(Debug)]
pub struct ChunkedItems<P> {
    rest: Option<P>,
    size: usize,
}

impl<P: Part> Iterator for ChunkedItems<P> {
    type Item = Vec<P::Item>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take().filter(|rest| !rest.is_empty())?;
        let middle = self.size.min(rest.len());
        let (chunk, rest) = rest.split_at(middle);
        self.rest = Some(rest);
        Some(chunk.items().collect())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.rest.as_ref().map_or(0, |rest| rest.len().div_ceil(self.size));
        (len, Some(len))
    }

    /// Skips without making the skipped items; `step_by` calls this.
    fn nth(&mut self, count: usize) -> Option<Self::Item> {
        let skipped = count.saturating_mul(self.size);
        self.rest = Some(rest(self.rest.take()?, skipped));
        self.next()
    }
}

/// The iterator of a [`ChunkedPart`] from its end.
#[derive(Debug)]
pub struct ChunkedBack<P> {
    rest: Option<P>,
    size: usize,
}

impl<P: Part> Iterator for ChunkedBack<P> {
    type Item = Vec<P::Item>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take().filter(|rest| !rest.is_empty())?;
        // Only the last chunk of all may be shorter; the others are whole.
        let middle = (rest.len() - 1) / self.size * self.size;
        let (rest, chunk) = rest.split_at(middle);
        self.rest = Some(rest);
        Some(chunk.items().collect())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.rest.as_ref().map_or(0, |rest| rest.len().div_ceil(self.size));
        (len, Some(len))
    }
}
