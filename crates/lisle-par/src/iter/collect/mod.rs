//! Collections made from parallel iterators.
//!
//! If the number of items is known, a vector is written in place, each item once and directly to
//! its place ([`in_place`]). Otherwise each domain makes vectors of the ranges that it has run, and
//! these are joined in order ([`runs`]).

mod containers;
mod in_place;
mod runs;
mod tries;
mod two;

pub(super) use in_place::{extend_in_place, extend_two_in_place};
pub(super) use runs::{Gather, collect_part, vec_list};
pub(super) use two::{partition, partition_map, unzip};

use super::IntoParallelIterator;

/// A collection that can be made from a parallel iterator, see
/// [`collect`](super::ParallelIterator::collect).
#[diagnostic::on_unimplemented(
    message = "a `{Self}` cannot be collected from a parallel iterator over `{T}`",
    note = "the collections of the standard library can, and `Result`s and `Option`s of them"
)]
pub trait FromParallelIterator<T: Send> {
    /// Creates a collection of all items of `iter`.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let halves = Vec::from_par_iter((0..6).into_par_iter().step_by(2));
    /// assert_eq!(halves, [0, 2, 4]);
    /// ```
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(iter: I) -> Self;
}

/// A collection that can be extended with the items of a parallel iterator.
pub trait ParallelExtend<T: Send> {
    /// Extends the collection with the items, in their order.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let mut all = vec![1, 2];
    /// all.par_extend(3..=5);
    /// assert_eq!(all, [1, 2, 3, 4, 5]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the iterator does. Then a vector is unchanged.
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, iter: I);

    /// Extends the collection with the elements of a vector.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    /// use std::collections::BTreeSet;
    ///
    /// let mut all = BTreeSet::from([1, 2]);
    /// all.par_extend_vec(vec![2, 3]);
    /// assert_eq!(all, BTreeSet::from([1, 2, 3]));
    /// ```
    #[track_caller]
    fn par_extend_vec(&mut self, vec: Vec<T>) {
        self.par_extend(vec);
    }
}
