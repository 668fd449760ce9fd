//! Parallel iterators over deques, and over ranges that are removed from a deque.

use crate::iter::drain::checked;
use crate::iter::exact::{exact_part, parts_are_exact};
use crate::iter::sources::vec::Gap;
use crate::iter::{
    Chain, IndexedParallelIterator, IntoParallelIterator, ParallelDrainRange, ParallelIterator,
};
use crate::{slice, vec};
use std::collections::VecDeque;
use std::mem;
use std::ops::RangeBounds;

/// The parallel iterator over the elements of a deque.
pub type IntoIter<T> = vec::IntoIter<T>;
/// The parallel iterator over shared references to the elements of a deque.
pub type Iter<'data, T> = Chain<slice::Iter<'data, T>, slice::Iter<'data, T>>;
/// The parallel iterator over unique references to the elements of a deque.
pub type IterMut<'data, T> = Chain<slice::IterMut<'data, T>, slice::IterMut<'data, T>>;

impl<T: Send> IntoParallelIterator for VecDeque<T> {
    type Iter = IntoIter<T>;
    type Item = T;

    /// Moves the elements within their memory if the deque is not in one piece.
    fn into_par_iter(self) -> IntoIter<T> {
        Vec::from(self).into_par_iter()
    }
}

impl<'data, T: Sync> IntoParallelIterator for &'data VecDeque<T> {
    type Iter = Iter<'data, T>;
    type Item = &'data T;

    fn into_par_iter(self) -> Iter<'data, T> {
        let (front, back) = self.as_slices();
        front.into_par_iter().chain(back)
    }
}

impl<'data, T: Send> IntoParallelIterator for &'data mut VecDeque<T> {
    type Iter = IterMut<'data, T>;
    type Item = &'data mut T;

    fn into_par_iter(self) -> IterMut<'data, T> {
        let (front, back) = self.as_mut_slices();
        front.into_par_iter().chain(back)
    }
}

/// See [`par_drain`](ParallelDrainRange::par_drain).
///
/// Elements that are not consumed are dropped.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct Drain<'data, T> {
    deque: &'data mut VecDeque<T>,
    /// The elements, in the memory of the deque. They are given back.
    vec: Vec<T>,
    gap: Gap,
}

impl<'data, T: Send> ParallelDrainRange<usize> for &'data mut VecDeque<T> {
    type Iter = Drain<'data, T>;
    type Item = T;

    /// Moves the elements within their memory if the deque is not in one piece.
    #[track_caller]
    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Drain<'data, T> {
        let range = checked(range, self.len());
        let mut vec = Vec::from(mem::take(self));
        Drain { deque: self, gap: Gap::new(&mut vec, range), vec }
    }
}

impl<T: Send> ParallelIterator for Drain<'_, T> {
    type Item = T;
    parts_are_exact!();
}

impl<T: Send> IndexedParallelIterator for Drain<'_, T> {
    exact_part!(
        vec::Moved<'a, T>,
        // SAFETY: the gap is in this vector, which nobody else can change.
        |this| unsafe { this.gap.take(&mut this.vec) },
        this.gap.len()
    );
}

impl<T> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        /// Gives the elements back when dropped, also if a destructor panics.
        struct GiveBack<'a, T>(&'a mut VecDeque<T>, &'a mut Vec<T>);
        impl<T> Drop for GiveBack<'_, T> {
            fn drop(&mut self) {
                *self.0 = mem::take(self.1).into();
            }
        }
        let back = GiveBack(self.deque, &mut self.vec);
        // SAFETY: as above, and this is the last use.
        unsafe { self.gap.close(back.1) };
    }
}
