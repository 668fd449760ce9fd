//! What asynchronous sends and receives have in common: they have ended as they began, or are under way, with a place for
//! what comes of it.

use crate::event::lock::Lock;
use crate::event::{Attempt, Description, Event, Source, may_wait_at, visible};
use std::pin::Pin;

/// What an operation comes to, of which a value can be taken once.
#[doc(hidden)]
pub trait Outcome: Send + 'static {
    /// What it is to those who ask after the value has been taken.
    fn again(&self) -> Self;
}

/// Where the outcome comes to lie.
#[doc(hidden)]
pub type Place<R> = Source<Option<R>, ()>;

/// An operation that goes on while whoever has begun it does so, too.
#[doc(hidden)]
pub trait UnderWay<R> {
    /// Where its outcome comes to lie.
    fn place(&self) -> &Place<R>;
    /// Takes the operation back, unless somebody has met it.
    fn take_back(&self);
    /// Says that a performer waits for its end.
    fn describe(&self, waits: &mut Description);
}

/// An operation that has begun, and the event of its end.
///
/// The outcome is a parameter of its own, not told by `W`: whether a future that holds this is `Send` would else depend on
/// an implementation with a lifetime, which the compiler does not see through.
#[doc(hidden)]
pub enum Begun<R, W> {
    /// It has ended as it began.
    Ended(Lock<R>),
    /// It goes on.
    UnderWay(W),
}

impl<R: Outcome, W: UnderWay<R>> Begun<R, W> {
    #[doc(hidden)]
    /// Of what has ended as it began.
    pub fn ended(outcome: R) -> Self {
        Begun::Ended(Lock::new(outcome))
    }

    #[doc(hidden)]
    /// Takes the operation back, unless somebody has met it.
    pub fn take_back(&self) {
        if let Begun::UnderWay(operation) = self {
            visible();
            operation.take_back();
        }
    }

    #[doc(hidden)]
    /// Returns `true` if the outcome is there.
    pub fn has_ended(&self) -> bool {
        self.place().is_none_or(|place| place.with(Option::is_some))
    }

    fn place(&self) -> Option<&Place<R>> {
        match self {
            Begun::Ended(_) => None,
            Begun::UnderWay(operation) => Some(operation.place()),
        }
    }
}

fn is_there<R>(held: &mut Option<R>) -> Option<()> {
    held.as_ref().map(drop)
}

fn take<R: Outcome>(held: &mut R) -> R {
    let again = held.again();
    std::mem::replace(held, again)
}

impl<R: Outcome, W: UnderWay<R>> Event for Begun<R, W> {
    type Output = R;
    may_wait_at!(this: Option<R>, (); this.place(), is_there, Attempt::at_once);

    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) -> R {
        match self {
            Begun::Ended(outcome) => take(&mut outcome.lock()),
            Begun::UnderWay(operation) => {
                operation.place().update(|held, _| take(held.as_mut().expect("it has been granted")))
            }
        }
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        if let Begun::UnderWay(operation) = self {
            operation.describe(waits);
        }
    }
}
