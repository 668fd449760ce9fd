//! Pieces of slices that do not overlap, from the front and from the back.

use crate::iter::exact::parts_are_exact;
use crate::iter::{ExactPart, IndexedParallelIterator, ParallelIterator, Part};
use std::{iter, mem, slice};

/// Panics if `size` is 0.
#[track_caller]
pub(super) fn not_zero(size: usize) {
    assert!(size != 0, "a slice cannot be divided into pieces of 0 elements");
}

/// Divides a slice of `len` elements into pieces of `size` from the front; the first `pieces` of
/// them are before the place that is returned.
fn from_front(len: usize, size: usize, pieces: usize) -> usize {
    // The last piece may be shorter.
    pieces.saturating_mul(size).min(len)
}

/// Divides a slice of `len` elements into pieces of `size` from the back; the last `pieces` of them
/// are behind the place that is returned.
fn from_back(len: usize, size: usize, pieces: usize) -> usize {
    len.saturating_sub(pieces.saturating_mul(size))
}

/// Puts the half that comes first in the order of the pieces first.
macro_rules! halves {
    (from_front, $halves:expr) => {
        $halves
    };
    (from_back, $halves:expr) => {{
        let (front, back) = $halves;
        (back, front)
    }};
}

/// Defines an iterator over pieces: how it gives its slice away, is divided, and is run.
macro_rules! pieces {
    (
        $Iter:ident of $Slice:ty where T: $bound:ident, $Trait:ident::$method:ident,
        $Part:ident, $order:ident, $split:ident, $items:ident, $Items:ident
        $(, $remainder:ident)?
    ) => {
        #[doc = concat!(
            "See [`", stringify!($method), "`](super::", stringify!($Trait), "::", stringify!($method), ")."
        )]
        #[must_use = "iterators are lazy and do nothing unless consumed"]
        #[derive(Debug)]
        pub struct $Iter<'data, T> {
            slice: $Slice,
            size: usize,
            $($remainder: $Slice,)?
        }

        /// A part of the iterator of the same name.
        #[derive(Debug)]
        pub struct $Part<'data, T> {
            slice: $Slice,
            size: usize,
        }

        impl<'data, T: $bound> ParallelIterator for $Iter<'data, T> {
            type Item = $Slice;
            parts_are_exact!();
        }

        impl<'data, T: $bound> IndexedParallelIterator for $Iter<'data, T> {
            type Exact<'a>
                = $Part<'data, T>
            where
                Self: 'a;

            fn exact(&mut self) -> $Part<'data, T> {
                $Part { slice: mem::take(&mut self.slice), size: self.size }
            }

            fn len(&self) -> usize {
                self.slice.len().div_ceil(self.size)
            }
        }

        impl<'data, T: $bound> Part for $Part<'data, T> {
            type Item = $Slice;
            type Items = slice::$Items<'data, T>;

            #[inline]
            fn len(&self) -> usize {
                self.slice.len().div_ceil(self.size)
            }

            #[inline]
            fn split_at(self, at: usize) -> (Self, Self) {
                let size = self.size;
                let place = $order(self.slice.len(), size, at);
                let (left, right) = halves!($order, self.slice.$split(place));
                ($Part { slice: left, size }, $Part { slice: right, size })
            }

            #[inline]
            fn items(self) -> Self::Items {
                self.slice.$items(self.size)
            }
        }

        impl<'data, T: $bound> ExactPart for $Part<'data, T> {
            type Back = iter::Rev<slice::$Items<'data, T>>;

            fn back(self) -> Self::Back {
                self.items().rev()
            }
        }
    };
}

pieces! {
    Chunks of &'data [T] where T: Sync, ParallelSlice::par_chunks,
    ChunksPart, from_front, split_at, chunks, Chunks
}
pieces! {
    ChunksExact of &'data [T] where T: Sync, ParallelSlice::par_chunks_exact,
    ChunksExactPart, from_front, split_at, chunks_exact, ChunksExact, remainder
}
pieces! {
    ChunksMut of &'data mut [T] where T: Send, ParallelSliceMut::par_chunks_mut,
    ChunksMutPart, from_front, split_at_mut, chunks_mut, ChunksMut
}
pieces! {
    ChunksExactMut of &'data mut [T] where T: Send, ParallelSliceMut::par_chunks_exact_mut,
    ChunksExactMutPart, from_front, split_at_mut, chunks_exact_mut, ChunksExactMut, remainder
}
pieces! {
    RChunks of &'data [T] where T: Sync, ParallelSlice::par_rchunks,
    RChunksPart, from_back, split_at, rchunks, RChunks
}
pieces! {
    RChunksExact of &'data [T] where T: Sync, ParallelSlice::par_rchunks_exact,
    RChunksExactPart, from_back, split_at, rchunks_exact, RChunksExact, remainder
}
pieces! {
    RChunksMut of &'data mut [T] where T: Send, ParallelSliceMut::par_rchunks_mut,
    RChunksMutPart, from_back, split_at_mut, rchunks_mut, RChunksMut
}
pieces! {
    RChunksExactMut of &'data mut [T] where T: Send, ParallelSliceMut::par_rchunks_exact_mut,
    RChunksExactMutPart, from_back, split_at_mut, rchunks_exact_mut, RChunksExactMut, remainder
}

