//! Parts that know how many items they have.

use super::Part;

/// A [`Part`] of which every step gives exactly one item, and which can also be run from its end.
///
/// That it keeps this promise is relied on for results, not for memory safety: what is collected in place is counted, and
/// a wrong count is a panic.
pub trait ExactPart: Part {
    /// The items from the last to the first.
    ///
    /// Not the reverse of [`Part::Items`] by a bound, since some of the standard iterators need to know their length for
    /// that, and a chain does not.
    type Back: Iterator<Item = Self::Item>;

    /// The items from the last to the first.
    fn back(self) -> Self::Back;
}

/// The first `count` steps of `part`, or all.
pub(super) fn first<P: Part>(part: P, count: usize) -> P {
    if part.len() <= count {
        return part;
    }
    let (first, rest) = part.split_at(count);
    // Not by leaving the scope: if it panics, what is returned already would not be dropped.
    drop(rest);
    first
}

/// What comes after the first `count` steps of `part`.
pub(super) fn rest<P: Part>(part: P, count: usize) -> P {
    let count = count.min(part.len());
    if count == 0 {
        return part;
    }
    let (first, rest) = part.split_at(count);
    drop(first);
    rest
}

/// What an iterator says of its parts if all of them are exact: that it has only the one kind.
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
