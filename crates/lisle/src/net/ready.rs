//! The event of a descriptor being ready.
//!
//! If a descriptor is assumed to be ready, the kernel is asked before the event happens. An edge that
//! arrives while a performer waits is trusted, and the kernel is not asked.

use super::pollable::Pollable;
use crate::Event;
use crate::event::{Attempt, Description, Step, Waiting, awaitable};
use crate::reactor::Direction;
use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::pin::Pin;

/// The event of a descriptor being ready, returned by [`Pollable::readable_evt`].
///
/// It gives an error if the descriptor cannot be waited for.
#[must_use = "events do nothing unless performed"]
pub struct ReadyEvt<'a, T: AsFd> {
    pollable: &'a Pollable<T>,
    direction: Direction,
}

impl<'a, T: AsFd> ReadyEvt<'a, T> {
    pub(super) fn new(pollable: &'a Pollable<T>, direction: Direction) -> Self {
        ReadyEvt { pollable, direction }
    }
}

/// The branch of a [`ReadyEvt`].
#[derive(Debug, Default)]
pub struct Readying<'e> {
    waiting: Option<Waiting<'e, (), ()>>,
    failure: Option<io::Error>,
}

impl<'e> Readying<'e> {
    pub(super) fn waiting<'p>(self: Pin<&'p mut Self>) -> Pin<&'p mut Option<Waiting<'e, (), ()>>> {
        // SAFETY: `waiting` is structurally pinned; `failure` is plain data.
        unsafe { self.map_unchecked_mut(|this| &mut this.waiting) }
    }

    fn failure(self: Pin<&mut Self>) -> &mut Option<io::Error> {
        // SAFETY: `failure` is plain data; nothing that is pinned is moved.
        &mut unsafe { self.get_unchecked_mut() }.failure
    }
}

/// Commits `attempt`. Returns `false` if a partner has committed it in the meantime.
pub(super) fn commit(attempt: &Attempt<'_>) -> bool {
    attempt.commit_if(|| Some(())) == Ok(Some(()))
}

impl<T: AsFd> Event for ReadyEvt<'_, T> {
    type Output = io::Result<()>;
    type Branch<'e>
        = Readying<'e>
    where
        Self: 'e;

    fn is_single(&self) -> bool {
        true
    }

    fn branch(&self) -> Readying<'_> {
        Readying::default()
    }

    fn try_commit<'e>(&'e self, _: Pin<&mut Readying<'e>>, attempt: &Attempt<'_>) -> Step {
        let ready = self.pollable.is_ready_now(self.direction);
        if ready && commit(attempt) {
            return Step::Committed;
        }
        attempt.evidence().never_was();
        Step::Waiting
    }

    fn publish<'e>(&'e self, mut branch: Pin<&mut Readying<'e>>, attempt: &Attempt<'_>) -> Step {
        if self.try_commit(branch.as_mut(), attempt) == Step::Committed {
            return Step::Committed;
        }
        let direction = match self.pollable.registered(self.direction) {
            Ok(registration) => registration.state(self.direction),
            Err(_) if !commit(attempt) => return Step::Waiting,
            Err(error) => {
                *branch.failure() = Some(error);
                return Step::Committed;
            }
        };
        let mut waiting = branch.waiting();
        if waiting.is_none() {
            waiting.set(Some(direction.waiting()));
        }
        let waiting = waiting.as_pin_mut().expect("just put there");
        waiting.publish(attempt, |()| direction.is_ready().then_some(()))
    }

    fn withdraw<'e>(&'e self, branch: Pin<&mut Readying<'e>>, attempt: &Attempt<'_>) -> bool {
        branch.waiting().as_pin_mut().is_some_and(|waiting| waiting.withdraw(attempt))
    }

    fn complete<'e>(&'e self, branch: Pin<&mut Readying<'e>>) -> io::Result<()> {
        match branch.failure().take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        self.pollable.describe(self.direction, waits);
    }
}

impl<T: AsFd> Clone for ReadyEvt<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: AsFd> Copy for ReadyEvt<'_, T> {}

impl<T: AsFd> fmt::Debug for ReadyEvt<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadyEvt").field("direction", &self.direction).finish_non_exhaustive()
    }
}

awaitable!(['a, T: AsFd] ReadyEvt<'a, T>, single);
