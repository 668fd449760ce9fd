//! First-class events: values that describe a synchronous operation which may happen later.
//!
//! An event is made freely and performed many times or never. [`Event::sync`] performs it and waits,
//! in a fiber by parking the fiber, on a plain OS thread by parking the thread; [`Event::poll`] performs
//! it only if that takes no waiting; `.await` performs it on any executor. [`choose`] is an event
//! that becomes exactly one of several, and those that lose have taken nothing and left nothing
//! behind. [`Event::wrap`] post-processes.
//!
//! ```
//! use lisle::{Event, channel, choose, time::after};
//! use std::time::Duration;
//!
//! let (tx, rx) = lisle::channel::bounded::<u32>(1);
//! let next = choose((
//!     rx.recv_evt().wrap(|received| received.ok()),
//!     after(Duration::from_millis(5)).wrap(|()| None),
//! ));
//! assert_eq!(next.sync(), None); // nobody has sent anything for 5 ms
//! tx.send(7).unwrap();
//! assert_eq!(next.sync(), Some(7)); // the same event, performed again
//! ```
//!
//! # Events of your own
//!
//! Most are functions that return a `choose` or a `wrap` of others. For a new kind of waiting there
//! is [`Source`], a state with a queue of waiting performers; and the trait itself is open, see
//! [`Event`] and the example `own_event.rs`.
//!
//! # Where the ideas come from
//!
//! Events are Reppy's Concurrent ML (PLDI 1991; *Concurrent Programming in ML*, 1999). The parallel
//! protocol follows Reppy, Russo and Xiao, *Parallel Concurrent ML* (ICFP 2009), which Guile Fibers
//! made known; the README beside this file tells what is different here and why.

#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod adaptive_spin;
mod basic;
mod boxed;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod calls;
mod choose;
mod choose_all;
mod context;
pub(crate) mod depth;
pub(crate) mod evidence;
mod forward;
mod future;
mod glimpse;
mod guard;
mod inline_event;
mod list;
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
pub mod lock;
#[cfg(all(test, lisle_loom))]
mod loom_recycled;
#[cfg(all(test, lisle_loom))]
mod loom_tests;
#[cfg(all(test, lisle_loom))]
mod loom_wait_set;
mod nack;
mod option;
#[cfg_attr(not(all(feature = "fibers", not(lisle_loom))), path = "no_parker.rs")]
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
pub mod parker;
#[cfg(not(lisle_loom))]
#[allow(missing_debug_implementations, reason = "not for users")]
mod polled;
pub(crate) mod queue;
pub(crate) mod record;
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
pub mod recycled;
mod replace;
pub(crate) mod scratch;
#[doc(hidden)]
pub mod select;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
pub mod sleepers;
mod source;
mod standing;
#[doc(hidden)]
pub mod step;
mod storage;
mod sync;
#[doc(hidden)]
pub mod tally;
#[cfg(all(test, not(lisle_loom)))]
mod tests;
#[doc(hidden)]
pub mod tick;
pub(crate) mod timer;
#[doc(hidden)]
pub mod turn;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod until;
mod wait_set;
mod waits;
pub(crate) mod woken;
#[allow(missing_debug_implementations, reason = "not for users")]
mod wrap;

pub use basic::{Always, Never, always, never};
pub use boxed::BoxEvent;
pub use choose::{Alternatives, Choose, choose, choose_biased};
pub use choose_all::{ChooseAll, Every, Stride, choose_all};
pub use context::{Context, Unparked};
pub use future::EventFuture;
pub use guard::{Guard, guard};
pub use nack::{Nack, WithNack, with_nack};
pub use record::{Attempt, Waker};
pub use replace::Replace;
#[doc(hidden)]
pub use source::Hidden;
pub use source::{Source, SourceEvent, Waiters, Waiting};
pub use timer::Timer;
pub use wait_set::{Key, Taking, WaitSet, WaitSetEvt};
pub use waits::{BlockedOn, Description, Label, ParkedEvent};
#[doc(hidden)]
pub use waits::{Said, performer_id};
pub use wrap::{Wrap, WrapPanic};

