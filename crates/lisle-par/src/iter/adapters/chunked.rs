//! A fixed number of items each, as vectors or folded.

use super::fold::{Folded, Folding};
use super::init::Clones;
use crate::iter::exact::{exact_part, parts_are_exact, rest};
use crate::iter::{ExactPart, IndexedParallelIterator, ParallelIterator, Part, Plan};

/// See [`chunks`](IndexedParallelIterator::chunks).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Chunked<I, F = Gathering> {
    base: I,
    size: usize,
    folding: F,
}

/// See [`fold_chunks`](IndexedParallelIterator::fold_chunks).
pub type FoldChunks<I, N, F> = Chunked<I, Folded<N, F>>;
/// See [`fold_chunks_with`](IndexedParallelIterator::fold_chunks_with).
pub type FoldChunksWith<I, T, F> = FoldChunks<I, Clones<T>, F>;

impl<I, F> Chunked<I, F> {
    #[track_caller]
    pub(in crate::iter) fn new(base: I, size: usize, folding: F, form: &str) -> Self {
        assert!(
            size != 0,
            "`{form}(0)`: an iterator cannot be divided into chunks of 0 items; the size must be at least 1"
        );
        Chunked { base, size, folding }
    }
}

/// Puts the items of a chunk into a vector.
#[derive(Debug, Clone)]
pub struct Gathering;

impl<In: Send> Folding<In> for Gathering {
    type Out = Vec<In>;

    fn begin(&self) -> Vec<In> {
        Vec::new()
    }

    fn fold<I: Iterator<Item = In>>(&self, mut chunk: Vec<In>, items: I) -> Vec<In> {
        chunk.extend(items);
        chunk
    }

    fn is_over(&self, _: &Vec<In>) -> bool {
        false
    }
}

impl<I: IndexedParallelIterator, F: Folding<I::Item>> ParallelIterator for Chunked<I, F> {
    type Item = F::Out;
    parts_are_exact!();

    fn plan(&self) -> Plan {
        self.base.plan().with_steps_of(self.size)
    }
}

impl<I: IndexedParallelIterator, F: Folding<I::Item>> IndexedParallelIterator for Chunked<I, F> {
    exact_part!(
        ChunkedPart<'a, I::Exact<'a>, F>,
        |this| ChunkedPart { base: this.base.exact(), size: this.size, folding: &this.folding },
        this.base.len().div_ceil(this.size)
    );
}

/// A part whose steps are `size` steps of another one; the last may be fewer.
#[derive(Debug)]
pub struct ChunkedPart<'a, P, F> {
    base: P,
    size: usize,
    folding: &'a F,
}

impl<'a, P: Part, F: Folding<P::Item>> Part for ChunkedPart<'a, P, F> {
    type Item = F::Out;
    type Items = ChunkedItems<'a, P, F>;

    #[inline]
    fn len(&self) -> usize {
        self.base.len().div_ceil(self.size)
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let middle = at.saturating_mul(self.size).min(self.base.len());
        let (left, right) = self.base.split_at(middle);
        (ChunkedPart { base: left, ..self }, ChunkedPart { base: right, ..self })
    }

    fn items(self) -> Self::Items {
        ChunkedItems { rest: Some(self.base), size: self.size, folding: self.folding }
    }
}

impl<'a, P: ExactPart, F: Folding<P::Item>> ExactPart for ChunkedPart<'a, P, F> {
    type Back = ChunkedBack<'a, P, F>;

    fn back(self) -> Self::Back {
        ChunkedBack { rest: Some(self.base), size: self.size, folding: self.folding }
    }
}

/// The iterator of a [`ChunkedPart`].
#[derive(Debug)]
pub struct ChunkedItems<'a, P, F> {
    rest: Option<P>,
    size: usize,
    folding: &'a F,
}

impl<P: Part, F: Folding<P::Item>> Iterator for ChunkedItems<'_, P, F> {
    type Item = F::Out;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take().filter(|rest| !rest.is_empty())?;
        let middle = self.size.min(rest.len());
        let (chunk, rest) = rest.split_at(middle);
        self.rest = Some(rest);
        Some(self.folding.fold(self.folding.begin(), chunk.items()))
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
pub struct ChunkedBack<'a, P, F> {
    rest: Option<P>,
    size: usize,
    folding: &'a F,
}

impl<P: Part, F: Folding<P::Item>> Iterator for ChunkedBack<'_, P, F> {
    type Item = F::Out;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take().filter(|rest| !rest.is_empty())?;
        // Only the last chunk of all may be shorter; the others are whole.
        let middle = (rest.len() - 1) / self.size * self.size;
        let (rest, chunk) = rest.split_at(middle);
        self.rest = Some(rest);
        Some(self.folding.fold(self.folding.begin(), chunk.items()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.rest.as_ref().map_or(0, |rest| rest.len().div_ceil(self.size));
        (len, Some(len))
    }
}
