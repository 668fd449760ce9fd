//! Slices, by shared and by unique reference.

use crate::iter::exact::{exact_part, parts_are_exact};
use crate::iter::{ExactPart, IndexedParallelIterator, IntoParallelIterator, ParallelIterator, Part};
use std::{iter, slice};

/// The parallel iterator over shared references to the elements of a slice.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct Iter<'data, T> {
    slice: &'data [T],
}

/// The parallel iterator over unique references to the elements of a slice.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct IterMut<'data, T> {
    slice: &'data mut [T],
}

// A derived implementation would require `T: Clone`.
impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Iter { slice: self.slice }
    }
}

impl<'data, T: Sync> IntoParallelIterator for &'data [T] {
    type Iter = Iter<'data, T>;
    type Item = &'data T;

    fn into_par_iter(self) -> Iter<'data, T> {
        Iter { slice: self }
    }
}

impl<'data, T: Send> IntoParallelIterator for &'data mut [T] {
    type Iter = IterMut<'data, T>;
    type Item = &'data mut T;

    fn into_par_iter(self) -> IterMut<'data, T> {
        IterMut { slice: self }
    }
}

/// Implements the iterators by reference of types that own a slice.
macro_rules! as_slices {
    ($([$($generics:tt)*] $Owner:ty;)*) => {$(
        impl<'data, T: Sync, $($generics)*> IntoParallelIterator for &'data $Owner {
            type Iter = Iter<'data, T>;
            type Item = &'data T;

            fn into_par_iter(self) -> Iter<'data, T> {
                Iter { slice: self }
            }
        }

        impl<'data, T: Send, $($generics)*> IntoParallelIterator for &'data mut $Owner {
            type Iter = IterMut<'data, T>;
            type Item = &'data mut T;

            fn into_par_iter(self) -> IterMut<'data, T> {
                IterMut { slice: self }
            }
        }
    )*};
}

as_slices! {
    [] Vec<T>;
    [] Box<[T]>;
    [const N: usize] [T; N];
}

impl<'data, T: Sync> ParallelIterator for Iter<'data, T> {
    type Item = &'data T;
    parts_are_exact!();
}

impl<'data, T: Sync> IndexedParallelIterator for Iter<'data, T> {
    exact_part!(&'data [T], |this| this.slice, this.slice.len());
}

impl<'data, T: Sync> Part for &'data [T] {
    type Item = &'data T;
    type Items = slice::Iter<'data, T>;

    #[inline]
    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        <[T]>::split_at(self, at)
    }

    #[inline]
    fn items(self) -> Self::Items {
        self.iter()
    }
}

impl<'data, T: Sync> ExactPart for &'data [T] {
    type Back = iter::Rev<slice::Iter<'data, T>>;

    fn back(self) -> Self::Back {
        self.iter().rev()
    }
}

impl<'data, T: Send> ParallelIterator for IterMut<'data, T> {
    type Item = &'data mut T;
    parts_are_exact!();
}

impl<'data, T: Send> IndexedParallelIterator for IterMut<'data, T> {
    exact_part!(&'data mut [T], |this| std::mem::take(&mut this.slice), this.slice.len());
}

impl<'data, T: Send> Part for &'data mut [T] {
    type Item = &'data mut T;
    type Items = slice::IterMut<'data, T>;

    #[inline]
    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }

    #[inline]
    fn items(self) -> Self::Items {
        self.iter_mut()
    }
}

impl<'data, T: Send> ExactPart for &'data mut [T] {
    type Back = iter::Rev<slice::IterMut<'data, T>>;

    fn back(self) -> Self::Back {
        self.iter_mut().rev()
    }
}
