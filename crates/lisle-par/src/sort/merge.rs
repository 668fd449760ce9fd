//! Merges two runs in parallel.
//!
//! Elements are copied bit by bit from their source to their destination, and count as moved only
//! when a whole pass has been done ([`passes`](super::passes)). Until then the sources are
//! unchanged: a comparison that panics, or a half that is never begun, leaves nothing to repair.
//!
//! Elements are `Send` and need not be `Sync`, so a thread may not access an element while another
//! thread can. This is why sources are passed as `&mut`, although nothing here changes them.

use super::measured::{Measured, with_order};
use super::order::Order;
use super::sizes::Sizes;
use crate::join_within as join;
use crate::looks;
use std::hint::select_unpredictable;
use std::mem::{MaybeUninit, needs_drop};
use std::ptr;

/// Copies `left` and `right`, which are in order, to `out` in order; of equal elements those of
/// `left` come first.
///
/// If `order` is not a total order, they come in some order, each of them once.
///
/// # Panics
///
/// Panics if `out` is not as long as both together.
pub(super) fn merge<T: Send>(
    left: &mut [T],
    right: &mut [T],
    out: &mut [MaybeUninit<T>],
    order: &Measured<'_, impl Order<T>>,
    sizes: Sizes,
) {
    assert_eq!(left.len() + right.len(), out.len());
    let (Some(first), Some(last)) = (right.first(), left.last()) else {
        let (left_out, right_out) = out.split_at_mut(left.len());
        copy(left, left_out, sizes);
        copy(right, right_out, sizes);
        return;
    };
    if !order.is_less(first, last) {
        let (left_out, right_out) = out.split_at_mut(left.len());
        join(|| copy(left, left_out, sizes), || copy(right, right_out, sizes));
    } else if order.is_less(&right[right.len() - 1], &left[0]) {
        let (right_out, left_out) = out.split_at_mut(right.len());
        join(|| copy(left, left_out, sizes), || copy(right, right_out, sizes));
    } else if out.len() <= order.piece::<T>(sizes) {
        with_order!(order, |order| merge_here(left, right, out, order));
        looks::after_a_piece();
    } else {
        let (lefts, rights) = divide(left, right, order);
        let (left, later_left) = left.split_at_mut(lefts);
        let (right, later_right) = right.split_at_mut(rights);
        let (out, later_out) = out.split_at_mut(lefts + rights);
        join(
            || merge(left, right, out, order, sizes),
            || merge(later_left, later_right, later_out, order, sizes),
        );
    }
}

/// Copies elements bit by bit.
///
/// # Panics
///
/// Panics if the two are not equally long.
pub(super) fn copy<T: Send>(from: &mut [T], to: &mut [MaybeUninit<T>], sizes: Sizes) {
    assert_eq!(from.len(), to.len());
    if from.len() <= 4 * sizes.piece::<T>() {
        // SAFETY: both are slices of this many elements, `to` is borrowed exclusively, so they are
        // disjoint, and any bits may be written to a `MaybeUninit`.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to.as_mut_ptr().cast(), to.len()) };
        looks::after_a_piece();
    } else {
        let (from, later_from) = from.split_at_mut(from.len() / 2);
        let (to, later_to) = to.split_at_mut(from.len());
        join(|| copy(from, to, sizes), || copy(later_from, later_to, sizes));
    }
}

/// Returns how many elements of each run may be merged before, and in parallel with, all others.
/// Neither part is empty.
///
/// The division is at the middle of the longer run, and at its place in the other.
fn divide<T>(left: &[T], right: &[T], order: &Measured<'_, impl Order<T>>) -> (usize, usize) {
    if left.len() >= right.len() {
        let middle = left.len() / 2;
        (middle, right.partition_point(|x| order.is_less(x, &left[middle])))
    } else {
        let middle = right.len() / 2;
        (left.partition_point(|x| !order.is_less(&right[middle], x)), middle)
    }
}

/// Merges from both ends towards the middle.
///
/// The front and the back do not depend on each other, so a processor works on both at once: this
/// is twice as fast as merging in one direction. Neither run can end within as many steps at each
/// end as half of the shorter run is long, so these steps are made without checks.
fn merge_here<T>(mut left: &[T], mut right: &[T], mut out: &mut [MaybeUninit<T>], order: &impl Order<T>) {
    /// Shorter rounds are not worth beginning.
    const SHORTEST: usize = 4;

    loop {
        let steps = left.len().min(right.len()) / 2;
        if steps < SHORTEST {
            return merge_rest(left, right, out, order);
        }
        // SAFETY: `steps` is at most half of either run.
        let taken = unsafe { merge_ends(left, right, out, steps, order) };
        left = &left[steps - taken.front..left.len() - (steps - taken.back)];
        right = &right[taken.front..right.len() - taken.back];
        let end = out.len() - steps;
        out = &mut out[steps..end];
    }
}

