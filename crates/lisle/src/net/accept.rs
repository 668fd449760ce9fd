//! The event of accepting a connection. Its commit is the accept itself.
//!
//! Waiting for readiness and then accepting would not do the same. A choice that lost could hold a
//! connection that nothing asked for, or another acceptor could have taken the connection. Here the
//! system call runs while the performer's attempt is claimed, so no other branch can win at that
//! time. The success of the call is the commit.

use super::pollable::{Pollable, is_interrupted, would_block};
use super::ready::commit;
use super::waiting;
use crate::Event;
use crate::event::{Attempt, Description, Step, Waiting, awaitable};
use crate::reactor::{Ask, Direction};
use std::fmt;
use std::io;
use std::iter::FusedIterator;
use std::pin::Pin;

/// A listener that accepts connections: [`TcpListener`](super::TcpListener) and
/// [`UnixListener`](super::UnixListener).
pub trait Accept: sealed::Sealed {
    /// A connection and the address of its other end.
    type Accepted: Send;
}

pub(super) mod sealed {
    use super::{Pollable, io};
    use std::os::fd::AsFd;

    pub trait Sealed: Sized {
        type Io: AsFd;
        fn pollable(&self) -> &Pollable<Self::Io>;
        /// Accepts without waiting.
        fn accept_now(io: &Self::Io) -> io::Result<<Self as super::Accept>::Accepted>
        where
            Self: super::Accept;
    }
}

/// The event of accepting a connection, returned by
/// [`TcpListener::accept_evt`](super::TcpListener::accept_evt).
#[must_use = "events do nothing unless performed"]
pub struct AcceptEvt<'a, L> {
    listener: &'a L,
}

impl<'a, L: Accept> AcceptEvt<'a, L> {
    pub(super) fn new(listener: &'a L) -> Self {
        AcceptEvt { listener }
    }

    /// Accepts a connection if that does not block.
    fn try_accept(&self) -> Option<io::Result<L::Accepted>> {
        loop {
            let pollable = self.listener.pollable();
            return match pollable.attempt(Direction::Read, Ask::IfReady, L::accept_now, |_| false) {
                Err(error) if would_block(&error) => None,
                Err(error) if is_interrupted(&error) => continue,
                outcome => Some(outcome),
            };
        }
    }
}

/// The branch of an [`AcceptEvt`].
pub struct Accepting<'e, A> {
    waiting: Option<Waiting<'e, (), ()>>,
    outcome: Option<io::Result<A>>,
}

impl<'e, A> Accepting<'e, A> {
    fn waiting<'p>(self: Pin<&'p mut Self>) -> Pin<&'p mut Option<Waiting<'e, (), ()>>> {
        // SAFETY: `waiting` is structurally pinned; `outcome` is plain data.
        unsafe { self.map_unchecked_mut(|this| &mut this.waiting) }
    }

    fn outcome(self: Pin<&mut Self>) -> &mut Option<io::Result<A>> {
        // SAFETY: `outcome` is plain data; nothing that is pinned is moved.
        &mut unsafe { self.get_unchecked_mut() }.outcome
    }
}

impl<L: Accept> Event for AcceptEvt<'_, L> {
    type Output = io::Result<L::Accepted>;
    type Branch<'e>
        = Accepting<'e, L::Accepted>
    where
        Self: 'e;

    fn is_single(&self) -> bool {
        true
    }

    fn branch(&self) -> Self::Branch<'_> {
        Accepting { waiting: None, outcome: None }
    }

    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        match attempt.commit_if(|| self.try_accept()) {
            Ok(Some(accepted)) => {
                *branch.outcome() = Some(accepted);
                Step::Committed
            }
            Ok(None) | Err(()) => {
                attempt.evidence().never_was();
                Step::Waiting
            }
        }
    }

    fn publish<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        if self.try_commit(branch.as_mut(), attempt) == Step::Committed {
            return Step::Committed;
        }
        let direction = match self.listener.pollable().registered(Direction::Read) {
            Ok(registration) => registration.state(Direction::Read),
            Err(_) if !commit(attempt) => return Step::Waiting,
            Err(error) => {
                *branch.outcome() = Some(Err(error));
                return Step::Committed;
            }
        };
        let mut waiting = branch.as_mut().waiting();
        if waiting.is_none() {
            waiting.set(Some(direction.waiting()));
        }
        let waiting = waiting.as_pin_mut().expect("just put there");
        // Under the queue's lock the system call is made only if an edge has come since the call
        // above.
        let mut outcome = None;
        let step = waiting.publish(attempt, |()| {
            outcome = self.try_accept();
            outcome.is_some().then_some(())
        });
        if step == Step::Committed {
            *branch.outcome() = outcome;
        }
        step
    }

    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        branch.waiting().as_pin_mut().is_some_and(|waiting| waiting.withdraw(attempt))
    }

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        branch.outcome().take().expect("a committed accept has its outcome")
    }

    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        self.listener.pollable().describe(Direction::Read, waits);
    }
}

impl<A> fmt::Debug for Accepting<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accepting").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

impl<L> Clone for AcceptEvt<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for AcceptEvt<'_, L> {}

impl<L> fmt::Debug for AcceptEvt<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AcceptEvt")
    }
}

awaitable!(['a, L: Accept] AcceptEvt<'a, L>);

/// An iterator over connections as they come, returned by
/// [`TcpListener::incoming`](super::TcpListener::incoming).
///
/// It ends after the error that its fiber has been cancelled, or that a deadline has passed, since no
/// further wait would be possible. Other errors do not end it.
#[derive(Debug)]
pub struct Incoming<'a, L> {
    listener: &'a L,
    has_ended: bool,
}

impl<'a, L> Incoming<'a, L> {
    pub(super) fn new(listener: &'a L) -> Self {
        Incoming { listener, has_ended: false }
    }
}

impl<S, N: Send, L: Accept<Accepted = (S, N)>> Iterator for Incoming<'_, L>
where
    (S, N): Send,
{
    type Item = io::Result<S>;
    fn next(&mut self) -> Option<io::Result<S>> {
        if self.has_ended {
            return None;
        }
        let accepted = self.listener.pollable().perform(Direction::Read, None, L::accept_now);
        self.has_ended = accepted.as_ref().is_err_and(waiting::is_final);
        Some(accepted.map(|(stream, _)| stream))
    }
}

impl<S, N: Send, L: Accept<Accepted = (S, N)>> FusedIterator for Incoming<'_, L> where (S, N): Send {}
