//! Windows, which overlap.

use super::chunks::not_zero;
use crate::iter::exact::{exact_part, parts_are_exact};
use crate::iter::{ExactPart, IndexedParallelIterator, ParallelIterator, Part};
use std::{iter, slice};

/// See [`par_windows`](super::ParallelSlice::par_windows).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct Windows<'data, T> {
    slice: &'data [T],
    size: usize,
}

/// See [`par_array_windows`](super::ParallelSlice::par_array_windows).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct ArrayWindows<'data, T, const N: usize> {
    slice: &'data [T],
}

impl<'data, T> Windows<'data, T> {
    #[track_caller]
    pub(super) fn new(slice: &'data [T], size: usize) -> Self {
        not_zero(size);
        Windows { slice, size }
    }
}

impl<'data, T, const N: usize> ArrayWindows<'data, T, N> {
    #[track_caller]
    pub(super) fn new(slice: &'data [T]) -> Self {
        not_zero(N);
        ArrayWindows { slice }
    }
}

// A derived implementation would require `T: Clone`.
impl<T> Clone for Windows<'_, T> {
    fn clone(&self) -> Self {
        Windows { ..*self }
    }
}

impl<T, const N: usize> Clone for ArrayWindows<'_, T, N> {
    fn clone(&self) -> Self {
        ArrayWindows { ..*self }
    }
}

/// A slice of which every window is a step.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct Runs<'data, T> {
    slice: &'data [T],
    size: usize,
}

/// A slice of which every window of `N` elements is a step.
#[derive(Debug)]
pub struct ArrayRuns<'data, T, const N: usize>(Runs<'data, T>);

impl<'data, T: Sync> ParallelIterator for Windows<'data, T> {
    type Item = &'data [T];
    parts_are_exact!();
}

impl<'data, T: Sync> IndexedParallelIterator for Windows<'data, T> {
    exact_part!(
        Runs<'data, T>,
        |this| Runs { slice: this.slice, size: this.size },
        this.slice.len().saturating_sub(this.size - 1)
    );
}

impl<'data, T: Sync, const N: usize> ParallelIterator for ArrayWindows<'data, T, N> {
    type Item = &'data [T; N];
    parts_are_exact!();
}

impl<'data, T: Sync, const N: usize> IndexedParallelIterator for ArrayWindows<'data, T, N> {
    exact_part!(
        ArrayRuns<'data, T, N>,
        |this| ArrayRuns(Runs { slice: this.slice, size: N }),
        this.slice.len().saturating_sub(N - 1)
    );
}

impl<'data, T: Sync> Part for Runs<'data, T> {
    type Item = &'data [T];
    type Items = slice::Windows<'data, T>;

    #[inline]
    fn len(&self) -> usize {
        self.slice.len().saturating_sub(self.size - 1)
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        // The windows on the left reach into the elements of those on the right.
        let reached = at.saturating_add(self.size - 1).min(self.slice.len());
        let (left, right) = (&self.slice[..reached], &self.slice[at..]);
        (Runs { slice: left, size: self.size }, Runs { slice: right, size: self.size })
    }

    #[inline]
    fn items(self) -> Self::Items {
        self.slice.windows(self.size)
    }
}

impl<'data, T: Sync> ExactPart for Runs<'data, T> {
    type Back = iter::Rev<slice::Windows<'data, T>>;

    fn back(self) -> Self::Back {
        self.items().rev()
    }
}

/// Turns windows into arrays.
type Arrays<'data, I, T, const N: usize> = iter::Map<I, fn(&'data [T]) -> &'data [T; N]>;

#[inline]
fn array<T, const N: usize>(window: &[T]) -> &[T; N] {
    window.try_into().expect("a window has its size")
}

impl<'data, T: Sync, const N: usize> Part for ArrayRuns<'data, T, N> {
    type Item = &'data [T; N];
    type Items = Arrays<'data, slice::Windows<'data, T>, T, N>;

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at(at);
        (ArrayRuns(left), ArrayRuns(right))
    }

    #[inline]
    fn items(self) -> Self::Items {
        self.0.items().map(array)
    }
}

impl<'data, T: Sync, const N: usize> ExactPart for ArrayRuns<'data, T, N> {
    type Back = Arrays<'data, iter::Rev<slice::Windows<'data, T>>, T, N>;

    fn back(self) -> Self::Back {
        self.0.back().map(array)
    }
}
