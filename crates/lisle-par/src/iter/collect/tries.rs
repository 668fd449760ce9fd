//! Collects into a collection, or returns the first failure.

use super::FromParallelIterator;
use crate::at::First;
use crate::iter::tries::Try;
use crate::iter::{At, Consumer, IntoParallelIterator, ParallelIterator, Part, Plan};
use crate::kept::without;
use crate::shim::sync::Mutex;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::PoisonError;

/// The first failure, which all participants share.
struct Failure<E> {
    at: First,
    /// The first failure and its block. Only a participant that has a failure locks it.
    first: Mutex<Option<(usize, E)>>,
}

impl<E> Failure<E> {
    fn new() -> Self {
        Failure { at: First::new(), first: Mutex::new(None) }
    }

    /// Records a failure in the block that begins at step `at`.
    #[cold]
    fn put(&self, at: usize, residual: E) {
        self.at.found_at(At::outermost(at));
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|&(before, _)| at < before) {
            // The later one is dropped when the lock is free again, because dropping it may run any
            // code.
            let _later = first.replace((at, residual));
            drop(first);
        }
    }

    fn into_inner(self) -> Option<E> {
        let first = self.first.into_inner().unwrap_or_else(PoisonError::into_inner);
        first.map(|(_, residual)| residual)
    }
}

/// An iterator over the values in the items of another one, up to the first failure.
struct Successes<'f, I, E> {
    base: I,
    failure: &'f Failure<E>,
}

impl<I, R> ParallelIterator for Successes<'_, I, R::Residual>
where
    I: ParallelIterator<Item = R>,
    R: Try<Output: Send, Residual: Send>,
{
    type Item = R::Output;
    type Part<'a>
        = SuccessesPart<'a, I::Part<'a>, R::Residual>
    where
        Self: 'a;

    fn part(&mut self) -> Self::Part<'_> {
        SuccessesPart { base: self.base.part(), at: 0, failure: self.failure }
    }

    fn plan(&self) -> Plan {
        self.base.plan()
    }

    #[track_caller]
    fn drive<C: Consumer<Item = R::Output>>(self, consumer: &C, plan: Plan) -> C::Acc {
        let until_failure = UntilFailure { consumer, at: &self.failure.at, takes: PhantomData };
        let (acc, failure) = self.base.drive(&until_failure, plan);
        if let Some(residual) = failure {
            self.failure.put(0, residual);
        }
        acc
    }
}

/// A part that counts its steps, to know which failure is the first.
struct SuccessesPart<'f, P, E> {
    base: P,
    at: usize,
    failure: &'f Failure<E>,
}

impl<'f, P, R> Part for SuccessesPart<'f, P, R::Residual>
where
    P: Part<Item = R>,
    R: Try<Residual: Send>,
{
    type Item = R::Output;
    type Items = Successful<P::Items, PutAt<'f, R::Residual>>;

    fn len(&self) -> usize {
        self.base.len()
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(at);
        let left = SuccessesPart { base: left, at: self.at, failure: self.failure };
        (left, SuccessesPart { base: right, at: self.at + at, failure: self.failure })
    }

    fn items(self) -> Self::Items {
        let is_over = self.failure.at.is_before(At::outermost(self.at));
        Successful { items: self.base.items(), put: PutAt { failure: self.failure, at: self.at }, is_over }
    }
}

/// The destination of a failure.
trait Put<E> {
    fn put(&mut self, residual: E);
}

/// Reports a failure to all participants.
struct PutAt<'f, E> {
    failure: &'f Failure<E>,
    at: usize,
}

impl<E> Put<E> for PutAt<'_, E> {
    fn put(&mut self, residual: E) {
        self.failure.put(self.at, residual);
    }
}

/// Keeps a failure in the accumulator of its range.
impl<E> Put<E> for &mut Option<E> {
    fn put(&mut self, residual: E) {
        **self = Some(residual);
    }
}

