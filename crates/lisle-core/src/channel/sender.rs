//! The sending end of a channel.

use super::error::{SendError, SendTimeoutError, TrySendError};
use super::observe::{ClosedEvt, ReadyEvt};
use super::shared::{Sent, Shared};
use crate::drops::Careful;
use crate::event::protocol::queue::Waiter;
use crate::event::protocol::record::{Committer, Outsider};
use crate::event::waiting::turn;
use crate::event::{
    Attempt, Description, Event, Step, choose_biased, debug_by_name, is_modelled, visible_doing, wait_for,
};
use crate::shim::counted_down;
use crate::shim::sync::Arc;
use crate::shim::unseen::Ordering;
use crate::time::after;
use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;
use std::time::Duration;

/// The sending end of a channel. Clones share the channel.
///
/// When the last clone is dropped, the channel is closed. Buffered messages can still be received.
pub struct Sender<T> {
    pub(super) shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// Creates a sender that `shared.senders` already counts; a new channel counts one.
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Sender { shared }
    }

    /// Closes the channel for all its ends. Returns `false` if it was closed already.
    ///
    /// Senders that wait get their message back. Receivers get the buffered messages, then the
    /// error.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{RecvError, SendError, bounded};
    ///
    /// let (tx, rx) = bounded(1);
    /// tx.send(1).unwrap();
    /// assert!(tx.close());
    /// assert!(!tx.close()); // it was closed already
    /// assert_eq!(tx.send(2), Err(SendError(2)));
    /// assert_eq!(rx.recv(), Ok(1)); // an earlier message is still received
    /// assert_eq!(rx.recv(), Err(RecvError));
    /// ```
    pub fn close(&self) -> bool {
        visible_doing("close", self.shared.label(), &*self.shared);
        self.shared.close()
    }

    /// Returns `true` if the channel is closed.
    pub fn is_closed(&self) -> bool {
        visible_doing("look at", self.shared.label(), &*self.shared);
        self.shared.is_closed()
    }

    /// Returns how many messages are buffered.
    pub fn len(&self) -> usize {
        visible_doing("look at", self.shared.label(), &*self.shared);
        self.shared.len()
    }

    /// Returns `true` if no message is buffered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many messages the channel can buffer, which is 0 for a rendezvous channel.
    pub fn capacity(&self) -> usize {
        self.shared.capacity()
    }
}

