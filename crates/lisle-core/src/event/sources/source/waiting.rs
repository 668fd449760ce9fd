//! The branches of events that wait at a source: for events of the user's and of this crate.

use super::super::source::{Inner, Labelled, Source};
use crate::event::protocol::queue::Waiter;
use crate::event::protocol::record::Attempt;
use crate::event::protocol::step::must_not_be_under;
use crate::event::{Description, Label, Step, declare_made};
use crate::shim::model::{Touch, is_running};
use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;

/// The branch of an event that waits at a [`Source`].
///
/// Its methods are the steps of [`Event`](super::super::source::Event) of the same names. A branch that has been
/// published must be withdrawn, in the same performance, before it is dropped; otherwise the
/// process ends with a message.
pub struct Waiting<'e, S, M, L = Label> {
    source: &'e Source<S, M, L>,
    waiter: Waiter<Option<M>>,
}

impl<'e, S, M, L: Labelled> Waiting<'e, S, M, L> {
    #[inline]
    pub(super) fn new(source: &'e Source<S, M, L>) -> Self {
        Waiting { source, waiter: Waiter::new(None) }
    }

    /// Commits if `take` succeeds on the state.
    #[inline]
    pub fn try_commit(
        self: Pin<&mut Self>,
        attempt: &Attempt<'_>,
        take: impl FnOnce(&mut S) -> Option<M>,
    ) -> Step {
        let source = self.source;
        must_not_be_under(source.id());
        self.try_commit_plain(attempt, |state| source.run(state, take))
    }

    /// Commits if `take` succeeds on the state; otherwise waits in the queue.
    #[inline]
    pub fn publish(
        self: Pin<&mut Self>,
        attempt: &Attempt<'_>,
        take: impl FnOnce(&mut S) -> Option<M>,
    ) -> Step {
        let source = self.source;
        must_not_be_under(source.id());
        self.publish_plain(attempt, |state| source.run(state, take))
    }

    /// Does the same as [`publish`](Waiting::publish). `touch` returns the kind of access for a
    /// model that has let the performer wait, from the state before and from whether the queue is
    /// empty.
    pub(crate) fn publish_as(
        self: Pin<&mut Self>,
        attempt: &Attempt<'_>,
        touch: impl FnOnce(&S, bool) -> Touch,
        take: impl FnOnce(&mut S) -> Option<M>,
    ) -> Step {
        let awaits = is_running() && attempt.awaited().is_some();
        let _told = awaits.then(|| self.source.told(self.source.peek(touch)));
        self.publish(attempt, take)
    }

    /// Does the same as [`try_commit`](Waiting::try_commit), for functions of this crate.
    #[inline]
    fn try_commit_plain(
        self: Pin<&mut Self>,
        attempt: &Attempt<'_>,
        take: impl FnOnce(&mut S) -> Option<M>,
    ) -> Step {
        let source = self.source;
        declare_made(source.label(), source);
        let mut inner = source.inner.lock();
        let step = self.try_locked(&mut inner, attempt, take);
        if step == Step::Waiting {
            attempt.evidence().unready(source, inner.changes);
        }
        step
    }

    /// Does the same as [`publish`](Waiting::publish), for functions of this crate.
    #[inline]
    fn publish_plain(
        mut self: Pin<&mut Self>,
        attempt: &Attempt<'_>,
        take: impl FnOnce(&mut S) -> Option<M>,
    ) -> Step {
        let source = self.source;
        declare_made(source.label(), source);
        let mut inner = source.inner.lock();
        let step = self.as_mut().try_locked(&mut inner, attempt, take);
        if step == Step::Waiting && !attempt.is_decided() {
            // SAFETY: the waiter is not linked, since `try_locked` has checked that it is not
            // published; it is pinned; it is not freed before `withdraw` has unlinked it. Single
            // events publish one branch only.
            unsafe { inner.queue.push(&self.waiter, attempt) };
        }
        step
    }

    fn try_locked(
        self: Pin<&mut Self>,
        inner: &mut Inner<S, M>,
        attempt: &Attempt<'_>,
        take: impl FnOnce(&mut S) -> Option<M>,
    ) -> Step {
        self.waiter.must_not_be_published();
        match attempt.commit_if(|| take(&mut inner.state)) {
            Ok(Some(value)) => {
                inner.changes = inner.changes.wrapping_add(1);
                // SAFETY: not published, as just checked.
                unsafe { self.waiter.slot_mut(|slot| *slot = Some(value)) };
                Step::Committed
            }
            Ok(None) | Err(()) => Step::Waiting,
        }
    }

