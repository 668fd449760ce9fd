//! Writing a vector from several domains at once, each item once and where it belongs.
//!
//! The slots run beside the items, as in a [`zip`](crate::par::iter::IndexedParallelIterator::zip): so a domain has none but
//! those that belong to its steps, whatever a part that somebody else has written says of its length. What has been written
//! is counted; it becomes the vector's own when all of it is there. If a panic comes before, each run drops what it has
//! written.

use crate::par::iter::adapters::zip::ZipPart;
use crate::par::iter::run::run;
use crate::par::iter::{Consumer, ParallelIterator, Part};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::slice;

/// Slots to be written.
struct Slots<'a, T>(&'a mut [MaybeUninit<T>]);

impl<'a, T: Send> Part for Slots<'a, T> {
    type Item = &'a mut MaybeUninit<T>;
    type Items = slice::IterMut<'a, MaybeUninit<T>>;

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at_mut(at);
        (Slots(left), Slots(right))
    }

    #[inline]
    fn items(self) -> Self::Items {
        self.0.iter_mut()
    }
}

/// Where the slots of one vector are.
struct Target<'a, T> {
    first: *mut T,
    slots: PhantomData<&'a mut [MaybeUninit<T>]>,
}

// SAFETY: by itself it gives access to nothing. What is done with the pointer is done by a `Written`, to slots that are its
// own.
unsafe impl<T: Send> Send for Target<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Target<'_, T> {}

impl<'a, T> Target<'a, T> {
    /// Writing the `len` slots after the elements of `vec`, which must have the room.
    fn after(vec: &'a mut Vec<T>, len: usize) -> (Self, Slots<'a, T>) {
        let spare = &mut vec.spare_capacity_mut()[..len];
        let first = spare.as_mut_ptr().cast::<T>();
        // SAFETY: the slots that the pointer has just been made for. Both are of the one borrow of the vector; the pointer is
        // used for those slots only that are not reached by reference any more.
        let slots = unsafe { slice::from_raw_parts_mut(first.cast::<MaybeUninit<T>>(), len) };
        (Target { first, slots: PhantomData }, Slots(slots))
    }

    fn none_at(&self, at: usize) -> Written<'a, T> {
        Written { first: self.first, from: at, len: 0, slots: PhantomData }
    }
}

/// A run of slots that have been written: they are initialized, and this value's own.
struct Written<'a, T> {
    first: *mut T,
    from: usize,
    len: usize,
    slots: PhantomData<&'a mut [MaybeUninit<T>]>,
}

// SAFETY: it is the owner of values that may be sent.
unsafe impl<T: Send> Send for Written<'_, T> {}

impl<T> Written<'_, T> {
    /// Goes on at slot `at`.
    fn at(mut self, at: usize) -> Self {
        if self.len == 0 {
            self.from = at;
        }
        assert_eq!(
            self.from + self.len,
            at,
            "a part of a parallel iterator has given fewer items than it has steps"
        );
        self
    }

    /// Writes the slot after those that have been written.
    #[inline(always)]
    fn write(&mut self, slot: &mut MaybeUninit<T>, item: T) {
        slot.write(item);
        self.len += 1;
    }

    /// Of two runs: one.
    fn and(mut self, mut next: Self) -> Self {
        if self.len == 0 {
            return next;
        }
        if next.len != 0 {
            self = self.at(next.from);
            self.len += std::mem::take(&mut next.len);
        }
        self
    }

    /// If it is `len` slots from the first one on, they are the caller's now.
    fn release(self, len: usize) {
        assert_eq!(self.len, len, "a parallel iterator has given another number of items than it said");
        std::mem::forget(self);
    }
}

impl<T> Drop for Written<'_, T> {
    fn drop(&mut self) {
        // SAFETY: slots of the target; that which `first` points to is the one with number 0.
        let start = unsafe { self.first.add(self.from) };
        let written = std::ptr::slice_from_raw_parts_mut(start, self.len);
        // SAFETY: they are initialized and this value's own. The reference through which each was written is gone.
        unsafe { std::ptr::drop_in_place(written) }
    }
}

/// Writes items into slots.
struct Write<'a, T>(Target<'a, T>);

impl<'a, T: Send> Consumer for Write<'a, T> {
    type Item = (T, &'a mut MaybeUninit<T>);
    type Acc = Written<'a, T>;

    fn begin(&self) -> Written<'a, T> {
        self.0.none_at(0)
    }

    #[inline]
    fn feed<I: Iterator<Item = Self::Item>>(
        &self,
        written: Written<'a, T>,
        at: usize,
        items: I,
    ) -> Written<'a, T> {
        let mut written = written.at(at);
        items.for_each(|(item, slot)| written.write(slot, item));
        written
    }

    fn merge(&self, left: Written<'a, T>, right: Written<'a, T>) -> Written<'a, T> {
        left.and(right)
    }
}

/// Puts the `len` items of `iter` behind those of `vec`.
///
/// # Panics
///
/// If there are fewer. Then, and if the iterator panics, `vec` is as before.
pub(in crate::par::iter) fn extend_in_place<I: ParallelIterator>(
    vec: &mut Vec<I::Item>,
    mut iter: I,
    len: usize,
) {
    vec.reserve(len);
    let plan = iter.plan();
    let (target, slots) = Target::after(vec, len);
    run(ZipPart::new(iter.part(), slots), &Write(target), plan).release(len);
    // SAFETY: there was room for them, and all of them have been written.
    unsafe { vec.set_len(vec.len() + len) };
}

/// Writes pairs into slots of two vectors.
struct WriteTwo<'a, A, B>(Target<'a, A>, Target<'a, B>);

impl<'a, A: Send, B: Send> Consumer for WriteTwo<'a, A, B> {
    type Item = ((A, B), (&'a mut MaybeUninit<A>, &'a mut MaybeUninit<B>));
    type Acc = (Written<'a, A>, Written<'a, B>);

    fn begin(&self) -> Self::Acc {
        (self.0.none_at(0), self.1.none_at(0))
    }

    #[inline]
    fn feed<I: Iterator<Item = Self::Item>>(&self, (a, b): Self::Acc, at: usize, items: I) -> Self::Acc {
        let (mut a, mut b) = (a.at(at), b.at(at));
        items.for_each(|((x, y), (x_slot, y_slot))| {
            a.write(x_slot, x);
            b.write(y_slot, y);
        });
        (a, b)
    }

    fn merge(&self, left: Self::Acc, right: Self::Acc) -> Self::Acc {
        (left.0.and(right.0), left.1.and(right.1))
    }
}

/// Puts the first halves of the `len` items of `iter` behind those of `a`, and the second ones behind those of `b`.
///
/// # Panics
///
/// As [`extend_in_place`].
pub(in crate::par::iter) fn extend_two_in_place<A, B, I>(
    a: &mut Vec<A>,
    b: &mut Vec<B>,
    mut iter: I,
    len: usize,
) where
    A: Send,
    B: Send,
    I: ParallelIterator<Item = (A, B)>,
{
    a.reserve(len);
    b.reserve(len);
    let plan = iter.plan();
    let (a_target, a_slots) = Target::after(a, len);
    let (b_target, b_slots) = Target::after(b, len);
    let slots = ZipPart::new(a_slots, b_slots);
    let (a_written, b_written) = run(ZipPart::new(iter.part(), slots), &WriteTwo(a_target, b_target), plan);
    a_written.release(len);
    b_written.release(len);
    // SAFETY: there was room for them, and all of them have been written.
    unsafe { a.set_len(a.len() + len) };
    // SAFETY: as above.
    unsafe { b.set_len(b.len() + len) };
}
