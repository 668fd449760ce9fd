//! Parts that know their number of items.

use super::Part;
use crate::kept::without;

/// A [`Part`] each of whose steps gives exactly one item, and which can also be run from its end.
///
/// Results rely on this property, but memory safety does not: items that are collected in place are
/// counted, and a wrong count is a panic.
pub trait ExactPart: Part {
    /// The iterator over the items from the last to the first.
    ///
    /// No bound says that it is the reverse of [`Part::Items`]. Some standard iterators can be
    /// reversed only if they know their length, and the standard chain does not know it.
    type Back: Iterator<Item = Self::Item>;

    /// Returns an iterator over the items from the last to the first.
    fn back(self) -> Self::Back;
}

/// Returns the first `count` steps of `part`, or all if there are fewer.
pub(super) fn first<P: Part>(part: P, count: usize) -> P {
    if part.len() <= count {
        return part;
    }
    let (first, rest) = part.split_at(count);
    without(first, rest)
}

/// Returns the steps after the first `count` steps of `part`.
pub(super) fn rest<P: Part>(part: P, count: usize) -> P {
    let count = count.min(part.len());
    if count == 0 {
        return part;
    }
    let (first, rest) = part.split_at(count);
    without(rest, first)
}

/// Implements the methods of a parallel iterator all of whose parts are exact, in terms of its
/// exact part.
macro_rules! parts_are_exact {
    () => {
        type Part<'a>
            = <Self as $crate::iter::IndexedParallelIterator>::Exact<'a>
        where
            Self: 'a;

        fn part(&mut self) -> Self::Part<'_> {
            $crate::iter::IndexedParallelIterator::exact(self)
        }

        fn exact_len(&self) -> Option<usize> {
            Some($crate::iter::IndexedParallelIterator::len(self))
        }
    };
}
pub(super) use parts_are_exact;

/// Implements the methods of an indexed iterator that have no default, by the type of its parts,
/// the part of all items, and the number of items. `$this` stands for the iterator.
macro_rules! exact_part {
    ($type:ty, |$this:ident| $all:expr, $len:expr) => {
        type Exact<'a>
            = $type
        where
            Self: 'a;

        fn exact(&mut self) -> Self::Exact<'_> {
            let $this = self;
            $all
        }

        fn len(&self) -> usize {
            let $this = self;
            $len
        }
    };
}
pub(super) use exact_part;
