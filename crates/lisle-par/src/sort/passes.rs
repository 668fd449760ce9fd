//! Stable sorting by merging, with a buffer.
//!
//! The slice is cut into a few runs, one or more for each domain, and each is sorted in place
//! ([`apart`](super::apart)). Then neighbours are merged, pass by pass, from the slice to the buffer
//! and back again. A pass copies, and leaves its source as it was. Hence there is at any time one
//! place where all elements lie, each once. If a comparison panics in the middle of a pass, going
//! back to that place suffices. A tree of merges, in which each merge begins as soon as its two runs
//! are complete, would have to know for each run where it lies. It would wait less at the end of a
//! pass, but merges are divided until there are enough for all domains.

use super::apart;
use super::measured::Measured;
use super::merge::{copy, merge};
use super::order::Order;
use super::runs::{is_descending, reverse};
use super::sizes::Sizes;
use crate::join_within as join;
use crate::{owner, within};
use std::mem::{MaybeUninit, needs_drop};
use std::ptr;

/// Sorts, with as many runs as suit these sizes; equal elements keep their order.
pub(super) fn sort<T: Send>(slice: &mut [T], order: &impl Order<T>, sizes: Sizes) {
    let order = &Measured::new(slice, order, sizes);
    let runs = runs::<T>(slice.len(), sizes);
    if runs == 1 && (order.are_slow() || slice.len() <= order.leaf(sizes)) {
        return order.sort(slice, sizes);
    }
    let _within = within::enter(owner::pending());
    if is_descending(slice, order, sizes) {
        return reverse(slice, sizes);
    }
    let len = slice.len();
    let mut buffer = Vec::with_capacity(len);
    let buffer = &mut buffer.spare_capacity_mut()[..len];
    // The last run takes the remainder of the division.
    let ends: Vec<usize> = (1..runs).map(|i| len / runs * i).chain([len]).collect();
    sort_runs(slice, buffer, 0, &ends, order, sizes);
    merge_runs(slice, buffer, ends, order, sizes);
}

/// Returns the number of runs of a slice: a power of four. After an even number of passes, all
/// elements are back in the slice.
///
/// There are several runs for each domain, because domains do not all begin at the same time. There
/// are fewer if elements are compared through a pointer: merging them waits for the memory at each
/// step, while sorting them does not.
fn runs<T>(len: usize, Sizes { domains, run, .. }: Sizes) -> usize {
    // There is nothing to move.
    if size_of::<T>() == 0 || domains < 2 {
        return 1;
    }
    let wanted = if const { needs_drop::<T>() } { 2 } else { 4 } * domains;
    let mut runs = 1;
    while runs < wanted && len / (4 * runs) >= run {
        runs *= 4;
    }
    runs
}

/// Sorts each of the runs that end at `ends`. The slice, which is as long as the buffer, begins at
/// `start`.
fn sort_runs<T: Send>(
    slice: &mut [T],
    buffer: &mut [MaybeUninit<T>],
    start: usize,
    ends: &[usize],
    order: &Measured<'_, impl Order<T>>,
    sizes: Sizes,
) {
    if let [_] = ends {
        return apart::sort(slice, buffer, order, sizes);
    }
    let (ends, later_ends) = ends.split_at(ends.len() / 2);
    let middle = ends[ends.len() - 1];
    let (slice, later) = slice.split_at_mut(middle - start);
    let (buffer, later_buffer) = buffer.split_at_mut(middle - start);
    join(
        || sort_runs(slice, buffer, start, ends, order, sizes),
        || sort_runs(later, later_buffer, middle, later_ends, order, sizes),
    );
}

