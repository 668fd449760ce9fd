//! A state with a queue of performers that wait for it to change: the building block of one-sided
//! events (semaphores, cells, conditions, joins, readiness), and of users' own.

use super::lock::Lock;
use super::queue::{WaitQueue, Waiter};
use super::record::Attempt;
use super::woken::Woken;
use super::{Event, Label, Step, Waits, awaitable};
use crate::shim::const_fn;
use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;

/// A state `S` under a short lock, and the performers waiting to be granted an `M`.
///
/// An event of a source first *tries*: a function looks at the state and takes what it wants, if it is
/// there. If not, the performer waits in the source's queue. Whoever changes the state does so in
/// [`update`](Source::update), and grants to waiting performers directly: a grant commits the
/// performer, so what is granted is never lost and never given twice, choices included.
///
/// The functions given to a source run under its lock. They must be short, must not block, and must
/// not use the same source; a panic in one lets go of the lock and reaches whoever called.
///
/// ```
/// use lisle::event::{Event, Source};
///
/// // A gate: closed, then open for good.
/// let gate: Source<bool, ()> = Source::new(false);
/// let pass = gate.event(|open| open.then_some(()));
/// assert_eq!(pass.poll(), None);
/// gate.update(|open, waiters| {
///     *open = true;
///     while waiters.grant(()).is_ok() {}
/// });
/// pass.sync();
/// ```
pub struct Source<S, M> {
    inner: Lock<Inner<S, M>>,
    label: Label,
}

struct Inner<S, M> {
    state: S,
    queue: WaitQueue<Option<M>>,
}

/// The performers waiting at a source, while its state is being updated.
pub struct Waiters<'a, M> {
    queue: &'a mut WaitQueue<Option<M>>,
    woken: &'a mut Woken,
}

impl<M> Waiters<'_, M> {
    /// Grants `value` to the performer that has waited longest. If nobody waits, the value comes back.
    ///
    /// # Errors
    ///
    /// The value, if nobody waits.
    #[inline]
    pub fn grant(&mut self, value: M) -> Result<(), M> {
        match self.queue.commit_outside() {
            Some(mut partner) => {
                partner.slot(|slot| *slot = Some(value));
                self.woken.push(partner.finish());
                Ok(())
            }
            None => Err(value),
        }
    }

    /// Has everybody who waits try again. For changes after which more than one performer may or may not
    /// find what it wants.
    pub fn retry_all(&mut self) {
        self.queue.retry_all(None, self.woken);
    }

    /// Does nobody wait? What looks like somebody may turn out to have been served elsewhere.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

impl<S, M> Source<S, M> {
    /// A source with this state and nobody waiting.
    #[track_caller]
    pub fn new(state: S) -> Self {
        Source::labelled(Label::new("source"), state)
    }

    const_fn! {
        /// A source with this state, nobody waiting, and a label for those who ask who waits.
        pub fn labelled(label: Label, state: S) -> Self {
            Source { inner: Lock::new(Inner { state, queue: WaitQueue::new() }), label }
        }
    }

    /// The same source, with a name for those who ask who waits.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Source { label: self.label.named(name), ..self }
    }

    /// Gives it another label.
    pub(super) fn relabel(&mut self, label: Label) {
        self.label = label;
    }

    /// What it is, where it was made, what it is called.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// Changes the state and grants to waiting performers. They are woken after the lock is released.
    #[inline]
    pub fn update<R>(&self, change: impl FnOnce(&mut S, &mut Waiters<'_, M>) -> R) -> R {
        // Declared before the guard, so dropped after it: the wakes come when the lock is free, also
        // if `change` panics.
        let mut woken = Woken::default();
        let mut inner = self.inner.lock();
        let Inner { state, queue } = &mut *inner;
        change(state, &mut Waiters { queue, woken: &mut woken })
    }

    /// Looks at the state.
    #[inline]
    pub fn with<R>(&self, look: impl FnOnce(&S) -> R) -> R {
        look(&self.inner.lock().state)
    }

    /// The state, which nobody else can be looking at.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner.get_mut().state
    }

    /// The state.
    pub fn into_inner(self) -> S {
        self.inner.into_inner().state
    }

    /// The event of `attempt` returning a value, or of being granted one.
    #[inline]
    pub fn event<F: Fn(&mut S) -> Option<M>>(&self, attempt: F) -> SourceEvent<'_, S, M, F> {
        SourceEvent { source: self, attempt }
    }

    /// A branch for one performance of an event that waits at this source.
    #[inline]
    pub fn waiting(&self) -> Waiting<'_, S, M> {
        Waiting { source: self, waiter: Waiter::new(None) }
    }

    /// The same, for an event of this crate.
    #[inline]
    pub(crate) fn hidden(&self) -> Hidden<'_, S, M> {
        Hidden(self.waiting())
    }
}

impl<S: fmt::Debug, M> fmt::Debug for Source<S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with(|state| f.debug_tuple("Source").field(state).finish())
    }
}

impl<M> fmt::Debug for Waiters<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiters").field("is_empty", &self.is_empty()).finish()
    }
}

/// The branch of an event that waits at a [`Source`].
///
/// Its methods are the steps of [`Event`] under the same names. One that has been published must be
/// withdrawn, in the same performance, before it is dropped; otherwise the process ends with a message.
pub struct Waiting<'e, S, M> {
    source: &'e Source<S, M>,
    waiter: Waiter<Option<M>>,
}

