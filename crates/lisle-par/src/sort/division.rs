//! Parallel partitions, each part with a pivot of its own.
//!
//! Elements need not be `Sync`, so no two threads may compare with the same pivot at the same time.
//! Therefore there are several pivots, neighbours in a sample. Elements between the least and the
//! greatest pivot may come to either side; all others come to the correct side. If all pivots are
//! equal, nothing lies between them.

use super::partition::{exchange, partition};
use crate::join_within as join;
use crate::looks;
use std::ops::Range;

/// Moves the elements of `slice` for which `goes_left(element, pivot)` returns `true`, with any of
/// the pivots, to the front, and returns their number. About `expected` of them are expected.
pub(super) fn divide<T: Send>(
    pivots: &mut [T],
    slice: &mut [T],
    expected: usize,
    piece: usize,
    goes_left: &(impl Fn(&T, &T) -> bool + Sync),
) -> usize {
    let shares = shares(slice.len(), expected, pivots.len());
    let mut pairs = pairs(pivots, slice, &shares);
    run(&mut pairs, piece, goes_left);
    let counts: Vec<_> = pairs.iter().map(|pair| pair.lefts).collect();
    mend(slice, &shares, &counts)
}

/// The share of one thread: elements before the boundary, about as many after it to exchange them
/// for, and a pivot.
struct Pair<'a, T> {
    pivot: &'a mut T,
    front: &'a mut [T],
    back: &'a mut [T],
    /// The numbers of elements that were moved to the front of `front` and of `back`.
    lefts: (usize, usize),
}

/// Returns the ranges of each pair: the first pair is outermost, the last one is at the boundary.
fn shares(len: usize, boundary: usize, count: usize) -> Vec<(Range<usize>, Range<usize>)> {
    let end_of_front = |i: usize| if i == count { boundary } else { boundary / count * i };
    let start_of_back = |i: usize| if i == count { boundary } else { len - (len - boundary) / count * i };
    (0..count)
        .map(|i| (end_of_front(i)..end_of_front(i + 1), start_of_back(i + 1)..start_of_back(i)))
        .collect()
}

fn pairs<'a, T>(
    pivots: &'a mut [T],
    slice: &'a mut [T],
    shares: &[(Range<usize>, Range<usize>)],
) -> Vec<Pair<'a, T>> {
    let mut rest = slice;
    pivots
        .iter_mut()
        .zip(shares)
        .map(|(pivot, (front_share, back_share))| {
            let (front, others) = std::mem::take(&mut rest).split_at_mut(front_share.len());
            let (others, back) = others.split_at_mut(others.len() - back_share.len());
            rest = others;
            Pair { pivot, front, back, lefts: (0, 0) }
        })
        .collect()
}

fn run<T: Send>(pairs: &mut [Pair<'_, T>], piece: usize, goes_left: &(impl Fn(&T, &T) -> bool + Sync)) {
    if let [pair] = pairs {
        let pivot = &*pair.pivot;
        let goes_left = |x: &T| goes_left(x, pivot);
        let (lefts, rights) = exchange(pair.front, pair.back, piece, &goes_left);
        let open = pair.back.len() - rights;
        pair.lefts = (
            lefts + partition(&mut pair.front[lefts..], piece, &goes_left),
            partition(&mut pair.back[..open], piece, &goes_left),
        );
        return;
    }
    let (pairs, later) = pairs.split_at_mut(pairs.len() / 2);
    join(|| run(pairs, piece, goes_left), || run(later, piece, goes_left));
}

/// Exchanges the elements on the wrong side of the resulting boundary, and returns the boundary.
///
/// These are few, unless the elements at one end of the slice differ from those in the middle.
fn mend<T>(slice: &mut [T], shares: &[(Range<usize>, Range<usize>)], counts: &[(usize, usize)]) -> usize {
    /// The most elements that are exchanged between two looks whether others want a turn or work.
    const MOST: usize = 1 << 12;
    let boundary = counts.iter().map(|lefts| lefts.0 + lefts.1).sum();
    let (front, back) = slice.split_at_mut(boundary);
    let parts = || {
        let shares = shares.iter().zip(counts);
        shares.flat_map(|(share, lefts)| [(share.0.clone(), lefts.0), (share.1.clone(), lefts.1)])
    };
    // The ranges in which elements that go right lie too far left, and the other way round: equally
    // many.
    let too_left = parts().map(|(part, lefts)| part.start + lefts..part.end.min(boundary));
    let too_right = parts().map(|(part, lefts)| part.start.max(boundary)..part.start + lefts);
    let mut too_right = too_right.filter(|part| !part.is_empty());
    let mut other = 0..0;
    for mut part in too_left {
        while !part.is_empty() {
            if other.is_empty() {
                other = too_right.next().expect("as many are too far right as too far left");
            }
            let count = part.len().min(other.len()).min(MOST);
            let start = other.start - boundary;
            front[part.start..part.start + count].swap_with_slice(&mut back[start..start + count]);
            if count == MOST {
                looks::after_a_piece();
            }
            part.start += count;
            other.start += count;
        }
    }
    boundary
}
