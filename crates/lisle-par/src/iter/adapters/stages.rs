//! The operations on each item: see [`Stage`].

use super::enumerate::Enumerate;
pub use super::gate::{
    Gate, Gated, Passed, Passing, Positioning, SkippingAny, SkippingAnyWhile, TakingAny, TakingAnyWhile,
    TakingSome,
};
pub use super::multi_zip::{Tupled, Tupling};
pub use super::stage::{OneToOne, Stage, Staged};
use crate::iter::shown::shown;
use std::iter;

/// See [`map`](crate::iter::ParallelIterator::map).
pub type Map<I, F> = Staged<I, Mapping<F>>;
/// See [`inspect`](crate::iter::ParallelIterator::inspect).
pub type Inspect<I, F> = Staged<I, Inspecting<F>>;
/// See [`update`](crate::iter::ParallelIterator::update).
pub type Update<I, F> = Staged<I, Updating<F>>;
/// See [`cloned`](crate::iter::ParallelIterator::cloned).
pub type Cloned<I> = Staged<I, Cloning>;
/// See [`copied`](crate::iter::ParallelIterator::copied).
pub type Copied<I> = Staged<I, Copying>;
/// See [`filter`](crate::iter::ParallelIterator::filter).
pub type Filter<I, F> = Staged<I, Filtering<F>>;
/// See [`filter_map`](crate::iter::ParallelIterator::filter_map).
pub type FilterMap<I, F> = Staged<I, FilterMapping<F>>;
/// See [`flat_map_iter`](crate::iter::ParallelIterator::flat_map_iter).
pub type FlatMapIter<I, F> = Staged<I, FlatMapping<F>>;
/// See [`flatten_iter`](crate::iter::ParallelIterator::flatten_iter).
pub type FlattenIter<I> = Staged<I, Flattening>;
/// See [`positions`](crate::iter::IndexedParallelIterator::positions).
pub type Positions<I, P> = Staged<Enumerate<I>, Gated<Positioning<P>>>;
/// See [`while_some`](crate::iter::ParallelIterator::while_some).
pub type WhileSome<I> = Staged<I, Gated<TakingSome>>;
/// See [`take_any`](crate::iter::ParallelIterator::take_any).
pub type TakeAny<I> = Staged<I, Gated<TakingAny>>;
/// See [`skip_any`](crate::iter::ParallelIterator::skip_any).
pub type SkipAny<I> = Staged<I, Gated<SkippingAny>>;
/// See [`take_any_while`](crate::iter::ParallelIterator::take_any_while).
pub type TakeAnyWhile<I, P> = Staged<I, Gated<TakingAnyWhile<P>>>;
/// See [`skip_any_while`](crate::iter::ParallelIterator::skip_any_while).
pub type SkipAnyWhile<I, P> = Staged<I, Gated<SkippingAnyWhile<P>>>;

/// Defines a stage that is one of the standard iterators with a borrowed closure.
macro_rules! stage {
    ($(#[$doc:meta])* $Stage:ident, [$($generics:tt)*] $In:ty => $Out:ty, $method:ident, $Items:ident, $exact:literal) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $Stage<F>(pub(in crate::iter) F);

        shown!([F] $Stage<F>, stringify!($Stage));

        impl<$($generics)*> Stage<$In> for $Stage<F> {
            type Out = $Out;
            type Items<'a, I: Iterator<Item = $In>>
                = iter::$Items<I, &'a F>
            where
                Self: 'a;

            const ONE_TO_ONE: bool = $exact;

            #[inline]
            fn items<'a, I: Iterator<Item = $In>>(&'a self, items: I) -> Self::Items<'a, I> {
                items.$method(&self.0)
            }
        }
    };
}

stage! {
    /// Gives the result of a function for each item.
    Mapping, [In, R: Send, F: Fn(In) -> R + Send + Sync] In => R, map, Map, true
}
stage! {
    /// Calls a function with a reference to each item.
    Inspecting, [In: Send, F: Fn(&In) + Send + Sync] In => In, inspect, Inspect, true
}
stage! {
    /// Keeps the items for which a function returns `true`.
    Filtering, [In: Send, F: Fn(&In) -> bool + Send + Sync] In => In, filter, Filter, false
}
stage! {
    /// Keeps the values that a function returns as `Some`.
    FilterMapping, [In, R: Send, F: Fn(In) -> Option<R> + Send + Sync] In => R, filter_map, FilterMap, false
}

