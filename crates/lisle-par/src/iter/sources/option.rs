//! Parallel iterators over options, which have no item or one.

use crate::iter::{IntoParallelIterator, Once};

/// The parallel iterator over the value in an option.
pub type IntoIter<T> = Once<T>;
/// The parallel iterator over a shared reference to the value in an option.
pub type Iter<'data, T> = Once<&'data T>;
/// The parallel iterator over a unique reference to the value in an option.
pub type IterMut<'data, T> = Once<&'data mut T>;

impl<T: Send> IntoParallelIterator for Option<T> {
    type Iter = IntoIter<T>;
    type Item = T;

    fn into_par_iter(self) -> IntoIter<T> {
        Once::of(self)
    }
}

impl<'data, T: Sync> IntoParallelIterator for &'data Option<T> {
    type Iter = Iter<'data, T>;
    type Item = &'data T;

    fn into_par_iter(self) -> Iter<'data, T> {
        Once::of(self.as_ref())
    }
}

impl<'data, T: Send> IntoParallelIterator for &'data mut Option<T> {
    type Iter = IterMut<'data, T>;
    type Item = &'data mut T;

    fn into_par_iter(self) -> IterMut<'data, T> {
        Once::of(self.as_mut())
    }
}
