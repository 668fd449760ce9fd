//! Writing a vector from several domains at once, each item once and directly to its place.
//!
//! The item of step `n` of the loop goes to slot `n`. Memory safety does not rely on a part to
//! report its length correctly, because any user may write one. Each block comes with the number of
//! steps for which it was taken off, and no more items are written. The written items are counted,
//! and become the vector's own when all of them are there. If a panic comes before, each range
//! drops the items that it has written.

use crate::iter::run::run;
use crate::iter::{At, Consumer, ParallelIterator, Part};
use crate::kept::without;
use crate::looks;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A part whose blocks report the number of steps for which they were taken off.
struct Counted<P> {
    base: P,
    steps: usize,
}

impl<P: Part> Part for Counted<P> {
    type Item = P::Item;
    type Items = Block<P::Items>;

    #[inline]
    fn len(&self) -> usize {
        self.steps
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(at);
        (Counted { base: left, steps: at }, Counted { base: right, steps: self.steps - at })
    }

    #[inline]
    fn items(self) -> Self::Items {
        Block { items: self.base.items(), steps: self.steps }
    }
}

/// The iterator of a [`Counted`]. The upper bound of its [`size_hint`](Iterator::size_hint) is its
/// number of steps.
struct Block<I> {
    items: I,
    steps: usize,
}

impl<I: Iterator> Iterator for Block<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.items.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.steps))
    }

    #[inline]
    fn fold<A, G: FnMut(A, I::Item) -> A>(self, init: A, op: G) -> A {
        self.items.fold(init, op)
    }
}

/// The slots that a loop writes: those after the elements of a vector.
struct Slots<'a, T> {
    first: *mut T,
    slots: PhantomData<&'a mut [MaybeUninit<T>]>,
}

// SAFETY: the value by itself gives access to nothing. Only a `Written` uses the pointer, for slots
// that are its own.
unsafe impl<T: Send> Sync for Slots<'_, T> {}

impl<'a, T> Slots<'a, T> {
    /// Returns the `len` slots after the elements of `vec`, which must have the room.
    fn after(vec: &'a mut Vec<T>, len: usize) -> Self {
        let slots = &mut vec.spare_capacity_mut()[..len];
        Slots { first: slots.as_mut_ptr().cast(), slots: PhantomData }
    }

    fn none(&self) -> Written<'a, T> {
        Written { first: self.first, from: 0, len: 0, limit: 0, slots: PhantomData }
    }
}

/// A range of slots that have been written: they are initialized, and this value owns them.
struct Written<'a, T> {
    /// Slot 0 of the loop.
    first: *mut T,
    /// The first slot of the range.
    from: usize,
    /// The number of slots in the range, and its maximum after the block that is being written.
    len: usize,
    limit: usize,
    slots: PhantomData<&'a mut [MaybeUninit<T>]>,
}

// SAFETY: it owns values that may be sent.
unsafe impl<T: Send> Send for Written<'_, T> {}

#[cold]
#[inline(never)]
fn too_many() -> ! {
    panic!("a part of a parallel iterator has given more items than it has steps")
}

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

    /// Goes on with the `steps` slots from `at` on, which must belong to the loop and to no other
    /// block.
    fn block(self, at: usize, steps: usize) -> Self {
        let mut run = self.at(at);
        run.limit = run.len + steps;
        run
    }

    /// Adds an item.
    ///
    /// `self` is passed by value: an accumulator that is handed on stays in registers. An
    /// accumulator to which a closure refers stays in memory, and then the loop over a chain or a
    /// reversed slice is not vectorized.
    #[inline]
    fn and_item(mut self, item: T) -> Self {
        if self.len >= self.limit {
            too_many();
        }
        // SAFETY: the index is below the limit, so this is a slot of the vector.
        let slot = unsafe { self.first.add(self.from + self.len) };
        // SAFETY: the slot belongs to this block alone, and has not been written.
        unsafe { slot.write(item) };
        self.len += 1;
        self
    }

    /// Joins two ranges. If there is a gap between them, the second one is dropped. A loop that a
    /// panic has stopped still merges its ranges, and the result is not seen.
    fn and(mut self, mut next: Self) -> Self {
        if self.len == 0 {
            return next;
        }
        if self.from + self.len == next.from {
            self.len += std::mem::take(&mut next.len);
        }
        without(self, next)
    }

    /// Gives the slots to the caller.
    ///
    /// # Panics
    ///
    /// Panics if they are not the first `len` slots.
    fn release(self, len: usize) {
        assert_eq!(
            (self.from, self.len),
            (0, len),
            "a parallel iterator has given fewer items than it has announced"
        );
        std::mem::forget(self);
    }
}

