//! Elements that a loop moves out of the memory in which they lie.

use crate::iter::{ExactPart, Part};
use crate::looks;
use std::iter::FusedIterator;
use std::mem::MaybeUninit;
use std::slice;

/// Elements that are moved out of the place where they lie.
#[derive(Debug)]
pub struct Moved<'a, T> {
    /// All of them are initialized, and belong to this part.
    slots: &'a mut [MaybeUninit<T>],
}

/// The iterator of a [`Moved`].
#[derive(Debug)]
pub struct MovedItems<'a, T> {
    /// All of them are initialized, and belong to this iterator.
    slots: slice::IterMut<'a, MaybeUninit<T>>,
}

impl<'a, T> Moved<'a, T> {
    /// Creates a part that owns the elements in `slots`.
    ///
    /// # Safety
    ///
    /// All slots are initialized, and no other code takes or drops the elements in them.
    pub(in crate::iter::sources) unsafe fn new(slots: &'a mut [MaybeUninit<T>]) -> Self {
        Moved { slots }
    }

    fn take(&mut self) -> &'a mut [MaybeUninit<T>] {
        std::mem::take(&mut self.slots)
    }
}

impl<T> Drop for Moved<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the slots are initialized and belong to this part, which is not used any more. If
        // one element panics in its drop, the others are still dropped.
        unsafe { looks::drop_slots(self.take()) }
    }
}

impl<T> Drop for MovedItems<'_, T> {
    fn drop(&mut self) {
        let slots = std::mem::take(&mut self.slots).into_slice();
        // SAFETY: the slots that have not been given are initialized and belong to this iterator.
        // The rest is as above.
        unsafe { looks::drop_slots(slots) }
    }
}

impl<'a, T: Send> Part for Moved<'a, T> {
    type Item = T;
    type Items = MovedItems<'a, T>;

    #[inline]
    fn len(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    fn split_at(mut self, at: usize) -> (Self, Self) {
        let (left, right) = self.take().split_at_mut(at);
        (Moved { slots: left }, Moved { slots: right })
    }

    #[inline]
    fn items(mut self) -> Self::Items {
        MovedItems { slots: self.take().iter_mut() }
    }
}

impl<'a, T: Send> ExactPart for Moved<'a, T> {
    type Back = std::iter::Rev<MovedItems<'a, T>>;

    fn back(self) -> Self::Back {
        self.items().rev()
    }
}

/// Takes the element of a slot that its iterator has released.
#[inline]
fn take<T>(slot: &mut MaybeUninit<T>) -> T {
    // SAFETY: a slot of a `MovedItems` is initialized, and is given once.
    unsafe { slot.assume_init_read() }
}

impl<T> Iterator for MovedItems<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.slots.next().map(take)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.slots.size_hint()
    }

    #[inline]
    fn nth(&mut self, count: usize) -> Option<T> {
        let skipped = count.min(self.slots.len());
        let slots = std::mem::take(&mut self.slots).into_slice();
        let (skipped, rest) = slots.split_at_mut(skipped);
        self.slots = rest.iter_mut();
        // SAFETY: the slots are initialized, and no longer in the iterator.
        unsafe { looks::drop_slots(skipped) };
        self.next()
    }
}

impl<T> DoubleEndedIterator for MovedItems<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.slots.next_back().map(take)
    }
}

impl<T> ExactSizeIterator for MovedItems<'_, T> {}
impl<T> FusedIterator for MovedItems<'_, T> {}
