//! Unstable sorting by partitions, in place.
//!
//! This is quicksort (C. A. R. Hoare, 1961), down to parts that the standard library sorts. Several
//! domains partition a large part together, each with a pivot of its own
//! ([`division`](super::division)). The few elements between the least and the greatest pivot may
//! come to the wrong side, and are sorted once more after both sides.

use super::division::divide;
use super::measured::{Measured, with_order};
use super::order::Order;
use super::partition::partition;
use super::runs::{is_ascending, is_descending, reverse};
use super::sizes::Sizes;
use crate::join_within as join;
use crate::shim::random::Random;
use crate::{owner, within};
use std::cmp::Ordering;
use std::ops::Range;

/// Parts of at most this size are not divided further if there are enough of them: they fit into
/// the cache of a core.
const LEAF_BYTES: usize = 1 << 18;

/// Sorts, divided to suit these sizes; equal elements come in any order.
pub(super) fn sort<T: Send>(slice: &mut [T], order: &impl Order<T>, sizes: Sizes) {
    let order = &Measured::new(slice, order, sizes);
    let (len, Sizes { domains, part, share, .. }) = (slice.len(), sizes);
    let is_whole = if order.are_slow() { domains < 2 } else { len <= order.leaf(sizes) };
    if is_whole || len <= part || size_of::<T>() == 0 {
        return order.sort_unstable(slice, sizes);
    }
    let _within = within::enter(owner::pending());
    if is_ascending(slice, order, sizes) {
        return;
    }
    if is_descending(slice, order, sizes) {
        return reverse(slice, sizes);
    }
    let largest_leaf = (LEAF_BYTES / size_of::<T>()).max(part);
    let leaf = if domains < 2 { len } else { (len / (8 * domains)).clamp(part, largest_leaf) };
    // Twice as many divisions as good pivots need. The standard library sorts the parts that are
    // left after them.
    let limit = 2 * len.ilog2() + 4;
    Quick { order, leaf, sizes, share }.sort(slice, None, domains, limit);
}

struct Quick<'a, 'o, O> {
    order: &'a Measured<'o, O>,
    /// The longest part that one domain sorts alone if comparisons are slow.
    leaf: usize,
    sizes: Sizes,
    /// The number of elements for which an additional pivot pays.
    share: usize,
}

/// The range of the pivots, and of elements equal to them, after a division.
struct Middle {
    range: Range<usize>,
    /// Whether nothing lies between the least and the greatest pivot.
    is_exact: bool,
}

impl<O> Quick<'_, '_, O> {
    /// Sorts a part for which `domains` domains are available, with at most `limit` nested
    /// divisions. No element comes before `least`, if there is one.
    fn sort<T: Send>(&self, part: &mut [T], least: Option<&mut T>, domains: usize, limit: u32)
    where
        O: Order<T>,
    {
        let leaf = if self.order.are_slow() { self.leaf } else { self.order.leaf(self.sizes) };
        if part.len() <= leaf || limit == 0 {
            return self.order.sort_unstable(part, self.sizes);
        }
        // There are more parts than domains: so a domain that comes late does not keep the others
        // waiting.
        let pivots = if domains > 1 { (2 * domains).min(part.len() / self.share) } else { 1 };
        let middle = match pivots {
            0 | 1 => self.divide_alone(part, least.as_deref()),
            _ => self.divide(part, pivots),
        };
        let (left, others) = part.split_at_mut(middle.range.start);
        let (pivots, right) = others.split_at_mut(middle.range.len());
        // Each element is known to only one of the two sides, because they may run on two threads.
        let least_of_right = pivots.last_mut().filter(|_| middle.is_exact);
        let domains = domains.div_ceil(2);
        join(
            || self.sort(left, least, domains, limit - 1),
            || self.sort(right, least_of_right, domains, limit - 1),
        );
        if !middle.is_exact {
            self.sort_seam(part, middle.range);
        }
    }

    /// Divides by one pivot.
    fn divide_alone<T>(&self, part: &mut [T], least: Option<&T>) -> Middle
    where
        O: Order<T>,
    {
        let samples = (part.len().ilog2().saturating_sub(5) / 3).min(4);
        let place = median(part, 0..part.len(), samples, self.order);
        part.swap(0, place);
        let Some((pivot, rest)) = part.split_first_mut() else { unreachable!("a pivot was found") };
        let piece = self.order.piece::<T>(self.sizes);
        // If the pivot is one of the least elements, all elements that are equal to it are taken
        // out: the next pivot might be one of them again.
        let is_known_least = least.is_some_and(|least| !self.order.is_less(least, pivot));
        let less = match is_known_least {
            true => 0,
            false => with_order!(self.order, |order| partition(rest, piece, &|x| order.is_less(x, pivot))),
        };
        if less == 0 {
            let equal =
                with_order!(self.order, |order| partition(rest, piece, &|x| !order.is_less(pivot, x)));
            return Middle { range: 0..equal + 1, is_exact: true };
        }
        part.swap(0, less);
        Middle { range: less..less + 1, is_exact: true }
    }

