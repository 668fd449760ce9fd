//! Sorts over all cores.
//!
//! The functions here sort slices like the functions of the same name in the standard library.
//! [`ParallelSliceMut`](crate::slice::ParallelSliceMut) provides them as methods of slices, under the
//! names that rayon gives them.
//!
//! ```
//! # use lisle_par::facade as lisle;
//! use lisle::par::{prelude::*, sort};
//!
//! let mut numbers: Vec<u64> = (0..100_000).map(|i| i * 7_919 % 100_003).collect();
//! numbers.par_sort_unstable();
//! assert!(numbers.is_sorted());
//!
//! sort::sort_by(&mut numbers, |a, b| b.cmp(a));
//! assert!(numbers.is_sorted_by(|a, b| a >= b));
//! ```
//!
//! | | equal elements | algorithm | memory |
//! |---|---|---|---|
//! | [`sort`], [`sort_by`], [`sort_by_key`] | keep their order | merge sort, and quicksort in the runs | room for all elements once, and up to as much for the parts that are being sorted |
//! | [`sort_by_cached_key`] | keep their order | quicksort of the keys | room for all elements once, their keys and as many numbers |
//! | [`sort_unstable`], [`sort_unstable_by`], [`sort_unstable_by_key`] | in any order | quicksort | in place except for a few per cent |
//!
//! Each takes O(*n* log *n*) comparisons in the worst case, and O(*n*) if the slice is already in order or
//! strictly in reverse order. The sorts of the standard library sort the leaves, which take less than a
//! hundred microseconds, or longer if comparisons are slow.
//!
//! # Turns
//!
//! About every 50 µs a sort lets other fibers of its domain have their turn, even if there is only one
//! domain. It does so between two leaves or pieces of a merge, and, if comparisons take longer than a quarter
//! of a microsecond, between any two of them. Hence a sort may suspend the fiber, like every loop. A single
//! comparison is not interrupted.
//!
//! # Panics
//!
//! If a comparison panics, the sort panics, and all elements are in the slice, each once, in some
//! order. If the order is not total, the elements end up in some order, or the sort panics.
//!
//! # Elements
//!
//! Elements are [`Send`] and need not be [`Sync`]: no two threads access an element at the same
//! time. The price is that threads cannot share a pivot of the quicksort. Threads that divide a
//! slice together take one pivot each, and the elements between these pivots are sorted again.

mod apart;
mod cached;
mod division;
mod measured;
mod merge;
mod order;
mod partition;
mod passes;
mod quick;
mod runs;
mod sizes;
#[cfg(test)]
mod tests;

use crate::origin;
use order::{By, ByKey, Natural};
use sizes::Sizes;
use std::cmp::Ordering;

/// Sorts a slice; equal elements keep their order.
///
/// Takes O(*n* log *n*) comparisons, and a buffer for all elements.
///
/// # Panics
///
/// Panics if a comparison panics, or if the sort detects that the order is not total. All elements
/// are in the slice then.
///
/// ```
/// # use lisle_par::facade as lisle;
/// let mut words = ["serge", "twill", "lisle", "tulle"];
/// lisle::par::sort::sort(&mut words);
/// assert_eq!(words, ["lisle", "serge", "tulle", "twill"]);
/// ```
#[track_caller]
pub fn sort<T: Ord + Send>(slice: &mut [T]) {
    origin::here(|| passes::sort(slice, &Natural, Sizes::here(slice.len())));
}

/// Sorts a slice by a comparison; equal elements keep their order.
///
/// Takes O(*n* log *n*) comparisons, and a buffer for all elements.
///
/// # Panics
///
/// Panics if `compare` panics, or if the sort detects that it is not a total order. All elements
/// are in the slice then.
///
/// ```
/// # use lisle_par::facade as lisle;
/// let mut lengths = [2.5, 0.5, 1.5];
/// lisle::par::sort::sort_by(&mut lengths, |a, b| f64::total_cmp(b, a));
/// assert_eq!(lengths, [2.5, 1.5, 0.5]);
/// ```
#[track_caller]
pub fn sort_by<T, F>(slice: &mut [T], compare: F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    origin::here(|| passes::sort(slice, &By(compare), Sizes::here(slice.len())));
}

