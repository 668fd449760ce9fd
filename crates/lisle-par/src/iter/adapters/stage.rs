//! Adapters that treat each item by itself: one mechanism for `map`, `filter` and similar methods.

use crate::iter::exact::exact_part;
use crate::iter::shown::shown;
use crate::iter::{At, Consumer, ExactPart, IndexedParallelIterator, ParallelIterator, Part, Plan};
use crate::kept::without;
use std::marker::PhantomData;

/// An operation on each item of a range: it wraps the iterator of the items.
///
/// All participants share the stage, so a closure in it is borrowed from the stack of the caller
/// and never cloned.
pub trait Stage<In>: Send + Sync {
    /// The type of the items that come out.
    type Out: Send;
    /// The iterator over the items that come out of a range.
    type Items<'a, I: Iterator<Item = In>>: Iterator<Item = Self::Out>
    where
        Self: 'a;

    /// Whether exactly one item comes out for each that goes in.
    const ONE_TO_ONE: bool = false;

    /// Applies the stage to `items`.
    fn items<'a, I: Iterator<Item = In>>(&'a self, items: I) -> Self::Items<'a, I>;

    /// Returns `true` if no more items come out, so that the loop may end.
    fn is_over(&self) -> bool {
        false
    }
}

/// A [`Stage`] out of which exactly one item comes for each that goes in, with
/// [`ONE_TO_ONE`](Stage::ONE_TO_ONE) set.
#[diagnostic::on_unimplemented(
    message = "the number of items that come out of `{Self}` is not known beforehand",
    note = "`filter`, `flat_map_iter` and the like do not give an `IndexedParallelIterator`: call `zip`, `enumerate`, \
            `rev`, `take`, `skip` and `chunks` before them"
)]
pub trait OneToOne<In>: Stage<In> {}

/// A parallel iterator with a [`Stage`] behind it.
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Staged<I, S> {
    base: I,
    stage: S,
}

impl<I, S> Staged<I, S> {
    pub(in crate::iter) fn new(base: I, stage: S) -> Self {
        Staged { base, stage }
    }
}

impl<I: ParallelIterator, S: Stage<I::Item>> ParallelIterator for Staged<I, S> {
    type Item = S::Out;
    type Part<'a>
        = StagedPart<'a, I::Part<'a>, S>
    where
        Self: 'a;

    fn part(&mut self) -> Self::Part<'_> {
        StagedPart { base: self.base.part(), stage: &self.stage }
    }

    fn plan(&self) -> Plan {
        self.base.plan()
    }

    fn exact_len(&self) -> Option<usize> {
        if S::ONE_TO_ONE { self.base.exact_len() } else { None }
    }

    // The inner iterator drives, because it may have a way of its own to be run.
    #[track_caller]
    fn drive<C: Consumer<Item = S::Out>>(self, consumer: &C, plan: Plan) -> C::Acc {
        let acc = self.base.drive(&Behind { stage: &self.stage, consumer, takes: PhantomData }, plan);
        without(acc, self.stage)
    }
}

impl<I: IndexedParallelIterator, S: OneToOne<I::Item>> IndexedParallelIterator for Staged<I, S> {
    exact_part!(
        StagedPart<'a, I::Exact<'a>, S>,
        |this| StagedPart { base: this.base.exact(), stage: &this.stage },
        this.base.len()
    );
}

/// A part with a [`Stage`] behind it.
pub struct StagedPart<'a, P, S> {
    base: P,
    stage: &'a S,
}

shown!([P: std::fmt::Debug, S] StagedPart<'_, P, S>, "StagedPart", base);

impl<'a, P: Part, S: Stage<P::Item>> Part for StagedPart<'a, P, S> {
    type Item = S::Out;
    type Items = S::Items<'a, P::Items>;

    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }

    #[inline]
    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(at);
        (StagedPart { base: left, stage: self.stage }, StagedPart { base: right, stage: self.stage })
    }

    #[inline]
    fn items(self) -> Self::Items {
        self.stage.items(self.base.items())
    }
}

impl<'a, P: ExactPart, S: OneToOne<P::Item>> ExactPart for StagedPart<'a, P, S> {
    type Back = S::Items<'a, P::Back>;

    fn back(self) -> Self::Back {
        self.stage.items(self.base.back())
    }
}

/// A consumer with a [`Stage`] before it.
struct Behind<'s, In, S, C> {
    stage: &'s S,
    consumer: &'s C,
    takes: PhantomData<fn(In)>,
}

impl<In, S: Stage<In>, C: Consumer<Item = S::Out>> Consumer for Behind<'_, In, S, C> {
    type Item = In;
    type Acc = C::Acc;

    fn begin(&self) -> C::Acc {
        self.consumer.begin()
    }

    #[inline]
    fn feed<I: Iterator<Item = In>>(&self, acc: C::Acc, at: At<'_>, items: I) -> C::Acc {
        self.consumer.feed(acc, at, self.stage.items(items))
    }

    fn merge(&self, left: C::Acc, right: C::Acc) -> C::Acc {
        self.consumer.merge(left, right)
    }

    fn is_done(&self, acc: &C::Acc, at: At<'_>) -> bool {
        self.consumer.is_done(acc, at) || self.stage.is_over()
    }

    #[inline]
    fn needless(&self, at: At<'_>) -> usize {
        self.consumer.needless(at)
    }

    fn end(&self, acc: C::Acc) -> C::Acc {
        self.consumer.end(acc)
    }
}
