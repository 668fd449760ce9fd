//! How a loop is to be divided, said by its user.

use crate::par::iter::{Consumer, IndexedParallelIterator, ParallelIterator, Plan};
use std::num::NonZeroUsize;

/// See [`grain`](ParallelIterator::grain) and [`deterministic`](ParallelIterator::deterministic).
#[derive(Debug, Clone)]
pub struct Planned<I> {
    base: I,
    plan: Plan,
}

impl<I> Planned<I> {
    #[track_caller]
    pub(in crate::par::iter) fn new(base: I, grain: usize, fixed: bool) -> Self {
        let grain = NonZeroUsize::new(grain).expect("a block of 0 steps never gets on");
        Planned { base, plan: Plan { grain: Some(grain), fixed } }
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
        Plan { fixed: self.plan.fixed || self.base.plan().fixed, ..self.plan }
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
    type Exact<'a>
        = I::Exact<'a>
    where
        Self: 'a;

    fn exact(&mut self) -> I::Exact<'_> {
        self.base.exact()
    }

    fn len(&self) -> usize {
        self.base.len()
    }
}

impl Plan {
    /// Of two iterators that are run as one: what either wants. Of two grains the larger one, so that no block is smaller
    /// than its user wants.
    pub(super) fn and(self, other: Plan) -> Plan {
        Plan { grain: self.grain.max(other.grain), fixed: self.fixed || other.fixed }
    }

    /// Of an iterator each of whose steps is `size` steps of the one that this plan is for.
    pub(super) fn with_steps_of(self, size: usize) -> Plan {
        let grain = self.grain.and_then(|grain| NonZeroUsize::new(grain.get().div_ceil(size)));
        Plan { grain, ..self }
    }
}
