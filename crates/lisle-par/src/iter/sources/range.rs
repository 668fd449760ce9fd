//! Parallel iterators over half-open ranges.

use crate::iter::exact::{exact_part, parts_are_exact};
use crate::iter::{ExactPart, IndexedParallelIterator, IntoParallelIterator, ParallelIterator, Part};
use std::fmt::Debug;
use std::iter::Rev;
use std::ops::{Range, RangeInclusive};

/// The integer types and `char`, whose ranges are parallel iterators.
///
/// There is one trait and one implementation for all ranges, and not one for each type. This lets
/// the compiler infer that `0..10` is a range of *some* integers, and choose `i32` by default.
pub trait Integer: Copy + Ord + Send + Sync + Debug + sealed::Sealed {
    /// `Range<Self>`, which is known to be an iterator only here.
    type Items: DoubleEndedIterator<Item = Self>;
    /// `RangeInclusive<Self>`.
    type InclusiveItems: DoubleEndedIterator<Item = Self>;

    /// Returns the distance to `end`, which is not below `self`, or `None` if it does not fit.
    fn distance(self, end: Self) -> Option<usize>;
    /// Returns the number that is `by` above, wrapping around at the end of the type.
    fn above(self, by: usize) -> Self;
    /// Returns the numbers from this one up to but excluding `end`.
    fn up_to(self, end: Self) -> Self::Items;
    /// Returns the `len` numbers from this one on.
    fn and_above(self, len: usize) -> Self::InclusiveItems;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! integers {
    ($($T:ident $Unsigned:ident)*) => {$(
        impl sealed::Sealed for $T {}

        impl Integer for $T {
            type Items = Range<$T>;
            type InclusiveItems = RangeInclusive<$T>;

            #[inline]
            fn distance(self, end: $T) -> Option<usize> {
                usize::try_from(end.wrapping_sub(self) as $Unsigned).ok()
            }

            #[inline]
            fn above(self, by: usize) -> $T {
                // For a signed type, `by` may be more than its greatest number, and wraps to the
                // correct result.
                self.wrapping_add(by as $T)
            }

            #[inline]
            fn up_to(self, end: $T) -> Range<$T> {
                self..end
            }

            #[inline]
            fn and_above(self, len: usize) -> RangeInclusive<$T> {
                match len.checked_sub(1) {
                    Some(to_last) => self..=self.above(to_last),
                    None => RangeInclusive::new(1, 0),
                }
            }
        }
    )*};
}

integers! {
    u8 u8 u16 u16 u32 u32 u64 u64 u128 u128 usize usize
    i8 u8 i16 u16 i32 u32 i64 u64 i128 u128 isize usize
}

impl sealed::Sealed for char {}

/// The characters are numbered without the surrogates, which are no characters.
impl Integer for char {
    type Items = Range<char>;
    type InclusiveItems = RangeInclusive<char>;

    #[inline]
    fn distance(self, end: char) -> Option<usize> {
        Some((number(end) - number(self)) as usize)
    }

    #[inline]
    fn above(self, by: usize) -> char {
        const CHARS: usize = number(char::MAX) as usize + 1;
        let number = (number(self) as usize).wrapping_add(by) % CHARS;
        let surrogates =
            if number < SURROGATES.start as usize { 0 } else { SURROGATES.end - SURROGATES.start };
        char::from_u32(number as u32 + surrogates).expect("it is no surrogate")
    }

    #[inline]
    fn up_to(self, end: char) -> Range<char> {
        self..end
    }

    #[inline]
    fn and_above(self, len: usize) -> RangeInclusive<char> {
        match len.checked_sub(1) {
            Some(to_last) => self..=self.above(to_last),
            None => RangeInclusive::new('b', 'a'),
        }
    }
}

/// The code points that are no characters.
const SURROGATES: Range<u32> = 0xd800..0xe000;

/// Returns the number of characters below `c`.
const fn number(c: char) -> u32 {
    let code = c as u32;
    if code < SURROGATES.start { code } else { code - (SURROGATES.end - SURROGATES.start) }
}

#[cold]
#[track_caller]
pub(super) fn too_long() -> ! {
    panic!(
        "a parallel loop over a range has no more than usize::MAX steps: run an outer loop over ranges that are shorter"
    )
}

/// The parallel iterator over `a..b`.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Iter<T> {
    range: Range<T>,
}

impl<T: Integer> IntoParallelIterator for Range<T> {
    type Iter = Iter<T>;
    type Item = T;

    /// # Panics
    ///
    /// Panics if the range has more than `usize::MAX` numbers.
    #[track_caller]
    fn into_par_iter(self) -> Iter<T> {
        if self.start < self.end && self.start.distance(self.end).is_none() {
            too_long();
        }
        Iter { range: self }
    }
}

impl<T: Integer> ParallelIterator for Iter<T> {
    type Item = T;
    parts_are_exact!();
}

impl<T: Integer> IndexedParallelIterator for Iter<T> {
    exact_part!(Range<T>, |this| this.range.clone(), Part::len(&this.range));
}

impl<T: Integer> Part for Range<T> {
    type Item = T;
    type Items = T::Items;

    /// Returns at most `usize::MAX`.
    #[inline]
    fn len(&self) -> usize {
        if self.start < self.end { self.start.distance(self.end).unwrap_or(usize::MAX) } else { 0 }
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        let middle = self.start.above(at);
        (self.start..middle, middle..self.end)
    }

    #[inline]
    fn items(self) -> T::Items {
        self.start.up_to(self.end)
    }
}

impl<T: Integer> ExactPart for Range<T> {
    type Back = Rev<T::Items>;

    fn back(self) -> Self::Back {
        self.items().rev()
    }
}
