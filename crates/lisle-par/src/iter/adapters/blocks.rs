//! Blocks of a loop that are run one after the other, each as a loop by itself.

use crate::domains;
use crate::iter::run::run;
use crate::iter::{At, Consumer, IndexedParallelIterator, ParallelIterator, Part, Plan};
use crate::kept::without;

/// See [`by_uniform_blocks`](IndexedParallelIterator::by_uniform_blocks) and
/// [`by_exponential_blocks`](IndexedParallelIterator::by_exponential_blocks).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Blocks<I> {
    base: I,
    sizes: Sizes,
}

#[derive(Debug, Clone)]
enum Sizes {
    Uniform(usize),
    /// Each block has twice as many steps as the one before it. The first has a step for each
    /// domain.
    Exponential,
}

impl<I> Blocks<I> {
    #[track_caller]
    pub(in crate::iter) fn uniform(base: I, size: usize) -> Self {
        assert!(
            size != 0,
            "`by_uniform_blocks(0)`: a loop in blocks of 0 steps never ends; the size must be at least 1"
        );
        Blocks { base, sizes: Sizes::Uniform(size) }
    }

    pub(in crate::iter) fn exponential(base: I) -> Self {
        Blocks { base, sizes: Sizes::Exponential }
    }
}

impl<I: IndexedParallelIterator> ParallelIterator for Blocks<I> {
    type Item = I::Item;
    /// A part alone does not know which other parts have ended.
    type Part<'a>
        = I::Exact<'a>
    where
        Self: 'a;

    fn part(&mut self) -> Self::Part<'_> {
        self.base.exact()
    }

    fn plan(&self) -> Plan {
        self.base.plan()
    }

    // `exact_len` is not implemented: items that are written in place are written in one loop.

    #[track_caller]
    fn drive<C: Consumer<Item = I::Item>>(mut self, consumer: &C, plan: Plan) -> C::Acc {
        let (mut size, factor) = match self.sizes {
            Sizes::Uniform(size) => (size, 1),
            Sizes::Exponential => (domains(), 2),
        };
        let mut acc = consumer.begin();
        let mut rest = self.base.exact();
        let mut from = 0;
        while !rest.is_empty() && !consumer.is_done(&acc, At::outermost(from)) {
            let steps = size.min(rest.len());
            let (block, next) = rest.split_at(steps);
            rest = next;
            let next = run(block, &Further { consumer, from }, plan);
            acc = consumer.merge(acc, next);
            from += steps;
            size = size.saturating_mul(factor);
        }
        let acc = without(acc, rest);
        without(acc, self.base)
    }
}

/// A consumer for a loop whose first step is step `from` of the whole.
struct Further<'c, C> {
    consumer: &'c C,
    from: usize,
}

impl<C> Further<'_, C> {
    #[inline]
    fn place(&self, at: At<'_>) -> At<'static> {
        At::outermost(self.from + at.step())
    }
}

impl<C: Consumer> Consumer for Further<'_, C> {
    type Item = C::Item;
    type Acc = C::Acc;

    fn begin(&self) -> C::Acc {
        self.consumer.begin()
    }

    #[inline]
    fn feed<T: Iterator<Item = C::Item>>(&self, acc: C::Acc, at: At<'_>, items: T) -> C::Acc {
        self.consumer.feed(acc, self.place(at), items)
    }

    fn merge(&self, left: C::Acc, right: C::Acc) -> C::Acc {
        self.consumer.merge(left, right)
    }

    fn is_done(&self, acc: &C::Acc, at: At<'_>) -> bool {
        self.consumer.is_done(acc, self.place(at))
    }

    fn needless(&self, at: At<'_>) -> usize {
        self.consumer.needless(self.place(at))
    }

    fn end(&self, acc: C::Acc) -> C::Acc {
        self.consumer.end(acc)
    }
}
