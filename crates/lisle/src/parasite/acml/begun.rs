//! What asynchronous sends and receives have in common: a parasite that performs one event, and a place for what comes
//! of it, which outlasts the parasite if that is cancelled.

use super::super::handle::ParasiteHandle;
use super::super::spawn::spawn_here;
use crate::event::lock::Lock;
use crate::event::record::Committer;
use crate::event::{Attempt, Event, Label, Source, Step, Waiting, Waits};
use crate::shim::sync::Arc;
use std::panic::Location;
use std::pin::Pin;

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
    /// leaves the stack before it waits for its event. The event is to [`settle`] the outcome by itself, at the latest
    /// when it is dropped.
    pub(super) fn begin<E>(site: &'static Location<'static>, make: impl FnOnce(Place<R>) -> E) -> Self
    where
        E: Event<Output = ()> + Send + 'static,
    {
        let place: Place<R> = Arc::new(Source::labelled(Label::anywhere("outcome"), None));
        let event = make(place.clone());
        let parasite = spawn_here(event.future().staying(), site);
        Begun { held: Held::UnderWay(place, parasite) }
    }

    /// Takes the operation back, unless somebody has met it. When this returns nobody can meet it any more, unless the
    /// parasite was queued or runs elsewhere: that is so when somebody has met it, or has woken it in vain.
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
            Held::UnderWay(place, _) => {
                place.update(|held, _| take(held.as_mut().expect("it has been granted")))
            }
        }
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Waits) {
        if let Held::UnderWay(_, parasite) = &self.held {
            parasite.describe(&None, waits);
        }
    }
}
