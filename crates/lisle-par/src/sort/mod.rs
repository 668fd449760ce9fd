//! Sorts over all cores.
//!
//! The functions here sort slices as those of the same name of the standard library do, and [`ParallelSort`] gives
//! slices the same as methods.
//!
//! ```
//! use lisle::par::sort::{self, ParallelSort};
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
//! | [`sort`], [`sort_by`], [`sort_by_key`] | stay in their order | merge sort | room for all elements once, and up to as much for the parts that are being sorted |
//! | [`sort_by_cached_key`] | stay in their order | quicksort of the keys | room for all elements once, their keys and as many numbers |
//! | [`sort_unstable`], [`sort_unstable_by`], [`sort_unstable_by_key`] | in any order | quicksort | in place but for a few per cent |
//!
//! Each takes O(*n* log *n*) comparisons at worst, and O(*n*) if the slice is in order already or strictly in order
//! backwards. Parts are sorted, and short slices as a whole, by the standard library's own sorts; so are all slices
//! where there is only one worker.
//!
//! # Panics
//!
//! If a comparison panics, so does the sort, and all elements are in the slice, each once, in some order. If what is
//! given is no total order, elements end up in some order, or the sort panics.
//!
//! # Elements
//!
//! They are [`Send`] and need not be [`Sync`]: nobody looks at an element while somebody else does. The price is that
//! no pivot of the quicksort can be shared, so that several who divide a slice take a pivot each and what comes
//! between these is sorted again.

mod cached;
mod division;
mod merge;
mod order;
mod partition;
mod passes;
mod quick;
mod runs;
mod slices;
#[cfg(test)]
mod tests;

use crate::{origin, workers};
use order::{By, ByKey, Natural};
pub use slices::ParallelSort;
use std::cmp::Ordering;

/// Sorts; equal elements stay in their order.
///
/// O(*n* log *n*) comparisons, and a buffer for all elements.
///
/// # Panics
///
/// If a comparison panics, or if it finds out that the order is not total. All elements are in the slice then.
///
/// ```
/// let mut words = ["serge", "twill", "lisle", "tulle"];
/// lisle::par::sort::sort(&mut words);
/// assert_eq!(words, ["lisle", "serge", "tulle", "twill"]);
/// ```
#[track_caller]
pub fn sort<T: Ord + Send>(slice: &mut [T]) {
    origin::here(|| passes::sort(slice, &Natural, workers()));
}

/// Sorts by a comparison; equal elements stay in their order.
///
/// O(*n* log *n*) comparisons, and a buffer for all elements.
///
/// # Panics
///
/// If `compare` panics, or if the sort finds out that it is no total order. All elements are in the slice then.
///
/// ```
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
    origin::here(|| passes::sort(slice, &By(compare), workers()));
}

/// Sorts by a key that is computed for each comparison; elements of equal keys stay in their order.
///
/// O(*n* log *n*) comparisons, and a buffer for all elements. If the key is dear, [`sort_by_cached_key`] is the
/// better choice.
///
/// # Panics
///
/// If `key` or a comparison panics, or if the sort finds out that the keys' order is not total. All elements are in
/// the slice then.
///
/// ```
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
    origin::here(|| passes::sort(slice, &ByKey(key), workers()));
}

/// Sorts by a key that is computed once for each element, all of them before the first comparison; elements of equal
/// keys stay in their order.
///
/// O(*n*) keys and O(*n* log *n*) comparisons of keys. It takes room for all elements, all keys, and a number each.
///
/// # Panics
///
/// If `key` or a comparison panics, or if the sort finds out that the keys' order is not total. All elements are in
/// the slice then, and all keys are dropped.
///
/// ```
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
    origin::here(|| cached::sort(slice, &key, workers()));
}

/// Sorts; equal elements come in any order.
///
/// O(*n* log *n*) comparisons, in place but for a few per cent of the elements.
///
/// # Panics
///
/// If a comparison panics, or if the sort finds out that the order is not total. All elements are in the slice then.
///
/// ```
/// let mut numbers = [4, -5, 1, -3, 2];
/// lisle::par::sort::sort_unstable(&mut numbers);
/// assert_eq!(numbers, [-5, -3, 1, 2, 4]);
/// ```
#[track_caller]
pub fn sort_unstable<T: Ord + Send>(slice: &mut [T]) {
    origin::here(|| quick::sort(slice, &Natural, workers()));
}

/// Sorts by a comparison; equal elements come in any order.
///
/// O(*n* log *n*) comparisons, in place but for a few per cent of the elements.
///
/// # Panics
///
/// If `compare` panics, or if the sort finds out that it is no total order. All elements are in the slice then.
///
/// ```
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
    origin::here(|| quick::sort(slice, &By(compare), workers()));
}

/// Sorts by a key that is computed for each comparison; elements of equal keys come in any order.
///
/// O(*n* log *n*) comparisons, in place but for a few per cent of the elements.
///
/// # Panics
///
/// If `key` or a comparison panics, or if the sort finds out that the keys' order is not total. All elements are in
/// the slice then.
///
/// ```
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
    origin::here(|| quick::sort(slice, &ByKey(key), workers()));
}
