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

/// Makes the trait of parts of which only the type of the items is known, and a box of them that is
/// such a part itself.
macro_rules! any_part {
    ($(#[$doc:meta])* $Box:ident, $Any:ident: $Part:ident $(, $back:ident)?) => {
        trait $Any: Send {
            fn len(&self) -> usize;
            fn split_at<'p>(self: Box<Self>, at: usize) -> [Box<dyn $Any + 'p>; 2]
            where
                Self: 'p;
            fn items<'p>(self: Box<Self>) -> Items<'p>
            where
                Self: 'p;
            $(fn $back<'p>(self: Box<Self>) -> Items<'p>
            where
                Self: 'p;)?
        }

        impl<P: $Part<Item = i64>> $Any for P {
            fn len(&self) -> usize {
                Part::len(self)
            }

            fn split_at<'p>(self: Box<Self>, at: usize) -> [Box<dyn $Any + 'p>; 2]
            where
                Self: 'p,
            {
                let (left, right) = Part::split_at(*self, at);
                [Box::new(left), Box::new(right)]
            }

            fn items<'p>(self: Box<Self>) -> Items<'p>
            where
                Self: 'p,
            {
                Box::new(Part::items(*self))
            }

            $(fn $back<'p>(self: Box<Self>) -> Items<'p>
            where
                Self: 'p,
            {
                Box::new($Part::$back(*self))
            })?
        }

        $(#[$doc])*
        pub(super) struct $Box<'p>(Box<dyn $Any + 'p>);

        impl<'p> Part for $Box<'p> {
            type Item = i64;
            type Items = Items<'p>;

            fn len(&self) -> usize {
                self.0.len()
            }

            fn split_at(self, at: usize) -> (Self, Self) {
                let [left, right] = self.0.split_at(at);
                ($Box(left), $Box(right))
            }

            fn items(self) -> Items<'p> {
                self.0.items()
            }
        }
    };
}

any_part! {
    /// A part of a [`Loose`].
    LooseBox, AnyPart: Part
}
any_part! {
    /// A part of an [`Exact`].
    ExactBox, AnyExactPart: ExactPart, back
}

impl<'p> ExactPart for ExactBox<'p> {
    type Back = Items<'p>;

    fn back(self) -> Items<'p> {
        self.0.back()
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
