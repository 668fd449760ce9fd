//! The sorts as methods of slices.

use std::cmp::Ordering;

/// The sorts of [`par::sort`](super) as methods of slices, under the names that rayon gives them.
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::sort::ParallelSort;
///
/// let mut words = vec!["silk", "wool", "flax", "hemp"];
/// words.par_sort();
/// assert_eq!(words, ["flax", "hemp", "silk", "wool"]);
/// ```
pub trait ParallelSort<T: Send> {
    /// Sorts the slice; equal elements keep their order. See [`sort`](super::sort).
    fn par_sort(&mut self)
    where
        T: Ord;

    /// Sorts by a comparison; equal elements keep their order. See [`sort_by`](super::sort_by).
    fn par_sort_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync;

    /// Sorts by a key that is computed for each comparison; elements with equal keys keep their
    /// order. See [`sort_by_key`](super::sort_by_key).
    fn par_sort_by_key<K, F>(&mut self, key: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync;

    /// Sorts by a key that is computed once for each element; elements with equal keys keep their
    /// order. See [`sort_by_cached_key`](super::sort_by_cached_key).
    fn par_sort_by_cached_key<K, F>(&mut self, key: F)
    where
        K: Ord + Send,
        F: Fn(&T) -> K + Sync;

    /// Sorts the slice; equal elements come in any order. See
    /// [`sort_unstable`](super::sort_unstable).
    fn par_sort_unstable(&mut self)
    where
        T: Ord;

    /// Sorts by a comparison; equal elements come in any order. See
    /// [`sort_unstable_by`](super::sort_unstable_by).
    fn par_sort_unstable_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync;

    /// Sorts by a key that is computed for each comparison; elements with equal keys come in any
    /// order. See [`sort_unstable_by_key`](super::sort_unstable_by_key).
    fn par_sort_unstable_by_key<K, F>(&mut self, key: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync;
}

impl<T: Send> ParallelSort<T> for [T] {
    fn par_sort(&mut self)
    where
        T: Ord,
    {
        super::sort(self);
    }

    fn par_sort_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        super::sort_by(self, compare);
    }

    fn par_sort_by_key<K, F>(&mut self, key: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        super::sort_by_key(self, key);
    }

    fn par_sort_by_cached_key<K, F>(&mut self, key: F)
    where
        K: Ord + Send,
        F: Fn(&T) -> K + Sync,
    {
        super::sort_by_cached_key(self, key);
    }

    fn par_sort_unstable(&mut self)
    where
        T: Ord,
    {
        super::sort_unstable(self);
    }

    fn par_sort_unstable_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        super::sort_unstable_by(self, compare);
    }

    fn par_sort_unstable_by_key<K, F>(&mut self, key: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        super::sort_unstable_by_key(self, key);
    }
}
