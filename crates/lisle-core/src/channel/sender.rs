//! The sending end.

#[cfg(doc)]
use super::error::SendWithError;
use super::error::{SendError, SendTimeoutError, TrySendError};
use super::observe::{ClosedEvt, ReadyEvt};
use super::promise::SendWithEvt;
use super::shared::{Sent, Shared};
use crate::drops::Careful;
use crate::event::queue::Waiter;
use crate::event::record::Outsider;
use crate::event::{Attempt, Description, Event, Step, choose_biased, visible};
use crate::shim::atomic::Ordering;
use crate::shim::sync::Arc;
use crate::time::after;
use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;
use std::time::Duration;

/// The sending end of a channel. Clones share the channel.
///
/// When the last clone goes the channel is closed; what is buffered can still be received.
pub struct Sender<T> {
    pub(super) shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Sender { shared }
    }

    /// The event of sending a message that is made only if the send has won.
    ///
    /// `make` runs in the performer after the commit, so it may block, and receive; the receiver that was won waits
    /// for it. If it panics, the receiver that was to get the message starts over and has lost nothing.
    ///
    /// ```
    /// use lisle::channel::{SendWithError, channel};
    /// use lisle::{Event, choose, never};
    ///
    /// let (tx, rx) = channel();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| assert_eq!(rx.recv(), Ok("made to order")));
    ///     tx.send_with_evt(|| "made to order").sync().unwrap();
    /// });
    /// drop(rx);
    /// assert_eq!(tx.send_with_evt(|| "not made").sync(), Err(SendWithError::Closed(None)));
    /// ```
    ///
    /// # Errors
    ///
    /// - [`Closed`](SendWithError::Closed): the channel is closed; the message, if it had been made by then, comes back.
    /// - [`Left`](SendWithError::Left): while the message was made, the receiver that was to get it left (it was
    ///   cancelled, or its future dropped). Then the message goes to another receiver that waits, or into the buffer if
    ///   there is room, and only if there is neither it comes back.
    ///
    /// # Blocking
    ///
    /// Once the send has won it waits for nobody but `make`; so neither a poll nor a future's poll blocks otherwise.
    ///
    /// # Cancel safety
    ///
    /// A loser of a choice, a poll that fails and a future dropped before it has won have made nothing.
    ///
    /// # Fairness
    ///
    /// Such senders are let in when no other sender waits. A receiver that only polls does not meet
    /// them, since it would have to wait for the message.
    pub fn send_with_evt<F: Fn() -> T>(&self, make: F) -> SendWithEvt<'_, T, F> {
        SendWithEvt::new(&self.shared, make)
    }

    /// Closes the channel for everybody. `false` if it was closed already.
    ///
    /// Senders that wait get their message back. Receivers get what is buffered, then the error.
    pub fn close(&self) -> bool {
        self.shared.close()
    }

    /// Is the channel closed?
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// How many messages are buffered.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Is nothing buffered?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many messages the channel buffers at most; 0 for a rendezvous channel.
    pub fn capacity(&self) -> usize {
        self.shared.capacity()
    }
}

impl<T: Send> Sender<T> {
    /// Sends a message, waiting until a receiver takes it or the buffer has room. Waits as
    /// [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// The channel is closed; gives the message back.
    #[inline]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        send(&self.shared, message)
    }

    /// Sends a message if that takes no waiting.
    ///
    /// # Errors
    ///
    /// No receiver waits and there is no room, or the channel is closed; gives the message back.
    #[inline]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let event = SendOnce::new(&self.shared, message);
        match event.poll() {
            Some(Ok(())) => Ok(()),
            Some(Err(SendError(message))) => Err(TrySendError::Closed(message)),
            None => Err(TrySendError::Full(event.into_message())),
        }
    }

    /// Sends a message, waiting for at most `timeout`.
    ///
    /// # Errors
    ///
    /// The time is over, or the channel is closed; gives the message back.
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        let event = SendOnce::new(&self.shared, message);
        let sent = choose_biased(((&event).wrap(Some), after(timeout).wrap(|()| None))).sync();
        match sent {
            Some(Ok(())) => Ok(()),
            Some(Err(SendError(message))) => Err(SendTimeoutError::Closed(message)),
            None => Err(SendTimeoutError::Timeout(event.into_message())),
        }
    }
}

