//! Arrays by value.

use super::vec::Moved;
use crate::iter::exact::parts_are_exact;
use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use crate::looks;
use std::mem::MaybeUninit;
use std::ptr;

/// The parallel iterator over the elements of an array. The elements stay in it until they are
/// consumed.
///
/// Elements that are not consumed, because of a panic or of an early end, are dropped.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct IntoIter<T, const N: usize> {
    /// The first `left` are initialized.
    slots: [MaybeUninit<T>; N],
    /// `N`, or 0 if the elements have been given away.
    left: usize,
}

impl<T: Send, const N: usize> IntoParallelIterator for [T; N] {
    type Iter = IntoIter<T, N>;
    type Item = T;

    fn into_par_iter(self) -> IntoIter<T, N> {
        IntoIter { slots: self.map(MaybeUninit::new), left: N }
    }
}

impl<T: Clone, const N: usize> Clone for IntoIter<T, N> {
    fn clone(&self) -> Self {
        if self.left == 0 {
            return IntoIter { slots: [const { MaybeUninit::uninit() }; N], left: 0 };
        }
        let array = ptr::from_ref(&self.slots).cast::<[T; N]>();
        // SAFETY: all `N` slots are initialized, since `left` is not 0. They are given away and changed by `&mut self`
        // only, so no loop has them while this borrows them.
        let array = unsafe { &*array };
        IntoIter { slots: array.clone().map(MaybeUninit::new), left: N }
    }
}

impl<T, const N: usize> Drop for IntoIter<T, N> {
    fn drop(&mut self) {
        // SAFETY: the first `left` slots are initialized and have not been given away.
        unsafe { looks::drop_slots(&mut self.slots[..self.left]) }
    }
}

impl<T: Send, const N: usize> ParallelIterator for IntoIter<T, N> {
    type Item = T;
    parts_are_exact!();
}

impl<T: Send, const N: usize> IndexedParallelIterator for IntoIter<T, N> {
    type Exact<'a>
        = Moved<'a, T>
    where
        Self: 'a;

    fn exact(&mut self) -> Moved<'_, T> {
        let left = std::mem::take(&mut self.left);
        // SAFETY: the first `left` slots were initialized, and no longer belong to this iterator.
        unsafe { Moved::new(&mut self.slots[..left]) }
    }

    fn len(&self) -> usize {
        self.left
    }
}
