//! The items of two iterators in turn.

use super::cut::Take;
use crate::iter::exact::{exact_part, parts_are_exact};
use crate::iter::{ExactPart, IndexedParallelIterator, ParallelIterator, Part, Plan};

/// See [`interleave`](IndexedParallelIterator::interleave).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Interleave<A, B> {
    a: A,
    b: B,
}

/// See [`interleave_shortest`](IndexedParallelIterator::interleave_shortest).
pub type InterleaveShortest<A, B> = Interleave<Take<A>, Take<B>>;

impl<A, B> Interleave<A, B> {
    pub(in crate::iter) fn new(a: A, b: B) -> Self {
        Interleave { a, b }
    }
}

impl<A: IndexedParallelIterator, B: IndexedParallelIterator<Item = A::Item>> InterleaveShortest<A, B> {
    /// Takes as many items of each as have a turn until one iterator ends.
    pub(in crate::iter) fn shortest(a: A, b: B) -> Self {
        let of_b = a.len().min(b.len());
        let of_a = a.len().min(of_b.saturating_add(1));
        Interleave { a: Take::new(a, of_a), b: Take::new(b, of_b) }
    }
}

fn sum(a: usize, b: usize) -> usize {
    a.checked_add(b).expect(
        "a parallel loop over two interleaved iterators has no more than usize::MAX steps: run a loop for each of them",
    )
}

impl<A, B> ParallelIterator for Interleave<A, B>
where
    A: IndexedParallelIterator,
    B: IndexedParallelIterator<Item = A::Item>,
{
    type Item = A::Item;
    parts_are_exact!();

    fn plan(&self) -> Plan {
        self.a.plan().and(self.b.plan())
    }
}

impl<A, B> IndexedParallelIterator for Interleave<A, B>
where
    A: IndexedParallelIterator,
    B: IndexedParallelIterator<Item = A::Item>,
{
    exact_part!(
        Interleaved<A::Exact<'a>, B::Exact<'a>>,
        |this| Interleaved::new(this.a.exact(), this.b.exact()),
        sum(this.a.len(), this.b.len())
    );
}

/// The steps of two parts in turn, and then those that are left of one of them.
#[derive(Debug)]
pub struct Interleaved<A, B> {
    a: A,
    b: B,
    /// Whether the turn is `b`'s.
    is_b: bool,
}

impl<A: Part, B: Part> Interleaved<A, B> {
    fn new(a: A, b: B) -> Self {
        sum(a.len(), b.len());
        Interleaved { a, b, is_b: false }
    }

    /// Returns how many of the first `at` steps are those of `a`.
    fn of_a(&self, at: usize) -> usize {
        let in_turn = if self.is_b { at / 2 } else { at.div_ceil(2) };
        // One of the two may have fewer steps than turns; the other one then has all turns.
        in_turn.max(at.saturating_sub(self.b.len())).min(self.a.len())
    }
}

impl<A: Part, B: Part<Item = A::Item>> Part for Interleaved<A, B> {
    type Item = A::Item;
    type Items = InterleavedItems<A::Items, B::Items>;

    #[inline]
    fn len(&self) -> usize {
        self.a.len() + self.b.len()
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let of_a = self.of_a(at);
        let (a_left, a_right) = self.a.split_at(of_a);
        let (b_left, b_right) = self.b.split_at(at - of_a);
        // Once one of the two has ended, it does not matter whose turn it is.
        let is_b = self.is_b == at.is_multiple_of(2);
        (Interleaved { a: a_left, b: b_left, is_b: self.is_b }, Interleaved { a: a_right, b: b_right, is_b })
    }

    fn items(self) -> Self::Items {
        let left = (self.a.len(), self.b.len());
        InterleavedItems { a: self.a.items(), b: self.b.items(), left, is_b: self.is_b }
    }
}

impl<A: ExactPart, B: ExactPart<Item = A::Item>> ExactPart for Interleaved<A, B> {
    type Back = InterleavedBack<A::Back, B::Back>;

    fn back(self) -> Self::Back {
        let left = (self.a.len(), self.b.len());
        InterleavedBack { a: self.a.back(), b: self.b.back(), left, is_b: self.is_b }
    }
}

/// The iterator of an [`Interleaved`].
#[derive(Debug)]
pub struct InterleavedItems<A, B> {
    a: A,
    b: B,
    /// The numbers of items that are left of the two.
    left: (usize, usize),
    is_b: bool,
}

impl<A: Iterator, B: Iterator<Item = A::Item>> Iterator for InterleavedItems<A, B> {
    type Item = A::Item;

    #[inline]
    fn next(&mut self) -> Option<A::Item> {
        let is_b = match self.left {
            (0, 0) => return None,
            (0, _) => true,
            (_, 0) => false,
            _ => self.is_b,
        };
        self.is_b = !is_b;
        if is_b {
            self.left.1 -= 1;
            self.b.next()
        } else {
            self.left.0 -= 1;
            self.a.next()
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.left.0 + self.left.1;
        (left, Some(left))
    }
}

/// The iterator of an [`Interleaved`] from its end.
#[derive(Debug)]
pub struct InterleavedBack<A, B> {
    a: A,
    b: B,
    left: (usize, usize),
    /// Whether the first of all items that are left is one of `b`, if there are items of both.
    is_b: bool,
}

impl<A: Iterator, B: Iterator<Item = A::Item>> Iterator for InterleavedBack<A, B> {
    type Item = A::Item;

    #[inline]
    fn next(&mut self) -> Option<A::Item> {
        let (a, b) = self.left;
        // The iterator with more items has the last one. If they have equally many, it is the one
        // that does not begin.
        if a > b || (a == b && self.is_b) {
            self.left.0 = a.checked_sub(1)?;
            self.a.next()
        } else {
            self.left.1 = b.checked_sub(1)?;
            self.b.next()
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.left.0 + self.left.1;
        (left, Some(left))
    }
}
