//! A state with a queue of performers that wait for it to change: the building block of one-sided
//! events (semaphores, cells, conditions, joins, readiness), and of users' own.

mod waiting;

#[doc(hidden)]
pub use waiting::Hidden;
pub use waiting::Waiting;

use super::lock::{Guard, Lock};
use super::queue::WaitQueue;
use super::record::Attempt;
use super::step::{must_not_be_under, under_lock};
use super::woken::Woken;
use super::{Description, Event, Label, Step, awaitable};
use crate::shim::const_fn;
use std::fmt;
use std::pin::Pin;

/// A state `S` under a short lock, and the performers waiting to be granted an `M`.
///
/// An event of a source first *tries*: a function looks at the state and takes what it wants, if it is
/// there. If not, the performer waits in the source's queue. Whoever changes the state does so in
/// [`update`](Source::update), and grants to waiting performers directly: a grant commits the
/// performer, so what is granted is never lost and never given twice, choices included.
///
/// The functions given to a source run under its lock. They must be short. One that waits ends the process with a message, since
/// all who want the lock would spin meanwhile; one that uses the same source panics. A panic in one lets go of the lock
/// and reaches whoever called.
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
    /// How often the state has changed.
    changes: usize,
    queue: WaitQueue<Option<M>>,
}

/// The performers waiting at a source, while its state is being updated.
pub struct Waiters<'a, M> {
    queue: &'a mut WaitQueue<Option<M>>,
    woken: &'a Woken,
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
    #[inline]
    pub fn retry_all(&mut self) {
        self.queue.retry_all(None, self.woken);
    }

    /// Commits all who wait in another queue under the same lock, for what needs no value.
    #[inline]
    pub(crate) fn commit_all(&mut self, queue: &mut WaitQueue<()>) {
        queue.commit_all(|_| true, self.woken);
    }

    /// Does nobody wait? What looks like somebody may turn out to have been served elsewhere.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

impl<S, M> Source<S, M> {
    /// A source with this state and nobody waiting.
    #[track_caller]
    #[inline]
    pub fn new(state: S) -> Self {
        Source::labelled(Label::new("source"), state)
    }

    const_fn! {
        /// A source with this state, nobody waiting, and a label for those who ask who waits.
        #[inline]
        pub fn labelled(label: Label, state: S) -> Self {
            Source { inner: Lock::new(Inner { state, changes: 0, queue: WaitQueue::new() }), label }
        }
    }

    /// The same source, with a name for those who ask who waits.
    #[must_use]
    #[inline]
    pub fn named(self, name: &str) -> Self {
        Source { label: self.label.named(name), ..self }
    }

    /// Gives it another label.
    pub(super) fn relabel(&mut self, label: Label) {
        self.label = label;
    }

    /// What it is, where it was made, what it is called.
    #[inline]
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// Says that a performer waits to do `operation` with it.
    pub(crate) fn describe(&self, operation: &'static str, waits: &mut Description) {
        waits.on(operation, &self.label, self.id().addr());
    }

    /// Changes the state and grants to waiting performers. They are woken after the lock is released.
    #[inline]
    pub fn update<R>(&self, change: impl FnOnce(&mut S, &mut Waiters<'_, M>) -> R) -> R {
        must_not_be_under(self.id());
        self.update_plain(|state, waiters| {
            let woken = std::ptr::from_ref(waiters.woken);
            under_lock(self.id(), woken, || change(state, waiters))
        })
    }

    /// As [`update`](Source::update), for a change of this crate's, in which no code of a user's runs.
    #[inline]
    #[doc(hidden)]
    pub fn update_plain<R>(&self, change: impl FnOnce(&mut S, &mut Waiters<'_, M>) -> R) -> R {
        // Declared before the guard, so dropped after it: the wakes come when the lock is free, also
        // if `change` panics.
        let woken = Woken::default();
        let mut inner = self.inner.lock();
        let Inner { state, changes, queue } = &mut *inner;
        *changes = changes.wrapping_add(1);
        change(state, &mut Waiters { queue, woken: &woken })
    }

    /// Takes the lock, for a function of the user's.
    #[inline]
    #[track_caller]
    fn lock(&self) -> Guard<'_, Inner<S, M>> {
        must_not_be_under(self.id());
        self.inner.lock()
    }

    /// Runs a function of the user's on the state. The caller has the lock.
    #[inline]
    fn run<R>(&self, state: &mut S, take: impl FnOnce(&mut S) -> R) -> R {
        under_lock(self.id(), std::ptr::null(), || take(state))
    }

    /// What its lock is known by.
    #[inline]
    fn id(&self) -> *const () {
        std::ptr::from_ref(self).cast()
    }

    /// Looks at the state.
    #[inline]
    pub fn with<R>(&self, look: impl FnOnce(&S) -> R) -> R {
        let inner = self.lock();
        under_lock(self.id(), std::ptr::null(), || look(&inner.state))
    }

    /// The state, which nobody else can be looking at.
    #[inline]
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner.get_mut().state
    }

    /// The state.
    #[inline]
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
        Waiting::new(self)
    }

    /// The same, for an event of this crate.
    #[inline]
    #[doc(hidden)]
    pub fn hidden(&self) -> Hidden<'_, S, M> {
        Hidden::new(self)
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

/// The event of taking something from a [`Source`], see [`Source::event`].
#[must_use = "events do nothing unless performed"]
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
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        branch.describe("take from", waits);
    }
}

impl<S, M, F> fmt::Debug for SourceEvent<'_, S, M, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SourceEvent")
    }
}

awaitable!(['s, S: Send, M: Send, F: Fn(&mut S) -> Option<M>] SourceEvent<'s, S, M, F>);
