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
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::sort::ParallelSort;
    ///
    /// let mut words = ["wool", "silk", "flax"];
    /// words.par_sort();
    /// assert_eq!(words, ["flax", "silk", "wool"]);
    /// ```
    fn par_sort(&mut self)
    where
        T: Ord;

    /// Sorts by a comparison; equal elements keep their order. See [`sort_by`](super::sort_by).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::sort::ParallelSort;
    ///
    /// let mut numbers = [0.5, f64::NAN, -1.0];
    /// numbers.par_sort_by(f64::total_cmp); // `partial_cmp` is no total order
    /// assert_eq!(numbers[..2], [-1.0, 0.5]);
    /// ```
    fn par_sort_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync;

    /// Sorts by a key that is computed for each comparison; elements with equal keys keep their
    /// order. See [`sort_by_key`](super::sort_by_key).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::sort::ParallelSort;
    ///
    /// let mut words = ["wool", "jute", "yak", "silk"];
    /// words.par_sort_by_key(|word| word.len());
    /// assert_eq!(words, ["yak", "wool", "jute", "silk"]); // words of one length keep their order
    /// ```
    fn par_sort_by_key<K, F>(&mut self, key: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync;

    /// Sorts by a key that is computed once for each element; elements with equal keys keep their
    /// order. See [`sort_by_cached_key`](super::sort_by_cached_key).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::sort::ParallelSort;
    ///
    /// let mut words = ["Wool", "jute", "SILK"];
    /// words.par_sort_by_cached_key(|word| word.to_lowercase()); // once for each word
    /// assert_eq!(words, ["jute", "SILK", "Wool"]);
    /// ```
    fn par_sort_by_cached_key<K, F>(&mut self, key: F)
    where
        K: Ord + Send,
        F: Fn(&T) -> K + Sync;

    /// Sorts the slice; equal elements come in any order. See
    /// [`sort_unstable`](super::sort_unstable).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::sort::ParallelSort;
    ///
    /// let mut numbers = [3, 1, 2, 1];
    /// numbers.par_sort_unstable();
    /// assert_eq!(numbers, [1, 1, 2, 3]);
    /// ```
    fn par_sort_unstable(&mut self)
    where
        T: Ord;

    /// Sorts by a comparison; equal elements come in any order. See
    /// [`sort_unstable_by`](super::sort_unstable_by).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::sort::ParallelSort;
    ///
    /// let mut numbers = [3, 1, 2];
    /// numbers.par_sort_unstable_by(|a, b| b.cmp(a));
    /// assert_eq!(numbers, [3, 2, 1]);
    /// ```
    fn par_sort_unstable_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync;

    /// Sorts by a key that is computed for each comparison; elements with equal keys come in any
    /// order. See [`sort_unstable_by_key`](super::sort_unstable_by_key).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::sort::ParallelSort;
    ///
    /// let mut pairs = [(1, 'x'), (0, 'y'), (1, 'z')];
    /// pairs.par_sort_unstable_by_key(|pair| pair.0);
    /// assert_eq!(pairs[0], (0, 'y'));
    /// assert_eq!(pairs.map(|pair| pair.0), [0, 1, 1]); // 'x' and 'z' come in any order
    /// ```
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
