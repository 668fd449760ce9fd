//! An operation that is tried until it succeeds, as an event.
//!
//! It waits for a sign that the operation may succeed, tries it, and waits again if that was too
//! early. Only a successful try completes the event. A sign alone is a stage of the performance
//! ([`Event::advance`]): if the try that follows is too early, the event continues to compete with
//! the other alternatives of its choice, and has taken nothing.
//!
//! The operation runs between stages, when nothing of the performance is published or claimed.
//! Therefore it may take locks and grant to others, which a claimed performer must not: two claimed
//! performers could wait for each other.

use crate::event::{Attempt, Description, Event, Step, awaitable};
use std::fmt;
use std::io;
use std::pin::Pin;

/// An operation that does not wait, on an object that may be shared.
pub trait Operation {
    /// The value of the operation.
    type Output: Send;

    /// Tries the operation. If it cannot be done now, returns `None` and leaves the sign unset
    /// until it may succeed.
    fn attempt(&self) -> Option<io::Result<Self::Output>>;

    /// Describes the wait of a performer.
    fn describe(&self, waits: &mut Description);
}

/// The event that `operation` succeeds. `sign` happens whenever the operation may succeed.
#[must_use = "events do nothing unless performed"]
pub struct Until<'a, O, E> {
    operation: &'a O,
    sign: E,
}

impl<'a, O, E> Until<'a, O, E> {
    /// Creates the event. `sign` must be ready whenever an attempt would succeed, and not for long
    /// when none would.
    pub fn new(operation: &'a O, sign: E) -> Self {
        Until { operation, sign }
    }
}

/// The branch of an [`Until`].
pub struct Trying<B, T> {
    sign: B,
    outcome: Option<io::Result<T>>,
}

impl<B, T> Trying<B, T> {
    fn sign(self: Pin<&mut Self>) -> Pin<&mut B> {
        // SAFETY: `sign` is structurally pinned; `outcome` is plain data.
        unsafe { self.map_unchecked_mut(|this| &mut this.sign) }
    }

    fn outcome(self: Pin<&mut Self>) -> &mut Option<io::Result<T>> {
        // SAFETY: `outcome` is plain data, nothing pinned is moved.
        &mut unsafe { self.get_unchecked_mut() }.outcome
    }
}

impl<O: Operation, E: Event<Output = io::Result<()>>> Event for Until<'_, O, E> {
    type Output = io::Result<O::Output>;
    type Branch<'e>
        = Trying<E::Branch<'e>, O::Output>
    where
        Self: 'e;

    const STAGED: bool = true;

    fn is_single(&self) -> bool {
        self.sign.is_single()
    }

    fn branch(&self) -> Self::Branch<'_> {
        Trying { sign: self.sign.branch(), outcome: None }
    }

    fn depth(&self) -> usize {
        self.sign.depth()
    }

    fn force<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        self.sign.force(branch.sign());
    }

    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        self.sign.try_commit(branch.sign(), attempt)
    }

    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        self.sign.publish(branch.sign(), attempt)
    }

    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        self.sign.withdraw(branch.sign(), attempt)
    }

    fn advance<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>) -> bool {
        if self.sign.advance(branch.as_mut().sign()) {
            let outcome = match self.sign.complete(branch.as_mut().sign()) {
                Ok(()) => self.operation.attempt(),
                Err(error) => Some(Err(error)),
            };
            *branch.as_mut().outcome() = outcome;
        }
        branch.outcome.is_some()
    }

    fn lose<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        self.sign.lose(branch.sign());
    }

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        branch.outcome().take().expect("an operation that has succeeded has its outcome")
    }

    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        self.operation.describe(waits);
    }
}

impl<O, E: Clone> Clone for Until<'_, O, E> {
    fn clone(&self) -> Self {
        Until { operation: self.operation, sign: self.sign.clone() }
    }
}

impl<O: fmt::Debug, E> fmt::Debug for Until<'_, O, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Until").field(&self.operation).finish()
    }
}

impl<B, T> fmt::Debug for Trying<B, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trying").field("is_done", &self.outcome.is_some()).finish_non_exhaustive()
    }
}

awaitable!(['a, O: Operation, E: Event<Output = io::Result<()>>] Until<'a, O, E>);
