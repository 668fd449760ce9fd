//! Every n-th item.

use crate::iter::exact::{exact_part, first, parts_are_exact};
use crate::iter::{ExactPart, IndexedParallelIterator, ParallelIterator, Part, Plan};
use std::iter;

/// See [`step_by`](IndexedParallelIterator::step_by).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct StepBy<I> {
    base: I,
    step: usize,
}

impl<I> StepBy<I> {
    #[track_caller]
    pub(in crate::iter) fn new(base: I, step: usize) -> Self {
        assert!(step != 0, "`step_by(0)`: a loop with a step of 0 never ends; the step must be at least 1");
        StepBy { base, step }
    }
}

impl<I: IndexedParallelIterator> ParallelIterator for StepBy<I> {
    type Item = I::Item;
    parts_are_exact!();

    fn plan(&self) -> Plan {
        self.base.plan().with_steps_of(self.step)
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for StepBy<I> {
    exact_part!(
        Strided<I::Exact<'a>>,
        |this| Strided { base: this.base.exact(), step: this.step },
        this.base.len().div_ceil(this.step)
    );
}

/// A part that gives every `step`-th item of another one, from the first on.
#[derive(Debug)]
pub struct Strided<P> {
    base: P,
    step: usize,
}

impl<P: Part> Strided<P> {
    /// Returns the step, or, if it leads beyond the end, the least step that does: the
    /// standard library walks the rest of a huge step in a step iterator one by one.
    fn step_within(&self) -> usize {
        self.step.min(self.base.len().max(1))
    }
}

impl<P: Part> Part for Strided<P> {
    type Item = P::Item;
    type Items = iter::StepBy<P::Items>;

    #[inline]
    fn len(&self) -> usize {
        self.base.len().div_ceil(self.step)
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        let step = self.step;
        // The last step may be shorter.
        let middle = at.saturating_mul(step).min(self.base.len());
        let (left, right) = self.base.split_at(middle);
        (Strided { base: left, step }, Strided { base: right, step })
    }

    #[inline]
    fn items(self) -> Self::Items {
        let step = self.step_within();
        self.base.items().step_by(step)
    }
}

impl<P: ExactPart> ExactPart for Strided<P> {
    type Back = iter::StepBy<P::Back>;

    fn back(self) -> Self::Back {
        // The last item that is given forwards has to be the first one backwards.
        let up_to_last = match self.len() {
            0 => 0,
            len => (len - 1) * self.step + 1,
        };
        let step = self.step_within();
        first(self.base, up_to_last).back().step_by(step)
    }
}