/// Merges the runs that end at `ends`, each of which is in order.
pub(super) fn merge_runs<T: Send>(
    slice: &mut [T],
    buffer: &mut [MaybeUninit<T>],
    mut ends: Vec<usize>,
    order: &Measured<'_, impl Order<T>>,
    sizes: Sizes,
) {
    let len = slice.len();
    ends.retain(|&end| end == len || order.is_less(&slice[end], &slice[end - 1]));
    if ends.len() == 1 {
        return;
    }
    let mut places = Places::new(slice, buffer);
    while ends.len() > 1 {
        // SAFETY: merges copy every element once, each to a place of its own.
        unsafe { places.pass(|from, to| merge_pairs(from, to, 0, &ends, order, sizes)) };
        ends = ends.chunks(2).map(|pair| pair[pair.len() - 1]).collect();
    }
    if places.are_away {
        // SAFETY: every element is copied, to the place of the same number.
        unsafe { places.pass(|from, to| copy(from, to, sizes)) };
    }
}

/// Copies runs, merging each pair.
fn merge_pairs<T: Send>(
    from: &mut [T],
    to: &mut [MaybeUninit<T>],
    start: usize,
    ends: &[usize],
    order: &Measured<'_, impl Order<T>>,
    sizes: Sizes,
) {
    match ends {
        [_] => copy(from, to, sizes),
        [end, _] => {
            let (left, right) = from.split_at_mut(end - start);
            merge(left, right, to, order, sizes);
        }
        _ => {
            let (ends, later_ends) = ends.split_at((ends.len() / 2).next_multiple_of(2));
            let middle = ends[ends.len() - 1];
            let (from, later_from) = from.split_at_mut(middle - start);
            let (to, later_to) = to.split_at_mut(middle - start);
            join(
                || merge_pairs(from, to, start, ends, order, sizes),
                || merge_pairs(later_from, later_to, middle, later_ends, order, sizes),
            );
        }
    }
}

/// The two places of the elements, the slice and the buffer, which are equally long.
///
/// All elements lie in one of them. It may be the buffer while this value lives; dropping this
/// value brings the elements back.
pub(super) struct Places<'a, T> {
    home: &'a mut [MaybeUninit<T>],
    buffer: &'a mut [MaybeUninit<T>],
    are_away: bool,
}

impl<'a, T> Places<'a, T> {
    pub(super) fn new(slice: &'a mut [T], buffer: &'a mut [MaybeUninit<T>]) -> Self {
        assert_eq!(slice.len(), buffer.len());
        // SAFETY: `MaybeUninit<T>` has the same layout as `T`. Values that are written through this
        // reference while it lives may not be elements. When it is gone, all elements are back,
        // because only `pass` writes, and `drop` repairs what `pass` leaves.
        let home = unsafe { &mut *(ptr::from_mut(slice) as *mut [MaybeUninit<T>]) };
        Places { home, buffer, are_away: false }
    }

    /// Has `copy` copy all elements, in any order, from the place where they are to the other one.
    ///
    /// If `copy` panics, the elements have stayed where they were.
    ///
    /// # Safety
    ///
    /// Unless it panics, `copy` has filled all of the other place with each element once, bit by
    /// bit.
    pub(super) unsafe fn pass(&mut self, copy: impl FnOnce(&mut [T], &mut [MaybeUninit<T>])) {
        let (from, to) = if self.are_away {
            (&mut *self.buffer, &mut *self.home)
        } else {
            (&mut *self.home, &mut *self.buffer)
        };
        // SAFETY: all elements lie in `from`, and `MaybeUninit<T>` has the same layout as `T`.
        copy(unsafe { &mut *(ptr::from_mut(from) as *mut [T]) }, to);
        self.are_away = !self.are_away;
    }
}

impl<T> Drop for Places<'_, T> {
    fn drop(&mut self) {
        if self.are_away {
            // SAFETY: both places are equally long and borrowed exclusively, so they are disjoint.
            // All elements lie in the buffer, which does not drop them.
            unsafe {
                ptr::copy_nonoverlapping(self.buffer.as_ptr(), self.home.as_mut_ptr(), self.home.len())
            };
        }
    }
}