impl<T: Send> Sender<T> {
    /// The event that a send may succeed at once: there is room, a receiver waits, or the channel is closed. It sends
    /// nothing, so somebody else may be faster. For who makes the message only when it can be sent, and what has been said of
    /// [`recv_ready_evt`](super::Receiver::recv_ready_evt) holds here as well.
    ///
    /// ```
    /// use lisle::Event;
    ///
    /// let (tx, rx) = lisle::channel::bounded(1);
    /// tx.send(1).unwrap();
    /// assert_eq!(tx.send_ready_evt().poll(), None);
    /// rx.recv().unwrap();
    /// tx.send_ready_evt().sync();
    /// tx.try_send(2).unwrap();
    /// ```
    pub fn send_ready_evt(&self) -> ReadyEvt<'_> {
        ReadyEvt::to_send(&*self.shared)
    }

    /// The event that the channel is closed: by somebody, or since all receivers are gone. It happens as
    /// [`is_closed`](Sender::is_closed) turns true, for all who wait, and is ready from then on.
    ///
    /// For who works on something that nobody may want any more, as with tokio's `Sender::closed`.
    ///
    /// ```
    /// use lisle::{Event, choose, time::after};
    /// use std::time::Duration;
    ///
    /// let (tx, rx) = lisle::channel::<u32>();
    /// drop(rx);
    /// let hour = after(Duration::from_secs(3600));
    /// assert!(choose((tx.closed_evt().wrap(|()| true), hour.wrap(|()| false))).sync());
    /// ```
    pub fn closed_evt(&self) -> ClosedEvt<'_> {
        ClosedEvt::new(&*self.shared)
    }
}

impl<T> Sender<T> {
    /// The event of sending `message`, or rather a clone of it for each time the event is performed. If it is awaited, that
    /// is once: then the message itself is sent, and need not be `Clone`; a future that is dropped before drops it.
    ///
    /// For messages that are costly or impossible to clone, and are to be sent in a choice, there is
    /// [`send_with_evt`](Sender::send_with_evt).
    ///
    /// ```
    /// struct Unique(u32); // not `Clone`
    ///
    /// lisle::run(|| {
    ///     let (tx, rx) = lisle::channel();
    ///     let sender = lisle::spawn_task(async move { tx.send_evt(Unique(1)).await.is_ok() });
    ///     assert_eq!(rx.recv().unwrap().0, 1);
    ///     assert!(sender.join().unwrap());
    /// });
    /// ```
    ///
    /// # Errors
    ///
    /// The channel is closed; gives the message back.
    ///
    /// # Cancel safety
    ///
    /// A loser of a choice, a poll that fails and a future dropped before a receiver has committed it
    /// have sent nothing.
    pub fn send_evt(&self, message: T) -> SendEvt<'_, T> {
        SendEvt { shared: &self.shared, message: Careful::new(message) }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.senders.fetch_add(1, Ordering::Relaxed);
        Sender { shared: self.shared.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.shared.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared.close();
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender")
    }
}

/// Sends `message`, waiting for it.
#[inline(always)]
pub(super) fn send<T: Send>(shared: &Shared<T>, message: T) -> Result<(), SendError<T>> {
    let mut message = Some(message);
    if send_at_once(shared, &mut message) {
        return Ok(());
    }
    SendOnce { shared, message: Cell::new(message) }.sync()
}

/// Sends `message` if it can be seen that nothing is to be waited for; then no record and no waiter has to be made.
#[inline(always)]
pub(super) fn send_at_once<T: Send>(shared: &Shared<T>, message: &mut Option<T>) -> bool {
    visible();
    if !shared.hint().is_sendable() {
        return false;
    }
    match shared.locked(|inner| inner.send(&Outsider, message)) {
        Sent::Done(waker) => {
            if let Some(waker) = waker {
                waker.wake();
            }
            true
        }
        Sent::Closed | Sent::Nothing => false,
    }
}

/// The branch of a send: a waiter with the message in its slot, until somebody takes it.
pub struct Sending<'e, T> {
    shared: &'e Shared<T>,
    waiter: Waiter<Option<T>>,
    /// Where a message goes that was not sent.
    home: Option<&'e Cell<Option<T>>>,
}

// SAFETY: the branch is a waiter and its message. `home` belongs to an event that is private to this
// module and is performed by one performer at a time, together with which its branch moves.
unsafe impl<T: Send> Send for Sending<'_, T> {}

impl<'e, T> Sending<'e, T> {
    #[inline(always)]
    pub(super) fn new(shared: &'e Shared<T>, message: Option<T>, home: Option<&'e Cell<Option<T>>>) -> Self {
        Sending { shared, waiter: Waiter::new(message), home }
    }

    #[inline(always)]
    pub(super) fn try_commit(self: Pin<&mut Self>, attempt: &Attempt<'_>) -> Step {
        let hint = self.shared.hint();
        if hint.is_sendable() {
            return self.attempt(attempt, false);
        }
        attempt.evidence().unready(self.shared, hint.changes());
        Step::Waiting
    }

    pub(super) fn describe(&self, waits: &mut Description) {
        self.shared.describe("send to", waits);
    }

