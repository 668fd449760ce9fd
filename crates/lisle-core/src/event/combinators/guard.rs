//! Guards: events that are made anew for each performance.

use crate::event::depth;
use crate::event::interface::inline_event::InlineEvent;
use crate::event::{Attempt, Description, Event, Step, awaitable, debug_by_name};
use std::marker::PhantomData;
use std::pin::Pin;

/// An event made anew for each performance, see [`guard`].
#[must_use = "events do nothing unless performed"]
pub struct Guard<F, E> {
    make: F,
    _event: PhantomData<fn() -> E>,
}

/// Returns an event that `make` makes anew each time it is performed.
///
/// `make` runs in the performer at the beginning of the performance, before anything is tried. It may
/// do what the event needs beforehand: send a request, read a clock, count. It may block; in a future
/// that blocks the executor's thread. All guards of a choice run, from left to right, including guards
/// of alternatives that lose. Use [`with_nack`](crate::event::with_nack) to stop work that a losing
/// alternative has started.
///
/// The idea is from Concurrent ML.
///
/// # Panics
///
/// If `make` panics, the performance has done nothing. Negative acknowledgements of alternatives to
/// its left are sent, and guards to its right do not run.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::event::guard;
/// use lisle::{Event, time::at};
/// use std::time::{Duration, Instant};
///
/// // A timeout that begins anew with each performance.
/// let tick = guard(|| at(Instant::now() + Duration::from_millis(1)));
/// tick.sync();
/// tick.sync();
/// ```
pub fn guard<F: Fn() -> E, E: Event + Send>(make: F) -> Guard<F, E> {
    Guard { make, _event: PhantomData }
}

impl<F: Fn() -> E, E: Event + Send> Event for Guard<F, E> {
    type Output = E::Output;
    type Branch<'e>
        = InlineEvent<'e, E>
    where
        Self: 'e;

    const STAGED: bool = true;

    fn branch(&self) -> Self::Branch<'_> {
        InlineEvent::new()
    }
    fn force<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        branch.put(depth::aside(|| (self.make)()));
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        let made = branch.parts();
        made.event.try_commit(made.branch, attempt)
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        let made = branch.parts();
        made.event.publish(made.branch, attempt)
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        let made = branch.parts();
        made.event.withdraw(made.branch, attempt)
    }
    fn advance<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> bool {
        let made = branch.parts();
        depth::deeper(made.event.depth(), || made.event.advance(made.branch))
    }
    fn lose<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        let made = branch.parts();
        made.event.lose(made.branch);
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> E::Output {
        let made = branch.parts();
        made.event.complete(made.branch)
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        if let Some((event, branch)) = branch.look() {
            event.describe(branch, waits);
        }
    }
    fn awaits<'e>(&'e self, branch: &Self::Branch<'e>) -> Option<crate::event::telling::awaited::Awaits> {
        branch.look().and_then(|(event, branch)| event.awaits(branch))
    }
}

debug_by_name!([F, E] Guard<F, E>);
awaitable!([F: Fn() -> E, E: Event + Send] Guard<F, E>);