    /// Divides by several pivots, from the middle of a sample.
    fn divide<T: Send>(&self, part: &mut [T], pivots: usize) -> Middle
    where
        O: Order<T>,
    {
        let is_less = |a: &T, b: &T| self.order.is_less(a, b);
        let sample = self.sample(part, pivots);
        let median = &part[sample[sample.len() / 2]];
        let less = sample.partition_point(|&i| is_less(&part[i], median));
        let not_greater = sample.partition_point(|&i| !is_less(median, &part[i]));
        // If no element of the sample is less than the median, many elements are equal to it. These
        // must not come to either side, which might otherwise be the whole part.
        let chosen =
            if less == 0 { &sample[..pivots] } else { &sample[(sample.len() - pivots) / 2..][..pivots] };
        let is_exact = !is_less(&part[chosen[0]], &part[chosen[pivots - 1]]);
        let share = (part.len() - pivots) / sample.len();
        // No chosen element is among the first `pivots` ones.
        for (i, &place) in chosen.iter().enumerate() {
            part.swap(i, place);
        }
        let (pivot, rest) = part.split_at_mut(pivots);
        let piece = self.order.piece::<T>(self.sizes);
        let (lefts, not_rights) = with_order!(self.order, |order| {
            let is_less = |a: &T, b: &T| order.is_less(a, b);
            if less == 0 && is_exact {
                let not_greater =
                    divide(pivot, rest, share * not_greater, piece, &|x, pivot| !is_less(pivot, x));
                (divide(pivot, &mut rest[..not_greater], 0, piece, &is_less), not_greater)
            } else {
                let less = divide(pivot, rest, share * less, piece, &is_less);
                (less, less)
            }
        });
        if lefts < pivots {
            part[..lefts + pivots].rotate_left(pivots);
        } else {
            let (left, middle) = part[..lefts + pivots].split_at_mut(lefts);
            left[..pivots].swap_with_slice(middle);
        }
        Middle { range: lefts..not_rights + pivots, is_exact }
    }

    /// Returns the places of a sample, in the order of its elements. None of them is among the
    /// first `pivots` elements.
    fn sample<T>(&self, part: &[T], pivots: usize) -> Vec<usize>
    where
        O: Order<T>,
    {
        let len = part.len();
        // A larger sample leaves fewer elements on the wrong side. This size balances the two
        // costs.
        let size = (len.saturating_mul(pivots).isqrt() / 8).max(2 * pivots + 1);
        let stride = (len - pivots) / size;
        // The distances are not equal, because data may be periodic.
        let random = Random::seeded(len as u64);
        let place = |i| pivots + stride * i + random.next() as usize % stride;
        let mut sample: Vec<usize> = (0..size).map(place).collect();
        let is_less = |a: usize, b: usize| self.order.is_less(&part[a], &part[b]);
        sample.sort_unstable_by(|&a, &b| match is_less(a, b) {
            true => Ordering::Less,
            false if is_less(b, a) => Ordering::Greater,
            false => Ordering::Equal,
        });
        sample
    }

    /// Sorts the elements that may have come to the wrong side of the pivots. Both sides are sorted
    /// already.
    ///
    /// These are a few per cent of a part, in three runs, which a stable sort finds and merges.
    fn sort_seam<T>(&self, part: &mut [T], middle: Range<usize>)
    where
        O: Order<T>,
    {
        let (left, others) = part.split_at(middle.start);
        let (pivots, right) = others.split_at(middle.len());
        let is_less = |a: &T, b: &T| self.order.is_less(a, b);
        let (mut least, mut greatest) = (&pivots[0], &pivots[pivots.len() - 1]);
        if let Some(first) = right.first().filter(|first| is_less(first, least)) {
            least = first;
        }
        if let Some(last) = left.last().filter(|last| is_less(greatest, last)) {
            greatest = last;
        }
        let start = left.partition_point(|x| !is_less(least, x));
        let end = middle.end + right.partition_point(|x| is_less(x, greatest));
        self.order.sort(&mut part[start..end], self.sizes);
    }
}

/// Returns the place of an element near the median of a range: the median of the medians of three
/// thirds, recursively to `depth`.
pub(super) fn median<T>(
    part: &[T],
    range: Range<usize>,
    depth: u32,
    order: &Measured<'_, impl Order<T>>,
) -> usize {
    if depth == 0 {
        return range.start + range.len() / 2;
    }
    let third = range.len() / 3;
    let of_third = |i: usize| {
        let start = range.start + i * third;
        median(part, start..start + third, depth - 1, order)
    };
    let (a, b, c) = (of_third(0), of_third(1), of_third(2));
    let is_less = |a: usize, b: usize| order.is_less(&part[a], &part[b]);
    match (is_less(a, b), is_less(b, c), is_less(a, c)) {
        (true, true, _) | (false, false, _) => b,
        (true, false, false) | (false, true, true) => a,
        _ => c,
    }
}