#[doc(hidden)]
pub use context::{Interrupted, install, installed, now};
#[doc(hidden)]
pub use forward::{forwarded, may_wait_at, waits_at};
#[doc(hidden)]
pub use future::awaitable;
pub(crate) use parker::raising;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub use polled::Polled;
#[doc(hidden)]
pub use step::suspend;
#[doc(hidden)]
pub use sync::{Nowhere, sync_masked, visible};
#[doc(hidden)]
pub use wrap::described;

use std::any::Any;
use std::pin::Pin;

/// What a step of an event came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a committed event must be completed"]
pub enum Step {
    /// The event has happened; [`Event::complete`] gives its value.
    Committed,
    /// It has not, yet.
    Waiting,
}

/// A synchronous operation that may happen later.
///
/// Users call [`sync`](Event::sync), [`poll`](Event::poll), [`wrap`](Event::wrap),
/// [`boxed`](Event::boxed) and [`future`](Event::future). The required methods are for those
/// who write an event of their own; they are called by the library only, on one *branch* (what one
/// performance keeps for this event, pinned) and in this order:
///
/// 1. [`branch`](Event::branch) makes the branch, and [`force`](Event::force) runs its guards.
/// 2. [`try_commit`](Event::try_commit), at any time before publishing: commit now, or leave no trace.
/// 3. [`publish`](Event::publish): commit now, or leave a waiter where partners find it.
/// 4. [`withdraw`](Event::withdraw), after `publish`, once the performance is decided or given up:
///    no waiter is left, and the answer tells whether this branch is the one that won. If a partner was
///    faster than the giving up, it is called again when the value is there. A performance that is told
///    to try again goes on with 2, on the same branch.
/// 5. [`advance`](Event::advance) on the branch that committed or won: is that all, or does a second stage
///    begin? Then on with 2.
/// 6. [`complete`](Event::complete), once, on the branch that committed or won: the value. Those that lost
///    are told by [`lose`](Event::lose) before.
///
/// Nothing that a user wrote runs between 2 and 4: guards run in 1, wrap functions in 6, in the performer, when
/// every losing branch is out of its queue.
///
/// An event that contains others forwards every method, and sets [`STAGED`](Event::STAGED) if one of them
/// does; forgetting `force` makes a guard inside panic with a message, the others are needed by nacks and
/// by [`replace`](Event::replace), and [`depth`](Event::depth) keeps what is nested too deep from overflowing a stack.
///
/// An implementation cannot cause undefined behaviour. One that drops or keeps a branch it has published and not
/// withdrawn, claims a commit that was not made, publishes in another step than `publish`, or waits for something else, or
/// panics, within a step when a partner has committed it, ends the
/// process with a message: partners hold pointers to what it published, so there is no going on.
///
/// # Writing one
///
/// Forward to a [`Source`], whose four methods of the same names do the delicate part:
///
/// ```
/// use lisle::event::{Attempt, Event, Source, Step, Waiting};
/// use std::pin::Pin;
///
/// /// A counting semaphore.
/// struct Semaphore(Source<usize, ()>);
///
/// /// The event of taking one token.
/// struct Take<'a>(&'a Semaphore);
///
/// impl Semaphore {
///     fn post(&self) {
///         self.0.update(|tokens, waiters| {
///             if waiters.grant(()).is_err() {
///                 *tokens += 1; // nobody waits
///             }
///         });
///     }
/// }
///
/// fn take_token(tokens: &mut usize) -> Option<()> {
///     *tokens = tokens.checked_sub(1)?;
///     Some(())
/// }
///
/// impl Event for Take<'_> {
///     type Output = ();
///     type Branch<'e> = Waiting<'e, usize, ()> where Self: 'e;
///
///     fn is_single(&self) -> bool {
///         true
///     }
///     fn branch(&self) -> Self::Branch<'_> {
///         self.0.0.waiting()
///     }
///     fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
///         branch.try_commit(attempt, take_token)
///     }
///     fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
///         branch.publish(attempt, take_token)
///     }
///     fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
///         branch.withdraw(attempt)
///     }
///     fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
///         branch.take()
///     }
/// }
///
/// let semaphore = Semaphore(Source::new(0));
/// assert!(Take(&semaphore).poll().is_none());
/// semaphore.post();
/// lisle::choose((Take(&semaphore).wrap(|()| "took"), lisle::never())).sync();
/// ```
///
/// An event that nobody performs does nothing, which the compiler points out:
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// use lisle::Event;
///
/// let (_tx, rx) = lisle::channel::<u32>();
/// rx.recv_evt().wrap(|received| println!("{received:?}"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event",
    note = "use the method that ends in `_evt`: `recv_evt()`, not `recv()`; for a time `after` or `at`; for a future \
            `lisle::future::spawn(future)` and its `join_evt()`"
)]
#[must_use = "events do nothing unless performed"]
pub trait Event {
    /// What the event gives when it happens.
    type Output;