/// Creates iterators over a whole slice.
macro_rules! of_all {
    ($($Iter:ident of $Slice:ty)*) => {$(
        impl<'data, T> $Iter<'data, T> {
            #[track_caller]
            pub(super) fn new(slice: $Slice, size: usize) -> Self {
                not_zero(size);
                $Iter { slice, size }
            }
        }
    )*};
}

/// Creates iterators over pieces of one size, without the elements that are left over.
macro_rules! of_whole_pieces {
    ($($Iter:ident of $Slice:ty, $order:ident, $split:ident)*) => {$(
        impl<'data, T> $Iter<'data, T> {
            #[track_caller]
            pub(super) fn new(slice: $Slice, size: usize) -> Self {
                not_zero(size);
                let place = $order(slice.len(), size, slice.len() / size);
                let (slice, remainder) = halves!($order, slice.$split(place));
                $Iter { slice, size, remainder }
            }
        }
    )*};
}

of_all! { Chunks of &'data [T] ChunksMut of &'data mut [T] RChunks of &'data [T] RChunksMut of &'data mut [T] }

of_whole_pieces! {
    ChunksExact of &'data [T], from_front, split_at
    ChunksExactMut of &'data mut [T], from_front, split_at_mut
    RChunksExact of &'data [T], from_back, split_at
    RChunksExactMut of &'data mut [T], from_back, split_at_mut
}

// A derived implementation would require `T: Clone`.
macro_rules! cloned {
    ($($Iter:ident { $($field:ident),* })*) => {$(
        impl<T> Clone for $Iter<'_, T> {
            fn clone(&self) -> Self {
                $Iter { $($field: self.$field),* }
            }
        }
    )*};
}

cloned! {
    Chunks { slice, size }
    ChunksExact { slice, size, remainder }
    RChunks { slice, size }
    RChunksExact { slice, size, remainder }
}

/// Gives access to the elements that are left over.
macro_rules! remainders {
    ($($Iter:ident, $method:literal, $rest:literal;)*) => {$(
        impl<'data, T> $Iter<'data, T> {
            /// Returns the elements that do not make a whole piece.
            ///
            /// # Examples
            ///
            /// ```
            /// # use lisle_par::facade as lisle;
            /// use lisle::par::prelude::*;
            ///
            #[doc = concat!("let pairs = [1, 2, 3, 4, 5].as_slice().", $method, "(2);")]
            #[doc = concat!("assert_eq!(pairs.remainder(), [", $rest, "]);")]
            /// assert_eq!(pairs.count(), 2);
            /// ```
            pub fn remainder(&self) -> &'data [T] {
                self.remainder
            }
        }
    )*};
}

remainders! {
    ChunksExact, "par_chunks_exact", "5";
    RChunksExact, "par_rchunks_exact", "1";
}

/// Gives access to the elements that are left over.
macro_rules! remainders_mut {
    ($($Iter:ident, $method:literal, $at:literal;)*) => {$(
        impl<'data, T> $Iter<'data, T> {
            /// Returns the elements that do not make a whole piece.
            ///
            /// # Examples
            ///
            /// ```
            /// # use lisle_par::facade as lisle;
            /// use lisle::par::prelude::*;
            ///
            /// let mut data = [1, 2, 3, 4, 5];
            #[doc = concat!("let pairs = data.", $method, "(2);")]
            /// let rest = pairs.into_remainder(); // instead of running the loop
            /// rest[0] = 0;
            #[doc = concat!("assert_eq!(data[", $at, "], 0);")]
            /// ```
            pub fn into_remainder(self) -> &'data mut [T] {
                self.remainder
            }

            /// Returns the elements that do not make a whole piece.
            ///
            /// # Examples
            ///
            /// ```
            /// # use lisle_par::facade as lisle;
            /// use lisle::par::prelude::*;
            ///
            /// let mut data = [1, 2, 3, 4, 5];
            #[doc = concat!("let mut pairs = data.", $method, "(2);")]
            /// pairs.remainder()[0] = 0;
            /// pairs.for_each(|pair| pair.swap(0, 1));
            #[doc = concat!("assert_eq!(data[", $at, "], 0);")]
            /// ```
            pub fn remainder(&mut self) -> &mut [T] {
                self.remainder
            }

            /// Returns the elements that do not make a whole piece, and leaves none.
            ///
            /// # Examples
            ///
            /// ```
            /// # use lisle_par::facade as lisle;
            /// use lisle::par::prelude::*;
            ///
            /// let mut data = [1, 2, 3, 4, 5];
            #[doc = concat!("let mut pairs = data.", $method, "(2);")]
            /// let rest = pairs.take_remainder();
            /// pairs.for_each(|pair| pair.swap(0, 1));
            /// rest[0] = 0;
            #[doc = concat!("assert_eq!(data[", $at, "], 0);")]
            /// ```
            pub fn take_remainder(&mut self) -> &'data mut [T] {
                mem::take(&mut self.remainder)
            }
        }
    )*};
}

remainders_mut! {
    ChunksExactMut, "par_chunks_exact_mut", "4";
    RChunksExactMut, "par_rchunks_exact_mut", "0";
}
