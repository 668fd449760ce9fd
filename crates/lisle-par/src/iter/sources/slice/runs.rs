//! Pieces of slices whose ends a function determines: between separators, and of elements that
//! belong together.

use crate::iter::ParallelIterator;
use crate::iter::shown::shown;
use crate::iter::sources::cuts::{Cut, CutPart, CutPoint};
use std::ops::Range;
use std::{fmt, mem, slice};

/// Returns the first point in these steps where `slice` can be divided, with a separator between the
/// halves.
fn around<T>(slice: &[T], steps: Range<usize>, is_separator: impl Fn(&T) -> bool) -> Option<CutPoint> {
    let at =
        steps.start + slice.get(steps.start..steps.end.min(slice.len()))?.iter().position(is_separator)?;
    Some(CutPoint { at, end: at, begin: at + 1 })
}

/// Does the same if a separator is the end of the first half.
fn after<T>(slice: &[T], steps: Range<usize>, is_separator: impl Fn(&T) -> bool) -> Option<CutPoint> {
    around(slice, steps, is_separator).map(|CutPoint { at, begin, .. }| CutPoint { at, end: begin, begin })
}

/// Does the same for pieces whose neighbouring elements belong together.
fn apart<T>(slice: &[T], steps: Range<usize>, together: impl Fn(&T, &T) -> bool) -> Option<CutPoint> {
    let mut points = steps.start.max(1)..steps.end.min(slice.len());
    points.find(|&at| !together(&slice[at - 1], &slice[at])).map(CutPoint::between)
}

/// Defines an iterator over pieces of a slice. `$point` returns where the slice can be divided.
macro_rules! runs {
    (
        $Iter:ident of $Slice:ty where T: $bound:ident, P: $Predicate:path, $Trait:ident::$method:ident,
        $Part:ident, $point:ident, $split:ident, $items:ident, $Items:ident, $beyond:literal
    ) => {
        #[doc = concat!(
            "See [`", stringify!($method), "`](super::", stringify!($Trait), "::", stringify!($method), ")."
        )]
        #[must_use = "iterators are lazy and do nothing unless consumed"]
        pub struct $Iter<'data, T, P> {
            pub(super) slice: $Slice,
            pub(super) predicate: P,
        }

        shown!([T: fmt::Debug, P] $Iter<'_, T, P>, stringify!($Iter), slice);

        impl<'data, T: $bound, P: $Predicate + Sync + Send> ParallelIterator for $Iter<'data, T, P> {
            type Item = $Slice;
            type Part<'a>
                = CutPart<$Part<'data, 'a, T, P>>
            where
                Self: 'a;

            fn part(&mut self) -> Self::Part<'_> {
                CutPart::new($Part { slice: mem::take(&mut self.slice), predicate: &self.predicate })
            }
        }

        /// The content of a part of the iterator of the same name.
        #[derive(Debug)]
        pub struct $Part<'data, 'p, T, P> {
            slice: $Slice,
            predicate: &'p P,
        }

        impl<'data, 'p, T: $bound, P: $Predicate + Sync> Cut for $Part<'data, 'p, T, P> {
            type Item = $Slice;
            type Items = slice::$Items<'data, T, &'p P>;

            fn steps(&self) -> usize {
                // If there is a piece although the slice is empty, there is a step for it.
                self.slice.len() + $beyond
            }

            fn point(&self, steps: Range<usize>) -> Option<CutPoint> {
                $point(self.slice, steps, self.predicate)
            }

            fn cut(self, point: CutPoint) -> (Self, Self) {
                let $Part { slice, predicate } = self;
                let (left, right) = slice.$split(point.end);
                let (_, right) = right.$split(point.begin - point.end);
                ($Part { slice: left, predicate }, $Part { slice: right, predicate })
            }

            fn items(self) -> Self::Items {
                self.slice.$items(self.predicate)
            }
        }
    };
}

runs! {
    Split of &'data [T] where T: Sync, P: Fn(&T) -> bool, ParallelSlice::par_split,
    SplitPart, around, split_at, split, Split, 1
}
runs! {
    SplitMut of &'data mut [T] where T: Send, P: Fn(&T) -> bool, ParallelSliceMut::par_split_mut,
    SplitMutPart, around, split_at_mut, split_mut, SplitMut, 1
}
runs! {
    SplitInclusive of &'data [T] where T: Sync, P: Fn(&T) -> bool, ParallelSlice::par_split_inclusive,
    SplitInclusivePart, after, split_at, split_inclusive, SplitInclusive, 0
}
runs! {
    SplitInclusiveMut of &'data mut [T] where T: Send, P: Fn(&T) -> bool, ParallelSliceMut::par_split_inclusive_mut,
    SplitInclusiveMutPart, after, split_at_mut, split_inclusive_mut, SplitInclusiveMut, 0
}
runs! {
    ChunkBy of &'data [T] where T: Sync, P: Fn(&T, &T) -> bool, ParallelSlice::par_chunk_by,
    ChunkByPart, apart, split_at, chunk_by, ChunkBy, 0
}
runs! {
    ChunkByMut of &'data mut [T] where T: Send, P: Fn(&T, &T) -> bool, ParallelSliceMut::par_chunk_by_mut,
    ChunkByMutPart, apart, split_at_mut, chunk_by_mut, ChunkByMut, 0
}

// A derived implementation would require `T: Clone`.
macro_rules! cloned {
    ($($Iter:ident)*) => {$(
        impl<T, P: Clone> Clone for $Iter<'_, T, P> {
            fn clone(&self) -> Self {
                $Iter { slice: self.slice, predicate: self.predicate.clone() }
            }
        }
    )*};
}

cloned! { Split SplitInclusive ChunkBy }