    /// What one performance keeps for this event: typically a waiter. It is pinned from before the first
    /// step until after the last. It may lie in a future that moves between threads, hence `Send`:
    ///
    /// ```compile_fail,E0277
    /// # use lisle::event::{Attempt, Event, Step};
    /// # use std::pin::Pin;
    /// struct Mine;
    /// impl Event for Mine {
    ///     type Output = ();
    ///     type Branch<'e> = std::rc::Rc<()>;
    /// #   fn branch(&self) -> std::rc::Rc<()> { std::rc::Rc::new(()) }
    /// #   fn try_commit<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>, _: &Attempt<'_>) -> Step { Step::Waiting }
    /// #   fn publish<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>, _: &Attempt<'_>) -> Step { Step::Waiting }
    /// #   fn withdraw<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>, _: &Attempt<'_>) -> bool { false }
    /// #   fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) {}
    ///     // ...
    /// }
    /// ```
    type Branch<'e>: Send
    where
        Self: 'e;

    /// Whether `force`, `advance` or `lose` do anything: true for events with guards, negative acknowledgements
    /// or stages. It spares all others three calls.
    const STAGED: bool = false;

    /// Whether the event leaves at most one waiter, guarded by one lock. True for base events, false
    /// for choices; it spares a performance two locked instructions. If in doubt, `false`.
    fn is_single(&self) -> bool {
        false
    }

    /// How many boxes are nested in the event: an event that contains others gives the largest number of theirs. It
    /// keeps them from being nested deeper than a stack can hold; see [`boxed`](Event::boxed).
    fn depth(&self) -> usize {
        0
    }

    /// Makes the branch for one performance.
    fn branch(&self) -> Self::Branch<'_>;