    /// Leaves the queue. Returns `true` if a value was granted to this branch.
    #[inline]
    pub fn withdraw(self: Pin<&mut Self>, attempt: &Attempt<'_>) -> bool {
        if !self.waiter.is_free() {
            declare_made(self.source.label(), self.source);
            let mut inner = self.source.inner.lock();
            // SAFETY: if it was linked, it was linked into this source's queue; it is alive.
            unsafe { inner.queue.unlink(NonNull::from(&self.waiter)) };
        }
        self.waiter.taken_back(attempt);
        attempt.record().won_by(self.waiter.id())
    }

    /// Describes that the performer waits to do `operation` with the source.
    pub fn describe(&self, operation: &'static str, waits: &mut Description) {
        self.source.describe(operation, waits);
    }

    /// Returns the value taken or granted.
    ///
    /// # Panics
    ///
    /// Panics if there is no value, because the branch has neither committed nor won.
    #[inline]
    pub fn take(self: Pin<&mut Self>) -> M {
        assert!(!self.waiter.is_published(), "`take` on a branch that has not been withdrawn");
        // SAFETY: not published, hence free.
        unsafe { self.waiter.slot_mut(Option::take) }.expect("`take` on a branch that has not won")
    }
}

impl<S, M, L> fmt::Debug for Waiting<'_, S, M, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("published", &self.waiter.is_published()).finish_non_exhaustive()
    }
}

/// The branch of an event of this crate that waits at a source. Code outside of the crate cannot
/// call its steps, and therefore cannot reach the state of the source or the granted values, on
/// which unsafe code may rest.
pub struct Hidden<'e, S, M, L = Label>(Waiting<'e, S, M, L>);

impl<'e, S, M, L: Labelled> Hidden<'e, S, M, L> {
    #[inline]
    pub(super) fn new(source: &'e Source<S, M, L>) -> Self {
        Hidden(Waiting::new(source))
    }

    fn waiting(self: Pin<&mut Self>) -> Pin<&mut Waiting<'e, S, M, L>> {
        // SAFETY: structurally pinned.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }
    }

    /// Does the same as [`Waiting::try_commit`].
    ///
    /// # Safety
    ///
    /// The caller is the event to which this branch belongs, and upholds the promises of the
    /// source's state.
    #[inline]
    pub unsafe fn try_commit(
        self: Pin<&mut Self>,
        attempt: &Attempt<'_>,
        take: impl FnOnce(&mut S) -> Option<M>,
    ) -> Step {
        self.waiting().try_commit_plain(attempt, take)
    }

    /// Does the same as [`Waiting::publish`].
    ///
    /// # Safety
    ///
    /// The caller is the event to which this branch belongs, and upholds the promises of the
    /// source's state.
    #[inline]
    pub unsafe fn publish(
        self: Pin<&mut Self>,
        attempt: &Attempt<'_>,
        take: impl FnOnce(&mut S) -> Option<M>,
    ) -> Step {
        self.waiting().publish_plain(attempt, take)
    }

    /// Does the same as [`Waiting::withdraw`].
    ///
    /// # Safety
    ///
    /// The caller is the event to which this branch belongs, and upholds the promises of the
    /// source's state.
    #[inline]
    pub unsafe fn withdraw(self: Pin<&mut Self>, attempt: &Attempt<'_>) -> bool {
        self.waiting().withdraw(attempt)
    }

    /// Does the same as [`Waiting::take`].
    ///
    /// # Safety
    ///
    /// The caller is the event to which this branch belongs, and upholds the promises of the
    /// source's state.
    #[inline]
    pub unsafe fn take(self: Pin<&mut Self>) -> M {
        self.waiting().take()
    }

    /// Does the same as [`Waiting::describe`].
    pub fn describe(&self, operation: &'static str, waits: &mut Description) {
        self.0.describe(operation, waits);
    }
}

impl<S, M, L> fmt::Debug for Hidden<'_, S, M, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
