//! Parallel iterators over vectors by value, and over ranges that are removed from a vector.

mod drain;
mod moved;

pub use drain::Drain;
pub(super) use drain::Gap;
pub use moved::{Moved, MovedItems};

use crate::iter::exact::parts_are_exact;
use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

/// The parallel iterator over the elements of a vector.
///
/// Elements that are not consumed, because of a panic or of an early end, are dropped.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct IntoIter<T> {
    vec: Vec<T>,
}

impl<T: Send> IntoParallelIterator for Vec<T> {
    type Iter = IntoIter<T>;
    type Item = T;

    fn into_par_iter(self) -> IntoIter<T> {
        IntoIter { vec: self }
    }
}

impl<T: Send> IntoParallelIterator for Box<[T]> {
    type Iter = IntoIter<T>;
    type Item = T;

    fn into_par_iter(self) -> IntoIter<T> {
        IntoIter { vec: self.into_vec() }
    }
}

impl<T: Send> ParallelIterator for IntoIter<T> {
    type Item = T;
    parts_are_exact!();
}

impl<T: Send> IndexedParallelIterator for IntoIter<T> {
    type Exact<'a>
        = Moved<'a, T>
    where
        Self: 'a;

    fn exact(&mut self) -> Moved<'_, T> {
        let len = self.vec.len();
        // SAFETY: 0 is at most the capacity, and there is no element below it.
        unsafe { self.vec.set_len(0) };
        // SAFETY: these slots held the elements of the vector, which no longer owns them.
        unsafe { Moved::new(&mut self.vec.spare_capacity_mut()[..len]) }
    }

    fn len(&self) -> usize {
        self.vec.len()
    }
}
