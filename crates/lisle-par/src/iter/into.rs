//! Conversions of values into parallel iterators.

use super::ParallelIterator;

/// A conversion into a parallel iterator: implemented for ranges, vectors, arrays, slices by
/// reference, the collections of the standard library, options and results, and parallel iterators
/// themselves.
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::prelude::*;
///
/// let names = vec![String::from("a"), String::from("b")];
/// let long: Vec<String> = names.into_par_iter().map(|name| name + "!").collect();
/// assert_eq!(long, ["a!", "b!"]);
/// ```
///
/// A tuple of up to twelve values is converted into one iterator over tuples: the iterators of the
/// values side by side, as by [`zip`](super::IndexedParallelIterator::zip). References to a tuple
/// are converted as well.
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::prelude::*;
///
/// let (a, b, mut sums) = ([1, 2, 3], [4, 5, 6], [0; 3]);
/// (&a, &b, &mut sums).into_par_iter().for_each(|(a, b, sum)| *sum = a + b);
/// assert_eq!(sums, [5, 7, 9]);
/// ```
#[doc(alias = "MultiZip")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be run as a parallel loop",
    note = "ranges of integers, slices by reference, vectors and arrays can, if their items are `Send`"
)]
pub trait IntoParallelIterator {
    /// The type of the iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// The type of its items.
    type Item: Send;

    /// Converts `self` into a parallel iterator.
    fn into_par_iter(self) -> Self::Iter;
}

impl<I: ParallelIterator> IntoParallelIterator for I {
    type Iter = I;
    type Item = I::Item;

    fn into_par_iter(self) -> I {
        self
    }
}

/// A conversion by shared reference: implemented for all types whose shared reference can be
/// converted into a parallel iterator.
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::prelude::*;
///
/// let data = [3, 1, 2];
/// assert_eq!(data.par_iter().max(), Some(&3));
/// ```
pub trait IntoParallelRefIterator<'data> {
    /// The type of the iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// The type of its items: shared references.
    type Item: Send + 'data;

    /// Returns `(&self).into_par_iter()`.
    fn par_iter(&'data self) -> Self::Iter;
}

impl<'data, C: 'data + ?Sized> IntoParallelRefIterator<'data> for C
where
    &'data C: IntoParallelIterator,
{
    type Iter = <&'data C as IntoParallelIterator>::Iter;
    type Item = <&'data C as IntoParallelIterator>::Item;

    fn par_iter(&'data self) -> Self::Iter {
        self.into_par_iter()
    }
}

/// A conversion by unique reference: implemented for all types whose unique reference can be
/// converted into a parallel iterator.
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::prelude::*;
///
/// let mut data = [3, 1, 2];
/// data.par_iter_mut().for_each(|x| *x *= 2);
/// assert_eq!(data, [6, 2, 4]);
/// ```
pub trait IntoParallelRefMutIterator<'data> {
    /// The type of the iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// The type of its items: unique references.
    type Item: Send + 'data;

    /// Returns `(&mut self).into_par_iter()`.
    fn par_iter_mut(&'data mut self) -> Self::Iter;
}

impl<'data, C: 'data + ?Sized> IntoParallelRefMutIterator<'data> for C
where
    &'data mut C: IntoParallelIterator,
{
    type Iter = <&'data mut C as IntoParallelIterator>::Iter;
    type Item = <&'data mut C as IntoParallelIterator>::Item;

    fn par_iter_mut(&'data mut self) -> Self::Iter {
        self.into_par_iter()
    }
}