    /// Runs what is to be run before anything is tried: guards. Called once for each branch, from the
    /// first alternative of a choice to the last; user code, which may block and may panic.
    fn force<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        let _ = branch;
    }

    /// Commits if that is possible at once, without waiting and without becoming visible to partners.
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step;

    /// Commits if that is possible at once, else leaves the branch where a partner finds it.
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step;

    /// Takes the branch back from where `publish` left it. True if a partner has committed this branch.
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool;

    /// Called on the branch that has committed or won. False: that was one stage, and the performance goes on
    /// with the next, from `try_commit`.
    fn advance<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> bool {
        let _ = branch;
        true
    }

    /// Another alternative has won, for good. Called before that is completed; runs no user code.
    fn lose<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        let _ = branch;
    }

    /// The value of a branch that has committed or won.
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output;

    /// Says what a performer with this branch waits for, for those who ask who waits. Called on the thread of a
    /// performer that is parked, within its wait; must not wait itself.
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        let _ = (branch, waits);
    }

    /// Performs the event, waiting for it.
    ///
    /// In a fiber the fiber is parked and its worker goes on with others; elsewhere the OS thread is
    /// parked. Costs no allocation.
    ///
    /// # Panics
    ///
    /// If a function given to the event (a wrap, the maker of a message) panics. The event has then
    /// happened.
    ///
    /// A destructor that runs because of a panic may wait, too. See *Destructors* in
    /// `guide::cancellation` for what the other fibers of the domain see meanwhile.
    ///
    /// # Fairness
    ///
    /// Among the ready branches of a choice a random one is taken; in each queue it is first come,
    /// first served.
    #[inline(always)]
    fn sync(&self) -> Self::Output
    where
        Self: Sized,
    {
        sync::sync(self)
    }

    /// Performs the event if that takes no waiting. `None` has changed nothing, and tells that there was a moment
    /// in this call at which the event was not ready: of a choice, none of its alternatives.
    ///
    /// Guards are run, and negative acknowledgements sent if nothing was ready. Of an event in two stages
    /// ([`replace`](Event::replace)) the first may have happened although the second is not ready.
    ///
    /// ```
    /// use lisle::channel::bounded;
    /// use lisle::{Event, choose};
    ///
    /// let ((_a, from_a), (b, from_b)) = (bounded(1), bounded(1));
    /// let either = choose((from_a.recv_evt(), from_b.recv_evt()));
    /// assert_eq!(either.poll(), None);
    /// b.send(1).unwrap();
    /// assert_eq!(either.poll(), Some(Ok(1)));
    /// ```
    ///
    /// # Blocking
    ///
    /// It does not wait, but for partners on other threads that are in the middle of a commit, a few instructions away; and
    /// for functions of the user's (guards, the makers of messages).
    ///
    /// # Complexity
    ///
    /// A choice of several objects that finds nothing looks at each of them twice; if something has become ready
    /// meanwhile and was taken by others, it is entered into all queues, and taken out again.
    ///
    /// # Fairness
    ///
    /// It waits for nobody, but in a fiber it may let others run: a fiber that has asked in vain some 128 times in one turn,
    /// by this or by one of the operations that try, gives way to those of its domain that are ready, if there are any.
    /// A loop around it would else keep them from what it asks for. That does not happen inside
    /// `no_suspend` and in a function given to a [`Source`]. For what must not be held
    /// meanwhile see the section "Soundness" of the module `lisle::fiber`.
    #[inline]
    fn poll(&self) -> Option<Self::Output>
    where
        Self: Sized,
    {
        sync::poll(self)
    }

    /// The same event, its value passed through `f`.
    ///
    /// `f` runs in the performer, after the commit, when every other branch of the performance has
    /// been withdrawn; it may block. Wraps nest inside out, and over a choice the wrap applies to
    /// whichever branch won.
    #[inline]
    fn wrap<F, U>(self, f: F) -> Wrap<Self, F>
    where
        Self: Sized,
        F: Fn(Self::Output) -> U,
    {
        Wrap::new(self, f)
    }

    /// The same event, with `f` making its value if completing it panics: if a wrap function inside panics, or
    /// the maker of a message. `f` gets what the panic was raised with.
    ///
    /// The event has happened by then. A guard that panics is not handled, since then nothing has
    /// happened; nor is the function of a [`replace`](Event::replace), when only its first stage has. When a runtime shuts down its fibers unwind through here without `f` being called.
    ///
    /// From Concurrent ML's `wrapHandler`.
    ///
    /// ```
    /// use lisle::{Event, always};
    ///
    /// let parsed = always("ten").wrap(|text| text.parse::<u32>().expect("a number"));
    /// assert_eq!(parsed.wrap_panic(|_| 0).sync(), 0);
    /// ```
    #[inline]
    fn wrap_panic<F>(self, f: F) -> WrapPanic<Self, F>
    where
        Self: Sized,
        F: Fn(Box<dyn Any + Send>) -> Self::Output,
    {
        WrapPanic::new(self, f)
    }

    /// An event in two stages: once this one has happened, the event that `make` gives for its value takes its
    /// place, and goes on competing with the other alternatives of the choice they are in.
    ///
    /// Only the second stage decides. If another alternative wins after the first stage has happened, the
    /// first has happened all the same, and its value is dropped. `make` runs in the performer while
    /// nothing is published; it may block. A first stage that must not be lost needs
    /// [`with_nack`].
    ///
    /// From Racket's `replace-evt`.
    ///
    /// ```
    /// use lisle::{Event, channel, choose, time::after};
    /// use std::time::Duration;
    ///
    /// // The first message within a time that an earlier message sets.
    /// let (limits, limit) = lisle::channel::bounded(1);
    /// let (_tx, rx) = channel::<u32>();
    /// limits.send(Duration::from_millis(1)).unwrap();
    /// let timeout = limit.recv_evt().replace(|limit| after(limit.unwrap()));
    /// assert_eq!(choose((rx.recv_evt().wrap(Result::ok), timeout.wrap(|()| None))).sync(), None);
    /// ```
    #[inline]
    fn replace<F, G>(self, make: F) -> Replace<Self, F, G>
    where
        Self: Sized,
        F: Fn(Self::Output) -> G,
        G: Event + Send,
    {
        Replace::new(self, make)
    }

    /// Hides the event's type, so that different events fit into one vector.
    ///
    /// Costs an allocation when made, and an indirect call a step when performed. Performing
    /// it allocates nothing once warm.
    ///
    /// # Panics
    ///
    /// If boxed events are nested more than 128 deep, as when events are joined one by one, each with the choice of
    /// those before: every step of such an event takes stack for each level. A choice of a vector has any number of alternatives.
    ///
    /// Performing an event panics likewise if [`guard`]s, [`with_nack`]s and second stages of
    /// [`replace`](Event::replace) make events that make further ones, so deep.
    ///
    /// ```
    /// use lisle::{Event, always, choose, event::BoxEvent};
    ///
    /// let all: Vec<BoxEvent<u32>> = (0..50_000).map(|n| always(n).boxed()).collect();
    /// assert!(choose(all).poll().is_some());
    /// ```
    ///
    /// ```should_panic
    /// use lisle::{Event, always, choose};
    ///
    /// (0..50_000).fold(always(0).boxed(), |before, n| choose(vec![before, always(n).boxed()]).boxed());
    /// ```
    #[inline]
    #[track_caller]
    fn boxed<'a>(self) -> BoxEvent<'a, Self::Output>
    where
        Self: Sized + Send + Sync + 'a,
    {
        BoxEvent::new(self)
    }

    /// A future that performs the event once, on any executor.
    ///
    /// The library's own events also implement [`IntoFuture`], so that `event.await` works.
    ///
    /// # Cancel safety
    ///
    /// A future dropped before a partner has committed it has done nothing. Dropped after the commit
    /// and before its executor polled it again, it drops the value it had been given, as a function
    /// would that returned and whose result was ignored. Use [`choose`], not an executor's `select!`,
    /// to wait for one of several events: a choice commits exactly one.
    #[inline]
    fn future(self) -> EventFuture<Self>
    where
        Self: Sized,
    {
        EventFuture::new(self)
    }
}

impl<E: Event> Event for &E {
    type Output = E::Output;
    type Branch<'e>
        = E::Branch<'e>
    where
        Self: 'e;

    const STAGED: bool = E::STAGED;

    #[inline]
    fn is_single(&self) -> bool {
        (**self).is_single()
    }
    #[inline]
    fn depth(&self) -> usize {
        (**self).depth()
    }
    #[inline]
    fn branch(&self) -> Self::Branch<'_> {
        (**self).branch()
    }
    #[inline]
    fn force<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        (**self).force(branch);
    }
    #[inline]
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        (**self).try_commit(branch, attempt)
    }
    #[inline]
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        (**self).publish(branch, attempt)
    }
    #[inline]
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        (**self).withdraw(branch, attempt)
    }
    #[inline]
    fn advance<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> bool {
        (**self).advance(branch)
    }
    #[inline]
    fn lose<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        (**self).lose(branch);
    }
    #[inline]
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        (**self).complete(branch)
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        (**self).describe(branch, waits);
    }
}