impl<T: Send> Sender<T> {
    /// Sends a message and waits, as [`Event::sync`] does, until a receiver takes it or the buffer
    /// has room.
    ///
    /// # Errors
    ///
    /// Returns the message if the channel is closed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::SendError;
    ///
    /// let (tx, rx) = lisle::channel();
    /// std::thread::scope(|scope| {
    ///     let receiver = scope.spawn(|| rx.recv());
    ///     tx.send("hello").unwrap(); // waits until the receiver has taken it
    ///     assert_eq!(receiver.join().unwrap(), Ok("hello"));
    /// });
    /// drop(rx);
    /// assert_eq!(tx.send("bye"), Err(SendError("bye"))); // nobody can receive it
    /// ```
    #[inline]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        send(&self.shared, message)
    }

    /// Sends a message if that needs no waiting.
    ///
    /// # Errors
    ///
    /// Returns the message if no receiver waits and the buffer has no room, or if the channel is
    /// closed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{TrySendError, bounded};
    ///
    /// let (tx, rx) = bounded(1);
    /// assert_eq!(tx.try_send(1), Ok(()));
    /// assert_eq!(tx.try_send(2), Err(TrySendError::Full(2)));
    /// drop(rx);
    /// assert_eq!(tx.try_send(3), Err(TrySendError::Closed(3)));
    ///
    /// // A rendezvous channel has no room: a receiver must wait already.
    /// let (tx, _rx) = lisle::channel();
    /// assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)));
    /// ```
    #[inline]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let event = SendOnce::new(&self.shared, message);
        match event.poll() {
            Some(Ok(())) => Ok(()),
            Some(Err(SendError(message))) => Err(TrySendError::Closed(message)),
            None => Err(TrySendError::Full(event.into_message())),
        }
    }

    /// Sends a message and waits for at most `timeout`.
    ///
    /// # Errors
    ///
    /// Returns the message if the time is over or the channel is closed.
    ///
    /// # Panics
    ///
    /// Panics outside a runtime if the system refuses the thread that timers need there, see
    /// [`time`](crate::time#panics).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{SendTimeoutError, bounded};
    /// use std::time::Duration;
    ///
    /// let (tx, rx) = bounded(1);
    /// assert_eq!(tx.send_timeout(1, Duration::ZERO), Ok(())); // there is room
    /// let late = tx.send_timeout(2, Duration::from_millis(1));
    /// assert_eq!(late, Err(SendTimeoutError::Timeout(2)));
    /// drop(rx);
    /// let refused = tx.send_timeout(3, Duration::from_millis(1));
    /// assert_eq!(refused, Err(SendTimeoutError::Closed(3)));
    /// ```
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
    /// Returns the event that a send may succeed at once: the buffer has room, a receiver waits, or
    /// the channel is closed. It sends nothing, so another sender may be faster. It is for a sender
    /// that makes the message only when it can be sent. The notes on
    /// [`recv_ready_evt`](super::Receiver::recv_ready_evt) apply here as well.
    ///
    /// ```
    /// # use lisle_core as lisle;
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

    /// Returns the event that the channel is closed, explicitly or because all receivers are
    /// dropped. It happens when [`is_closed`](Sender::is_closed) becomes `true`, for all waiters,
    /// and is ready from then on.
    ///
    /// It is for a sender whose work is pointless once nothing receives it, as is tokio's
    /// `Sender::closed`.
    ///
    /// ```
    /// # use lisle_core as lisle;
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
    /// Returns the event of sending `message`. Each performance sends a clone of it. An event that
    /// is awaited is performed once: it sends the message itself, which need not be `Clone`. A
    /// future that is dropped before it has sent the message drops it.
    ///
    /// To send a message in a choice that is costly or impossible to clone, use
    /// [`send_with_evt`](Sender::send_with_evt).
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// struct Unique(u32); // not `Clone`
    ///
    /// async fn send(tx: lisle::channel::Sender<Unique>) -> bool {
    ///     tx.send_evt(Unique(1)).await.is_ok()
    /// }
    /// # use std::task::{Context, Poll, Waker};
    /// # let (tx, rx) = lisle::channel::bounded(1);
    /// # let sent = Future::poll(std::pin::pin!(send(tx)), &mut Context::from_waker(Waker::noop()));
    /// # assert_eq!(sent, Poll::Ready(true));
    /// # assert_eq!(rx.recv().unwrap().0, 1);
    /// ```
    ///
    /// # Errors
    ///
    /// The event gives the message back if the channel is closed.
    ///
    /// # Cancel safety
    ///
    /// A send that loses a choice, a poll that fails, and a future that is dropped before a
    /// receiver has committed it have sent nothing.
    ///
    /// # Examples
    ///
    /// In a choice, where each performance sends a clone:
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, always, channel::bounded, event::choose_biased};
    ///
    /// let (tx, rx) = bounded(1);
    /// let send = tx.send_evt("hello").wrap(|sent| sent.is_ok());
    /// let try_to_send = choose_biased((send, always(false)));
    /// assert!(try_to_send.sync());
    /// assert!(!try_to_send.sync()); // there is no room
    /// assert_eq!(rx.recv(), Ok("hello"));
    /// assert!(try_to_send.sync());
    /// ```
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
        visible_doing("drop a sender of", self.shared.label(), &*self.shared);
        if counted_down(&self.shared.senders) {
            self.shared.close();
        }
    }
}

debug_by_name!([T] Sender<T>);

/// Sends `message` and waits until it is sent.
#[inline(always)]
pub(super) fn send<T: Send>(shared: &Shared<T>, message: T) -> Result<(), SendError<T>> {
    let mut message = Some(message);
    if send_at_once(shared, &mut message, &Outsider) {
        turn::pass_if_due();
        return Ok(());
    }
    let sent = wait_for(&SendOnce { shared, message: Cell::new(message) });
    if sent.is_err() {
        // It is closed, and need not have waited.
        turn::pass_if_due();
    }
    sent
}

/// Sends `message` if the channel's hint says that this may be possible and, under the lock, it is.
/// This needs no record and no waiter. Returns `false`, and leaves the message, if the channel is
/// closed or the send would have to wait; then the caller performs the event.
#[inline(always)]
pub(super) fn send_at_once<T: Send>(
    shared: &Shared<T>,
    message: &mut Option<T>,
    by: &impl Committer,
) -> bool {
    if is_modelled() || !shared.hint().is_sendable() {
        return false;
    }
    match shared.locked(|inner| inner.send(by, message)) {
        Sent::Done(waker) => {
            if let Some(waker) = waker {
                waker.wake();
            }
            true
        }
        Sent::Closed | Sent::Nothing => false,
    }
}

/// The branch of a send: a waiter whose slot holds the message until a receiver takes it, or until
/// it is moved into the buffer.
pub struct Sending<'e, T> {
    pub(super) shared: &'e Shared<T>,
    waiter: Waiter<Option<T>>,
    /// The cell into which the destructor puts a message that was not sent. `None` if the message
    /// is a clone.
    home: Option<&'e Cell<Option<T>>>,
}

