//! Post-processing: an event whose value passes through a function.

use crate::event::{Description, Event, awaitable, forwarded, raising};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;

/// An event with a function applied to its value, see [`Event::wrap`].
#[must_use = "events do nothing unless performed"]
#[derive(Clone, Copy)]
pub struct Wrap<E, F> {
    event: E,
    function: F,
}

impl<E, F> Wrap<E, F> {
    pub(in crate::event) fn new(event: E, function: F) -> Self {
        Wrap { event, function }
    }
}

impl<E: Event, U, F: Fn(E::Output) -> U> Event for Wrap<E, F> {
    type Output = U;
    forwarded!(event: E);
    forwarded!(describe event);

    #[inline]
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> U {
        (self.function)(self.event.complete(branch))
    }
    #[inline]
    fn at_once(&self) -> Option<U> {
        self.event.at_once().map(&self.function)
    }
}

/// An event whose panics are handled, see [`Event::wrap_panic`].
#[must_use = "events do nothing unless performed"]
#[derive(Clone, Copy)]
pub struct WrapPanic<E, F> {
    event: E,
    handler: F,
}

impl<E, F> WrapPanic<E, F> {
    pub(in crate::event) fn new(event: E, handler: F) -> Self {
        WrapPanic { event, handler }
    }
}

impl<E: Event, F: Fn(Box<dyn Any + Send>) -> E::Output> Event for WrapPanic<E, F> {
    type Output = E::Output;
    forwarded!(event: E);
    forwarded!(describe event);

    #[inline(never)] // As required of a frame that raises a panic again.
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> E::Output {
        let _raising = raising();
        // The branch is dropped next, in whatever state it is left.
        match catch_unwind(AssertUnwindSafe(|| self.event.complete(branch))) {
            Ok(value) => value,
            Err(panic) if crate::event::is_interruption(&*panic) => resume_unwind(panic),
            Err(panic) => (self.handler)(panic),
        }
    }
}

/// An event with another description of its performer's wait.
#[doc(hidden)]
pub struct Described<E, D> {
    event: E,
    describe: D,
}

/// Returns the same event, described by `describe`.
#[inline]
#[doc(hidden)]
pub fn described<E: Event, D: Fn(&mut Description)>(event: E, describe: D) -> Described<E, D> {
    Described { event, describe }
}

impl<E: Event, D: Fn(&mut Description)> Event for Described<E, D> {
    type Output = E::Output;
    forwarded!(event: E);

    #[inline]
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> E::Output {
        self.event.complete(branch)
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        (self.describe)(waits);
    }
}

impl<E: fmt::Debug, F> fmt::Debug for Wrap<E, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wrap").field(&self.event).finish()
    }
}

impl<E: fmt::Debug, F> fmt::Debug for WrapPanic<E, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WrapPanic").field(&self.event).finish()
    }
}

awaitable!([E: Event, U, F: Fn(E::Output) -> U] Wrap<E, F>);
awaitable!([E: Event, F: Fn(Box<dyn Any + Send>) -> E::Output] WrapPanic<E, F>);
