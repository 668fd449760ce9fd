//! Stable sorting of a run by one domain, in steps that are short enough for other fibers to have
//! their turn in between.
//!
//! Runs that are long enough and in order already stay as they are. The rest is sorted by quicksort,
//! down to leaves that the standard library sorts. A partition copies the elements into a buffer,
//! those before the pivot from the front and the others from the back, without a branch on any
//! comparison, and then brings them back. At the end the runs are merged.
//!
//! The stable sort of the standard library works in the same way (O. Peters and L. Bergdoll,
//! *Driftsort*, 2024), but is one long call.

use super::measured::{Measured, with_order};
use super::order::Order;
use super::passes::{Places, merge_runs};
use super::quick::median;
use super::runs::{chain, reverse};
use super::sizes::Sizes;
use crate::join_within as join;
use crate::looks;
use std::hint::select_unpredictable;
use std::mem::MaybeUninit;
use std::ptr;

/// The most runs of a slice that stay as they are.
const MOST_RUNS: usize = 256;

/// Sorts a run; equal elements keep their order. The buffer is as long as the run.
pub(super) fn sort<T: Send>(
    run: &mut [T],
    buffer: &mut [MaybeUninit<T>],
    order: &Measured<'_, impl Order<T>>,
    sizes: Sizes,
) {
    if run.len() <= order.leaf(sizes) || order.are_slow() {
        return order.sort(run, sizes);
    }
    let mut ends = Vec::new();
    let good = (run.len() / MOST_RUNS).max(sizes.leaf);
    // From here on nothing has been sorted or found to be in order.
    let mut start = 0;
    let mut at = 0;
    while at < run.len() {
        let piece = order.piece::<T>(sizes);
        let (len, is_descending) = with_order!(order, |order| beginning(&run[at..], order, piece));
        let is_good = len >= good;
        if !is_good {
            at = run.len().min(at + good);
        }
        if start < at && (is_good || at == run.len()) {
            quick(&mut run[start..at], &mut buffer[start..at], None, limit(at - start), order, sizes);
            ends.push(at);
            start = at;
        }
        if is_good {
            if is_descending {
                reverse(&mut run[at..at + len], sizes);
            }
            at += len;
            start = at;
            ends.push(at);
        }
    }
    merge_runs(run, buffer, ends, order, sizes);
}

/// Returns the length of the longest run at the beginning of a slice, and whether it is strictly
/// descending.
fn beginning<T>(slice: &[T], order: &impl Order<T>, piece: usize) -> (usize, bool) {
    let [first, second, ..] = slice else { return (slice.len(), false) };
    let is_descending = order.is_less(second, first);
    let mut len = 2;
    loop {
        let end = slice.len().min(len + piece);
        let begin = len - 1;
        // Each is a loop of its own, which the compiler makes without a jump.
        len = begin
            + match is_descending {
                true => chain(&slice[begin..end], &|before, after| order.is_less(after, before)),
                false => chain(&slice[begin..end], &|before, after| !order.is_less(after, before)),
            };
        if len < end || end == slice.len() {
            return (len, is_descending);
        }
        looks::after_a_piece();
    }
}

/// The number of nested partitions after which the standard library sorts the rest. Good pivots need a
/// quarter.
fn limit(len: usize) -> u32 {
    4 * len.ilog2()
}

/// Sorts. If `least` is a place, no element comes before the one there.
fn quick<T: Send>(
    part: &mut [T],
    buffer: &mut [MaybeUninit<T>],
    mut least: Option<usize>,
    limit: u32,
    order: &Measured<'_, impl Order<T>>,
    sizes: Sizes,
) {
    let len = part.len();
    if len <= order.leaf(sizes) || limit == 0 || order.are_slow() {
        return order.sort(part, sizes);
    }
    let samples = (len.ilog2().saturating_sub(5) / 3).min(4);
    let pivot = median(part, 0..len, samples, order);
    // Elements that are equal to the least one are taken out: they are in their places.
    let are_least = least.is_some_and(|least| !order.is_less(&part[least], &part[pivot]));
    let mut divided = Divided::default();
    let piece = order.piece::<T>(sizes);
    let mut places = Places::new(part, buffer);
    // SAFETY: a partition copies every element once, each to a place of its own.
    unsafe {
        places.pass(|from, to| {
            divided = with_order!(order, |order| match are_least {
                true => divide(from, to, pivot, true, piece, |x, pivot| !order.is_less(pivot, x)),
                false => divide(from, to, pivot, false, piece, |x, pivot| order.is_less(x, pivot)),
            });
        });
    };
    let lefts = divided.lefts;
    // SAFETY: every element is copied once, to a place of its own.
    unsafe { places.pass(|from, to| bring_back(from, to, lefts, sizes)) };
    drop(places);
    if are_least {
        return quick(&mut part[lefts..], &mut buffer[lefts..], None, limit - 1, order, sizes);
    }
    least = Some(divided.pivot);
    if lefts == 0 {
        return quick(part, buffer, least, limit - 1, order, sizes);
    }
    let (left, right) = part.split_at_mut(lefts);
    let (left_buffer, right_buffer) = buffer.split_at_mut(lefts);
    join(
        || quick(left, left_buffer, None, limit - 1, order, sizes),
        || quick(right, right_buffer, least, limit - 1, order, sizes),
    );
}

