//! Parallel iterators over inclusive ranges.

use super::range::{Integer, too_long};
use crate::iter::exact::{exact_part, parts_are_exact};
use crate::iter::{ExactPart, IndexedParallelIterator, IntoParallelIterator, ParallelIterator, Part};
use std::iter::Rev;
use std::ops::RangeInclusive;

/// The parallel iterator over `a..=b`.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Iter<T> {
    steps: Steps<T>,
}

/// Some of the steps of an inclusive range.
///
/// An exclusive range together with the last number would need a check of which of the two is next
/// at every step.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Steps<T> {
    first: T,
    len: usize,
}

impl<T: Integer> IntoParallelIterator for RangeInclusive<T> {
    type Iter = Iter<T>;
    type Item = T;

    /// # Panics
    ///
    /// Panics if the range has more than `usize::MAX` numbers.
    #[track_caller]
    fn into_par_iter(self) -> Iter<T> {
        // A range that has been exhausted still has its bounds.
        let is_empty = self.is_empty();
        let (first, last) = self.into_inner();
        let len =
            if is_empty { Some(0) } else { first.distance(last).and_then(|to_last| to_last.checked_add(1)) };
        match len {
            Some(len) => Iter { steps: Steps { first, len } },
            None => too_long(),
        }
    }
}

impl<T: Integer> ParallelIterator for Iter<T> {
    type Item = T;
    parts_are_exact!();
}

impl<T: Integer> IndexedParallelIterator for Iter<T> {
    exact_part!(Steps<T>, |this| this.steps.clone(), this.steps.len);
}

impl<T: Integer> Part for Steps<T> {
    type Item = T;
    type Items = T::InclusiveItems;

    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        let rest = Steps { first: self.first.above(at), len: self.len - at };
        (Steps { first: self.first, len: at }, rest)
    }

    #[inline]
    fn items(self) -> T::InclusiveItems {
        self.first.and_above(self.len)
    }
}

impl<T: Integer> ExactPart for Steps<T> {
    type Back = Rev<T::InclusiveItems>;

    fn back(self) -> Self::Back {
        self.items().rev()
    }
}