/// The numbers of elements that came from the right run.
struct Taken {
    front: usize,
    back: usize,
}

/// Merges `steps` elements to the front of `out`, and as many to its back.
///
/// # Safety
///
/// `2 * steps` is at most the length of each run, and `out` is as long as both together.
#[inline(always)]
unsafe fn merge_ends<T>(
    left: &[T],
    right: &[T],
    out: &mut [MaybeUninit<T>],
    steps: usize,
    order: &impl Order<T>,
) -> Taken {
    let (front_out, later_out) = out.split_at_mut(steps);
    let (_, back_out) = later_out.split_at_mut(later_out.len() - steps);
    let (mut left_front, mut right_front) = (left.as_ptr(), right.as_ptr());
    // These point behind the elements that have not been taken.
    let (mut left_back, mut right_back) = (left.as_ptr_range().end, right.as_ptr_range().end);
    for (to_front, to_back) in front_out.iter_mut().zip(back_out.iter_mut().rev()) {
        // SAFETY: fewer than `steps` elements were taken from the front of the left run, which has
        // at least that many.
        let l = unsafe { &*left_front };
        // SAFETY: the same holds for the right run.
        let r = unsafe { &*right_front };
        let from_right = order.is_less(r, l);
        put(either(from_right, r, l), to_front);
        // SAFETY: the pointer moves at most to the end of the run.
        left_front = unsafe { left_front.add(usize::from(!from_right)) };
        // SAFETY: as above.
        right_front = unsafe { right_front.add(usize::from(from_right)) };

        // SAFETY: fewer than `steps` elements were taken from the back of the left run, which has
        // at least that many.
        let l = unsafe { &*left_back.sub(1) };
        // SAFETY: the same holds for the right run.
        let r = unsafe { &*right_back.sub(1) };
        let from_left = order.is_less(r, l);
        put(either(from_left, l, r), to_back);
        // SAFETY: the pointer moves at most to the beginning of the run.
        left_back = unsafe { left_back.sub(usize::from(from_left)) };
        // SAFETY: as above.
        right_back = unsafe { right_back.sub(usize::from(!from_left)) };
    }
    // SAFETY: both point into the run, or to its end, and `right_front` is not before the
    // beginning.
    let front = unsafe { right_front.offset_from_unsigned(right.as_ptr()) };
    // SAFETY: both point into the run, or to its end, and `right_back` is not behind the end.
    let back = unsafe { right.as_ptr_range().end.offset_from_unsigned(right_back) };
    Taken { front, back }
}

/// Merges one by one.
fn merge_rest<T>(mut left: &[T], mut right: &[T], mut out: &mut [MaybeUninit<T>], order: &impl Order<T>) {
    while let ([l, later_left @ ..], [r, later_right @ ..]) = (left, right) {
        let Some(to) = out.split_off_first_mut() else { unreachable!("out is as long as both runs") };
        if order.is_less(r, l) {
            put(r, to);
            right = later_right;
        } else {
            put(l, to);
            left = later_left;
        }
    }
    for (from, to) in left.iter().chain(right).zip(out) {
        put(from, to);
    }
}

/// Returns one of two, chosen in the way that suits the type of the elements.
///
/// If the outcome is as good as random, a choice without a branch is faster: no prediction fails.
/// But elements that own memory are mostly compared through a pointer to memory that is not in the
/// cache. For these a branch is better, because the processor predicts it, goes on, and fetches
/// the next elements.
#[inline(always)]
fn either<'a, T>(first: bool, a: &'a T, b: &'a T) -> &'a T {
    if const { needs_drop::<T>() } { if first { a } else { b } } else { select_unpredictable(first, a, b) }
}

/// Copies an element bit by bit.
#[inline(always)]
fn put<T>(from: &T, to: &mut MaybeUninit<T>) {
    // SAFETY: `from` is an element, `to` has room for one and is borrowed exclusively, so they are
    // disjoint, and any bits may be written to a `MaybeUninit`.
    unsafe { ptr::copy_nonoverlapping(from, to.as_mut_ptr(), 1) };
}
