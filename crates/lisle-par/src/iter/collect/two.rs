//! Two collections from one iterator.

use super::runs::Runs;
use super::{FromParallelIterator, ParallelExtend, extend_two_in_place};
use crate::iter::run::run_by;
use crate::iter::{At, Consumer, IntoParallelIterator, ParallelIterator};
use either::Either::{self, Left, Right};
use std::marker::PhantomData;

/// Puts each item into one of two collections, or a part of it into each.
struct Sort<T, A, B, F> {
    put: F,
    takes: PhantomData<fn(T) -> (A, B)>,
}

impl<T, A: Send, B: Send, F: Fn(T, &mut Vec<A>, &mut Vec<B>) + Sync> Consumer for Sort<T, A, B, F> {
    type Item = T;
    type Acc = (Runs<A>, Runs<B>);

    fn begin(&self) -> Self::Acc {
        (Runs::new(), Runs::new())
    }

    #[inline]
    fn feed<I: Iterator<Item = T>>(&self, mut acc: Self::Acc, _: At<'_>, items: I) -> Self::Acc {
        let (a, b) = (acc.0.last(), acc.1.last());
        items.for_each(|item| (self.put)(item, a, b));
        acc
    }

    fn merge(&self, left: Self::Acc, right: Self::Acc) -> Self::Acc {
        (left.0.and(right.0), left.1.and(right.1))
    }
}

#[track_caller]
fn sort<I, A, B, F>(iter: I, put: F) -> (Vec<A>, Vec<B>)
where
    I: ParallelIterator,
    A: Send,
    B: Send,
    F: Fn(I::Item, &mut Vec<A>, &mut Vec<B>) + Sync,
{
    let (a_runs, b_runs) = run_by(iter, Sort { put, takes: PhantomData });
    let (mut a, mut b) = (Vec::new(), Vec::new());
    a_runs.append_to(&mut a);
    b_runs.append_to(&mut b);
    (a, b)
}

#[track_caller]
fn extended<T: Send, C: Default + ParallelExtend<T>>(vec: Vec<T>) -> C {
    let mut all = C::default();
    all.par_extend_vec(vec);
    all
}

/// Returns the first elements of all items, and the second ones.
#[track_caller]
fn vecs<A: Send, B: Send, I: ParallelIterator<Item = (A, B)>>(iter: I) -> (Vec<A>, Vec<B>) {
    match iter.exact_len() {
        Some(len) => {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            extend_two_in_place(&mut a, &mut b, iter, len);
            (a, b)
        }
        None => sort(iter, |(x, y), a, b| {
            a.push(x);
            b.push(y);
        }),
    }
}

/// Returns the left and the right values.
#[track_caller]
fn sorted<L: Send, R: Send, I: ParallelIterator<Item = Either<L, R>>>(iter: I) -> (Vec<L>, Vec<R>) {
    sort(iter, |item, a, b| match item {
        Left(left) => a.push(left),
        Right(right) => b.push(right),
    })
}

/// See [`ParallelIterator::unzip`].
#[track_caller]
pub(in crate::iter) fn unzip<A, B, FromA, FromB, I>(iter: I) -> (FromA, FromB)
where
    A: Send,
    B: Send,
    FromA: Default + ParallelExtend<A>,
    FromB: Default + ParallelExtend<B>,
    I: ParallelIterator<Item = (A, B)>,
{
    let (a, b) = vecs(iter);
    (extended(a), extended(b))
}

/// Extends one collection by the first elements of all pairs, and another one by the second ones.
impl<A, B, ToA, ToB> ParallelExtend<(A, B)> for (ToA, ToB)
where
    A: Send,
    B: Send,
    ToA: ParallelExtend<A>,
    ToB: ParallelExtend<B>,
{
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = (A, B)>>(&mut self, iter: I) {
        let (a, b) = vecs(iter.into_par_iter());
        self.0.par_extend_vec(a);
        self.1.par_extend_vec(b);
    }
}

/// Collects the first elements of all pairs into one collection, and the second ones into another.
impl<A, B, FromA, FromB> FromParallelIterator<(A, B)> for (FromA, FromB)
where
    A: Send,
    B: Send,
    FromA: FromParallelIterator<A>,
    FromB: FromParallelIterator<B>,
{
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = (A, B)>>(iter: I) -> Self {
        let (a, b) = vecs(iter.into_par_iter());
        (FromA::from_par_iter(a), FromB::from_par_iter(b))
    }
}

/// See [`ParallelIterator::partition`].
#[track_caller]
pub(in crate::iter) fn partition<A, B, P, I>(iter: I, predicate: P) -> (A, B)
where
    A: Default + ParallelExtend<I::Item>,
    B: Default + ParallelExtend<I::Item>,
    P: Fn(&I::Item) -> bool + Sync,
    I: ParallelIterator,
{
    let (a, b) = sort(iter, move |item, a, b| if predicate(&item) { a.push(item) } else { b.push(item) });
    (extended(a), extended(b))
}

/// See [`ParallelIterator::partition_map`].
#[track_caller]
pub(in crate::iter) fn partition_map<A, B, L, R, I>(iter: I) -> (A, B)
where
    A: Default + ParallelExtend<L>,
    B: Default + ParallelExtend<R>,
    L: Send,
    R: Send,
    I: ParallelIterator<Item = Either<L, R>>,
{
    let (a, b) = sorted(iter);
    (extended(a), extended(b))
}

/// Extends one collection by the left values, and another one by the right values.
impl<L, R, ToL, ToR> ParallelExtend<Either<L, R>> for (ToL, ToR)
where
    L: Send,
    R: Send,
    ToL: ParallelExtend<L>,
    ToR: ParallelExtend<R>,
{
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = Either<L, R>>>(&mut self, iter: I) {
        let (left, right) = sorted(iter.into_par_iter());
        self.0.par_extend_vec(left);
        self.1.par_extend_vec(right);
    }
}

/// Collects the left values into one collection, and the right values into another.
impl<L, R, FromL, FromR> FromParallelIterator<Either<L, R>> for (FromL, FromR)
where
    L: Send,
    R: Send,
    FromL: FromParallelIterator<L>,
    FromR: FromParallelIterator<R>,
{
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = Either<L, R>>>(iter: I) -> Self {
        let (left, right) = sorted(iter.into_par_iter());
        (FromL::from_par_iter(left), FromR::from_par_iter(right))
    }
}
