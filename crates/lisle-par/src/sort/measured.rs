//! The time that comparisons of a sort take, and the sizes that follow from it.
//!
//! While a sort computes, other fibers want their turn. So the standard library sorts only *leaves*,
//! which are so short that no call takes longer than some fifty microseconds: two thousand numbers,
//! or some hundred texts. Partitions and merges, too, are cut into pieces. If a comparison alone
//! takes so long that leaves would be tiny, comparisons are *slow*. Then each comparison is counted,
//! any of them may let other fibers have their turn, and leaves have the length that is best for the
//! sort. Counting all comparisons would make a sort of numbers take twice as long. A sort of texts
//! would take twice as long, too, because the compiler would then turn the choice in a partition
//! into a jump.
//!
//! At the beginning, a few comparisons are timed. Each leaf that is sorted is measured, and the
//! length of the next leaves follows from it.

use super::order::{Counted, Order};
use super::sizes::Sizes;
use crate::looks;
use crate::shim::ticks;
use crate::shim::unseen::{AtomicU64, Ordering::Relaxed};
use std::mem::needs_drop;

/// The most time that a comparison of numbers takes, with the moves that belong to it, in ticks.
const FAST: u64 = ticks::A_MICROSECOND / 125;
/// A comparison that takes more ticks is slow.
const SLOW: u64 = ticks::A_MICROSECOND / 4;
/// Elements that own something are mostly compared through a pointer to memory that is not in the
/// cache. Such a comparison takes at least as long as this.
const OWNING: u64 = 3 * FAST / 2;
/// The number of pairs that are compared at the beginning, so that the clock can tell slow from
/// fast.
const PAIRS: usize = 8;
/// A part of fewer elements has too few comparisons to be measured. They are counted.
const SHORT: usize = 32;

/// An order, and the time of a comparison.
pub(super) struct Measured<'o, O> {
    order: &'o O,
    /// The average time of a comparison, in ticks. Models do not see it, because it is fixed if a
    /// model runs the sort.
    cost: AtomicU64,
    is_fixed: bool,
}

/// Runs `$run` with the order of a [`Measured`], or, if comparisons are slow, with an order that
/// counts them.
macro_rules! with_order {
    ($measured:expr, |$order:ident| $run:expr) => {
        if $measured.are_slow() {
            let $order = &$measured.counted();
            $run
        } else {
            let $order = $measured.plain();
            $run
        }
    };
}
pub(super) use with_order;

impl<'o, O> Measured<'o, O> {
    /// Begins a sort of `slice`.
    pub(super) fn new<T>(slice: &[T], order: &'o O, sizes: Sizes) -> Self
    where
        O: Order<T>,
    {
        if let Some(are_slow) = sizes.are_slow {
            return Measured {
                order,
                cost: AtomicU64::new(if are_slow { SLOW + 1 } else { 0 }),
                is_fixed: true,
            };
        }
        looks::begin();
        let cost = if slice.len() < SHORT { SLOW + 1 } else { Self::first_cost(slice, order) };
        Measured { order, cost: AtomicU64::new(cost.max(Self::least::<T>())), is_fixed: false }
    }

    /// Compares the first elements, once for the cache and once for the clock.
    fn first_cost<T>(slice: &[T], order: &O) -> u64
    where
        O: Order<T>,
    {
        let count = || slice[..=PAIRS].windows(2).filter(|pair| order.is_less(&pair[1], &pair[0])).count();
        std::hint::black_box(count());
        let start = ticks::now();
        std::hint::black_box(count());
        ticks::now().wrapping_sub(start) / PAIRS as u64
    }

    fn least<T>() -> u64 {
        if const { needs_drop::<T>() } { OWNING } else { FAST }
    }

    pub(super) fn are_slow(&self) -> bool {
        self.cost.load(Relaxed) > SLOW
    }

    pub(super) fn plain(&self) -> &'o O {
        self.order
    }

    pub(super) fn counted(&self) -> Counted<'o, O> {
        Counted(self.order)
    }

    #[inline(always)]
    pub(super) fn is_less<T>(&self, a: &T, b: &T) -> bool
    where
        O: Order<T>,
    {
        if self.are_slow() {
            looks::count();
        }
        self.order.is_less(a, b)
    }

    /// Returns how many elements take as long as `numbers` numbers. Returns `numbers` if comparisons
    /// are slow, because these are counted.
    fn as_long_as(&self, numbers: usize) -> usize {
        match self.cost.load(Relaxed) {
            cost if cost > SLOW => numbers,
            cost => (numbers as u64 * FAST / cost.max(FAST)) as usize,
        }
    }

    /// Returns the length of the longest part that is sorted by one call without a count of its
    /// comparisons.
    pub(super) fn leaf(&self, sizes: Sizes) -> usize {
        self.as_long_as(sizes.leaf)
    }

    /// Returns the length of the longest piece that is merged or compared between two looks whether
    /// others want a turn or work.
    pub(super) fn piece<T>(&self, sizes: Sizes) -> usize {
        self.as_long_as(sizes.piece::<T>()).max(2)
    }

    /// Sorts a part serially; equal elements keep their order.
    pub(super) fn sort<T>(&self, part: &mut [T], sizes: Sizes)
    where
        O: Order<T>,
    {
        self.measure(part, sizes, |part| self.order.sort(part), |part| self.counted().sort(part));
    }

    /// Sorts a part serially; equal elements come in any order.
    pub(super) fn sort_unstable<T>(&self, part: &mut [T], sizes: Sizes)
    where
        O: Order<T>,
    {
        let plain = |part: &mut [T]| self.order.sort_unstable(part);
        self.measure(part, sizes, plain, |part| self.counted().sort_unstable(part));
    }

    fn measure<T>(
        &self,
        part: &mut [T],
        sizes: Sizes,
        plain: impl FnOnce(&mut [T]),
        counted: impl FnOnce(&mut [T]),
    ) {
        let (len, start) = (part.len(), looks::time());
        if self.are_slow() || len > self.leaf(sizes) {
            counted(part)
        } else {
            plain(part)
        }
        if len >= SHORT && !self.is_fixed {
            let took = looks::time().wrapping_sub(start);
            let measured = took / (len as u64 * u64::from(len.ilog2()));
            // A part may be in order already, and the system may have taken the processor away.
            let before = self.cost.load(Relaxed);
            let cost = measured.clamp(before - before / 4, 4 * before).max(Self::least::<T>());
            if cost != before {
                self.cost.store(cost, Relaxed);
            }
        }
        looks::after_a_piece();
    }
}
