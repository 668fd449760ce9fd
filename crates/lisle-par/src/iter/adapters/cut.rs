//! The first items, and the items after them.

use crate::iter::exact::{first, parts_are_exact, rest};
use crate::iter::{IndexedParallelIterator, ParallelIterator, Plan};

/// See [`take`](IndexedParallelIterator::take).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Take<I> {
    base: I,
    count: usize,
}

/// See [`skip`](IndexedParallelIterator::skip).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Skip<I> {
    base: I,
    count: usize,
}

/// Implements a cut of an iterator: it has the parts of that iterator, and drops one side at once.
macro_rules! cut {
    ($Cut:ident, $cut:ident, $len:ident) => {
        impl<I> $Cut<I> {
            pub(in crate::iter) fn new(base: I, count: usize) -> Self {
                $Cut { base, count }
            }
        }

        impl<I: IndexedParallelIterator> ParallelIterator for $Cut<I> {
            type Item = I::Item;
            parts_are_exact!();

            fn plan(&self) -> Plan {
                self.base.plan()
            }
        }

        impl<I: IndexedParallelIterator> IndexedParallelIterator for $Cut<I> {
            type Exact<'a>
                = I::Exact<'a>
            where
                Self: 'a;

            fn exact(&mut self) -> Self::Exact<'_> {
                $cut(self.base.exact(), self.count)
            }

            fn len(&self) -> usize {
                self.base.len().$len(self.count)
            }
        }
    };
}

cut!(Take, first, min);
cut!(Skip, rest, saturating_sub);
