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

/// Returns the length of the longest part at the beginning of which `follows` holds between all
/// neighbours.
///
/// After the first few pairs, in which most slices that are in no order fail, pairs are compared in
/// blocks, without a jump after each: numbers then take 0.2 ns each, and not 0.4.
pub(super) fn chain<T>(slice: &[T], follows: &impl Fn(&T, &T) -> bool) -> usize {
    const FEW: usize = 8;
    const BLOCK: usize = 64;
    let broken = |part: &[T]| part.windows(2).position(|pair| !follows(&pair[0], &pair[1]));
    if let Some(at) = broken(&slice[..slice.len().min(FEW)]) {
        return at + 1;
    }
    let mut len = slice.len().min(FEW);
    while slice.len() - len >= BLOCK
        && slice[len - 1..len + BLOCK].windows(2).fold(true, |all, pair| all & follows(&pair[0], &pair[1]))
    {
        len += BLOCK;
    }
    match broken(&slice[len.saturating_sub(1)..]) {
        Some(at) => len + at,
        None => slice.len(),
    }
}

/// Returns `true` if `follows` holds between all neighbours.
///
/// Most slices fail soon, in the part that the caller checks alone. Only a slice whose beginning
/// passes is checked by all participants.
fn is_chain<T: Send>(slice: &mut [T], follows: &(impl Fn(&T, &T) -> bool + Sync), piece: usize) -> bool {
    let start = slice.len().min(piece);
    chain(&slice[..start], follows) == start
        && is_chain_in_parts(slice, follows, &AtomicBool::new(false), piece)
}

/// Sets `broken` if `follows` does not hold; the other participants stop then. In a model they go
/// on: the model would have to try all orders of their looks, and the answer does not depend on
/// this order.
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
        let holds = chain(slice, follows) == slice.len();
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

#[cfg(test)]
mod tests {
    use super::chain;

    #[test]
    fn a_chain_ends_where_it_breaks() {
        // Miri takes its time.
        let (short, long) =
            if cfg!(miri) { (9, &[73][..]) } else { (20, &[63, 64, 65, 72, 73, 128, 200][..]) };
        for len in (0..short).chain(long.iter().copied()) {
            let rising: Vec<usize> = (0..len).collect();
            assert_eq!(chain(&rising, &|before, after| before <= after), len);
            for broken in 1..len {
                let mut slice = rising.clone();
                slice[broken] = 0;
                slice[broken - 1] += 1;
                assert_eq!(chain(&slice, &|before, after| before <= after), broken, "of {len}");
            }
        }
    }
}
