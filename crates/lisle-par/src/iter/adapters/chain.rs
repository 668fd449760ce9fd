//! One iterator after another.

use crate::iter::exact::exact_part;
use crate::iter::{ExactPart, IndexedParallelIterator, ParallelIterator, Part, Plan};
use std::iter;

/// See [`chain`](ParallelIterator::chain).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Chain<A, B> {
    a: A,
    b: B,
}

impl<A, B> Chain<A, B> {
    pub(in crate::iter) fn new(a: A, b: B) -> Self {
        Chain { a, b }
    }
}

fn sum(a: usize, b: usize) -> usize {
    a.checked_add(b).expect(
        "a parallel loop over a chain has no more than usize::MAX steps: run one loop for each iterator of the chain",
    )
}

impl<A: ParallelIterator, B: ParallelIterator<Item = A::Item>> ParallelIterator for Chain<A, B> {
    type Item = A::Item;
    type Part<'a>
        = ChainPart<A::Part<'a>, B::Part<'a>>
    where
        Self: 'a;

    fn part(&mut self) -> Self::Part<'_> {
        ChainPart::new(self.a.part(), self.b.part())
    }

    fn plan(&self) -> Plan {
        self.a.plan().and(self.b.plan())
    }

    fn exact_len(&self) -> Option<usize> {
        Some(sum(self.a.exact_len()?, self.b.exact_len()?))
    }
}

impl<A, B> IndexedParallelIterator for Chain<A, B>
where
    A: IndexedParallelIterator,
    B: IndexedParallelIterator<Item = A::Item>,
{
    exact_part!(
        ChainPart<A::Exact<'a>, B::Exact<'a>>,
        |this| ChainPart::new(this.a.exact(), this.b.exact()),
        sum(this.a.len(), this.b.len())
    );
}

/// One part after another.
#[derive(Debug)]
pub struct ChainPart<A, B> {
    a: A,
    b: B,
}

impl<A: Part, B: Part> ChainPart<A, B> {
    fn new(a: A, b: B) -> Self {
        sum(a.len(), b.len());
        ChainPart { a, b }
    }
}

impl<A: Part, B: Part<Item = A::Item>> Part for ChainPart<A, B> {
    type Item = A::Item;
    type Items = iter::Chain<A::Items, B::Items>;

    #[inline]
    fn len(&self) -> usize {
        self.a.len() + self.b.len()
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        let ChainPart { a, b } = self;
        let in_a = at.min(a.len());
        let (b_left, b_right) = b.split_at(at - in_a);
        let (a_left, a_right) = a.split_at(in_a);
        (ChainPart { a: a_left, b: b_left }, ChainPart { a: a_right, b: b_right })
    }

    #[inline]
    fn items(self) -> Self::Items {
        self.a.items().chain(self.b.items())
    }
}

impl<A: ExactPart, B: ExactPart<Item = A::Item>> ExactPart for ChainPart<A, B> {
    type Back = iter::Chain<B::Back, A::Back>;

    fn back(self) -> Self::Back {
        self.b.back().chain(self.a.back())
    }
}