impl<In, R: Send, F: Fn(In) -> R + Send + Sync> OneToOne<In> for Mapping<F> {}
impl<In: Send, F: Fn(&In) + Send + Sync> OneToOne<In> for Inspecting<F> {}

/// Clones the value that an item refers to.
#[derive(Debug, Clone)]
pub struct Cloning;

/// Copies the value that an item refers to.
#[derive(Debug, Clone)]
pub struct Copying;

macro_rules! copies {
    ($Stage:ident, $bound:ident, $method:ident, $Items:ident) => {
        impl<'t, T: $bound + Send + 't> Stage<&'t T> for $Stage {
            type Out = T;
            type Items<'a, I: Iterator<Item = &'t T>> = iter::$Items<I>;

            const ONE_TO_ONE: bool = true;

            #[inline]
            fn items<'a, I: Iterator<Item = &'t T>>(&'a self, items: I) -> Self::Items<'a, I> {
                items.$method()
            }
        }

        impl<'t, T: $bound + Send + 't> OneToOne<&'t T> for $Stage {}
    };
}

copies!(Cloning, Clone, cloned, Cloned);
copies!(Copying, Copy, copied, Copied);

/// Gives the items of the collections that a function returns for each item.
#[derive(Clone)]
pub struct FlatMapping<F>(pub(in crate::iter) F);

shown!([F] FlatMapping<F>, "FlatMapping");

impl<In, U: IntoIterator<Item: Send>, F: Fn(In) -> U + Send + Sync> Stage<In> for FlatMapping<F> {
    type Out = U::Item;
    type Items<'a, I: Iterator<Item = In>>
        = iter::FlatMap<I, U, &'a F>
    where
        Self: 'a;

    #[inline]
    fn items<'a, I: Iterator<Item = In>>(&'a self, items: I) -> Self::Items<'a, I> {
        items.flat_map(&self.0)
    }
}

/// Gives the items of each item.
#[derive(Debug, Clone)]
pub struct Flattening;

impl<In: IntoIterator<Item: Send>> Stage<In> for Flattening {
    type Out = In::Item;
    type Items<'a, I: Iterator<Item = In>> = iter::Flatten<I>;

    #[inline]
    fn items<'a, I: Iterator<Item = In>>(&'a self, items: I) -> Self::Items<'a, I> {
        items.flatten()
    }
}

/// Calls a function with a mutable reference to each item.
#[derive(Clone)]
pub struct Updating<F>(pub(in crate::iter) F);

shown!([F] Updating<F>, "Updating");

impl<In: Send, F: Fn(&mut In) + Send + Sync> Stage<In> for Updating<F> {
    type Out = In;
    type Items<'a, I: Iterator<Item = In>>
        = Updated<'a, I, F>
    where
        Self: 'a;

    const ONE_TO_ONE: bool = true;

    #[inline]
    fn items<'a, I: Iterator<Item = In>>(&'a self, items: I) -> Updated<'a, I, F> {
        Updated { items, update: &self.0 }
    }
}

impl<In: Send, F: Fn(&mut In) + Send + Sync> OneToOne<In> for Updating<F> {}

/// The iterator of an [`Updating`].
pub struct Updated<'a, I, F> {
    items: I,
    update: &'a F,
}

shown!([I: std::fmt::Debug, F] Updated<'_, I, F>, "Updated", items);

impl<I: Iterator, F: Fn(&mut I::Item)> Iterator for Updated<'_, I, F> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        let mut item = self.items.next()?;
        (self.update)(&mut item);
        Some(item)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }

    #[inline]
    fn fold<A, G: FnMut(A, I::Item) -> A>(self, init: A, mut op: G) -> A {
        let update = self.update;
        self.items.fold(init, |acc, mut item| {
            update(&mut item);
            op(acc, item)
        })
    }
}
