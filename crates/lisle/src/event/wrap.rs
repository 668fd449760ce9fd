//! Post-processing: an event whose value passes through a function.

use super::{Attempt, Event, Step, awaitable};
use std::fmt;
use std::pin::Pin;

/// An event with a function applied to its value, see [`Event::wrap`].
#[derive(Clone, Copy)]
pub struct Wrap<E, F> {
    event: E,
    function: F,
}

impl<E, F> Wrap<E, F> {
    pub(super) fn new(event: E, function: F) -> Self {
        Wrap { event, function }
    }
}

impl<E: Event, U, F: Fn(E::Output) -> U> Event for Wrap<E, F> {
    type Output = U;
    type Branch<'e>
        = E::Branch<'e>
    where
        Self: 'e;

    #[inline]
    fn is_single(&self) -> bool {
        self.event.is_single()
    }
    #[inline]
    fn branch(&self) -> Self::Branch<'_> {
        self.event.branch()
    }
    #[inline]
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        self.event.try_commit(branch, attempt)
    }
    #[inline]
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        self.event.publish(branch, attempt)
    }
    #[inline]
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        self.event.withdraw(branch, attempt)
    }
    #[inline]
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> U {
        (self.function)(self.event.complete(branch))
    }
}

impl<E: fmt::Debug, F> fmt::Debug for Wrap<E, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wrap").field(&self.event).finish()
    }
}

awaitable!([E: Event, U, F: Fn(E::Output) -> U] Wrap<E, F>);
