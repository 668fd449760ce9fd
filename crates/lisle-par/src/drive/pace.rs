//! How many steps a block has, and how many steps are handed over.

use crate::cost_history;
use crate::plan::Limits;
use crate::shim::ticks;

/// The intended duration of a block of steps. After each block, a loop checks whether another
/// domain wants work.
pub(super) const BLOCK: u64 = 5 * ticks::A_MICROSECOND;
/// The first block of a loop is at most this fraction of it, whatever earlier runs took.
pub(super) const TRIAL: usize = 8;
/// The cost history keeps the cost of a loop for this many steps, as a power of two.
pub(super) const STEPS: u32 = 10;

/// The number of steps in a block.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub(super) block: usize,
    pub(super) is_fixed: bool,
    /// The limits that the user has set. The block lies within them.
    pub(super) limits: Limits,
    /// Whether a block of this loop has been run. If not, the pace comes from the cost history
    /// alone.
    pub(super) is_proven: bool,
    /// Whether the loop was dealt out as it began.
    pub(super) is_dealt: bool,
    /// The number of domains for which the steps are: at first all that looked for work then, or
    /// one.
    pub(super) share: usize,
    pub(super) code: usize,
}

impl Pace {
    /// Returns the number of steps in the next block of a rest of `left`.
    #[inline]
    pub(super) fn next(&self, left: usize) -> usize {
        let block =
            if self.is_fixed || self.is_proven { self.block } else { self.block.min(left.div_ceil(TRIAL)) };
        self.limits.piece(block, left)
    }

    /// Returns `true` if the rest of `left` steps may be handed over, all but its next block of
    /// `block` steps.
    pub(super) fn may_hand_over(&self, block: usize, left: usize) -> bool {
        block >= self.limits.least && left - block >= self.limits.least
    }

    /// Returns the least number of steps that are handed over of a rest of `left`. To hand over
    /// less than a block takes as long as running it. The remembered length of a block does not
    /// count before a block has been run.
    fn least(&self, left: usize) -> usize {
        let least = match self.is_fixed || self.is_proven || self.is_dealt {
            true => self.block,
            false => self.block.min(left / TRIAL).max(1),
        };
        least.max(self.limits.least)
    }

    /// Returns how many steps of a rest of `left` are kept if the others are handed over, or `None`
    /// if none are handed over.
    pub(super) fn kept(&self, left: usize) -> Option<usize> {
        if left / 2 < self.least(left) {
            return None;
        }
        let given = match self.share / 2 {
            0 => left / 2,
            share => (left as u128 * share as u128 / self.share as u128).max(1) as usize,
        };
        let given = given.clamp(self.limits.least, left - self.limits.least);
        // Divide into whole blocks if their size is fixed; there are two or more.
        let whole = if self.is_fixed { self.block } else { 1 };
        Some(((left - given) / whole).max(1) * whole)
    }

    /// Adapts the pace to a block of `steps` steps that took `took` ticks.
    #[inline]
    pub(super) fn adapt(&mut self, steps: usize, took: u64) {
        self.is_proven = true;
        // Only a full block that was far too short or too long shows that the pace is wrong.
        if self.is_fixed || (BLOCK / 2..=2 * BLOCK).contains(&took) || (steps < self.block && took < BLOCK) {
            return;
        }
        let took = took.max(BLOCK / 256);
        let cost = ((u128::from(took)) << STEPS) / steps.max(1) as u128;
        cost_history::learn(self.code, u64::try_from(cost).unwrap_or(u64::MAX));
        let block = (u128::from(BLOCK) * steps as u128) / u128::from(took);
        // Steps may differ much from each other: a cheap step says little about the next ones.
        let most = steps.saturating_mul(2);
        self.block = self.limits.block(usize::try_from(block).unwrap_or(usize::MAX).clamp(1, most.max(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(block: usize, is_fixed: bool, share: usize) -> Pace {
        let limits = Limits::default();
        Pace { block, is_fixed, limits, is_proven: true, is_dealt: share > 1, share, code: 0 }
    }

    #[test]
    fn the_steps_handed_over_are_in_proportion_and_never_none_or_all() {
        assert_eq!(pace(1, false, 1).kept(7), Some(4));
        assert_eq!(pace(1, false, 3).kept(9), Some(6));
        assert_eq!(pace(1, false, 5).kept(usize::MAX), Some(usize::MAX / 5 * 3));
        for (share, left) in (1..20).flat_map(|share| (2..100).map(move |left| (share, left))) {
            assert!((1..left).contains(&pace(1, false, share).kept(left).unwrap()));
        }
    }

    #[test]
    fn a_fixed_block_is_never_cut() {
        assert_eq!(pace(10, true, 3).kept(20), Some(10));
        for (share, left) in (1..20).flat_map(|share| (1..100).map(move |left| (share, left))) {
            let kept = pace(10, true, share).kept(left);
            assert_eq!(kept.is_some(), left >= 20);
            assert!(kept.is_none_or(|kept| kept % 10 == 0 && (10..left).contains(&kept)));
        }
    }

    #[test]
    fn less_than_a_block_is_kept_once_blocks_are_known() {
        assert_eq!(pace(10, false, 1).kept(19), None);
        let remembered = Pace { is_proven: false, ..pace(10, false, 1) };
        assert_eq!(remembered.kept(19), Some(10));
        assert_eq!(remembered.kept(1), None);
    }

    #[test]
    fn neither_side_of_a_division_is_below_the_limit() {
        let limits = Limits { least: 10, ..Limits::default() };
        for (share, left) in (1..20).flat_map(|share| (1..100).map(move |left| (share, left))) {
            let kept = Pace { limits, ..pace(1, false, share) }.kept(left);
            assert_eq!(kept.is_some(), left >= 20);
            assert!(kept.is_none_or(|kept| (10..=left - 10).contains(&kept)));
        }
    }
}
