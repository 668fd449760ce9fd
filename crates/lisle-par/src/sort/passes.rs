//! Sorting by merging, with a buffer: stable.
//!
//! The slice is cut into a few runs, each is sorted where it lies by the standard library's sort, and then neighbours
//! are merged, pass by pass, from the slice to the buffer and back again. A pass copies; what it copies from it
//! leaves as it was. So there is at any time one place where all elements lie, each of them once, and a comparison
//! that panics in the middle of a pass costs no more than going back to that place. A tree of merges, in which each
//! goes on as soon as its two runs are there, would have to know for each run where it is; it would also wait less at
//! the end of a pass, but merges are divided until there is enough for all.

use super::merge::{copy, merge};
use super::order::Order;
use super::runs::{is_descending, reverse};
use crate::join_within as join;
use std::mem::{MaybeUninit, needs_drop};
use std::ptr;

/// Runs are no shorter than this.
const SHORTEST: usize = if cfg!(test) { 8 } else { 2048 };

/// Sorts, with as many runs as suit this number of workers; equal elements stay in their order.
pub(super) fn sort<T: Send>(slice: &mut [T], order: &impl Order<T>, workers: usize) {
    let runs = runs::<T>(slice.len(), workers);
    if runs == 1 {
        return order.sort(slice);
    }
    if is_descending(slice, order) {
        return reverse(slice);
    }
    let len = slice.len();
    // The last one takes what the division leaves.
    let mut ends: Vec<usize> = (1..runs).map(|i| len / runs * i).chain([len]).collect();
    sort_runs(slice, 0, &ends, order);
    ends.retain(|&end| end == len || order.is_less(&slice[end], &slice[end - 1]));
    if ends.len() == 1 {
        return;
    }
    let mut buffer = Vec::with_capacity(len);
    let mut places = Places::new(slice, &mut buffer.spare_capacity_mut()[..len]);
    while ends.len() > 1 {
        // SAFETY: merges copy every element once, to places of its own.
        unsafe { places.pass(|from, to| merge_pairs(from, to, 0, &ends, order)) };
        ends = ends.chunks(2).map(|pair| pair[pair.len() - 1]).collect();
    }
    if places.are_away {
        // SAFETY: every element is copied, to the place of the same number.
        unsafe { places.pass(copy) };
    }
}

/// Into how many runs a slice is cut: a power of four, so that after an even number of passes all is back in the
/// slice.
///
/// Some for each worker, since they do not all come at the same time. But merging elements that are compared by what
/// they point to waits for the memory at each step, where sorting does not; then fewer.
fn runs<T>(len: usize, workers: usize) -> usize {
    // Nothing to move.
    if size_of::<T>() == 0 || workers < 2 {
        return 1;
    }
    let wanted = if const { needs_drop::<T>() } { 2 } else { 4 } * workers;
    let mut runs = 1;
    while runs < wanted && len / (4 * runs) >= SHORTEST {
        runs *= 4;
    }
    runs
}

/// Sorts the runs that end at `ends`, each for itself. The slice begins at `start`.
fn sort_runs<T: Send>(slice: &mut [T], start: usize, ends: &[usize], order: &impl Order<T>) {
    if let [_] = ends {
        return order.sort(slice);
    }
    let (ends, later_ends) = ends.split_at(ends.len() / 2);
    let middle = ends[ends.len() - 1];
    let (slice, later) = slice.split_at_mut(middle - start);
    join(|| sort_runs(slice, start, ends, order), || sort_runs(later, middle, later_ends, order));
}

/// Copies runs, two and two merged.
fn merge_pairs<T: Send>(
    from: &mut [T],
    to: &mut [MaybeUninit<T>],
    start: usize,
    ends: &[usize],
    order: &impl Order<T>,
) {
    match ends {
        [_] => copy(from, to),
        [end, _] => {
            let (left, right) = from.split_at_mut(end - start);
            merge(left, right, to, order);
        }
        _ => {
            let (ends, later_ends) = ends.split_at((ends.len() / 2).next_multiple_of(2));
            let middle = ends[ends.len() - 1];
            let (from, later_from) = from.split_at_mut(middle - start);
            let (to, later_to) = to.split_at_mut(middle - start);
            join(
                || merge_pairs(from, to, start, ends, order),
                || merge_pairs(later_from, later_to, middle, later_ends, order),
            );
        }
    }
}

/// The two places of the elements, the slice and the buffer. They are equally long.
///
/// All elements lie in one of them, which may be the buffer for as long as this lives: dropped, it brings them back.
pub(super) struct Places<'a, T> {
    home: &'a mut [MaybeUninit<T>],
    buffer: &'a mut [MaybeUninit<T>],
    are_away: bool,
}

impl<'a, T> Places<'a, T> {
    pub(super) fn new(slice: &'a mut [T], buffer: &'a mut [MaybeUninit<T>]) -> Self {
        assert_eq!(slice.len(), buffer.len());
        // SAFETY: `MaybeUninit<T>` lies in memory as `T` does. What is written through this reference while it lives
        // may be no elements, but when it is gone all of them are back, since only `pass` writes, and the drop puts
        // right what that leaves.
        let home = unsafe { &mut *(ptr::from_mut(slice) as *mut [MaybeUninit<T>]) };
        Places { home, buffer, are_away: false }
    }

    /// Has `copy` copy all elements, in any order, from where they are to where they are not.
    ///
    /// If it panics, they have stayed where they are.
    ///
    /// # Safety
    ///
    /// Unless it panics, `copy` has filled all of the other place with each element once, bit by bit.
    pub(super) unsafe fn pass(&mut self, copy: impl FnOnce(&mut [T], &mut [MaybeUninit<T>])) {
        let (from, to) = if self.are_away {
            (&mut *self.buffer, &mut *self.home)
        } else {
            (&mut *self.home, &mut *self.buffer)
        };
        // SAFETY: all elements lie in this one.
        copy(unsafe { from.assume_init_mut() }, to);
        self.are_away = !self.are_away;
    }
}

impl<T> Drop for Places<'_, T> {
    fn drop(&mut self) {
        if self.are_away {
            // SAFETY: both are equally long and borrowed exclusively, so they are disjoint. All elements lie in the
            // buffer, which drops none of them.
            unsafe {
                ptr::copy_nonoverlapping(self.buffer.as_ptr(), self.home.as_mut_ptr(), self.home.len())
            };
        }
    }
}
