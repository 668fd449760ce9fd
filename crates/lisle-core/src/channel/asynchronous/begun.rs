//! The common part of asynchronous sends and receives: they have ended as they began, or they are
//! under way and have a slot for their outcome.

use crate::event::lock::Lock;
use crate::event::{Attempt, Description, Event, Source, may_wait_at, visible_on};
use std::pin::Pin;

/// The outcome of an operation, whose value can be taken once.
#[doc(hidden)]
pub trait Outcome: Send + 'static {
    /// Returns the outcome that later queries get after the value has been taken.
    fn again(&self) -> Self;
}

/// The slot for the outcome: empty until the operation ends.
#[doc(hidden)]
pub type OutcomeSlot<R> = Source<Option<R>, ()>;

/// An operation that continues while the code that began it continues, too.
#[doc(hidden)]
pub trait UnderWay<R> {
    /// Returns the slot for the outcome.
    fn slot(&self) -> &OutcomeSlot<R>;
    /// Takes the operation back, unless a partner has committed it.
    fn take_back(&self);
    /// Describes that a performer waits for the end of the operation.
    fn describe(&self, waits: &mut Description);
}

/// An operation that has begun, and the event of its end.
///
/// The outcome is a parameter of its own and not an associated type of `W`. Otherwise whether a
/// future that holds this is `Send` would depend on an implementation with a lifetime, which the
/// compiler cannot resolve.
#[doc(hidden)]
pub enum Begun<R, W> {
    /// The operation ended as it began.
    Ended(Lock<R>),
    /// The operation is under way.
    UnderWay(W),
}

// No outcome is pinned where it waits to be taken.
impl<R, W> Unpin for Begun<R, W> {}

impl<R: Outcome, W: UnderWay<R>> Begun<R, W> {
    #[doc(hidden)]
    /// Creates an operation that ended as it began.
    pub fn ended(outcome: R) -> Self {
        Begun::Ended(Lock::new(outcome))
    }

    #[doc(hidden)]
    /// Takes the operation back, unless a partner has committed it.
    pub fn take_back(&self) {
        if let Begun::UnderWay(operation) = self {
            visible_on(self);
            operation.take_back();
        }
    }

    #[doc(hidden)]
    /// Returns `true` if the outcome is there.
    pub fn has_ended(&self) -> bool {
        self.slot().is_none_or(|slot| slot.with(Option::is_some))
    }

    fn slot(&self) -> Option<&OutcomeSlot<R>> {
        match self {
            Begun::Ended(_) => None,
            Begun::UnderWay(operation) => Some(operation.slot()),
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
    may_wait_at!(this: Option<R>, (); this.slot(), is_there, Attempt::at_once);

    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) -> R {
        match self {
            Begun::Ended(outcome) => take(&mut outcome.lock()),
            Begun::UnderWay(operation) => {
                operation.slot().update(|held, _| take(held.as_mut().expect("it has been granted")))
            }
        }
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        if let Begun::UnderWay(operation) = self {
            operation.describe(waits);
        }
    }
}