/// Sorts a slice by a key that is computed for each comparison; elements with equal keys keep their
/// order.
///
/// Takes O(*n* log *n*) comparisons, and a buffer for all elements. If the key is expensive,
/// [`sort_by_cached_key`] is the better choice.
///
/// # Panics
///
/// Panics if `key` or a comparison panics, or if the sort detects that the order of the keys is not
/// total. All elements are in the slice then.
///
/// ```
/// # use lisle_par::facade as lisle;
/// let mut numbers = [-3, 2, 3, -1];
/// lisle::par::sort::sort_by_key(&mut numbers, |n: &i32| n.abs());
/// assert_eq!(numbers, [-1, 2, -3, 3]);
/// ```
#[track_caller]
pub fn sort_by_key<T, K, F>(slice: &mut [T], key: F)
where
    T: Send,
    K: Ord,
    F: Fn(&T) -> K + Sync,
{
    origin::here(|| passes::sort(slice, &ByKey(key), Sizes::here(slice.len())));
}

/// Sorts a slice by a key that is computed once for each element; elements with equal keys keep
/// their order. All keys are computed before the first comparison.
///
/// Takes O(*n*) calls of `key` and O(*n* log *n*) comparisons of keys. The buffers hold all
/// elements, all keys, and a number for each.
///
/// # Panics
///
/// Panics if `key` or a comparison panics, or if the sort detects that the order of the keys is not
/// total. All elements are in the slice then, and all keys are dropped.
///
/// ```
/// # use lisle_par::facade as lisle;
/// let mut numbers = [10, 9, -2, 1];
/// lisle::par::sort::sort_by_cached_key(&mut numbers, |n: &i32| n.to_string());
/// assert_eq!(numbers, [-2, 1, 10, 9]);
/// ```
#[track_caller]
pub fn sort_by_cached_key<T, K, F>(slice: &mut [T], key: F)
where
    T: Send,
    K: Ord + Send,
    F: Fn(&T) -> K + Sync,
{
    origin::here(|| cached::sort(slice, &key, Sizes::here(slice.len())));
}

/// Sorts a slice; equal elements come in any order.
///
/// Takes O(*n* log *n*) comparisons, in place except for a few per cent of the elements.
///
/// # Panics
///
/// Panics if a comparison panics, or if the sort detects that the order is not total. All elements
/// are in the slice then.
///
/// ```
/// # use lisle_par::facade as lisle;
/// let mut numbers = [4, -5, 1, -3, 2];
/// lisle::par::sort::sort_unstable(&mut numbers);
/// assert_eq!(numbers, [-5, -3, 1, 2, 4]);
/// ```
#[track_caller]
pub fn sort_unstable<T: Ord + Send>(slice: &mut [T]) {
    origin::here(|| quick::sort(slice, &Natural, Sizes::here(slice.len())));
}

/// Sorts a slice by a comparison; equal elements come in any order.
///
/// Takes O(*n* log *n*) comparisons, in place except for a few per cent of the elements.
///
/// # Panics
///
/// Panics if `compare` panics, or if the sort detects that it is not a total order. All elements
/// are in the slice then.
///
/// ```
/// # use lisle_par::facade as lisle;
/// let mut numbers = [4, -5, 1, -3, 2];
/// lisle::par::sort::sort_unstable_by(&mut numbers, |a, b| b.cmp(a));
/// assert_eq!(numbers, [4, 2, 1, -3, -5]);
/// ```
#[track_caller]
pub fn sort_unstable_by<T, F>(slice: &mut [T], compare: F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    origin::here(|| quick::sort(slice, &By(compare), Sizes::here(slice.len())));
}

/// Sorts a slice by a key that is computed for each comparison; elements with equal keys come in
/// any order.
///
/// Takes O(*n* log *n*) comparisons, in place except for a few per cent of the elements.
///
/// # Panics
///
/// Panics if `key` or a comparison panics, or if the sort detects that the order of the keys is not
/// total. All elements are in the slice then.
///
/// ```
/// # use lisle_par::facade as lisle;
/// let mut numbers = [4, -5, 1, -3, 2];
/// lisle::par::sort::sort_unstable_by_key(&mut numbers, |n: &i32| n.abs());
/// assert_eq!(numbers, [1, 2, -3, 4, -5]);
/// ```
#[track_caller]
pub fn sort_unstable_by_key<T, K, F>(slice: &mut [T], key: F)
where
    T: Send,
    K: Ord,
    F: Fn(&T) -> K + Sync,
{
    origin::here(|| quick::sort(slice, &ByKey(key), Sizes::here(slice.len())));
}