    #[inline(always)]
    pub(super) fn attempt(self: Pin<&mut Self>, attempt: &Attempt<'_>, wait: bool) -> Step {
        let this = self.into_ref().get_ref();
        this.waiter.must_not_be_published();
        let sent = this.shared.locked_by(Some(attempt), |inner| {
            // SAFETY: not published, as just seen, hence free.
            let sent = unsafe {
                this.waiter.slot_mut(|message| {
                    assert!(message.is_some(), "a send was tried again after it had committed");
                    inner.send(attempt, message)
                })
            };
            if wait && matches!(sent, Sent::Nothing) && !attempt.is_decided() {
                // SAFETY: not linked, since not published; pinned; not let go before `withdraw` has
                // unlinked it.
                unsafe { inner.sending.push(&this.waiter, attempt) };
                inner.changed();
            } else if !wait && matches!(sent, Sent::Nothing) {
                attempt.evidence().unready(this.shared, inner.changes());
            }
            sent
        });
        match sent {
            Sent::Done(waker) => {
                if let Some(waker) = waker {
                    waker.wake();
                }
                Step::Committed
            }
            Sent::Closed => Step::Committed,
            Sent::Nothing => Step::Waiting,
        }
    }

    #[inline]
    pub(super) fn withdraw(&self, attempt: &Attempt<'_>) -> bool {
        if !self.waiter.is_free() {
            self.unlink();
        }
        self.waiter.taken_back(attempt);
        attempt.record().won_by(self.waiter.id())
    }

    /// Leaves the queue. False if it lies in none: then somebody has committed it, or is about to.
    pub(super) fn unlink(&self) -> bool {
        // SAFETY: it was linked into this queue, if into any, and is alive.
        self.shared.locked_quietly(|inner| unsafe { inner.sending.unlink(NonNull::from(&self.waiter)) })
    }

    /// The outcome of a send that has committed or won: what still lies in the slot was refused.
    #[inline]
    pub(super) fn outcome(&self) -> Result<(), SendError<T>> {
        assert!(!self.waiter.is_published(), "`complete` on a branch that has not been withdrawn");
        // SAFETY: not published, hence free.
        match unsafe { self.waiter.slot_mut(Option::take) } {
            None => Ok(()),
            Some(message) => Err(SendError(message)),
        }
    }
}

impl<T> Drop for Sending<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(home) = self.home {
            self.waiter.must_not_be_published();
            // SAFETY: not published, as just seen, hence free.
            home.set(unsafe { self.waiter.slot_mut(Option::take) });
        }
    }
}

/// The event of sending clones of a message, see [`Sender::send_evt`].
#[must_use = "events do nothing unless performed"]
pub struct SendEvt<'a, T> {
    shared: &'a Shared<T>,
    message: Careful<T>,
}

/// Sending as an event, whether the event borrows its sender or owns it.
macro_rules! sends {
    ([$($generics:tt)*] $event:ty, $branch:expr) => {
        impl<$($generics)*> Event for $event {
            type Output = Result<(), SendError<T>>;
            type Branch<'e>
                = Sending<'e, T>
            where
                Self: 'e;

            #[inline(always)]
            fn is_single(&self) -> bool {
                true
            }
            #[inline(always)]
            fn branch(&self) -> Self::Branch<'_> {
                let branch: fn(&Self) -> Sending<'_, T> = $branch;
                branch(self)
            }
            #[inline(always)]
            fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
                branch.try_commit(attempt)
            }
            #[inline(always)]
            fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
                branch.attempt(attempt, true)
            }
            #[inline(always)]
            fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
                branch.into_ref().get_ref().withdraw(attempt)
            }
            #[inline(always)]
            fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
                branch.outcome()
            }
            fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
                branch.describe(waits);
            }
        }
    };
}
pub(super) use sends;

sends!(['a, T: Send + Clone] SendEvt<'a, T>, |event| Sending::new(event.shared, Some(event.message.get().clone()), None));

/// The event of sending one message once. A message that was not sent comes home.
pub struct SendOnce<'a, T> {
    shared: &'a Shared<T>,
    message: Cell<Option<T>>,
}

impl<'a, T> SendOnce<'a, T> {
    #[inline]
    fn new(shared: &'a Shared<T>, message: T) -> Self {
        SendOnce { shared, message: Cell::new(Some(message)) }
    }

    fn into_message(self) -> T {
        self.message.into_inner().expect("a message that was not sent comes home")
    }
}

sends!(['a, T: Send] SendOnce<'a, T>, |event| {
    Sending::new(event.shared, event.message.take(), Some(&event.message))
});

impl<T> fmt::Debug for Sending<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending").field("published", &self.waiter.is_published()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for SendEvt<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendEvt")
    }
}

impl<T> fmt::Debug for SendOnce<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendOnce")
    }
}

crate::event::awaitable!(['a, T: Send] SendEvt<'a, T> => SendOnce<'a, T>, |event| {
    SendOnce::new(event.shared, event.message.into_inner())
});
