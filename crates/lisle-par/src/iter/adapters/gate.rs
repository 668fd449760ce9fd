//! Stages that let some items pass, and may end the loop.

use super::stage::Stage;
use crate::event::{gone, visible_on};
use crate::iter::ends::stop::Found;
use crate::iter::shown::shown;
use crate::kept::without;
use crate::shim::atomic::{AtomicUsize, Ordering::Relaxed};
use std::fmt;
use std::ops::ControlFlow;

/// What becomes of an item at a [`Gate`].
#[derive(Debug)]
pub enum Passed<T> {
    /// It passes, as this item.
    On(T),
    /// It is left out.
    Out,
    /// It is left out, and so are all others.
    End,
}

/// A decision about each item, which all participants of a loop take together.
pub trait Gate<In>: Send + Sync {
    /// The type of the items that pass.
    type Out: Send;

    /// Decides about an item.
    fn pass(&self, item: In) -> Passed<Self::Out>;

    /// Returns `true` if no more items pass.
    fn is_closed(&self) -> bool {
        false
    }
}

/// The stage of a [`Gate`].
#[derive(Debug, Clone)]
pub struct Gated<G>(pub(in crate::iter) G);

impl<In, G: Gate<In>> Stage<In> for Gated<G> {
    type Out = G::Out;
    type Items<'a, I: Iterator<Item = In>>
        = Passing<'a, I, G>
    where
        Self: 'a;

    fn items<'a, I: Iterator<Item = In>>(&'a self, items: I) -> Passing<'a, I, G> {
        Passing { items, gate: &self.0 }
    }

    fn is_over(&self) -> bool {
        self.0.is_closed()
    }
}

/// The iterator of a [`Gated`].
pub struct Passing<'a, I, G> {
    items: I,
    gate: &'a G,
}

shown!([I: std::fmt::Debug, G] Passing<'_, I, G>, "Passing", items);

impl<I: Iterator, G: Gate<I::Item>> Iterator for Passing<'_, I, G> {
    type Item = G::Out;

    #[inline]
    fn next(&mut self) -> Option<G::Out> {
        while !self.gate.is_closed() {
            match self.gate.pass(self.items.next()?) {
                Passed::On(item) => return Some(item),
                Passed::Out => {}
                Passed::End => break,
            }
        }
        None
    }

    #[inline]
    fn fold<A, F: FnMut(A, G::Out) -> A>(mut self, init: A, mut op: F) -> A {
        let gate = self.gate;
        if gate.is_closed() {
            return without(init, self.items);
        }
        let folded = self.items.try_fold(init, |acc, item| {
            let acc = match gate.pass(item) {
                Passed::On(item) => op(acc, item),
                Passed::Out => acc,
                Passed::End => return ControlFlow::Break(acc),
            };
            if gate.is_closed() { ControlFlow::Break(acc) } else { ControlFlow::Continue(acc) }
        });
        match without(folded, self.items) {
            ControlFlow::Continue(acc) | ControlFlow::Break(acc) => acc,
        }
    }
}

/// A number of items that may still be counted.
struct Left(AtomicUsize);

impl Left {
    fn is_zero(&self) -> bool {
        visible_on(self);
        self.0.load(Relaxed) == 0
    }

    /// Counts an item, if it is one of the number.
    fn count(&self) -> bool {
        // Most items come when the number is 0; they only read it.
        if self.is_zero() {
            return false;
        }
        visible_on(self);
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

impl Drop for Left {
    #[inline]
    fn drop(&mut self) {
        gone(self);
    }
}

impl Clone for Left {
    fn clone(&self) -> Self {
        Left(AtomicUsize::new(self.0.load(Relaxed)))
    }
}

impl fmt::Debug for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.load(Relaxed).fmt(f)
    }
}

/// Lets a number of items pass, whichever come first in time.
#[derive(Debug, Clone)]
pub struct TakingAny {
    left: Left,
}