impl<'e, S, M> Waiting<'e, S, M> {
    /// Commits if `take` finds what it wants in the state.
    #[inline]
    pub fn try_commit(
        self: Pin<&mut Self>,
        attempt: &Attempt<'_>,
        take: impl FnOnce(&mut S) -> Option<M>,
    ) -> Step {
        let source = self.source;
        let mut inner = source.inner.lock();
        self.try_locked(&mut inner, attempt, take)
    }

    /// Commits if `take` finds what it wants in the state, else waits in the queue.
    #[inline]
    pub fn publish(
        mut self: Pin<&mut Self>,
        attempt: &Attempt<'_>,
        take: impl FnOnce(&mut S) -> Option<M>,
    ) -> Step {
        let source = self.source;
        let mut inner = source.inner.lock();
        let step = self.as_mut().try_locked(&mut inner, attempt, take);
        if step == Step::Waiting && !attempt.is_decided() {
            // SAFETY: not linked, since not published, as `try_locked` has seen; pinned; not let go before
            // `withdraw` has unlinked it. Single events publish one branch only.
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
                // SAFETY: not published, as just seen.
                unsafe { self.waiter.slot_mut(|slot| *slot = Some(value)) };
                Step::Committed
            }
            Ok(None) | Err(()) => Step::Waiting,
        }
    }

    /// Leaves the queue. True if a value was granted to this branch.
    #[inline]
    pub fn withdraw(self: Pin<&mut Self>, attempt: &Attempt<'_>) -> bool {
        if !self.waiter.is_free() {
            let mut inner = self.source.inner.lock();
            // SAFETY: it was linked into this source's queue, if into any, and is alive.
            unsafe { inner.queue.unlink(NonNull::from(&self.waiter)) };
        }
        self.waiter.taken_back(attempt);
        attempt.record().won_by(self.waiter.id())
    }

    /// Says that the performer waits to do `operation` with the source.
    pub fn describe(&self, operation: &'static str, waits: &mut Waits) {
        waits.on(operation, &self.source.label, std::ptr::from_ref(self.source) as usize);
    }

    /// The value taken or granted.
    ///
    /// # Panics
    ///
    /// If there is none: the branch has neither committed nor won.
    #[inline]
    pub fn take(self: Pin<&mut Self>) -> M {
        assert!(!self.waiter.is_published(), "`take` on a branch that has not been withdrawn");
        // SAFETY: not published, hence free.
        unsafe { self.waiter.slot_mut(Option::take) }.expect("`take` on a branch that has not won")
    }
}

impl<S, M> fmt::Debug for Waiting<'_, S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("published", &self.waiter.is_published()).finish_non_exhaustive()
    }
}

/// The branch of an event of this crate that waits at a source. Nobody outside can take its steps by hand, and so get at
/// the state of the source, or at what is granted there, on which unsafe code may rest.
pub struct Hidden<'e, S, M>(Waiting<'e, S, M>);

impl<'e, S, M> Hidden<'e, S, M> {
    fn waiting(self: Pin<&mut Self>) -> Pin<&mut Waiting<'e, S, M>> {
        // SAFETY: structurally pinned.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }
    }

    #[inline]
    pub(crate) fn try_commit(
        self: Pin<&mut Self>,
        attempt: &Attempt<'_>,
        take: impl FnOnce(&mut S) -> Option<M>,
    ) -> Step {
        self.waiting().try_commit(attempt, take)
    }

    #[inline]
    pub(crate) fn publish(
        self: Pin<&mut Self>,
        attempt: &Attempt<'_>,
        take: impl FnOnce(&mut S) -> Option<M>,
    ) -> Step {
        self.waiting().publish(attempt, take)
    }

    #[inline]
    pub(crate) fn withdraw(self: Pin<&mut Self>, attempt: &Attempt<'_>) -> bool {
        self.waiting().withdraw(attempt)
    }

    #[inline]
    pub(crate) fn take(self: Pin<&mut Self>) -> M {
        self.waiting().take()
    }

    pub(crate) fn describe(&self, operation: &'static str, waits: &mut Waits) {
        self.0.describe(operation, waits);
    }
}

impl<S, M> fmt::Debug for Hidden<'_, S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The event of taking something from a [`Source`], see [`Source::event`].
pub struct SourceEvent<'s, S, M, F> {
    source: &'s Source<S, M>,
    attempt: F,
}

impl<S: Send, M: Send, F: Fn(&mut S) -> Option<M>> Event for SourceEvent<'_, S, M, F> {
    type Output = M;
    type Branch<'e>
        = Waiting<'e, S, M>
    where
        Self: 'e;

    #[inline]
    fn is_single(&self) -> bool {
        true
    }
    #[inline]
    fn branch(&self) -> Self::Branch<'_> {
        self.source.waiting()
    }
    #[inline]
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.try_commit(attempt, &self.attempt)
    }
    #[inline]
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.publish(attempt, &self.attempt)
    }
    #[inline]
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        branch.withdraw(attempt)
    }
    #[inline]
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> M {
        branch.take()
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Waits) {
        branch.describe("take from", waits);
    }
}

impl<S, M, F> fmt::Debug for SourceEvent<'_, S, M, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SourceEvent")
    }
}

awaitable!(['s, S: Send, M: Send, F: Fn(&mut S) -> Option<M>] SourceEvent<'s, S, M, F>);
