//! The methods of slices that are read.

use super::chunks::{Chunks, ChunksExact, RChunks, RChunksExact};
use super::runs::{ChunkBy, Split, SplitInclusive};
use super::windows::{ArrayWindows, Windows};

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
        Chunks::new(self.as_parallel_slice(), size)
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
        ChunksExact::new(self.as_parallel_slice(), size)
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
        Windows::new(self.as_parallel_slice(), size)
    }

    /// Returns an iterator over all windows of `N` neighbouring elements, as arrays.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let steps: Vec<i32> = [1, 4, 9].par_array_windows().map(|[a, b]| b - a).collect();
    /// assert_eq!(steps, [3, 5]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `N` is 0.
    #[track_caller]
    fn par_array_windows<const N: usize>(&self) -> ArrayWindows<'_, T, N> {
        ArrayWindows::new(self.as_parallel_slice())
    }

    /// Returns an iterator over neighbouring pieces of `size` elements, from the last piece to the
    /// first, which may be shorter.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let data = [1, 2, 3, 4, 5];
    /// let back: Vec<&[i32]> = data.par_rchunks(2).collect();
    /// assert_eq!(back, [&[4, 5][..], &[2, 3], &[1]]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `size` is 0.
    #[track_caller]
    fn par_rchunks(&self, size: usize) -> RChunks<'_, T> {
        RChunks::new(self.as_parallel_slice(), size)
    }

    /// Returns an iterator over pieces of exactly `size` elements, from the last piece to the first.
    /// [`RChunksExact::remainder`] returns the elements that are left over at the front.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let pairs = [1, 2, 3, 4, 5].par_rchunks_exact(2).map(|pair| pair[0] * pair[1]);
    /// assert_eq!(pairs.collect::<Vec<i32>>(), [20, 6]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `size` is 0.
    #[track_caller]
    fn par_rchunks_exact(&self, size: usize) -> RChunksExact<'_, T> {
        RChunksExact::new(self.as_parallel_slice(), size)
    }

    /// Returns an iterator over the pieces between the elements for which `separator` returns
    /// `true`.
    ///
    /// The number of pieces is not known beforehand. A step is an element.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let sums: Vec<i32> = [1, 2, 0, 3, 0].par_split(|n| *n == 0).map(|piece| piece.iter().sum()).collect();
    /// assert_eq!(sums, [3, 3, 0]);
    /// ```
    fn par_split<P>(&self, separator: P) -> Split<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        Split { slice: self.as_parallel_slice(), predicate: separator }
    }

    /// Returns an iterator over the pieces that end with an element for which `separator` returns
    /// `true`.
    ///
    /// The number of pieces is not known beforehand. A step is an element.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let lens: Vec<usize> = [1, 2, 0, 3, 0].par_split_inclusive(|n| *n == 0).map(|piece| piece.len()).collect();
    /// assert_eq!(lens, [3, 2]);
    /// ```
    fn par_split_inclusive<P>(&self, separator: P) -> SplitInclusive<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitInclusive { slice: self.as_parallel_slice(), predicate: separator }
    }

    /// Returns an iterator over the longest pieces in which `together` returns `true` for any two
    /// neighbouring elements.
    ///
    /// The number of pieces is not known beforehand. A step is an element.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let runs = [1, 1, 2, 3, 3].par_chunk_by(|a, b| a == b).map(|run| (run[0], run.len()));
    /// assert_eq!(runs.collect::<Vec<_>>(), [(1, 2), (2, 1), (3, 2)]);
    /// ```
    fn par_chunk_by<F>(&self, together: F) -> ChunkBy<'_, T, F>
    where
        F: Fn(&T, &T) -> bool + Sync + Send,
    {
        ChunkBy { slice: self.as_parallel_slice(), predicate: together }
    }
}

impl<T: Sync> ParallelSlice<T> for [T] {
    fn as_parallel_slice(&self) -> &[T] {
        self
    }
}
