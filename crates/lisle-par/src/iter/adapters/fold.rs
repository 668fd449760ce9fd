//! Folds whose results are items again.
//!
//! There is one accumulator for each range of neighbouring steps that one domain has run, and thus
//! there are few of them. A part alone does not know which blocks follow each other. Hence these
//! iterators are driven in a way of their own, by a consumer that keeps the accumulator from block
//! to block. If such an iterator is only a part of another one, as in a chain, there is one
//! accumulator for each block.

use super::init::{Clones, Init};
use crate::iter::shown::shown;
use crate::iter::tries::Try;
use crate::iter::{At, Consumer, ParallelIterator, Part, Plan};
use crate::kept::without;
use std::marker::PhantomData;
use std::ops::ControlFlow;

/// How accumulators are made. Implemented for the two kinds of folds.
pub trait Folding<In>: Send + Sync {
    /// The accumulator.
    type Out: Send;

    /// Returns the accumulator of no items.
    fn begin(&self) -> Self::Out;

    /// Adds items to an accumulator.
    fn fold<I: Iterator<Item = In>>(&self, acc: Self::Out, items: I) -> Self::Out;

    /// Returns `true` if the accumulator takes no more items.
    fn is_over(&self, acc: &Self::Out) -> bool;
}

/// See [`ParallelIterator::fold`].
#[derive(Clone)]
pub struct Folded<N, F> {
    pub(in crate::iter) identity: N,
    pub(in crate::iter) op: F,
}

shown!([N, F] Folded<N, F>, "Folded");

/// See [`ParallelIterator::fold_with`].
pub type FoldWith<I, T, F> = Folds<I, Folded<Clones<T>, F>>;

impl<In, T: Send, N, F> Folding<In> for Folded<N, F>
where
    N: Init<Value = T>,
    F: Fn(T, In) -> T + Send + Sync,
{
    type Out = T;

    fn begin(&self) -> T {
        self.identity.init()
    }

    #[inline]
    fn fold<I: Iterator<Item = In>>(&self, acc: T, items: I) -> T {
        items.fold(acc, &self.op)
    }

    fn is_over(&self, _: &T) -> bool {
        false
    }
}

/// See [`ParallelIterator::try_fold`].
#[derive(Clone)]
pub struct TryFolded<N, F, R> {
    pub(in crate::iter) identity: N,
    pub(in crate::iter) op: F,
    pub(in crate::iter) gives: PhantomData<fn() -> R>,
}

shown!([N, F, R] TryFolded<N, F, R>, "TryFolded");

/// See [`ParallelIterator::try_fold_with`].
pub type TryFoldWith<I, T, F, R> = Folds<I, TryFolded<Clones<T>, F, R>>;

impl<In, R: Try + Send, N, F> Folding<In> for TryFolded<N, F, R>
where
    N: Init<Value = R::Output>,
    F: Fn(R::Output, In) -> R + Send + Sync,
{
    type Out = R;

    fn begin(&self) -> R {
        R::from_output(self.identity.init())
    }

    #[inline]
    fn fold<I: Iterator<Item = In>>(&self, acc: R, mut items: I) -> R {
        let folded = match acc.branch() {
            ControlFlow::Continue(acc) => items.try_fold(acc, |acc, item| (self.op)(acc, item).branch()),
            over => over,
        };
        R::from_branch(without(folded, items))
    }

    fn is_over(&self, acc: &R) -> bool {
        acc.is_over()
    }
}

/// A parallel iterator over accumulators.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Clone)]
pub struct Folds<I, F> {
    base: I,
    folding: F,
}

shown!([I: std::fmt::Debug, F] Folds<I, F>, "Folds", base);

impl<I, F> Folds<I, F> {
    pub(in crate::iter) fn new(base: I, folding: F) -> Self {
        Folds { base, folding }
    }
}

impl<I: ParallelIterator, F: Folding<I::Item>> ParallelIterator for Folds<I, F> {
    type Item = F::Out;
    type Part<'a>
        = FoldsPart<'a, I::Part<'a>, F>
    where
        Self: 'a;

