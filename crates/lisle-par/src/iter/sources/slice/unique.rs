//! The methods of slices that are changed.

use super::chunks::{ChunksExactMut, ChunksMut, RChunksExactMut, RChunksMut};
use super::runs::{ChunkByMut, SplitInclusiveMut, SplitMut};
use crate::sort;
use std::cmp::Ordering;

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
        ChunksMut::new(self.as_parallel_slice_mut(), size)
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
        ChunksExactMut::new(self.as_parallel_slice_mut(), size)
    }

    /// Returns an iterator over neighbouring pieces of `size` elements, from the last piece to the
    /// first, which may be shorter.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut data = [0; 5];
    /// data.par_rchunks_mut(2).enumerate().for_each(|(at, piece)| piece.fill(at));
    /// assert_eq!(data, [2, 1, 1, 0, 0]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `size` is 0.
    #[track_caller]
    fn par_rchunks_mut(&mut self, size: usize) -> RChunksMut<'_, T> {
        RChunksMut::new(self.as_parallel_slice_mut(), size)
    }

    /// Returns an iterator over pieces of exactly `size` elements, from the last piece to the first.
    /// [`RChunksExactMut::into_remainder`] returns the elements that are left over at the front.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut data = [1, 2, 3, 4, 5];
    /// data.par_rchunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
    /// assert_eq!(data, [1, 3, 2, 5, 4]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `size` is 0.
    #[track_caller]
    fn par_rchunks_exact_mut(&mut self, size: usize) -> RChunksExactMut<'_, T> {
        RChunksExactMut::new(self.as_parallel_slice_mut(), size)
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
    /// let mut data = [2, 1, 0, 4, 3];
    /// data.par_split_mut(|n| *n == 0).for_each(|piece| piece.sort());
    /// assert_eq!(data, [1, 2, 0, 3, 4]);
    /// ```
    fn par_split_mut<P>(&mut self, separator: P) -> SplitMut<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitMut { slice: self.as_parallel_slice_mut(), predicate: separator }
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
    /// let mut data = [1, 2, 0, 3, 0];
    /// data.par_split_inclusive_mut(|n| *n == 0).for_each(|piece| piece.reverse());
    /// assert_eq!(data, [0, 2, 1, 0, 3]);
    /// ```
    fn par_split_inclusive_mut<P>(&mut self, separator: P) -> SplitInclusiveMut<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitInclusiveMut { slice: self.as_parallel_slice_mut(), predicate: separator }
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
    /// let mut data = [1, 1, 2, 3, 3];
    /// data.par_chunk_by_mut(|a, b| a == b).for_each(|run| run[0] = 0);
    /// assert_eq!(data, [0, 1, 0, 0, 3]);
    /// ```
    fn par_chunk_by_mut<F>(&mut self, together: F) -> ChunkByMut<'_, T, F>
    where
        F: Fn(&T, &T) -> bool + Sync + Send,
    {
        ChunkByMut { slice: self.as_parallel_slice_mut(), predicate: together }
    }

    /// Sorts the slice; equal elements keep their order. See [`sort`](crate::sort::sort).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut words = ["wool", "silk", "flax"];
    /// words.par_sort();
    /// assert_eq!(words, ["flax", "silk", "wool"]);
    /// ```
    #[track_caller]
    fn par_sort(&mut self)
    where
        T: Ord,
    {
        sort::sort(self.as_parallel_slice_mut());
    }

    /// Sorts by a comparison; equal elements keep their order. See [`sort_by`](crate::sort::sort_by).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut numbers = [0.5, f64::NAN, -1.0];
    /// numbers.par_sort_by(f64::total_cmp); // `partial_cmp` is no total order
    /// assert_eq!(numbers[..2], [-1.0, 0.5]);
    /// ```
    #[track_caller]
    fn par_sort_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        sort::sort_by(self.as_parallel_slice_mut(), compare);
    }

    /// Sorts by a key that is computed for each comparison; elements with equal keys keep their
    /// order. See [`sort_by_key`](crate::sort::sort_by_key).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut words = ["wool", "jute", "yak", "silk"];
    /// words.par_sort_by_key(|word| word.len());
    /// assert_eq!(words, ["yak", "wool", "jute", "silk"]); // words of one length keep their order
    /// ```
    #[track_caller]
    fn par_sort_by_key<K, F>(&mut self, key: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        sort::sort_by_key(self.as_parallel_slice_mut(), key);
    }

    /// Sorts by a key that is computed once for each element; elements with equal keys keep their
    /// order. See [`sort_by_cached_key`](crate::sort::sort_by_cached_key).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut words = ["Wool", "jute", "SILK"];
    /// words.par_sort_by_cached_key(|word| word.to_lowercase()); // once for each word
    /// assert_eq!(words, ["jute", "SILK", "Wool"]);
    /// ```
    #[track_caller]
    fn par_sort_by_cached_key<K, F>(&mut self, key: F)
    where
        K: Ord + Send,
        F: Fn(&T) -> K + Sync,
    {
        sort::sort_by_cached_key(self.as_parallel_slice_mut(), key);
    }

    /// Sorts the slice; equal elements come in any order. See
    /// [`sort_unstable`](crate::sort::sort_unstable).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut numbers = [3, 1, 2, 1];
    /// numbers.par_sort_unstable();
    /// assert_eq!(numbers, [1, 1, 2, 3]);
    /// ```
    #[track_caller]
    fn par_sort_unstable(&mut self)
    where
        T: Ord,
    {
        sort::sort_unstable(self.as_parallel_slice_mut());
    }

    /// Sorts by a comparison; equal elements come in any order. See
    /// [`sort_unstable_by`](crate::sort::sort_unstable_by).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut numbers = [3, 1, 2];
    /// numbers.par_sort_unstable_by(|a, b| b.cmp(a));
    /// assert_eq!(numbers, [3, 2, 1]);
    /// ```
    #[track_caller]
    fn par_sort_unstable_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        sort::sort_unstable_by(self.as_parallel_slice_mut(), compare);
    }

    /// Sorts by a key that is computed for each comparison; elements with equal keys come in any
    /// order. See [`sort_unstable_by_key`](crate::sort::sort_unstable_by_key).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut pairs = [(1, 'x'), (0, 'y'), (1, 'z')];
    /// pairs.par_sort_unstable_by_key(|pair| pair.0);
    /// assert_eq!(pairs[0], (0, 'y'));
    /// assert_eq!(pairs.map(|pair| pair.0), [0, 1, 1]); // 'x' and 'z' come in any order
    /// ```
    #[track_caller]
    fn par_sort_unstable_by_key<K, F>(&mut self, key: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        sort::sort_unstable_by_key(self.as_parallel_slice_mut(), key);
    }
}

impl<T: Send> ParallelSliceMut<T> for [T] {
    fn as_parallel_slice_mut(&mut self) -> &mut [T] {
        self
    }
}
