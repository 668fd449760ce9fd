//! Parallel iterators of which only the type of the items is known; tests compose programs from
//! them at run time.

use crate::iter::{ExactPart, IndexedParallelIterator, ParallelIterator, Part, Plan};

/// Any iterator over numbers that knows its length.
pub(super) struct Exact(Box<dyn AnyExact>);

/// Any iterator over numbers.
pub(super) struct Loose(Box<dyn AnyLoose>);

impl Exact {
    pub(super) fn new<I: IndexedParallelIterator<Item = i64> + 'static>(iter: I) -> Self {
        Exact(Box::new(iter))
    }
}

impl Loose {
    pub(super) fn new<I: ParallelIterator<Item = i64> + 'static>(iter: I) -> Self {
        Loose(Box::new(iter))
    }
}

trait AnyExact: Send {
    fn exact(&mut self) -> Box<dyn AnyExactPart + '_>;
    fn len(&self) -> usize;
    fn plan(&self) -> Plan;
}

trait AnyLoose: Send {
    fn part(&mut self) -> Box<dyn AnyPart + '_>;
    fn exact_len(&self) -> Option<usize>;
    fn plan(&self) -> Plan;
}

type Items<'p> = Box<dyn Iterator<Item = i64> + 'p>;

trait AnyPart: Send {
    fn len(&self) -> usize;
    fn split_at<'p>(self: Box<Self>, at: usize) -> (Box<dyn AnyPart + 'p>, Box<dyn AnyPart + 'p>)
    where
        Self: 'p;
    fn items<'p>(self: Box<Self>) -> Items<'p>
    where
        Self: 'p;
}

trait AnyExactPart: Send {
    fn len(&self) -> usize;
    fn split_at<'p>(self: Box<Self>, at: usize) -> (Box<dyn AnyExactPart + 'p>, Box<dyn AnyExactPart + 'p>)
    where
        Self: 'p;
    fn items<'p>(self: Box<Self>) -> Items<'p>
    where
        Self: 'p;
    fn back<'p>(self: Box<Self>) -> Items<'p>
    where
        Self: 'p;
}

impl<I: IndexedParallelIterator<Item = i64>> AnyExact for I {
    fn exact(&mut self) -> Box<dyn AnyExactPart + '_> {
        Box::new(IndexedParallelIterator::exact(self))
    }

    fn len(&self) -> usize {
        IndexedParallelIterator::len(self)
    }

    fn plan(&self) -> Plan {
        ParallelIterator::plan(self)
    }
}

impl<I: ParallelIterator<Item = i64>> AnyLoose for I {
    fn part(&mut self) -> Box<dyn AnyPart + '_> {
        Box::new(ParallelIterator::part(self))
    }

    fn exact_len(&self) -> Option<usize> {
        ParallelIterator::exact_len(self)
    }

    fn plan(&self) -> Plan {
        ParallelIterator::plan(self)
    }
}

impl<P: Part<Item = i64>> AnyPart for P {
    fn len(&self) -> usize {
        Part::len(self)
    }

    fn split_at<'p>(self: Box<Self>, at: usize) -> (Box<dyn AnyPart + 'p>, Box<dyn AnyPart + 'p>)
    where
        Self: 'p,
    {
        let (left, right) = Part::split_at(*self, at);
        (Box::new(left), Box::new(right))
    }

    fn items<'p>(self: Box<Self>) -> Items<'p>
    where
        Self: 'p,
    {
        Box::new(Part::items(*self))
    }
}

impl<P: ExactPart<Item = i64>> AnyExactPart for P {
    fn len(&self) -> usize {
        Part::len(self)
    }

    fn split_at<'p>(self: Box<Self>, at: usize) -> (Box<dyn AnyExactPart + 'p>, Box<dyn AnyExactPart + 'p>)
    where
        Self: 'p,
    {
        let (left, right) = Part::split_at(*self, at);
        (Box::new(left), Box::new(right))
    }

    fn items<'p>(self: Box<Self>) -> Items<'p>
    where
        Self: 'p,
    {
        Box::new(Part::items(*self))
    }

    fn back<'p>(self: Box<Self>) -> Items<'p>
    where
        Self: 'p,
    {
        Box::new(ExactPart::back(*self))
    }
}

/// Parts of an [`Exact`] and of a [`Loose`].
pub(super) struct ExactBox<'p>(Box<dyn AnyExactPart + 'p>);
pub(super) struct LooseBox<'p>(Box<dyn AnyPart + 'p>);

impl<'p> Part for ExactBox<'p> {
    type Item = i64;
    type Items = Items<'p>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at(at);
        (ExactBox(left), ExactBox(right))
    }

    fn items(self) -> Items<'p> {
        self.0.items()
    }
}

impl<'p> ExactPart for ExactBox<'p> {
    type Back = Items<'p>;

    fn back(self) -> Items<'p> {
        self.0.back()
    }
}

impl<'p> Part for LooseBox<'p> {
    type Item = i64;
    type Items = Items<'p>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at(at);
        (LooseBox(left), LooseBox(right))
    }

    fn items(self) -> Items<'p> {
        self.0.items()
    }
}

impl ParallelIterator for Exact {
    type Item = i64;
    type Part<'a> = ExactBox<'a>;

    fn part(&mut self) -> ExactBox<'_> {
        ExactBox(self.0.exact())
    }

    fn exact_len(&self) -> Option<usize> {
        Some(self.0.len())
    }

    fn plan(&self) -> Plan {
        self.0.plan()
    }
}

impl IndexedParallelIterator for Exact {
    type Exact<'a> = ExactBox<'a>;

    fn exact(&mut self) -> ExactBox<'_> {
        ExactBox(self.0.exact())
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

impl ParallelIterator for Loose {
    type Item = i64;
    type Part<'a> = LooseBox<'a>;

    fn part(&mut self) -> LooseBox<'_> {
        LooseBox(self.0.part())
    }

    fn exact_len(&self) -> Option<usize> {
        self.0.exact_len()
    }

    fn plan(&self) -> Plan {
        self.0.plan()
    }
}
