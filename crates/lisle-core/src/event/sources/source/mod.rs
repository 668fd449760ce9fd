//! A state with a queue of performers that wait for it to change. It is the building block of
//! one-sided events (semaphores, cells, conditions, joins, readiness), including the user's own.

mod waiting;

#[doc(hidden)]
pub use waiting::Hidden;
pub use waiting::Waiting;

use crate::event::lock::{Guard, Lock};
use crate::event::protocol::queue::WaitQueue;
use crate::event::protocol::step::{must_not_be_under, under_lock};
use crate::event::protocol::visible::{declare_made, visible_doing};
use crate::event::protocol::woken::Woken;
use crate::event::{Description, Event, Label, awaitable, debug_by_name, single};
use crate::shim::const_fn;
use crate::shim::{
    model::{Touch, Unreported, is_running, touched},
    unreported,
};
use std::fmt;
use std::pin::Pin;

/// A state `S` under a short lock, and the performers waiting to be granted an `M`.
///
/// An event of a source first *tries*: a function inspects the state and takes its part, if the
/// state has it. If not, the performer waits in the source's queue. Code that changes the state
/// does so in [`update`](Source::update) and grants to waiting performers directly. A grant commits
/// the performer; therefore a granted value is never lost and never given twice, also in choices.
///
/// The functions given to a source run under its lock. They must be short. A function that waits
/// ends the process with a message, since all threads that want the lock would spin meanwhile. A
/// function that uses the same source panics. A panic in a function releases the lock and reaches
/// the caller.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, event::Source};
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
pub struct Source<S, M, L = Label> {
    inner: Lock<Inner<S, M>>,
    label: L,
}

/// The label of a source: a [`Label`], or [`Unlabelled`].
#[doc(hidden)]
pub trait Labelled {
    /// Returns the label.
    fn label(&self) -> &Label;
}

impl Labelled for Label {
    #[inline(always)]
    fn label(&self) -> &Label {
        self
    }
}

/// For a source of the library's that takes part in an object with a label of its own. It takes no
/// memory.
#[doc(hidden)]
#[derive(Debug)]
pub struct Unlabelled;

impl Labelled for Unlabelled {
    #[inline(always)]
    fn label(&self) -> &Label {
        static ANYWHERE: Label = Label::anywhere("source");
        &ANYWHERE
    }
}

struct Inner<S, M> {
    state: S,
    /// The number of changes of the state.
    changes: usize,
    queue: WaitQueue<Option<M>>,
}

/// The performers that wait at a source, while its state is being updated.
pub struct Waiters<'a, M> {
    queue: &'a mut WaitQueue<Option<M>>,
    woken: &'a Woken,
}

impl<M> Waiters<'_, M> {
    /// Grants `value` to the performer that has waited longest.
    ///
    /// # Errors
    ///
    /// Returns the value if there is no waiting performer.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, event::Source};
    ///
    /// fn push(stack: &Source<Vec<u32>, u32>, n: u32) {
    ///     stack.update(|stack, waiters| {
    ///         if let Err(n) = waiters.grant(n) {
    ///             stack.push(n); // no performer waits
    ///         }
    ///     });
    /// }
    ///
    /// let stack = Source::new(Vec::new());
    /// std::thread::scope(|scope| {
    ///     let popped = scope.spawn(|| stack.event(Vec::pop).sync());
    ///     push(&stack, 1); // for the thread, whether it waits already or comes later
    ///     assert_eq!(popped.join().unwrap(), 1);
    /// });
    /// push(&stack, 2);
    /// assert_eq!(stack.with(Vec::len), 1);
    /// ```
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

    /// Tells all waiting performers to start over. For changes after which several performers may
    /// or may not succeed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, event::Source};
    ///
    /// let level: Source<u32, u32> = Source::new(0);
    /// let at_least = |wanted| level.event(move |level| (*level >= wanted).then_some(*level));
    /// std::thread::scope(|scope| {
    ///     let waiter = scope.spawn(|| at_least(3).sync());
    ///     level.update(|level, waiters| {
    ///         *level = 3;
    ///         waiters.retry_all(); // each waiter looks whether this is enough for it
    ///     });
    ///     assert_eq!(waiter.join().unwrap(), 3);
    /// });
    /// assert_eq!(at_least(4).poll(), None);
    /// ```
    #[inline]
    pub fn retry_all(&mut self) {
        self.queue.retry_all(None, self.woken);
    }

    /// Commits all waiters of another queue under the same lock, for waits without a value.
    #[inline]
    pub(crate) fn commit_all(&mut self, queue: &mut WaitQueue<()>) {
        queue.commit_all(|_| true, self.woken);
    }

    /// Returns `true` if no performer waits. A performer that seems to wait may turn out to have
    /// been committed elsewhere.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

impl<S, M> Source<S, M> {
    /// Creates a source with this state and no waiting performers.
    #[track_caller]
    #[inline]
    pub fn new(state: S) -> Self {
        Source::labelled(Label::new("source"), state)
    }

    const_fn! {
        /// Creates a source with this state, no waiting performers, and a label for the wait graph.
        #[inline]
        pub fn labelled(label: Label, state: S) -> Self {
            Source { inner: Lock::new(Inner { state, changes: 0, queue: WaitQueue::new() }), label }
        }
    }

