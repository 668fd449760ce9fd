//! What asynchronous sends and receives have in common: a parasite that performs one event, and a place for what comes
//! of it, which outlasts the parasite if that is cancelled.

use super::super::current;
use super::super::handle::ParasiteHandle;
use super::super::spawn::spawn_here;
use crate::event::lock::Lock;
use crate::event::record::Committer;
use crate::event::{Attempt, Event, EventFuture, Label, Source, Step, Waiting, Waits};
use crate::shim::sync::Arc;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// What an operation comes to, of which a value can be taken once.
pub(super) trait Outcome: Send + 'static {
    /// What it is to those who ask after the value has been taken.
    fn again(&self) -> Self;
}

/// Where the outcome comes to lie.
pub(super) type Place<R> = Arc<Source<Option<R>, ()>>;

/// An operation that has begun, and the event of its end.
pub(super) struct Begun<R> {
    held: Held<R>,
}

enum Held<R> {
    /// It has ended as it began.
    Ended(Lock<R>),
    UnderWay(Place<R>, ParasiteHandle<()>),
}

impl<R: Outcome> Begun<R> {
    pub(super) fn ended(outcome: R) -> Self {
        Begun { held: Held::Ended(Lock::new(outcome)) }
    }

    /// Begins to perform the event that `make` gives, in a parasite, before this returns.
    ///
    /// Events that are begun one after another so come to wait one after another: the parasite neither is queued nor
    /// leaves the stack before it waits for its event.
    pub(super) fn begin<E>(
        site: &'static Location<'static>,
        make: impl FnOnce(Place<R>) -> E,
        outcome: impl Fn(E::Output) -> R + Send + 'static,
    ) -> Self
    where
        E: Event + Send + 'static,
    {
        let place: Place<R> = Arc::new(Source::labelled(Label::anywhere("outcome"), None));
        let event = make(place.clone());
        let parasite = spawn_here(perform(event, place.clone(), outcome), site);
        Begun { held: Held::UnderWay(place, parasite) }
    }

    /// Takes the operation back, unless somebody has met it. When this returns nobody can meet it any more.
    pub(super) fn cancel(&self) {
        if let Held::UnderWay(_, parasite) = &self.held {
            parasite.cancel_here();
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        match &self.held {
            Held::Ended(_) => true,
            Held::UnderWay(place, _) => place.with(Option::is_some),
        }
    }
}

/// Puts the outcome into its place, if there is none yet.
pub(super) fn settle<R>(place: &Source<Option<R>, ()>, outcome: R) {
    let _unused = place.update(|held, waiters| {
        if held.is_some() {
            return Some(outcome);
        }
        *held = Some(outcome);
        while waiters.grant(()).is_ok() {}
        None
    });
}

async fn perform<E: Event, R>(event: E, place: Place<R>, outcome: impl Fn(E::Output) -> R) {
    let mut performance = pin!(event.future());
    let output = poll_fn(|context| poll_at_once(performance.as_mut(), context)).await;
    settle(&place, outcome(output));
}

/// Polls a performance that is to begin now, even if the turn has lasted long.
fn poll_at_once<E: Event>(mut performance: Pin<&mut EventFuture<E>>, context: &mut Context<'_>) -> Poll<E::Output> {
    loop {
        let polled = performance.as_mut().poll(context);
        if polled.is_ready() || performance.has_begun() {
            return polled;
        }
        // The clock of turns has moved on just now. So a new turn begins, in place.
        let parasite = current().expect("only parasites have turns");
        // SAFETY: it runs this.
        let resident = unsafe { parasite.as_ref() }.as_resident();
        resident.is_leaving();
        resident.begin_turn();
    }
}

/// The branch: one that has ended as it began leaves no waiter anywhere.
pub(super) type MaybeWaiting<'e, R> = Option<Waiting<'e, Option<R>, ()>>;

fn is_there<R>(held: &mut Option<R>) -> Option<()> {
    held.as_ref().map(drop)
}

fn at_once(attempt: &Attempt<'_>) -> Step {
    if attempt.commit_alone() { Step::Committed } else { Step::Waiting }
}

impl<R: Outcome> Event for Begun<R> {
    type Output = R;
    type Branch<'e>
        = MaybeWaiting<'e, R>
    where
        Self: 'e;

    fn is_single(&self) -> bool {
        true
    }
    fn branch(&self) -> Self::Branch<'_> {
        match &self.held {
            Held::Ended(_) => None,
            Held::UnderWay(place, _) => Some(place.waiting()),
        }
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.as_pin_mut().map_or_else(|| at_once(attempt), |branch| branch.try_commit(attempt, is_there))
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.as_pin_mut().map_or_else(|| at_once(attempt), |branch| branch.publish(attempt, is_there))
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        branch.as_pin_mut().is_some_and(|branch| branch.withdraw(attempt))
    }
    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) -> R {
        let take = |held: &mut R| {
            let again = held.again();
            std::mem::replace(held, again)
        };
        match &self.held {
            Held::Ended(outcome) => take(&mut outcome.lock()),
            Held::UnderWay(place, _) => place.update(|held, _| take(held.as_mut().expect("it has been granted"))),
        }
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Waits) {
        if let Held::UnderWay(_, parasite) = &self.held {
            parasite.describe(&None, waits);
        }
    }
}