    fn part(&mut self) -> Self::Part<'_> {
        FoldsPart { base: self.base.part(), folding: &self.folding }
    }

    fn plan(&self) -> Plan {
        self.base.plan()
    }

    #[track_caller]
    fn drive<C: Consumer<Item = F::Out>>(self, consumer: &C, plan: Plan) -> C::Acc {
        let folder = Folder { folding: &self.folding, consumer, takes: PhantomData };
        let mut run = self.base.drive(&folder, plan);
        // A loop without steps gives the accumulator of no items.
        if run.is_new {
            run.current.get_or_insert_with(|| self.folding.begin());
        }
        let acc = folder.close(run);
        without(acc, self.folding)
    }
}

/// A part that gives one accumulator each time it is run.
pub struct FoldsPart<'a, P, F> {
    base: P,
    folding: &'a F,
}

shown!([P: std::fmt::Debug, F] FoldsPart<'_, P, F>, "FoldsPart", base);

impl<'a, P: Part, F: Folding<P::Item>> Part for FoldsPart<'a, P, F> {
    type Item = F::Out;
    type Items = FoldsItems<'a, P::Items, F>;

    fn len(&self) -> usize {
        self.base.len()
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(at);
        (FoldsPart { base: left, folding: self.folding }, FoldsPart { base: right, folding: self.folding })
    }

    fn items(self) -> Self::Items {
        FoldsItems { items: Some(self.base.items()), folding: self.folding }
    }
}

/// The iterator of a [`FoldsPart`].
pub struct FoldsItems<'a, I, F> {
    items: Option<I>,
    folding: &'a F,
}

shown!([I: std::fmt::Debug, F] FoldsItems<'_, I, F>, "FoldsItems", items);

impl<I: Iterator, F: Folding<I::Item>> Iterator for FoldsItems<'_, I, F> {
    type Item = F::Out;

    fn next(&mut self) -> Option<F::Out> {
        let items = self.items.take()?;
        Some(self.folding.fold(self.folding.begin(), items))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = usize::from(self.items.is_some());
        (len, Some(len))
    }
}

/// A consumer of items that wraps a consumer of accumulators.
struct Folder<'f, In, F, C> {
    folding: &'f F,
    consumer: &'f C,
    takes: PhantomData<fn(In)>,
}

/// The intermediate result of a range.
struct Run<T, A> {
    /// The accumulator that may still grow, if one has been begun since the last one was passed to
    /// the consumer.
    current: Option<T>,
    /// The step of the outermost loop at which `current` began.
    from: usize,
    /// The consumer's accumulator for the items that were passed to it.
    done: A,
    /// Whether nothing has been passed to the consumer yet.
    is_new: bool,
}

impl<In, F: Folding<In>, C: Consumer<Item = F::Out>> Folder<'_, In, F, C> {
    fn close(&self, run: Run<F::Out, C::Acc>) -> C::Acc {
        match run.current {
            Some(last) => self.consumer.feed(run.done, At::outermost(run.from), std::iter::once(last)),
            None => run.done,
        }
    }
}

impl<In, F: Folding<In>, C: Consumer<Item = F::Out>> Consumer for Folder<'_, In, F, C> {
    type Item = In;
    type Acc = Run<F::Out, C::Acc>;

    fn begin(&self) -> Self::Acc {
        Run { current: None, from: 0, done: self.consumer.begin(), is_new: true }
    }

    #[inline]
    fn feed<I: Iterator<Item = In>>(&self, run: Self::Acc, at: At<'_>, items: I) -> Self::Acc {
        let (acc, from) = match run.current {
            Some(acc) => (acc, run.from),
            None => (self.folding.begin(), at.step()),
        };
        Run { current: Some(self.folding.fold(acc, items)), from, ..run }
    }

    fn merge(&self, left: Self::Acc, right: Self::Acc) -> Self::Acc {
        let from = left.from;
        let is_new = left.is_new && left.current.is_none() && right.is_new && right.current.is_none();
        let done = self.consumer.merge(self.close(left), self.close(right));
        Run { current: None, from, done, is_new }
    }

    fn is_done(&self, run: &Self::Acc, at: At<'_>) -> bool {
        run.current.as_ref().is_some_and(|acc| self.folding.is_over(acc))
            || self.consumer.is_done(&run.done, at)
    }

    fn end(&self, run: Self::Acc) -> Self::Acc {
        Run { done: self.consumer.end(run.done), ..run }
    }
}
