//! What a sort knows of the time that comparisons take, and what follows from it.
//!
//! While a sort computes, others want their turn. So the standard library sorts only *leaves*, which
//! are so short that no call takes longer than some fifty microseconds: for numbers two thousand
//! elements, for texts some hundred. Partitions and merges, too, are cut into pieces. Where a
//! comparison alone takes so long that leaves would be tiny, comparisons are *slow*: then each is
//! counted, any of them may let others have their turn, and leaves may be as long as it is best for
//! the sort. To count all comparisons would make the sort of numbers take twice as long, and that of
//! texts as well, where the compiler then makes a jump of the choice that a partition has to make.
//!
//! To begin with, a few elements are compared for the clock. Each leaf that is sorted is measured,
//! and the next ones are as long as follows from that.

use super::order::{Counted, Order};
use super::sizes::Sizes;
use crate::looks;
use crate::shim::ticks;
use crate::shim::unseen::{AtomicU64, Ordering::Relaxed};
use std::mem::needs_drop;

/// What a comparison of numbers takes at most, in ticks, with what belongs to it.
const FAST: u64 = ticks::A_MICROSECOND / 125;
/// A comparison that takes more is slow.
const SLOW: u64 = ticks::A_MICROSECOND / 4;
/// Elements that own something are mostly compared through a pointer to memory that is not in the
/// cache. That takes at least as long as this.
const OWNING: u64 = 3 * FAST / 2;
/// The number of pairs that are compared to begin with, so that the clock can tell slow from fast.
const PAIRS: usize = 8;
/// The comparisons of less are too few to be measured. They are counted.
const SHORT: usize = 32;

/// An order, and what a comparison takes.
pub(super) struct Measured<'o, O> {
    order: &'o O,
    /// In ticks, on average. Models are not told of it, since it is fixed where one runs the sort.
    cost: AtomicU64,
    is_fixed: bool,
}

/// Runs `$run` with the order of a [`Measured`]: if comparisons are slow, with one that counts them.
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

    /// Returns how many elements take as long as `numbers` numbers, or `numbers` if what takes that
    /// long are slow comparisons, which are counted.
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

    /// Returns the length of the longest piece that is merged or compared without a look at what
    /// others want.
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
