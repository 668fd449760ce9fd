//! Pieces of slices: chunks and windows.

use crate::iter::exact::{exact_part, parts_are_exact};
use crate::iter::{ExactPart, IndexedParallelIterator, ParallelIterator, Part};
use std::{iter, slice};

/// Slices that are read piece by piece.
pub trait ParallelSlice<T: Sync> {
    /// Returns the slice itself.
    fn as_parallel_slice(&self) -> &[T];

    /// Returns an iterator over neighbouring pieces of `size` elements, the last of which may be
    /// shorter.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let sums: Vec<i32> = [1, 2, 3, 4, 5].par_chunks(2).map(|pair| pair.iter().sum()).collect();
    /// assert_eq!(sums, [3, 7, 5]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `size` is 0.
    #[track_caller]
    fn par_chunks(&self, size: usize) -> Chunks<'_, T> {
        not_zero(size);
        Chunks { slice: self.as_parallel_slice(), size }
    }

    /// Returns an iterator over pieces of exactly `size` elements; [`ChunksExact::remainder`]
    /// returns the elements that are left over.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let pairs = [1, 2, 3, 4, 5].par_chunks_exact(2).map(|pair| pair[0] * pair[1]).sum::<i32>();
    /// assert_eq!(pairs, 14);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `size` is 0.
    #[track_caller]
    fn par_chunks_exact(&self, size: usize) -> ChunksExact<'_, T> {
        not_zero(size);
        let slice = self.as_parallel_slice();
        let (slice, remainder) = slice.split_at(slice.len() - slice.len() % size);
        ChunksExact { slice, size, remainder }
    }

    /// Returns an iterator over all windows of `size` neighbouring elements; each begins one
    /// element after the one before.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let rising = [1, 3, 2, 5].par_windows(2).filter(|pair| pair[0] < pair[1]).count();
    /// assert_eq!(rising, 2);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `size` is 0.
    #[track_caller]
    fn par_windows(&self, size: usize) -> Windows<'_, T> {
        not_zero(size);
        Windows { slice: self.as_parallel_slice(), size }
    }
}

/// Slices that are changed piece by piece.
pub trait ParallelSliceMut<T: Send> {
    /// Returns the slice itself.
    fn as_parallel_slice_mut(&mut self) -> &mut [T];

    /// Returns an iterator over neighbouring pieces of `size` elements, the last of which may be
    /// shorter.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut image = [0; 6];
    /// image.par_chunks_mut(3).enumerate().for_each(|(y, row)| row.fill(y));
    /// assert_eq!(image, [0, 0, 0, 1, 1, 1]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `size` is 0.
    #[track_caller]
    fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T> {
        not_zero(size);
        ChunksMut { slice: self.as_parallel_slice_mut(), size }
    }

    /// Returns an iterator over pieces of exactly `size` elements;
    /// [`ChunksExactMut::into_remainder`] returns the elements that are left over.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut data = [1, 2, 3, 4, 5];
    /// data.par_chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
    /// assert_eq!(data, [2, 1, 4, 3, 5]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `size` is 0.
    #[track_caller]
    fn par_chunks_exact_mut(&mut self, size: usize) -> ChunksExactMut<'_, T> {
        not_zero(size);
        let slice = self.as_parallel_slice_mut();
        let (slice, remainder) = slice.split_at_mut(slice.len() - slice.len() % size);
        ChunksExactMut { slice, size, remainder }
    }
}

impl<T: Sync> ParallelSlice<T> for [T] {
    fn as_parallel_slice(&self) -> &[T] {
        self
    }
}

impl<T: Send> ParallelSliceMut<T> for [T] {
    fn as_parallel_slice_mut(&mut self) -> &mut [T] {
        self
    }
}

#[track_caller]
fn not_zero(size: usize) {
    assert!(size != 0, "a slice cannot be divided into pieces of 0 elements");
}

/// See [`ParallelSlice::par_chunks`].
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct Chunks<'data, T> {
    slice: &'data [T],
    size: usize,
}

/// See [`ParallelSlice::par_chunks_exact`].
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct ChunksExact<'data, T> {
    slice: &'data [T],
    size: usize,
    remainder: &'data [T],
}

