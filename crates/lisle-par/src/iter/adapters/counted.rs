//! Steps that are counted as they are done.

use crate::Progress;
use crate::event::parker;
use crate::iter::exact::exact_part;
use crate::iter::{ExactPart, IndexedParallelIterator, ParallelIterator, Part, Plan};
use std::fmt;

/// See [`progress`](ParallelIterator::progress).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Counted<'p, I> {
    base: I,
    progress: &'p Progress,
}

impl<'p, I> Counted<'p, I> {
    pub(in crate::iter) fn new(base: I, progress: &'p Progress) -> Self {
        Counted { base, progress }
    }
}

impl<I: ParallelIterator> ParallelIterator for Counted<'_, I> {
    type Item = I::Item;
    type Part<'a>
        = CountedPart<'a, I::Part<'a>>
    where
        Self: 'a;

    fn part(&mut self) -> Self::Part<'_> {
        CountedPart::all(self.base.part(), self.progress)
    }

    fn plan(&self) -> Plan {
        self.base.plan()
    }

    fn exact_len(&self) -> Option<usize> {
        self.base.exact_len()
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for Counted<'_, I> {
    exact_part!(
        CountedPart<'a, I::Exact<'a>>,
        |this| CountedPart::all(this.base.exact(), this.progress),
        this.base.len()
    );
}

/// A part whose steps are counted.
#[derive(Debug)]
pub struct CountedPart<'p, P> {
    base: P,
    progress: &'p Progress,
}

impl<'p, P: Part> CountedPart<'p, P> {
    fn all(base: P, progress: &'p Progress) -> Self {
        progress.begin(base.len());
        CountedPart { base, progress }
    }

    fn block(&self) -> Block<'p> {
        Block {
            progress: self.progress,
            steps: self.base.len(),
            has_begun: false,
            was_unwinding: parker::is_unwinding(),
        }
    }
}

impl<'p, P: Part> Part for CountedPart<'p, P> {
    type Item = P::Item;
    type Items = CountedItems<'p, P::Items>;

    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(at);
        (
            CountedPart { base: left, progress: self.progress },
            CountedPart { base: right, progress: self.progress },
        )
    }

    #[inline]
    fn items(self) -> Self::Items {
        CountedItems { block: self.block(), items: self.base.items() }
    }
}

impl<'p, P: ExactPart> ExactPart for CountedPart<'p, P> {
    type Back = CountedItems<'p, P::Back>;

    fn back(self) -> Self::Back {
        CountedItems { block: self.block(), items: self.base.back() }
    }
}

/// The iterator of a [`CountedPart`].
///
/// The items are dropped before the block is counted: their destructors belong to the block.
#[derive(Debug)]
pub struct CountedItems<'p, I> {
    items: I,
    block: Block<'p>,
}

impl<I: Iterator> Iterator for CountedItems<'_, I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.block.has_begun = true;
        self.items.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }

    #[inline]
    fn nth(&mut self, count: usize) -> Option<I::Item> {
        self.block.has_begun = true;
        self.items.nth(count)
    }

    #[inline]
    fn fold<A, G: FnMut(A, I::Item) -> A>(mut self, init: A, op: G) -> A {
        self.block.has_begun = true;
        self.items.fold(init, op)
    }
}

/// Counts the steps of a block when it is dropped.
struct Block<'p> {
    progress: &'p Progress,
    steps: usize,
    /// Whether an item has been asked for. A block may also be dropped untouched, because the loop
    /// is over.
    has_begun: bool,
    was_unwinding: bool,
}

impl Drop for Block<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.has_begun && parker::is_unwinding() == self.was_unwinding {
            self.progress.add(self.steps);
        }
    }
}

impl fmt::Debug for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block").field("steps", &self.steps).finish_non_exhaustive()
    }
}
