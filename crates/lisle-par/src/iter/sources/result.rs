//! Parallel iterators over results, which have an item if they are a success.

use crate::iter::{IntoParallelIterator, Once};

/// The parallel iterator over the value of a success.
pub type IntoIter<T> = Once<T>;
/// The parallel iterator over a shared reference to the value of a success.
pub type Iter<'data, T> = Once<&'data T>;
/// The parallel iterator over a unique reference to the value of a success.
pub type IterMut<'data, T> = Once<&'data mut T>;

impl<T: Send, E> IntoParallelIterator for Result<T, E> {
    type Iter = IntoIter<T>;
    type Item = T;

    fn into_par_iter(self) -> IntoIter<T> {
        Once::of(self.ok())
    }
}

impl<'data, T: Sync, E> IntoParallelIterator for &'data Result<T, E> {
    type Iter = Iter<'data, T>;
    type Item = &'data T;

    fn into_par_iter(self) -> Iter<'data, T> {
        Once::of(self.as_ref().ok())
    }
}

impl<'data, T: Send, E> IntoParallelIterator for &'data mut Result<T, E> {
    type Iter = IterMut<'data, T>;
    type Item = &'data mut T;

    fn into_par_iter(self) -> IterMut<'data, T> {
        Once::of(self.as_mut().ok())
    }
}