/// The outcome of a partition.
#[derive(Default)]
struct Divided {
    /// The number of elements on the left.
    lefts: usize,
    /// The place of the pivot on its side.
    pivot: usize,
}

/// Copies the elements that go left to the front of `to`, in their order, and the others to the
/// back, in reverse order.
///
/// The pivot is copied last: comparisons may change its content.
fn divide<T>(
    from: &[T],
    to: &mut [MaybeUninit<T>],
    pivot: usize,
    pivot_goes_left: bool,
    piece: usize,
    goes_left: impl Fn(&T, &T) -> bool,
) -> Divided {
    assert_eq!(from.len(), to.len());
    let (before, others) = from.split_at(pivot);
    let [pivot, after @ ..] = others else { unreachable!("the pivot is one of the elements") };
    let (mut lefts, mut free) = (0, to.len());
    let mut place_of_pivot = 0;
    for (is_first, elements) in [(true, before), (false, after)] {
        for piece in elements.chunks(piece) {
            for x in piece {
                let is_left = goes_left(x, pivot);
                free -= 1;
                // `free` is the number of free places: as many as there are elements that have not
                // been copied, one of which is `x`.
                let place = lefts + select_unpredictable(is_left, 0, free);
                // SAFETY: `lefts + free` places, from `lefts` on and without the one at the end of
                // them, are free besides this one. So the place is in the buffer.
                let place = unsafe { to.get_unchecked_mut(place) };
                // SAFETY: `x` is an element, `place` has room for one and is borrowed exclusively, so
                // they are disjoint, and any bits may be written to a `MaybeUninit`.
                unsafe { ptr::copy_nonoverlapping(x, place.as_mut_ptr(), 1) };
                lefts += usize::from(is_left);
            }
            looks::after_a_piece();
        }
        if is_first {
            // The place of the pivot is left free: at the front of the free places, or at their back.
            free -= 1;
            place_of_pivot = if pivot_goes_left { lefts } else { lefts + free };
            lefts += usize::from(pivot_goes_left);
        }
    }
    // SAFETY: as above; the place was left free.
    unsafe { ptr::copy_nonoverlapping(pivot, to[place_of_pivot].as_mut_ptr(), 1) };
    let place_of_pivot = if pivot_goes_left { place_of_pivot } else { to.len() - 1 - place_of_pivot };
    Divided { lefts, pivot: place_of_pivot }
}

/// Copies the elements that a partition has divided: the first `lefts` elements as they are, and the
/// others in reverse order.
fn bring_back<T: Send>(from: &mut [T], to: &mut [MaybeUninit<T>], lefts: usize, sizes: Sizes) {
    let (left, right) = from.split_at_mut(lefts);
    let (left_to, right_to) = to.split_at_mut(lefts);
    super::merge::copy(left, left_to, sizes);
    let piece = sizes.piece::<T>();
    for (from, to) in right.rchunks(piece).zip(right_to.chunks_mut(piece)) {
        for (x, place) in from.iter().rev().zip(to) {
            // SAFETY: `x` is an element, `place` has room for one and is borrowed exclusively, so they
            // are disjoint, and any bits may be written to a `MaybeUninit`.
            unsafe { ptr::copy_nonoverlapping(x, place.as_mut_ptr(), 1) };
        }
        looks::after_a_piece();
    }
}
