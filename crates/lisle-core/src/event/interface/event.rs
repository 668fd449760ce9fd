//! The trait of all events.

use super::{glimpse, sync};
use crate::event::{Attempt, BoxEvent, Description, EventFuture, Replace, Step, Wrap, WrapPanic};
#[cfg(doc)]
use crate::event::{Source, with_nack};
#[cfg(doc)]
use crate::event::{choose, guard};
use std::any::Any;
use std::pin::Pin;

/// A synchronous operation that may happen later.
///
/// Users call [`sync`](Event::sync), [`poll`](Event::poll), [`wrap`](Event::wrap),
/// [`boxed`](Event::boxed) and [`future`](Event::future). The required methods are for authors of
/// new events. Only the library calls them, on one *branch* (the pinned data that one performance
/// keeps for this event) and in this order:
///
/// 1. [`branch`](Event::branch) makes the branch, and [`force`](Event::force) runs its guards.
/// 2. [`try_commit`](Event::try_commit), at any time before publishing, commits now or leaves no
///    trace.
/// 3. [`publish`](Event::publish) commits now or leaves a waiter where partners find it.
/// 4. [`withdraw`](Event::withdraw) is called after `publish`, once the performance is decided or
///    given up. It removes the waiter and returns whether this branch has won. If a partner commits
///    while the performer gives up, `withdraw` is called again when the value is there. A
///    performance that is told to start over continues with step 2, on the same branch.
/// 5. [`advance`](Event::advance) is called on the branch that has committed or won. It returns
///    whether the event is complete or a second stage begins; then the performance continues with
///    step 2.
/// 6. [`complete`](Event::complete) is called once, on the branch that has committed or won, and
///    returns the value. Before that, [`lose`](Event::lose) is called on the branches that lost.
///
/// No user code runs between steps 2 and 4. Guards run in step 1 and wrap functions in step 6, in
/// the performer, when every losing branch is out of its queue.
///
/// An event that contains others forwards every method, and sets [`STAGED`](Event::STAGED) if one
/// of them does. If it does not forward `force`, a guard inside it panics with a message. Nacks and
/// [`replace`](Event::replace) need the other methods, and [`depth`](Event::depth) keeps deep
/// nesting from overflowing a stack.
///
/// An implementation cannot cause undefined behaviour. The process ends with a message if an
/// implementation drops or keeps a branch that it has published and not withdrawn, claims a commit
/// that was not made, publishes in a step other than `publish`, waits for something else within a
/// step while partners can see it, or panics within a step when a partner has committed it. It
/// cannot continue, because partners hold pointers to the published data.
///
/// # Implementing an event
///
/// Forward to a [`Source`], whose four methods of the same names do the difficult part:
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::Event;
/// use lisle::event::{Attempt, Source, Step, Waiting};
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
///                 *tokens += 1; // no performer waits
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
/// An event that is never performed does nothing, and the compiler warns about it:
///
/// ```compile_fail
/// # use lisle_core as lisle;
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
    /// The value of the event.
    type Output;

    /// The data that one performance keeps for this event, typically a waiter. It is pinned from
    /// before the first step until after the last. It must be `Send`, because it may lie in a
    /// future that moves between threads:
    ///
    /// ```compile_fail,E0277
    /// # use lisle_core as lisle;
    /// # use lisle::Event;
    /// # use lisle::event::{Attempt, Step};
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

    /// Whether `force`, `advance` or `lose` do anything: `true` for events with guards, negative
    /// acknowledgements or stages. If `false`, a performance saves these three calls.
    const STAGED: bool = false;

    /// Returns `true` if the event leaves at most one waiter, guarded by one lock. That holds for
    /// base events and not for choices, and saves a performance two locked instructions. If in
    /// doubt, return `false`.
    fn is_single(&self) -> bool {
        false
    }

    /// Returns how many boxes are nested in the event. An event that contains others returns the
    /// largest of their numbers. The library uses it to reject a nesting that is too deep for a
    /// stack; see [`boxed`](Event::boxed).
    fn depth(&self) -> usize {
        0
    }

    /// Makes the branch for one performance.
    fn branch(&self) -> Self::Branch<'_>;

    /// Runs the guards, before anything is tried. Called once for each branch, from the first
    /// alternative of a choice to the last. Guards are user code, which may block and may panic.
    fn force<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        let _ = branch;
    }

    /// Commits if that is possible at once, without waiting and without becoming visible to
    /// partners.
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step;

    /// Commits if that is possible at once; otherwise leaves the branch where a partner finds it.
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step;

    /// Takes the branch back from where `publish` left it. Returns `true` if a partner has
    /// committed this branch.
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool;

    /// Called on the branch that has committed or won. Returns `false` if that was only one stage;
    /// the performance then continues with the next stage, from `try_commit`.
    fn advance<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> bool {
        let _ = branch;
        true
    }

    /// Called when another alternative has won for good, before that alternative is completed. Runs
    /// no user code.
    fn lose<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        let _ = branch;
    }

    /// Returns the value of a branch that has committed or won.
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output;

    /// Performs the event if that takes neither a wait nor a branch. If it returns `None`, it has
    /// changed nothing, and the event may be ready nevertheless. For a future, which performs it
    /// alone.
    #[doc(hidden)]
    #[inline(always)]
    fn at_once(&self) -> Option<Self::Output> {
        None
    }

    /// Describes the wait of a performer with this branch, for the wait graph. Called on the thread
    /// of a parked performer, within its wait; must not wait itself.
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        let _ = (branch, waits);
    }

    /// Returns the thing for which a performer with this branch waits, if it is one thing, and no
    /// other code can see the wait. For a model.
    #[doc(hidden)]
    fn awaits<'e>(&'e self, branch: &Self::Branch<'e>) -> Option<crate::event::telling::awaited::Awaits> {
        let _ = branch;
        None
    }

    /// Performs the event and waits for it.
    ///
    /// In a fiber, the fiber is parked and its domain runs other fibers; elsewhere the OS thread is
    /// parked. It does not allocate.
    ///
    /// # Panics
    ///
    /// Panics if a function given to the event (a wrap, the maker of a message) panics. The event
    /// has then happened.
    ///
    /// A destructor that runs during a panic may wait, too. The section *Destructors* in
    /// `guide::cancellation` describes the effects on the other fibers of the domain.
    ///
    /// # Fairness
    ///
    /// Among the ready branches of a choice a random one is taken. Each queue is first in, first
    /// out. A fiber whose events are always ready, so that it need not wait, lets the other fibers
    /// of its domain run after 10 to 20 ms.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel::bounded, choose};
    ///
    /// let ((_a, from_a), (b, from_b)) = (bounded::<u32>(1), bounded(1));
    /// let either = choose((from_a.recv_evt(), from_b.recv_evt()));
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| b.send(1).unwrap());
    ///     assert_eq!(either.sync(), Ok(1)); // waits for the other thread
    /// });
    /// b.send(2).unwrap();
    /// assert_eq!(either.sync(), Ok(2)); // the same event, performed again
    /// ```
    #[inline(always)]
    fn sync(&self) -> Self::Output
    where
        Self: Sized,
    {
        sync::sync(self)
    }

    /// Performs the event if that needs no waiting. If it returns `None`, it has changed nothing,
    /// and there was a moment during the call at which the event was not ready; for a choice, at
    /// which none of its alternatives was ready.
    ///
    /// It runs the guards, and sends negative acknowledgements if nothing was ready. For an event
    /// in two stages ([`replace`](Event::replace)) the first stage may have happened although the
    /// second is not ready.
    ///
    /// ```
    /// # use lisle_core as lisle;
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
    /// It waits only for partners on other threads that are in the middle of a commit, which takes
    /// a few instructions, and for the user's functions (guards, the makers of messages).
    ///
    /// # Complexity
    ///
    /// If a choice of several objects finds nothing, it looks at each of them twice. If an object
    /// became ready meanwhile and was taken by another performer, the choice is entered into all
    /// queues and taken out again.
    ///
    /// # Fairness
    ///
    /// It does not wait, but a fiber may give way in it. A fiber that has polled without success
    /// about 128 times in one turn, by this method or by one of the operations that try, yields to
    /// the ready fibers of its domain, if there are any. Otherwise a loop around the call would
    /// keep them from making the event ready. The fiber does not yield inside `no_suspend` or in a
    /// function given to a [`Source`]. See the section "Soundness" of the module `lisle::fiber` for
    /// things that must not be held across the call.
    #[inline]
    fn poll(&self) -> Option<Self::Output>
    where
        Self: Sized,
    {
        glimpse::poll(self)
    }

    /// Returns the same event with its value passed through `f`.
    ///
    /// `f` runs in the performer, after the commit, when every other branch of the performance has
    /// been withdrawn; it may block. Of nested wraps the inner one runs first, and a wrap over a
    /// choice applies to whichever branch won.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel::bounded, choose};
    ///
    /// let ((numbers, number), (_words, word)) = (bounded(1), bounded::<String>(1));
    /// // The alternatives of a choice need one output type.
    /// let next = choose((
    ///     number.recv_evt().wrap(|n| n.map(|n: u32| n.to_string())),
    ///     word.recv_evt().wrap(|_| unreachable!("an alternative that loses")),
    /// ));
    /// numbers.send(7).unwrap();
    /// assert_eq!(next.sync().unwrap(), "7");
    /// ```
    #[inline]
    fn wrap<F, U>(self, f: F) -> Wrap<Self, F>
    where
        Self: Sized,
        F: Fn(Self::Output) -> U,
    {
        Wrap::new(self, f)
    }

    /// Returns the same event, except that `f` makes its value if completing it panics, that is, if
    /// a wrap function inside it or the maker of a message panics. `f` receives the payload of the
    /// panic.
    ///
    /// The event has happened by then. A panic in a guard is not handled, since then nothing has
    /// happened. Neither is a panic in the function of a [`replace`](Event::replace), when only the
    /// first stage has happened. When a runtime shuts down, its fibers unwind through this event
    /// without a call of `f`.
    ///
    /// This is Concurrent ML's `wrapHandler`.
    ///
    /// ```
    /// # use lisle_core as lisle;
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

    /// Returns an event in two stages. Once this event has happened, `make` turns its value into a
    /// second event, which takes its place and keeps competing with the other alternatives of the
    /// choice.
    ///
    /// Only the second stage decides. If another alternative wins after the first stage has
    /// happened, the first stage has still happened, and its value is dropped. `make` runs in the
    /// performer while nothing is published; it may block. For a first stage that must not be lost,
    /// use [`with_nack`].
    ///
    /// This is Racket's `replace-evt`.
    ///
    /// ```
    /// # use lisle_core as lisle;
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

    /// Hides the event's type; then different events fit into one vector.
    ///
    /// Making the box allocates, and performing it costs an indirect call for each step. Performing
    /// it does not allocate once warm.
    ///
    /// # Panics
    ///
    /// Panics if boxed events are nested more than 128 deep, for example when events are joined one
    /// by one, each with the choice of the events before it. Every step of such an event uses stack
    /// for each level. A choice of a vector may have any number of alternatives.
    ///
    /// Performing an event panics in the same way if [`guard`]s, [`with_nack`]s and second stages
    /// of [`replace`](Event::replace) make events that make further ones to that depth.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, always, choose, event::BoxEvent};
    ///
    /// let all: Vec<BoxEvent<u32>> = (0..50_000).map(|n| always(n).boxed()).collect();
    /// assert!(choose(all).poll().is_some());
    /// ```
    ///
    /// ```should_panic
    /// # use lisle_core as lisle;
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

    /// Returns a future that performs the event once, on any executor.
    ///
    /// The library's own events also implement [`IntoFuture`]; `event.await` works for them.
    ///
    /// # Cancel safety
    ///
    /// A future that is dropped before a partner has committed it has done nothing. If it is
    /// dropped after the commit and before its executor polls it again, it drops the value it was
    /// given, like a function whose result is ignored. To wait for one of several events use
    /// [`choose`], not an executor's `select!`: a choice commits exactly one.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel::bounded};
    /// use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
    ///
    /// let (tx, rx) = bounded(1);
    /// drop(rx.recv_evt().future()); // takes nothing
    /// let mut message = pin!(rx.recv_evt().future());
    /// let mut context = Context::from_waker(Waker::noop());
    /// assert!(message.as_mut().poll(&mut context).is_pending());
    /// tx.send(7).unwrap();
    /// assert_eq!(message.poll(&mut context), Poll::Ready(Ok(7)));
    /// ```
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
    fn at_once(&self) -> Option<E::Output> {
        (**self).at_once()
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        (**self).describe(branch, waits);
    }
}
