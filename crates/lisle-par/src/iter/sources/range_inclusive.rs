//! Parallel iterators over inclusive ranges.

use super::range::{Integer, numbers_before, too_long};
use crate::iter::exact::exact_part;
use crate::iter::{ExactPart, IndexedParallelIterator, IntoParallelIterator, ParallelIterator, Part};
use std::iter::Rev;
use std::ops::RangeInclusive;

/// The parallel iterator over `a..=b`.
///
/// If there are more than `usize::MAX` numbers, a loop over them ends only if a search, an error or an event ends it
/// early, and the methods of [`IndexedParallelIterator`] panic.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Iter<T> {
    first: T,
    last: T,
    is_empty: bool,
}

impl<T: Integer> IntoParallelIterator for RangeInclusive<T> {
    type Iter = Iter<T>;
    type Item = T;

    fn into_par_iter(self) -> Iter<T> {
        // A range that has been exhausted still has its bounds.
        let is_empty = self.is_empty();
        let (first, last) = self.into_inner();
        Iter { first, last, is_empty }
    }
}

impl<T: Integer> ParallelIterator for Iter<T> {
    type Item = T;
    type Part<'a>
        = Steps<T>
    where
        Self: 'a;

    fn part(&mut self) -> Steps<T> {
        let steps = self.exact_len();
        Steps {
            first: self.first,
            last: self.last,
            steps: steps.unwrap_or(usize::MAX),
            is_long: steps.is_none(),
        }
    }

    fn exact_len(&self) -> Option<usize> {
        if self.is_empty {
            return Some(0);
        }
        usize::try_from(self.first.distance(self.last)).ok()?.checked_add(1)
    }
}

impl<T: Integer> IndexedParallelIterator for Iter<T> {
    exact_part!(
        Steps<T>,
        |this| {
            let steps = IndexedParallelIterator::len(this);
            Steps { first: this.first, last: this.last, steps, is_long: false }
        },
        this.exact_len().unwrap_or_else(|| too_long())
    );
}

/// Some of the steps of an inclusive range.
///
/// An exclusive range together with the last number would need a check of which of the two is next
/// at every step.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Steps<T> {
    first: T,
    /// The last number, if there are any steps.
    last: T,
    steps: usize,
    /// Whether there are more numbers than steps.
    is_long: bool,
}

impl<T: Integer> Part for Steps<T> {
    type Item = T;
    type Items = T::InclusiveItems;

    #[inline]
    fn len(&self) -> usize {
        self.steps
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        let Steps { first, last, steps, is_long } = self;
        let (left, right) = if at == steps || at == 0 {
            // All steps together may have more numbers than can be counted.
            (last, first)
        } else {
            let below = match is_long {
                true => numbers_before(at, steps, first.distance(last).saturating_add(1)),
                false => at as u128,
            };
            (first.above(below - 1), first.above(below))
        };
        (
            Steps { first, last: left, steps: at, is_long },
            Steps { first: right, last, steps: steps - at, is_long },
        )
    }

    #[inline]
    fn items(self) -> T::InclusiveItems {
        if self.steps == 0 { T::none() } else { self.first.and_up_to(self.last) }
    }
}

impl<T: Integer> ExactPart for Steps<T> {
    type Back = Rev<T::InclusiveItems>;

    fn back(self) -> Self::Back {
        self.items().rev()
    }
}
