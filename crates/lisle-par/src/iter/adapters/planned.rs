//! Loops whose division is set by the user.

use crate::iter::exact::exact_part;
use crate::iter::{Consumer, IndexedParallelIterator, ParallelIterator, Plan};
use std::num::NonZeroUsize;
use std::panic::Location;

/// See [`grain`](ParallelIterator::grain), [`deterministic`](ParallelIterator::deterministic),
/// [`with_min_len`](IndexedParallelIterator::with_min_len) and
/// [`with_max_len`](IndexedParallelIterator::with_max_len).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Planned<I> {
    base: I,
    /// The settings of this adapter.
    plan: Plan,
}

impl<I> Planned<I> {
    #[track_caller]
    pub(in crate::iter) fn new(base: I, grain: usize, fixed: bool) -> Self {
        let grain = NonZeroUsize::new(grain);
        if grain.is_none() {
            let form = if fixed { "deterministic" } else { "grain" };
            panic!("`{form}(0)`: a loop in blocks of 0 steps never ends; the number must be at least 1");
        }
        Planned { base, plan: Plan { grain, fixed, ..Plan::default() } }
    }

    pub(in crate::iter) fn with_least(base: I, least: usize) -> Self {
        let least = NonZeroUsize::new(least);
        Planned { base, plan: Plan { least, ..Plan::default() } }
    }

    pub(in crate::iter) fn with_most(base: I, most: usize) -> Self {
        let most = NonZeroUsize::new(most.max(1));
        Planned { base, plan: Plan { most, ..Plan::default() } }
    }

    /// Returns the loop `base`, run on behalf of the call at `site`.
    pub(super) fn on_behalf_of(base: I, site: &'static Location<'static>) -> Self {
        Planned { base, plan: Plan { site: Some(site), ..Plan::default() } }
    }
}

impl<I: ParallelIterator> ParallelIterator for Planned<I> {
    type Item = I::Item;
    type Part<'a>
        = I::Part<'a>
    where
        Self: 'a;

    fn part(&mut self) -> I::Part<'_> {
        self.base.part()
    }

    fn plan(&self) -> Plan {
        let both = self.plan.and(self.base.plan());
        Plan { grain: self.plan.grain.or(both.grain), ..both }
    }

    fn exact_len(&self) -> Option<usize> {
        self.base.exact_len()
    }

    #[track_caller]
    fn drive<C: Consumer<Item = I::Item>>(self, consumer: &C, plan: Plan) -> C::Acc {
        self.base.drive(consumer, plan)
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for Planned<I> {
    exact_part!(I::Exact<'a>, |this| this.base.exact(), this.base.len());
}

impl Plan {
    /// Combines the plans of two iterators that are run as one. The larger of two grains counts,
    /// so no block is smaller than either user wants. Of two limits the narrower one counts.
    pub(super) fn and(self, other: Plan) -> Plan {
        Plan {
            grain: self.grain.max(other.grain),
            least: self.least.max(other.least),
            most: self.most.into_iter().chain(other.most).min(),
            fixed: self.fixed || other.fixed,
            site: self.site.or(other.site),
        }
    }

    /// Returns the plan of an iterator each of whose steps is `size` steps of the iterator with
    /// this plan.
    pub(super) fn with_steps_of(self, size: usize) -> Plan {
        let up = |steps: NonZeroUsize| NonZeroUsize::new(steps.get().div_ceil(size));
        let down = |steps: NonZeroUsize| NonZeroUsize::new((steps.get() / size).max(1));
        Plan {
            grain: self.grain.and_then(up),
            least: self.least.and_then(up),
            most: self.most.and_then(down),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Planned;
    use crate::iter::ParallelIterator;
    use crate::prelude::*;
    use std::panic::Location;

    /// Returns the grain and whether the division is fixed.
    fn plan(iter: impl ParallelIterator) -> (Option<usize>, bool) {
        let plan = iter.plan();
        (plan.grain.map(Into::into), plan.fixed)
    }

    #[test]
    fn what_is_said_of_a_loop_goes_through_its_adapters() {
        let loop_of = || (0..100).into_par_iter();
        assert_eq!(plan(loop_of().map(|n| n).filter(|_| true)), (None, false));
        assert_eq!(plan(loop_of().grain(7).map(|n| n).rev().take(9).skip(1).enumerate()), (Some(7), false));
        assert_eq!(plan(loop_of().deterministic(7).filter(|_| true).flat_map(|n| 0..n)), (Some(7), true));
        assert_eq!(plan(loop_of().grain(7).fold(|| 0, |a, n| a + n).map(|n| n)), (Some(7), false));
        // The last setting counts, but a fixed division stays fixed.
        assert_eq!(plan(loop_of().grain(7).grain(5)), (Some(5), false));
        assert_eq!(plan(loop_of().deterministic(7).grain(5)), (Some(5), true));
        // Of two, the larger grain counts, and the division is fixed if either is.
        assert_eq!(plan(loop_of().grain(7).zip(loop_of().grain(9))), (Some(9), false));
        assert_eq!(plan(loop_of().zip(loop_of().deterministic(9))), (Some(9), true));
        assert_eq!(plan(loop_of().deterministic(9).chain(loop_of())), (Some(9), true));
        // A loop may run on behalf of a call.
        let site = Location::caller();
        let named = Planned::on_behalf_of(loop_of().deterministic(7), site);
        assert_eq!(named.plan().site, Some(site));
        assert_eq!(plan(named), (Some(7), true));
        let limited = || loop_of().with_min_len(10).with_max_len(35);
        let limits_of = |plan: crate::iter::Plan| (plan.limits().least, plan.limits().most);
        assert_eq!(limits_of(limited().map(|n| n).rev().plan()), (10, 35));
        assert_eq!(limits_of(limited().with_min_len(0).with_max_len(50).plan()), (10, 35));
        assert_eq!(limits_of(limited().zip(loop_of().with_max_len(0)).plan()), (10, 10));
        assert_eq!(limits_of(limited().chunks(4).plan()), (3, 8));
        assert_eq!(limits_of(loop_of().plan()), (1, usize::MAX));
        assert_eq!(plan(limited().grain(7)), (Some(7), false));
        // A grain counts the steps of the iterator on which it was set.
        assert_eq!(plan(loop_of().grain(10).chunks(3)), (Some(4), false));
        assert_eq!(plan(loop_of().grain(10).step_by(20)), (Some(1), false));
    }
}