impl<T> Drop for Written<'_, T> {
    fn drop(&mut self) {
        // SAFETY: this is a slot of the vector.
        let start = unsafe { self.first.add(self.from) };
        let written = std::ptr::slice_from_raw_parts_mut(start, self.len);
        // SAFETY: the slots are initialized, and this value owns them.
        unsafe { looks::drop_in_place(written) }
    }
}

/// Writes items into slots.
///
/// It is used with a [`Counted`] part, and by a loop that gives the correct beginning of each
/// block. Hence every block has its slots for itself.
struct Write<'a, T>(Slots<'a, T>);

fn steps<I: Iterator>(items: &I) -> usize {
    items.size_hint().1.expect("a counted block")
}

impl<'a, T: Send> Consumer for Write<'a, T> {
    type Item = T;
    type Acc = Written<'a, T>;

    fn begin(&self) -> Self::Acc {
        self.0.none()
    }

    #[inline]
    fn feed<I: Iterator<Item = T>>(&self, acc: Self::Acc, at: At<'_>, items: I) -> Self::Acc {
        let run = acc.block(at.step(), steps(&items));
        items.fold(run, Written::and_item)
    }

    fn merge(&self, left: Self::Acc, right: Self::Acc) -> Self::Acc {
        left.and(right)
    }
}

/// Writes pairs into slots of two vectors.
struct WriteTwo<'a, A, B>(Slots<'a, A>, Slots<'a, B>);

impl<'a, A: Send, B: Send> Consumer for WriteTwo<'a, A, B> {
    type Item = (A, B);
    type Acc = (Written<'a, A>, Written<'a, B>);

    fn begin(&self) -> Self::Acc {
        (self.0.none(), self.1.none())
    }

    #[inline]
    fn feed<I: Iterator<Item = (A, B)>>(&self, (a, b): Self::Acc, at: At<'_>, items: I) -> Self::Acc {
        let (at, steps) = (at.step(), steps(&items));
        items.fold((a.block(at, steps), b.block(at, steps)), |(a, b), (x, y)| (a.and_item(x), b.and_item(y)))
    }

    fn merge(&self, left: Self::Acc, right: Self::Acc) -> Self::Acc {
        (left.0.and(right.0), left.1.and(right.1))
    }
}

/// Appends the `len` items of `iter` to `vec`.
///
/// # Panics
///
/// Panics if there are fewer or more items. Then, and if the iterator panics, `vec` is unchanged.
#[track_caller]
pub(in crate::iter) fn extend_in_place<I: ParallelIterator>(vec: &mut Vec<I::Item>, mut iter: I, len: usize) {
    vec.reserve(len);
    let plan = iter.plan();
    let part = Counted { base: iter.part(), steps: len };
    run(part, &Write(Slots::after(vec, len)), plan).release(len);
    // SAFETY: there was room for the items, and all of them have been written.
    unsafe { vec.set_len(vec.len() + len) };
}

/// Appends the first elements of the `len` items of `iter` to `a`, and the second ones to `b`.
///
/// # Panics
///
/// Panics as [`extend_in_place`] does.
#[track_caller]
pub(in crate::iter) fn extend_two_in_place<A, B, I>(a: &mut Vec<A>, b: &mut Vec<B>, mut iter: I, len: usize)
where
    A: Send,
    B: Send,
    I: ParallelIterator<Item = (A, B)>,
{
    a.reserve(len);
    b.reserve(len);
    let plan = iter.plan();
    let part = Counted { base: iter.part(), steps: len };
    let (a_run, b_run) = run(part, &WriteTwo(Slots::after(a, len), Slots::after(b, len)), plan);
    a_run.release(len);
    b_run.release(len);
    // SAFETY: there was room for the items, and all of them have been written.
    unsafe { a.set_len(a.len() + len) };
    // SAFETY: as above.
    unsafe { b.set_len(b.len() + len) };
}
