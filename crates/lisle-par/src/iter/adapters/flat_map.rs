//! Loops within a loop, whose items together are the items of one iterator.
//!
//! Each inner loop is driven by itself within the outer one, with the outer loop's consumer. If
//! such an iterator is only a part of another one, as in a chain, the inner loops are collected,
//! one after the other.

use super::planned::Planned;
use crate::at::Nested;
use crate::iter::shown::shown;
use crate::iter::{At, Consumer, IntoParallelIterator, ParallelIterator, Part, Plan};
use crate::kept::without;
use std::marker::PhantomData;
use std::panic::Location;
use std::vec;

/// See [`ParallelIterator::flatten`].
pub type Flatten<I> = FlatMap<I, fn(<I as ParallelIterator>::Item) -> <I as ParallelIterator>::Item>;

/// See [`ParallelIterator::flat_map`].
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Clone)]
pub struct FlatMap<I, F> {
    base: I,
    map: F,
    /// The call of the adapter. The inner loops of a part run on behalf of this call.
    site: &'static Location<'static>,
}

shown!([I: std::fmt::Debug, F] FlatMap<I, F>, "FlatMap", base);

impl<I, F> FlatMap<I, F> {
    #[track_caller]
    pub(in crate::iter) fn new(base: I, map: F) -> Self {
        FlatMap { base, map, site: Location::caller() }
    }
}

impl<I, F, U> ParallelIterator for FlatMap<I, F>
where
    I: ParallelIterator,
    F: Fn(I::Item) -> U + Sync + Send,
    U: IntoParallelIterator,
{
    type Item = U::Item;
    type Part<'a>
        = FlatMapPart<'a, I::Part<'a>, F>
    where
        Self: 'a;

    fn part(&mut self) -> Self::Part<'_> {
        FlatMapPart { base: self.base.part(), map: &self.map, site: self.site }
    }

    fn plan(&self) -> Plan {
        self.base.plan()
    }

    #[track_caller]
    fn drive<C: Consumer<Item = U::Item>>(self, consumer: &C, plan: Plan) -> C::Acc {
        let plan = Plan { site: plan.site.or(Some(Location::caller())), ..plan };
        let acc = self.base.drive(&Outer { map: &self.map, consumer, plan, takes: PhantomData }, plan);
        without(acc, self.map)
    }
}

/// A part that collects the loop of each item.
pub struct FlatMapPart<'a, P, F> {
    base: P,
    map: &'a F,
    site: &'static Location<'static>,
}

shown!([P: std::fmt::Debug, F] FlatMapPart<'_, P, F>, "FlatMapPart", base);

impl<'a, P, F, U> Part for FlatMapPart<'a, P, F>
where
    P: Part,
    F: Fn(P::Item) -> U + Sync,
    U: IntoParallelIterator,
{
    type Item = U::Item;
    type Items = FlatMapItems<'a, P::Items, F, U::Item>;

    fn len(&self) -> usize {
        self.base.len()
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(at);
        (FlatMapPart { base: left, ..self }, FlatMapPart { base: right, ..self })
    }

    fn items(self) -> Self::Items {
        FlatMapItems {
            items: self.base.items(),
            map: self.map,
            site: self.site,
            inner: Vec::new().into_iter(),
        }
    }
}

/// The iterator of a [`FlatMapPart`].
pub struct FlatMapItems<'a, I, F, T> {
    items: I,
    map: &'a F,
    site: &'static Location<'static>,
    inner: vec::IntoIter<T>,
}

shown!([I: std::fmt::Debug, F, T: std::fmt::Debug] FlatMapItems<'_, I, F, T>, "FlatMapItems", items, inner);

impl<I, F, U> Iterator for FlatMapItems<'_, I, F, U::Item>
where
    I: Iterator,
    F: Fn(I::Item) -> U,
    U: IntoParallelIterator,
{
    type Item = U::Item;

    fn next(&mut self) -> Option<U::Item> {
        loop {
            if let Some(item) = self.inner.next() {
                return Some(item);
            }
            let inner = (self.map)(self.items.next()?).into_par_iter();
            self.inner = Planned::on_behalf_of(inner, self.site).collect::<Vec<_>>().into_iter();
        }
    }
}

impl Plan {
    /// Returns the plan of a loop whose own plan is `inner`, within a loop of this plan. If the
    /// outer plan is fixed, so is the inner one, which then needs a grain: its own, or else the
    /// outer one's.
    fn within(self, inner: Plan) -> Plan {
        let grain = inner.grain.or(self.grain.filter(|_| self.fixed));
        Plan { grain, fixed: self.fixed || inner.fixed, site: self.site, ..inner }
    }
}

/// A consumer of the outer items that wraps a consumer of the inner ones.
struct Outer<'c, In, F, C> {
    map: &'c F,
    consumer: &'c C,
    /// How the outer loop is divided, and the place where it was called.
    plan: Plan,
    takes: PhantomData<fn(In)>,
}

impl<In, F, U, C> Consumer for Outer<'_, In, F, C>
where
    F: Fn(In) -> U + Sync,
    U: IntoParallelIterator,
    C: Consumer<Item = U::Item>,
{
    type Item = In;
    type Acc = C::Acc;

    fn begin(&self) -> C::Acc {
        self.consumer.begin()
    }

    fn feed<I: Iterator<Item = In>>(&self, mut acc: C::Acc, at: At<'_>, items: I) -> C::Acc {
        for item in items {
            if self.consumer.is_done(&acc, at) {
                break;
            }
            let inner = (self.map)(item).into_par_iter();
            let plan = self.plan.within(inner.plan());
            let next = inner.drive(&Inner { consumer: self.consumer, nested: Nested::new(at) }, plan);
            acc = self.consumer.merge(acc, next);
        }
        acc
    }

    fn merge(&self, left: C::Acc, right: C::Acc) -> C::Acc {
        self.consumer.merge(left, right)
    }

    fn is_done(&self, acc: &C::Acc, at: At<'_>) -> bool {
        self.consumer.is_done(acc, at)
    }

    fn needless(&self, at: At<'_>) -> usize {
        self.consumer.needless(at)
    }

    fn end(&self, acc: C::Acc) -> C::Acc {
        self.consumer.end(acc)
    }
}

/// A consumer for the loop over one item's content. It passes the items on with a place within the
/// block that the outer loop is in. The inner loop's own numbers count from 0 in each item and would
/// not be in order.
struct Inner<'c, C> {
    consumer: &'c C,
    nested: Nested<'c>,
}

impl<C: Consumer> Consumer for Inner<'_, C> {
    type Item = C::Item;
    type Acc = C::Acc;

    fn begin(&self) -> C::Acc {
        self.consumer.begin()
    }

    #[inline]
    fn feed<I: Iterator<Item = C::Item>>(&self, acc: C::Acc, at: At<'_>, items: I) -> C::Acc {
        self.consumer.feed(acc, at.within(&self.nested), items)
    }

    fn merge(&self, left: C::Acc, right: C::Acc) -> C::Acc {
        self.consumer.merge(left, right)
    }

    fn is_done(&self, acc: &C::Acc, at: At<'_>) -> bool {
        self.consumer.is_done(acc, at.within(&self.nested))
    }

    fn needless(&self, at: At<'_>) -> usize {
        self.consumer.needless(at.within(&self.nested))
    }

    fn end(&self, acc: C::Acc) -> C::Acc {
        self.consumer.end(acc)
    }
}
