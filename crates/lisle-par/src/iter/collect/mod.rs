//! Collections made of parallel iterators.
//!
//! Where it is known how many items there are, a vector is written in place, each item once and where it belongs
//! ([`in_place`]). Otherwise each domain makes vectors of the runs it has done, and these are put together in order
//! ([`runs`]).

mod containers;
mod in_place;
mod runs;
mod tries;
mod two;

pub(super) use in_place::{extend_in_place, extend_two_in_place};
pub(super) use two::{partition, unzip};

use super::IntoParallelIterator;

/// What can be made of a parallel iterator, see [`collect`](super::ParallelIterator::collect).
#[diagnostic::on_unimplemented(
    message = "a `{Self}` cannot be collected from a parallel iterator over `{T}`",
    note = "the collections of the standard library can, and `Result`s and `Option`s of them"
)]
pub trait FromParallelIterator<T: Send> {
    /// Makes one of all that `iter` gives.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// let halves = Vec::from_par_iter((0..6).into_par_iter().step_by(2));
    /// assert_eq!(halves, [0, 2, 4]);
    /// ```
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(iter: I) -> Self;
}

/// What can take in all that a parallel iterator gives.
pub trait ParallelExtend<T: Send> {
    /// Takes it in, in its order.
    ///
    /// ```
    /// use lisle::par::prelude::*;
    ///
    /// let mut all = vec![1, 2];
    /// all.par_extend(3..=5);
    /// assert_eq!(all, [1, 2, 3, 4, 5]);
    /// ```
    ///
    /// # Panics
    ///
    /// If the iterator does. Then a vector is as it was before.
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, iter: I);

    /// Takes in what is in a vector.
    #[track_caller]
    fn par_extend_vec(&mut self, vec: Vec<T>) {
        self.par_extend(vec);
    }
}