// SAFETY: the branch is a waiter and its message. `home` is the cell of a `SendOnce` or an
// `OwnedSendOnce`. Such an event is not `Sync`, so one performer at a time uses it, and a future
// that performs it holds the event and the branch and moves both together.
unsafe impl<T: Send> Send for Sending<'_, T> {}

impl<'e, T> Sending<'e, T> {
    #[inline(always)]
    pub(super) fn new(shared: &'e Shared<T>, message: Option<T>, home: Option<&'e Cell<Option<T>>>) -> Self {
        Sending { shared, waiter: Waiter::new(message), home }
    }

    #[inline(always)]
    pub(super) fn try_commit(self: Pin<&mut Self>, attempt: &Attempt<'_>) -> Step {
        let hint = self.shared.hint_for(attempt);
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
            // SAFETY: the waiter is not published, as checked above, so it is free and only the
            // performer accesses its slot.
            let sent = unsafe {
                this.waiter.slot_mut(|message| {
                    assert!(message.is_some(), "a send was tried again after it had committed");
                    inner.send(attempt, message)
                })
            };
            if wait && matches!(sent, Sent::Nothing) && !attempt.is_decided() {
                // SAFETY: the waiter is not linked, since it is not published. It is pinned, and it
                // is not freed before `withdraw` has unlinked it.
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

    /// Unlinks the waiter from the queue. Returns `false` if it is in no queue: then a receiver has
    /// committed it, or the channel was closed.
    pub(super) fn unlink(&self) -> bool {
        // SAFETY: the waiter is alive and was linked into this queue or into none.
        self.shared.locked_quietly(|inner| unsafe { inner.sending.unlink(NonNull::from(&self.waiter)) })
    }

    /// Returns the outcome of a send that its performer has committed or that a partner has. If the
    /// message is still in the slot, the channel was closed.
    #[inline]
    pub(super) fn outcome(&self) -> Result<(), SendError<T>> {
        assert!(!self.waiter.is_published(), "`complete` on a branch that has not been withdrawn");
        // SAFETY: the waiter is not published, as checked above, so it is free and only the
        // performer accesses its slot.
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
            // SAFETY: the waiter is not published, as checked above, so it is free and only the
            // performer accesses its slot.
            home.set(unsafe { self.waiter.slot_mut(Option::take) });
        }
    }
}

/// The event of sending clones of a message. See [`Sender::send_evt`].
#[must_use = "events do nothing unless performed"]
pub struct SendEvt<'a, T> {
    shared: &'a Shared<T>,
    message: Careful<T>,
}

/// Implements sending as an event, for an event that borrows its sender or owns it.
macro_rules! sends {
    ([$($generics:tt)*] $event:ty, $branch:expr $(, once: $shared:expr)?) => {
        impl<$($generics)*> Event for $event {
            type Output = Result<(), SendError<T>>;
            $(
                #[inline(always)]
                fn at_once(&self) -> Option<Self::Output> {
                    let shared: fn(&Self) -> &Shared<T> = $shared;
                    let mut message = self.message.take();
                    let is_sent = message.is_some() && $crate::channel::sender::send_at_once(
                        shared(self), &mut message, &$crate::event::protocol::record::Awaiting,
                    );
                    self.message.set(message);
                    is_sent.then_some(Ok(()))
                }
            )?
            $crate::event::single! { #[inline(always)] |this, branch: Sending<'e, T>, attempt|
                branch: {
                    let branch: fn(&Self) -> Sending<'_, T> = $branch;
                    branch(this)
                },
                try_commit: branch.try_commit(attempt),
                publish: branch.attempt(attempt, true),
                withdraw: branch.into_ref().get_ref().withdraw(attempt)
            }

            #[inline(always)]
            fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
                branch.outcome()
            }
            fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
                branch.describe(waits);
            }
            fn awaits<'e>(&'e self, branch: &Self::Branch<'e>) -> Option<$crate::event::awaited::Awaits> {
                branch.shared.awaits($crate::event::awaited::Awaited::Place)
            }
        }
    };
}
pub(super) use sends;

sends!(['a, T: Send + Clone] SendEvt<'a, T>, |event| Sending::new(event.shared, Some(event.message.get().clone()), None));

/// The event of sending one message once. A performance takes the message out of `message`; when
/// its branch is dropped, a message that was not sent is put back. Only one performance at a time
/// may be under way, and none after the message was sent: a second one panics.
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
}, once: |event| event.shared);

impl<T> fmt::Debug for Sending<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending").field("published", &self.waiter.is_published()).finish_non_exhaustive()
    }
}

debug_by_name!([T] SendEvt<'_, T>);
debug_by_name!([T] SendOnce<'_, T>);
crate::event::awaitable!(['a, T: Send] SendEvt<'a, T> => SendOnce<'a, T>, |event| {
    SendOnce::new(event.shared, event.message.into_inner())
}, single);