    /// Returns the same source with a name for the wait graph.
    #[must_use]
    #[inline]
    pub fn named(self, name: &str) -> Self {
        Source { label: self.label.named(name), ..self }
    }

    /// Replaces the label.
    pub(in crate::event) fn relabel(&mut self, label: Label) {
        self.label = label;
    }

    /// Returns the event that `attempt` returns a value, or that a value is granted.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, always, event::Source, event::choose_biased};
    ///
    /// let tokens: Source<u32, ()> = Source::new(1);
    /// let take = tokens.event(|tokens| {
    ///     *tokens = tokens.checked_sub(1)?;
    ///     Some(())
    /// });
    /// let try_to_take = choose_biased((take.wrap(|()| "took"), always("none is left")));
    /// assert_eq!(try_to_take.sync(), "took");
    /// assert_eq!(try_to_take.sync(), "none is left");
    /// ```
    #[inline]
    pub fn event<F: Fn(&mut S) -> Option<M>>(&self, attempt: F) -> SourceEvent<'_, S, M, F> {
        SourceEvent { source: self, attempt }
    }

    /// Creates a branch for one performance of an event that waits at this source.
    #[inline]
    pub fn waiting(&self) -> Waiting<'_, S, M> {
        Waiting::new(self)
    }
}

impl<S, M> Source<S, M, Unlabelled> {
    /// Creates a source without a label.
    #[inline]
    #[doc(hidden)]
    pub fn unlabelled(state: S) -> Self {
        Source { inner: Lock::new(Inner { state, changes: 0, queue: WaitQueue::new() }), label: Unlabelled }
    }
}

impl<S, M, L: Labelled> Source<S, M, L> {
    /// Returns the label: the kind of the object, the place where it was made, and its name.
    #[inline]
    pub fn label(&self) -> &Label {
        self.label.label()
    }

    /// Describes that a performer waits to do `operation` with the source.
    pub(crate) fn describe(&self, operation: &'static str, waits: &mut Description) {
        waits.on(operation, self.label(), self.id().addr());
    }

