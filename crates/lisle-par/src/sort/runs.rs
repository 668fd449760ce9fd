//! Slices that are already in order, or in reverse order.

use super::measured::{Measured, with_order};
use super::order::Order;
use super::sizes::Sizes;
use crate::event::is_modelled;
use crate::join_within as join;
use crate::looks;
use crate::shim::atomic::{AtomicBool, Ordering::Relaxed};
use std::mem;

/// Returns `true` if each element after the first is less than the one before it.
pub(super) fn is_descending<T: Send>(
    slice: &mut [T],
    order: &Measured<'_, impl Order<T>>,
    sizes: Sizes,
) -> bool {
    let piece = order.piece::<T>(sizes);
    with_order!(order, |order| is_chain(slice, &|before, after| order.is_less(after, before), piece))
}

/// Returns `true` if no element is less than the one before it.
pub(super) fn is_ascending<T: Send>(
    slice: &mut [T],
    order: &Measured<'_, impl Order<T>>,
    sizes: Sizes,
) -> bool {
    let piece = order.piece::<T>(sizes);
    with_order!(order, |order| is_chain(slice, &|before, after| !order.is_less(after, before), piece))
}

/// Returns `true` if `follows` holds between all neighbours.
///
/// Most slices fail soon, in the part that the caller checks alone. Only a slice whose beginning
/// passes is checked by all participants.
fn is_chain<T: Send>(slice: &mut [T], follows: &(impl Fn(&T, &T) -> bool + Sync), piece: usize) -> bool {
    let start = slice.len().min(piece);
    slice[..start].windows(2).all(|pair| follows(&pair[0], &pair[1]))
        && is_chain_in_parts(slice, follows, &AtomicBool::new(false), piece)
}

/// Sets `broken` where `follows` does not hold; the other participants stop then. In a model they
/// go on: it would have to try who looks before whom, and whatever comes of the comparisons the
/// answer is the same.
fn is_chain_in_parts<T: Send>(
    slice: &mut [T],
    follows: &(impl Fn(&T, &T) -> bool + Sync),
    broken: &AtomicBool,
    piece: usize,
) -> bool {
    if !is_modelled() && broken.load(Relaxed) {
        return false;
    }
    let holds = if slice.len() <= piece {
        let holds = slice.windows(2).all(|pair| follows(&pair[0], &pair[1]));
        looks::after_a_piece();
        holds
    } else {
        let middle = slice.len() / 2;
        // This comparison comes before the halves go to two threads, which may not access the same
        // element.
        follows(&slice[middle - 1], &slice[middle]) && {
            let (left, right) = slice.split_at_mut(middle);
            let (left, right) = join(
                || is_chain_in_parts(left, follows, broken, piece),
                || is_chain_in_parts(right, follows, broken, piece),
            );
            left && right
        }
    };
    if !holds && !is_modelled() {
        broken.store(true, Relaxed);
    }
    holds
}

/// Reverses a slice.
pub(super) fn reverse<T: Send>(slice: &mut [T], sizes: Sizes) {
    let (front, back) = slice.split_at_mut(slice.len() / 2);
    let odd = back.len() - front.len();
    exchange(front, &mut back[odd..], sizes);
}

/// Exchanges the first of `front` with the last of `back`, and so on; they are equally long.
fn exchange<T: Send>(front: &mut [T], back: &mut [T], sizes: Sizes) {
    if front.len() <= sizes.piece::<T>().div_ceil(2) {
        front.iter_mut().zip(back.iter_mut().rev()).for_each(|(a, b)| mem::swap(a, b));
        return looks::after_a_piece();
    }
    let half = front.len() / 2;
    let (front, later_front) = front.split_at_mut(half);
    let (earlier_back, back) = back.split_at_mut(back.len() - half);
    join(|| exchange(front, back, sizes), || exchange(later_front, earlier_back, sizes));
}