/// An iterator over the values in the items of a block, up to the first failure.
struct Successful<I, P> {
    items: I,
    put: P,
    is_over: bool,
}

impl<I, R, P> Iterator for Successful<I, P>
where
    I: Iterator<Item = R>,
    R: Try,
    P: Put<R::Residual>,
{
    type Item = R::Output;

    fn next(&mut self) -> Option<R::Output> {
        if self.is_over {
            return None;
        }
        match self.items.next()?.branch() {
            ControlFlow::Continue(output) => Some(output),
            ControlFlow::Break(residual) => {
                self.is_over = true;
                self.put.put(residual);
                None
            }
        }
    }

    fn fold<A, G: FnMut(A, R::Output) -> A>(mut self, init: A, mut op: G) -> A {
        if self.is_over {
            return without(init, self.items);
        }
        let folded = self.items.try_fold(init, |acc, item| match item.branch() {
            ControlFlow::Continue(output) => ControlFlow::Continue(op(acc, output)),
            ControlFlow::Break(residual) => {
                self.put.put(residual);
                ControlFlow::Break(acc)
            }
        });
        match without(folded, self.items) {
            ControlFlow::Continue(acc) | ControlFlow::Break(acc) => acc,
        }
    }
}

/// A consumer of items that wraps a consumer of their values. The accumulator also has the first
/// failure of its range.
struct UntilFailure<'f, C, R> {
    consumer: &'f C,
    at: &'f First,
    takes: PhantomData<fn(R)>,
}

impl<C, R> Consumer for UntilFailure<'_, C, R>
where
    C: Consumer<Item = R::Output>,
    R: Try<Residual: Send>,
{
    type Item = R;
    type Acc = (C::Acc, Option<R::Residual>);

    fn begin(&self) -> Self::Acc {
        (self.consumer.begin(), None)
    }

    #[inline]
    fn feed<I: Iterator<Item = R>>(&self, (acc, mut failure): Self::Acc, at: At<'_>, items: I) -> Self::Acc {
        if failure.is_some() || self.at.is_before(at) {
            return without((acc, failure), items);
        }
        let acc = self.consumer.feed(acc, at, Successful { items, put: &mut failure, is_over: false });
        if failure.is_some() {
            self.at.found_at(at);
        }
        (acc, failure)
    }

    fn merge(&self, left: Self::Acc, right: Self::Acc) -> Self::Acc {
        let acc = self.consumer.merge(left.0, right.0);
        (acc, if left.1.is_some() { without(left.1, right.1) } else { right.1 })
    }

    fn end(&self, (acc, failure): Self::Acc) -> Self::Acc {
        (self.consumer.end(acc), failure)
    }

    fn is_done(&self, (acc, failure): &Self::Acc, at: At<'_>) -> bool {
        failure.is_some() || self.at.is_before(at) || self.consumer.is_done(acc, at)
    }
}

/// Collects the values in the items, or returns the first failure if there is one.
#[track_caller]
fn collect<R, C, I>(iter: I) -> ControlFlow<R::Residual, C>
where
    R: Try<Output: Send, Residual: Send> + Send,
    C: FromParallelIterator<R::Output>,
    I: IntoParallelIterator<Item = R>,
{
    let failure = Failure::new();
    let all = C::from_par_iter(Successes { base: iter.into_par_iter(), failure: &failure });
    match failure.into_inner() {
        Some(residual) => without(ControlFlow::Break(residual), all),
        None => ControlFlow::Continue(all),
    }
}

impl<T: Send, E: Send, C: FromParallelIterator<T>> FromParallelIterator<Result<T, E>> for Result<C, E> {
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = Result<T, E>>>(iter: I) -> Self {
        Try::from_branch(collect(iter))
    }
}

impl<T: Send, C: FromParallelIterator<T>> FromParallelIterator<Option<T>> for Option<C> {
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = Option<T>>>(iter: I) -> Self {
        Try::from_branch(collect(iter))
    }
}
