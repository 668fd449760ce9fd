//! Parallel iterators over binary heaps, in no particular order.

use crate::iter::exact::{exact_part, parts_are_exact};
use crate::iter::sources::vec::Gap;
use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelDrainFull, ParallelIterator};
use crate::{slice, vec};
use std::collections::BinaryHeap;
use std::mem;

/// The parallel iterator over the elements of a heap.
pub type IntoIter<T> = vec::IntoIter<T>;
/// The parallel iterator over shared references to the elements of a heap.
pub type Iter<'data, T> = slice::Iter<'data, T>;

impl<T: Send> IntoParallelIterator for BinaryHeap<T> {
    type Iter = IntoIter<T>;
    type Item = T;

    fn into_par_iter(self) -> IntoIter<T> {
        self.into_vec().into_par_iter()
    }
}

impl<'data, T: Sync> IntoParallelIterator for &'data BinaryHeap<T> {
    type Iter = Iter<'data, T>;
    type Item = &'data T;

    fn into_par_iter(self) -> Iter<'data, T> {
        self.as_slice().into_par_iter()
    }
}

/// See [`par_drain`](ParallelDrainFull::par_drain).
///
/// Elements that are not consumed are dropped.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct Drain<'data, T> {
    heap: &'data mut BinaryHeap<T>,
    /// The memory of the heap, which is given back.
    vec: Vec<T>,
    gap: Gap,
    /// Makes a heap of the vector again.
    heap_of: fn(Vec<T>) -> BinaryHeap<T>,
}

impl<'data, T: Ord + Send> ParallelDrainFull for &'data mut BinaryHeap<T> {
    type Iter = Drain<'data, T>;
    type Item = T;

    fn par_drain(self) -> Drain<'data, T> {
        let mut vec = mem::take(self).into_vec();
        let all = 0..vec.len();
        Drain { heap: self, gap: Gap::new(&mut vec, all), vec, heap_of: BinaryHeap::from }
    }
}

impl<T: Ord + Send> ParallelIterator for Drain<'_, T> {
    type Item = T;
    parts_are_exact!();
}

impl<T: Ord + Send> IndexedParallelIterator for Drain<'_, T> {
    exact_part!(
        vec::Moved<'a, T>,
        // SAFETY: the gap is in this vector, which nobody else can change.
        |this| unsafe { this.gap.take(&mut this.vec) },
        this.gap.len()
    );
}

impl<T> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        /// Gives the memory back when dropped, also if a destructor panics.
        struct GiveBack<'a, T>(&'a mut BinaryHeap<T>, &'a mut Vec<T>, fn(Vec<T>) -> BinaryHeap<T>);
        impl<T> Drop for GiveBack<'_, T> {
            fn drop(&mut self) {
                // It is empty now.
                *self.0 = (self.2)(mem::take(self.1));
            }
        }
        let back = GiveBack(self.heap, &mut self.vec, self.heap_of);
        // SAFETY: as above, and this is the last use.
        unsafe { self.gap.close(back.1) };
    }
}
