//! Parallel iterators over half-open ranges.

use crate::iter::exact::exact_part;
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

    /// Returns the distance to `end`, which is not below `self`.
    fn distance(self, end: Self) -> u128;
    /// Returns the number that is `by` above, wrapping around at the end of the type.
    fn above(self, by: u128) -> Self;
    /// Returns the numbers from this one up to but excluding `end`.
    fn up_to(self, end: Self) -> Self::Items;
    /// Returns the numbers from this one up to `last`.
    fn and_up_to(self, last: Self) -> Self::InclusiveItems;
    /// Returns no numbers.
    fn none() -> Self::InclusiveItems;
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
            fn distance(self, end: $T) -> u128 {
                (end.wrapping_sub(self) as $Unsigned) as u128
            }

            #[inline]
            fn above(self, by: u128) -> $T {
                // For a signed type, `by` may be more than its greatest number, and wraps to the
                // correct result.
                self.wrapping_add(by as $T)
            }

            #[inline]
            fn up_to(self, end: $T) -> Range<$T> {
                self..end
            }

            #[inline]
            fn and_up_to(self, last: $T) -> RangeInclusive<$T> {
                self..=last
            }

            #[inline]
            fn none() -> RangeInclusive<$T> {
                RangeInclusive::new(1, 0)
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
    fn distance(self, end: char) -> u128 {
        u128::from(number(end) - number(self))
    }

    #[inline]
    fn above(self, by: u128) -> char {
        const CHARS: u128 = number(char::MAX) as u128 + 1;
        let number = (u128::from(number(self)) + by % CHARS) % CHARS;
        let surrogates = if number < SURROGATES.start.into() { 0 } else { SURROGATES.end - SURROGATES.start };
        char::from_u32(number as u32 + surrogates).expect("it is no surrogate")
    }

    #[inline]
    fn up_to(self, end: char) -> Range<char> {
        self..end
    }

    #[inline]
    fn and_up_to(self, last: char) -> RangeInclusive<char> {
        self..=last
    }

    #[inline]
    fn none() -> RangeInclusive<char> {
        RangeInclusive::new('b', 'a')
    }
}

/// The code points that are no characters.
const SURROGATES: Range<u32> = 0xd800..0xe000;

/// Returns the number of characters below `c`.
const fn number(c: char) -> u32 {
    let code = c as u32;
    if code < SURROGATES.start { code } else { code - (SURROGATES.end - SURROGATES.start) }
}

/// Returns where a range of `steps` steps and more numbers is divided: the number of numbers before the step `at`.
///
/// The first steps have one number each, so that a block of them ends soon. A division far from the start, which is
/// for another domain, divides the numbers in proportion. Each step has at least one number.
pub(super) fn numbers_before(at: usize, steps: usize, numbers: u128) -> u128 {
    /// More steps than any block has.
    const BLOCK: usize = 1 << 32;
    let (wide, steps) = (at as u128, steps as u128);
    if at <= BLOCK { wide } else { numbers / steps * wide + numbers % steps * wide / steps }
}

#[cold]
pub(super) fn too_long() -> ! {
    panic!(
        "a range of more than usize::MAX numbers has no indices: do without `len`, `enumerate`, `zip`, `take` and the \
         like, or run an outer loop over ranges that are shorter"
    )
}

/// The parallel iterator over `a..b`.
///
/// If there are more than `usize::MAX` numbers, a loop over them ends only if a search, an error or an event ends it
/// early, and the methods of [`IndexedParallelIterator`] panic.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Iter<T> {
    range: Range<T>,
}

impl<T: Integer> Iter<T> {
    /// Returns the number of numbers.
    fn numbers(&self) -> u128 {
        if self.range.start < self.range.end { self.range.start.distance(self.range.end) } else { 0 }
    }
}

impl<T: Integer> IntoParallelIterator for Range<T> {
    type Iter = Iter<T>;
    type Item = T;

    fn into_par_iter(self) -> Iter<T> {
        Iter { range: self }
    }
}

impl<T: Integer> ParallelIterator for Iter<T> {
    type Item = T;
    type Part<'a>
        = Numbers<T>
    where
        Self: 'a;

    fn part(&mut self) -> Numbers<T> {
        let (range, numbers) = (self.range.clone(), self.numbers());
        let steps = usize::try_from(numbers);
        Numbers { range, steps: steps.unwrap_or(usize::MAX), is_long: steps.is_err() }
    }

    fn exact_len(&self) -> Option<usize> {
        self.numbers().try_into().ok()
    }
}

impl<T: Integer> IndexedParallelIterator for Iter<T> {
    exact_part!(
        Numbers<T>,
        |this| Numbers {
            range: this.range.clone(),
            steps: IndexedParallelIterator::len(this),
            is_long: false
        },
        this.exact_len().unwrap_or_else(|| too_long())
    );
}

/// Some numbers of a range.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Numbers<T> {
    range: Range<T>,
    steps: usize,
    /// Whether there are more numbers than steps.
    is_long: bool,
}

impl<T: Integer> Part for Numbers<T> {
    type Item = T;
    type Items = T::Items;

    #[inline]
    fn len(&self) -> usize {
        self.steps
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        let Numbers { range, steps, is_long } = self;
        let below = match is_long {
            true => numbers_before(at, steps, range.start.distance(range.end)),
            false => at as u128,
        };
        let middle = if at == steps { range.end } else { range.start.above(below) };
        (
            Numbers { range: range.start..middle, steps: at, is_long },
            Numbers { range: middle..range.end, steps: steps - at, is_long },
        )
    }

    #[inline]
    fn items(self) -> T::Items {
        self.range.start.up_to(self.range.end)
    }
}

impl<T: Integer> ExactPart for Numbers<T> {
    type Back = Rev<T::Items>;

    fn back(self) -> Self::Back {
        self.items().rev()
    }
}