impl<'data, T> ChunksExact<'data, T> {
    /// Returns the elements that do not make a whole piece.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let pairs = [1, 2, 3, 4, 5].as_slice().par_chunks_exact(2);
    /// assert_eq!(pairs.remainder(), [5]);
    /// assert_eq!(pairs.map(|pair| pair[0] * pair[1]).sum::<u32>(), 14);
    /// ```
    pub fn remainder(&self) -> &'data [T] {
        self.remainder
    }
}

/// See [`ParallelSlice::par_windows`].
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct Windows<'data, T> {
    slice: &'data [T],
    size: usize,
}

/// See [`ParallelSliceMut::par_chunks_mut`].
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct ChunksMut<'data, T> {
    slice: &'data mut [T],
    size: usize,
}

/// See [`ParallelSliceMut::par_chunks_exact_mut`].
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct ChunksExactMut<'data, T> {
    slice: &'data mut [T],
    size: usize,
    remainder: &'data mut [T],
}

impl<'data, T> ChunksExactMut<'data, T> {
    /// Returns the elements that do not make a whole piece.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut data = [1, 2, 3, 4, 5];
    /// let rest = data.par_chunks_exact_mut(2).into_remainder(); // instead of running the loop
    /// rest[0] = 0;
    /// assert_eq!(data, [1, 2, 3, 4, 0]);
    /// ```
    pub fn into_remainder(self) -> &'data mut [T] {
        self.remainder
    }
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

cloned! { Chunks { slice, size } ChunksExact { slice, size, remainder } Windows { slice, size } }

/// A slice of which every window is a step.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct Runs<'data, T> {
    slice: &'data [T],
    size: usize,
}

/// Implements an iterator over pieces that do not overlap: how it gives its slice away, divides it,
/// and is run.
macro_rules! pieces {
    ($Iter:ident, $Part:ident, $bound:ident, $Slice:ty, $split:ident, $items:ident, $Items:ident) => {
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
                $Part { slice: std::mem::take(&mut self.slice), size: self.size }
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
                // The last piece may be shorter.
                let elements = at.saturating_mul(size).min(self.slice.len());
                let (left, right) = self.slice.$split(elements);
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

pieces!(Chunks, ChunksPart, Sync, &'data [T], split_at, chunks, Chunks);
pieces!(ChunksExact, ChunksExactPart, Sync, &'data [T], split_at, chunks_exact, ChunksExact);
pieces!(ChunksMut, ChunksMutPart, Send, &'data mut [T], split_at_mut, chunks_mut, ChunksMut);
pieces!(
    ChunksExactMut,
    ChunksExactMutPart,
    Send,
    &'data mut [T],
    split_at_mut,
    chunks_exact_mut,
    ChunksExactMut
);

impl<'data, T: Sync> ParallelIterator for Windows<'data, T> {
    type Item = &'data [T];
    parts_are_exact!();
}

impl<'data, T: Sync> IndexedParallelIterator for Windows<'data, T> {
    exact_part!(
        Runs<'data, T>,
        |this| Runs { slice: this.slice, size: this.size },
        this.slice.len().saturating_sub(this.size - 1)
    );
}

impl<'data, T: Sync> Part for Runs<'data, T> {
    type Item = &'data [T];
    type Items = slice::Windows<'data, T>;

    #[inline]
    fn len(&self) -> usize {
        self.slice.len().saturating_sub(self.size - 1)
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        // The windows on the left reach into the elements of those on the right.
        let reached = at.saturating_add(self.size - 1).min(self.slice.len());
        let (left, right) = (&self.slice[..reached], &self.slice[at..]);
        (Runs { slice: left, size: self.size }, Runs { slice: right, size: self.size })
    }

    #[inline]
    fn items(self) -> Self::Items {
        self.slice.windows(self.size)
    }
}

impl<'data, T: Sync> ExactPart for Runs<'data, T> {
    type Back = iter::Rev<slice::Windows<'data, T>>;

    fn back(self) -> Self::Back {
        self.items().rev()
    }
}