    /// Changes the state and grants to waiting performers. They are woken after the lock is
    /// released.
    ///
    /// # Panics
    ///
    /// Panics if `change` panics or uses the same source.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::event::Source;
    ///
    /// let stack: Source<Vec<u32>, u32> = Source::new(vec![1]);
    /// let len = stack.update(|stack, waiters| {
    ///     if let Err(n) = waiters.grant(2) {
    ///         stack.push(n); // no performer waits
    ///     }
    ///     stack.len()
    /// });
    /// assert_eq!(len, 2);
    /// ```
    ///
    /// The function uses its arguments, and not the source:
    ///
    /// ```should_panic
    /// # use lisle_core as lisle;
    /// # use lisle::event::Source;
    /// let count: Source<u32, ()> = Source::new(0);
    /// count.update(|n, _| *n = count.with(|n| n + 1));
    /// ```
    #[inline]
    pub fn update<R>(&self, change: impl FnOnce(&mut S, &mut Waiters<'_, M>) -> R) -> R {
        visible_doing("change", self.label(), self);
        self.update_checked(change)
    }

    /// Does the same as [`update`](Source::update), for a change that counts something up or down
    /// by one. Such changes commute, and nobody waits for them, unless the count is zero before or
    /// after: that is told to a model. `lowest` returns the lower of the counts before and after,
    /// from the state before.
    #[inline]
    #[doc(hidden)]
    pub fn update_count<R>(
        &self,
        lowest: impl FnOnce(&S) -> usize,
        change: impl FnOnce(&mut S, &mut Waiters<'_, M>) -> R,
    ) -> R {
        visible_doing("change", self.label(), self);
        let _told = is_running().then(|| {
            let (touch, nobody_waits) =
                self.peek(|state, nobody_waits| (Touch::of_count(lowest(state)), nobody_waits));
            self.touched_count(touch);
            if touch == Touch::Write && nobody_waits {
                self.inner.touched(Touch::Close);
            }
            (touch != Touch::Write || nobody_waits).then(Unreported::begin)
        });
        self.update_checked(change)
    }

    /// Does the same as [`update`](Source::update). `touch` returns the kind of the change for a
    /// model, from the state before and from whether the queue is empty.
    pub(crate) fn update_as<R>(
        &self,
        touch: impl FnOnce(&S, bool) -> Touch,
        change: impl FnOnce(&mut S, &mut Waiters<'_, M>) -> R,
    ) -> R {
        visible_doing("submit to", self.label(), self);
        let _told = is_running().then(|| self.told(self.peek(touch)));
        self.update_checked(change)
    }

    /// Tells a model the kind of access to the state. For kinds other than a plain write, nothing
    /// else is reported until the result is dropped.
    #[cold]
    pub(super) fn told(&self, touch: Touch) -> Option<Unreported> {
        (touch != Touch::Write).then(|| {
            self.inner.touched(touch);
            Unreported::begin()
        })
    }

    /// Tells a model how the count of [`update_count`](Source::update_count) is touched, which is a
    /// word by itself.
    fn touched_count(&self, touch: Touch) {
        // By its last byte. If that is also in something that is named, more counts as dependent.
        touched(self.id().addr() + size_of::<Self>() - 1, touch);
    }

    #[inline]
    fn update_checked<R>(&self, change: impl FnOnce(&mut S, &mut Waiters<'_, M>) -> R) -> R {
        must_not_be_under(self.id());
        self.update_plain(|state, waiters| {
            let woken = std::ptr::from_ref(waiters.woken);
            under_lock(self.id(), woken, || change(state, waiters))
        })
    }

    /// Does the same as [`update`](Source::update), for a change of this crate's, in which no user
    /// code runs.
    #[inline]
    #[doc(hidden)]
    pub fn update_plain<R>(&self, change: impl FnOnce(&mut S, &mut Waiters<'_, M>) -> R) -> R {
        declare_made(self.label(), self);
        self.update_undeclared(change)
    }

    /// Does the same as [`update_plain`](Source::update_plain), and does not name the source to a
    /// model.
    #[inline(always)]
    #[doc(hidden)]
    pub fn update_undeclared<R>(&self, change: impl FnOnce(&mut S, &mut Waiters<'_, M>) -> R) -> R {
        // Declared before the guard and therefore dropped after it: the wakes are sent when the
        // lock is free, also if `change` panics.
        let woken = Woken::default();
        let mut inner = self.inner.lock();
        let Inner { state, changes, queue } = &mut *inner;
        *changes = changes.wrapping_add(1);
        change(state, &mut Waiters { queue, woken: &woken })
    }

    /// Takes the lock, for a user's function.
    #[inline]
    #[track_caller]
    fn lock(&self) -> Guard<'_, Inner<S, M>> {
        must_not_be_under(self.id());
        declare_made(self.label(), self);
        self.inner.lock()
    }

    /// Runs a user's function on the state. The caller holds the lock.
    #[inline]
    fn run<R>(&self, state: &mut S, take: impl FnOnce(&mut S) -> R) -> R {
        under_lock(self.id(), std::ptr::null(), || take(state))
    }

    /// Returns the address by which its lock is identified.
    #[inline]
    fn id(&self) -> *const () {
        std::ptr::from_ref(self).cast()
    }

    /// Calls `look` with the state, and with whether nobody waits. No model notices that.
    #[doc(hidden)]
    pub fn peek<R>(&self, look: impl FnOnce(&S, bool) -> R) -> R {
        unreported(|| {
            let inner = self.inner.lock();
            look(&inner.state, inner.queue.is_empty())
        })
    }

    /// Calls `look` with the state.
    ///
    /// # Panics
    ///
    /// Panics if `look` panics or uses the same source.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, event::Source};
    ///
    /// let stack: Source<Vec<u32>, u32> = Source::new(vec![1, 2]);
    /// assert_eq!(stack.with(|stack| stack.last().copied()), Some(2));
    /// assert_eq!(stack.event(Vec::pop).poll(), Some(2)); // looking has taken nothing
    /// ```
    #[inline]
    pub fn with<R>(&self, look: impl FnOnce(&S) -> R) -> R {
        visible_doing("look at", self.label(), self);
        self.touched_count(Touch::Read);
        let inner = self.lock();
        under_lock(self.id(), std::ptr::null(), || look(&inner.state))
    }

    /// Returns the state; `&mut self` excludes all other access.
    #[inline]
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner.get_mut().state
    }

    /// Returns the state.
    #[inline]
    pub fn into_inner(self) -> S {
        self.inner.into_inner().state
    }

    /// Creates a branch for one performance of an event of this crate that waits at this source.
    #[inline]
    #[doc(hidden)]
    pub fn hidden(&self) -> Hidden<'_, S, M, L> {
        Hidden::new(self)
    }
}

impl<S: fmt::Debug, M, L: Labelled> fmt::Debug for Source<S, M, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with(|state| f.debug_tuple("Source").field(state).finish())
    }
}

impl<M> fmt::Debug for Waiters<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiters").field("is_empty", &self.is_empty()).finish()
    }
}

/// The event of taking a value from a [`Source`], see [`Source::event`].
#[must_use = "events do nothing unless performed"]
pub struct SourceEvent<'s, S, M, F> {
    source: &'s Source<S, M>,
    attempt: F,
}

impl<S: Send, M: Send, F: Fn(&mut S) -> Option<M>> Event for SourceEvent<'_, S, M, F> {
    type Output = M;
    single! { #[inline] |this, branch: Waiting<'e, S, M>, attempt|
        branch: this.source.waiting(),
        try_commit: branch.try_commit(attempt, &this.attempt),
        publish: branch.publish(attempt, &this.attempt),
        withdraw: branch.withdraw(attempt)
    }

    #[inline]
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> M {
        branch.take()
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        branch.describe("take from", waits);
    }
}

debug_by_name!([S, M, F] SourceEvent<'_, S, M, F>);
awaitable!(['s, S: Send, M: Send, F: Fn(&mut S) -> Option<M>] SourceEvent<'s, S, M, F>, single);