impl TakingAny {
    pub(in crate::iter) fn new(count: usize) -> Self {
        TakingAny { left: Left(AtomicUsize::new(count)) }
    }
}

impl<T: Send> Gate<T> for TakingAny {
    type Out = T;

    #[inline]
    fn pass(&self, item: T) -> Passed<T> {
        if self.left.count() { Passed::On(item) } else { Passed::End }
    }

    #[inline]
    fn is_closed(&self) -> bool {
        self.left.is_zero()
    }
}

/// Leaves out a number of items, whichever come first in time.
#[derive(Debug, Clone)]
pub struct SkippingAny {
    left: Left,
}

impl SkippingAny {
    pub(in crate::iter) fn new(count: usize) -> Self {
        SkippingAny { left: Left(AtomicUsize::new(count)) }
    }
}

impl<T: Send> Gate<T> for SkippingAny {
    type Out = T;

    #[inline]
    fn pass(&self, item: T) -> Passed<T> {
        if self.left.count() { Passed::Out } else { Passed::On(item) }
    }
}

/// Lets items pass until a function returns `false` for one.
#[derive(Clone)]
pub struct TakingAnyWhile<P> {
    predicate: P,
    is_over: Found,
}

impl<P> TakingAnyWhile<P> {
    pub(in crate::iter) fn new(predicate: P) -> Self {
        TakingAnyWhile { predicate, is_over: Found::new() }
    }
}

impl<T: Send, P: Fn(&T) -> bool + Send + Sync> Gate<T> for TakingAnyWhile<P> {
    type Out = T;

    #[inline]
    fn pass(&self, item: T) -> Passed<T> {
        if (self.predicate)(&item) {
            return Passed::On(item);
        }
        self.is_over.set();
        Passed::End
    }

    #[inline]
    fn is_closed(&self) -> bool {
        self.is_over.is_set()
    }
}

/// Leaves out items until a function returns `false` for one.
#[derive(Clone)]
pub struct SkippingAnyWhile<P> {
    predicate: P,
    is_over: Found,
}

impl<P> SkippingAnyWhile<P> {
    pub(in crate::iter) fn new(predicate: P) -> Self {
        SkippingAnyWhile { predicate, is_over: Found::new() }
    }
}

impl<T: Send, P: Fn(&T) -> bool + Send + Sync> Gate<T> for SkippingAnyWhile<P> {
    type Out = T;

    #[inline]
    fn pass(&self, item: T) -> Passed<T> {
        if !self.is_over.is_set() {
            if (self.predicate)(&item) {
                return Passed::Out;
            }
            self.is_over.set();
        }
        Passed::On(item)
    }
}

/// Gives the values in items until an item is `None`.
#[derive(Clone)]
pub struct TakingSome {
    is_over: Found,
}

impl TakingSome {
    pub(in crate::iter) fn new() -> Self {
        TakingSome { is_over: Found::new() }
    }
}

impl<T: Send> Gate<Option<T>> for TakingSome {
    type Out = T;

    #[inline]
    fn pass(&self, item: Option<T>) -> Passed<T> {
        item.map_or_else(
            || {
                self.is_over.set();
                Passed::End
            },
            Passed::On,
        )
    }

    #[inline]
    fn is_closed(&self) -> bool {
        self.is_over.is_set()
    }
}

/// Gives the numbers of items for which a function returns `true`.
#[derive(Clone)]
pub struct Positioning<P>(pub(in crate::iter) P);

impl<T, P: Fn(T) -> bool + Send + Sync> Gate<(usize, T)> for Positioning<P> {
    type Out = usize;

    #[inline]
    fn pass(&self, (at, item): (usize, T)) -> Passed<usize> {
        if (self.0)(item) { Passed::On(at) } else { Passed::Out }
    }
}

shown!([P] TakingAnyWhile<P>, "TakingAnyWhile");
shown!([P] SkippingAnyWhile<P>, "SkippingAnyWhile");
shown!([P] Positioning<P>, "Positioning");
shown!([] TakingSome, "TakingSome");
