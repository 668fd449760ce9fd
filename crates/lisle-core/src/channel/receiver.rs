//! The receiving end of a channel.

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::iter::{Iter, TryIter};
use super::observe::{ClosedEvt, ReadyEvt};
use super::shared::{Received, Shared};
use super::slot::{Promise, Slot};
use crate::event::protocol::queue::Waiter;
use crate::event::protocol::record::{Committer, Outsider, misuse};
use crate::event::waiting::turn;
use crate::event::{
    Attempt, Description, Event, Step, choose_biased, copied, debug_by_name, is_modelled, visible_doing,
    wait_for,
};
use crate::shim::counted_down;
use crate::shim::sync::Arc;
use crate::shim::unseen::Ordering;
use crate::time::after;
use std::pin::Pin;
use std::ptr::NonNull;
use std::time::Duration;

/// The receiving end of a channel. Clones share the channel; each message goes to one of them.
///
/// When the last clone is dropped, the channel is closed and the buffered messages are dropped.
pub struct Receiver<T> {
    pub(super) shared: Arc<Shared<T>>,
}

impl<T> Receiver<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Receiver { shared }
    }

    /// Returns the event of receiving one message, oldest first.
    ///
    /// Any number of receivers may wait. They are served in the order in which they came. A closed
    /// channel gives the buffered messages, then always `Err`.
    ///
    /// # Cancel safety
    ///
    /// A receive that loses a choice, a poll that fails, and a future that is dropped before a
    /// sender has committed it have taken nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{RecvError, bounded};
    /// use lisle::{Event, choose, never};
    ///
    /// let (tx, rx) = bounded(1);
    /// let next = choose((rx.recv_evt(), never()));
    /// assert_eq!(next.poll(), None);
    /// tx.send(1).unwrap();
    /// drop(tx);
    /// assert_eq!(next.sync(), Ok(1));
    /// assert_eq!(next.sync(), Err(RecvError)); // closed: it is ready for good
    /// ```
    #[inline]
    pub fn recv_evt(&self) -> RecvEvt<'_, T> {
        RecvEvt { shared: &self.shared }
    }

    /// Closes the channel for all its ends. Returns `false` if it was closed already.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{SendError, bounded};
    ///
    /// let (tx, rx) = bounded(2);
    /// tx.send(1).unwrap();
    /// rx.close(); // no further messages, please
    /// assert_eq!(tx.send(2), Err(SendError(2)));
    /// assert_eq!(rx.iter().collect::<Vec<_>>(), [1]);
    /// ```
    pub fn close(&self) -> bool {
        visible_doing("close", self.shared.label(), &*self.shared);
        self.shared.close()
    }

    /// Returns `true` if the channel is closed. Buffered messages may still be received.
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

impl<T: Send> Receiver<T> {
    /// Receives a message and waits for it as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// Returns an error if the channel is closed and empty.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::RecvError;
    ///
    /// let (tx, rx) = lisle::channel();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || tx.send(1).unwrap());
    ///     assert_eq!(rx.recv(), Ok(1));
    ///     assert_eq!(rx.recv(), Err(RecvError)); // the only sender was dropped
    /// });
    /// ```
    #[inline]
    pub fn recv(&self) -> Result<T, RecvError> {
        if may_receive(&self.shared) {
            turn::pass_if_due();
            // Most likely no waiting is needed, so no record and no waiter is created yet.
            if let Some(received) = receive_now(&self.shared, &Outsider) {
                return received;
            }
        }
        wait_for(&self.recv_evt())
    }

    /// Receives a message if that needs no waiting.
    ///
    /// # Errors
    ///
    /// Returns an error if no message can be received now, or ever. A sender that makes its message
    /// on commit ([`Sender::send_with_evt`](super::Sender::send_with_evt)) cannot give it without
    /// waiting.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{TryRecvError, bounded};
    ///
    /// let (tx, rx) = bounded(1);
    /// assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    /// tx.send(1).unwrap();
    /// drop(tx);
    /// assert_eq!(rx.try_recv(), Ok(1));
    /// assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    /// ```
    #[inline]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match self.recv_evt().poll() {
            Some(Ok(message)) => Ok(message),
            Some(Err(RecvError)) => Err(TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Receives a message and waits for at most `timeout`.
    ///
    /// # Errors
    ///
    /// Returns an error if the time is over, in which case nothing was taken, or if the channel is
    /// closed and empty.
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
    /// use lisle::channel::{RecvTimeoutError, bounded};
    /// use std::time::Duration;
    ///
    /// let (tx, rx) = bounded(1);
    /// let late = rx.recv_timeout(Duration::from_millis(1));
    /// assert_eq!(late, Err(RecvTimeoutError::Timeout));
    /// tx.send(1).unwrap();
    /// drop(tx);
    /// assert_eq!(rx.recv_timeout(Duration::ZERO), Ok(1)); // a message that is there is received
    /// assert_eq!(rx.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));
    /// ```
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        within(timeout, self.recv_evt())
    }

    /// Returns the event that a receive may succeed at once: a message is buffered, a sender waits,
    /// or the channel is closed. It takes nothing, so another receiver may be faster. The receive
    /// then fails, or waits, and the caller waits for this event again.
    ///
    /// The event tells that the condition held at a moment during the wait. All waiters are told.
    /// It is for a caller that learns only later from which channel it receives, or that wants only
    /// some of the messages, as with crossbeam's `Select::ready`. For anything else
    /// [`recv_evt`](Receiver::recv_evt) is better and needs no loop.
    ///
    /// A performer that waits for this event does not receive yet, so a sender does not see it: two
    /// performers that wait at the two ends of a rendezvous channel until the other is ready wait
    /// for ever. Nor does the event tell of a sender that makes its message on commit
    /// ([`send_with_evt`](super::Sender::send_with_evt)), which is visible only to receivers that
    /// wait for the message.
    ///
    /// # Cancel safety
    ///
    /// The event takes nothing and leaves nothing.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel::bounded, choose};
    ///
    /// let ((numbers, number), (_words, word)) = (bounded(1), bounded::<String>(1));
    /// numbers.send(7).unwrap();
    /// // The events of channels with different messages are of one type.
    /// let first = choose([number.recv_ready_evt(), word.recv_ready_evt()]);
    /// first.sync();
    /// assert_eq!(number.try_recv(), Ok(7));
    /// assert_eq!(first.poll(), None);
    /// ```
    pub fn recv_ready_evt(&self) -> ReadyEvt<'_> {
        ReadyEvt::to_receive(&*self.shared)
    }

    /// Returns the event that the channel is closed, explicitly or because all senders are dropped.
    /// It happens when [`is_closed`](Receiver::is_closed) becomes `true`, for all waiters, and is
    /// ready from then on. Buffered messages may still be received after it.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::Event;
    ///
    /// let (tx, rx) = lisle::channel::bounded(1);
    /// tx.send("last").unwrap();
    /// assert_eq!(rx.closed_evt().poll(), None);
    /// drop(tx);
    /// rx.closed_evt().sync();
    /// assert_eq!(rx.recv(), Ok("last"));
    /// ```
    pub fn closed_evt(&self) -> ClosedEvt<'_> {
        ClosedEvt::new(&*self.shared)
    }

    /// Returns an iterator that receives until the channel is closed and empty.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// let (tx, rx) = lisle::channel();
    /// std::thread::scope(|scope| {
    ///     // The iterator ends when the last sender is dropped, here by the thread.
    ///     scope.spawn(move || (1..=3).for_each(|n| tx.send(n).unwrap()));
    ///     assert_eq!(rx.iter().sum::<u32>(), 6);
    /// });
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        Iter::new(self)
    }

    /// Returns an iterator over the messages that can be received without waiting: it ends at the first
    /// [`try_recv`](Receiver::try_recv) that fails. Whether the channel is closed then,
    /// [`is_closed`](Receiver::is_closed) tells.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// let (tx, rx) = lisle::channel::bounded(2);
    /// tx.send(1).unwrap();
    /// tx.send(2).unwrap();
    /// assert_eq!(rx.try_iter().sum::<u32>(), 3);
    /// assert_eq!(rx.try_iter().next(), None); // though more may come
    /// ```
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter::new(self)
    }
}

/// Performs `receive` and waits for at most `timeout`. A message that is available is taken even if
/// the timeout is zero.
pub(super) fn within<T>(
    timeout: Duration,
    receive: impl Event<Output = Result<T, RecvError>>,
) -> Result<T, RecvTimeoutError> {
    choose_biased((
        receive.wrap(|received| received.map_err(|RecvError| RecvTimeoutError::Closed)),
        after(timeout).wrap(|()| Err(RecvTimeoutError::Timeout)),
    ))
    .sync()
}

/// Returns `true` if the channel's hint says that a receive need not wait, and the code does not run
/// in a model.
#[inline(always)]
pub(super) fn may_receive<T>(shared: &Shared<T>) -> bool {
    !is_modelled() && shared.hint().is_receivable()
}

/// Receives if that needs no waiting, and wakes the sender that this lets continue.
#[inline]
pub(super) fn receive_now<T>(shared: &Shared<T>, by: &impl Committer) -> Option<Result<T, RecvError>> {
    let (received, opening) = shared.locked(|inner| {
        let received = inner.receive(by);
        // Room in the buffer admits senders that wait for permission.
        let opening = matches!(received, Received::Value(_, None)) && !inner.deferred.is_empty();
        (received, opening)
    });
    if opening {
        shared.retry_deferred(None);
    }
    match received {
        Received::Value(message, waker) => {
            if let Some(waker) = waker {
                waker.wake();
            }
            Some(Ok(message))
        }
        Received::Closed => Some(Err(RecvError)),
        Received::Nothing => None,
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.shared.receivers.fetch_add(1, Ordering::Relaxed);
        Receiver { shared: self.shared.clone() }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        visible_doing("drop a receiver of", self.shared.label(), &*self.shared);
        if counted_down(&self.shared.receivers) {
            self.shared.abandon();
        }
    }
}

debug_by_name!([T] Receiver<T>);

/// The event of receiving a message. See [`Receiver::recv_evt`].
#[must_use = "events do nothing unless performed"]
pub struct RecvEvt<'a, T> {
    shared: &'a Shared<T>,
}

/// The branch of a [`RecvEvt`].
#[derive(Debug)]
pub struct Receiving<'e, T> {
    pub(super) shared: &'e Shared<T>,
    waiter: Waiter<Slot<T>>,
}

// SAFETY: the branch is a waiter and the message in its slot. A promise in the slot is used under
// the lock.
unsafe impl<T: Send> Send for Receiving<'_, T> {}

impl<'e, T> Receiving<'e, T> {
    #[inline(always)]
    pub(super) fn new(shared: &'e Shared<T>) -> Self {
        Receiving { shared, waiter: Waiter::new(Slot::Empty) }
    }

    #[inline]
    pub(super) fn try_commit(self: Pin<&mut Self>, attempt: &Attempt<'_>) -> Step {
        let hint = self.shared.hint_for(attempt);
        if hint.is_receivable() {
            return self.attempt(attempt, false);
        }
        attempt.evidence().unready(self.shared, hint.changes());
        Step::Waiting
    }

    #[inline]
    pub(super) fn withdraw(&self, attempt: &Attempt<'_>) -> bool {
        if !self.waiter.is_free() {
            self.leave(attempt);
        }
        self.waiter.taken_back(attempt);
        attempt.record().won_by(self.waiter.id())
    }

    /// Returns the outcome of a receive that has committed or won.
    #[inline]
    pub(super) fn outcome(&self) -> Result<T, RecvError> {
        assert!(!self.waiter.is_published(), "`complete` on a branch that has not been withdrawn");
        // SAFETY: the waiter is not published, as checked above, so it is free and only the
        // performer accesses its slot.
        match unsafe { self.waiter.slot_mut(|slot| std::mem::replace(slot, Slot::Empty)) } {
            Slot::Value(message) => Ok(message),
            Slot::Closed => Err(RecvError),
            Slot::Empty | Slot::Promised(_) => unreachable!("a committed receive has its outcome"),
        }
    }

    /// Returns the message of a receive that has won and whose outcome was not taken.
    pub(super) fn take_unread(&self) -> Option<T> {
        self.waiter.must_not_be_published();
        // SAFETY: the waiter is not published, as checked above, so it is free and only the
        // performer accesses its slot.
        match unsafe { self.waiter.slot_mut(|slot| std::mem::replace(slot, Slot::Empty)) } {
            Slot::Value(message) => Some(message),
            _ => None,
        }
    }

    pub(super) fn describe(&self, waits: &mut Description) {
        self.shared.describe("receive from", waits);
    }

    /// Receives if possible. Otherwise links the waiter if `wait` is `true`.
    #[inline]
    pub(super) fn attempt(self: Pin<&mut Self>, attempt: &Attempt<'_>, wait: bool) -> Step {
        let this = self.into_ref().get_ref();
        this.waiter.must_not_be_published();
        let (received, deferred) = this.shared.locked_by(Some(attempt), |inner| {
            let received = inner.receive(attempt);
            // Room in the buffer, or a waiting receiver, admits senders that wait for permission.
            let mut opening = matches!(received, Received::Value(_, None));
            if wait && matches!(received, Received::Nothing) && !attempt.is_decided() {
                // SAFETY: the waiter is not linked, since it is not published, as checked above. It
                // is pinned, and it is not freed before `withdraw` has unlinked it.
                unsafe { inner.receiving.push(&this.waiter, attempt) };
                inner.changed();
                opening = true;
            } else if !wait && matches!(received, Received::Nothing) {
                attempt.evidence().unready(this.shared, inner.changes());
            }
            // A poll, however, would not wait for their messages.
            (received, opening && !inner.deferred.is_empty() && !attempt.is_fleeting())
        });
        let retry = |by| {
            if deferred {
                this.shared.retry_deferred(by);
            }
        };
        let (value, waker) = match received {
            Received::Value(message, waker) => (Slot::Value(message), waker),
            Received::Closed => (Slot::Closed, None),
            Received::Nothing => {
                // As long as nothing has been received, a performer does not communicate with
                // itself.
                retry(Some(attempt));
                return Step::Waiting;
            }
        };
        // SAFETY: the waiter is not published, as checked above, so it is free and only the
        // performer accesses its slot.
        unsafe { this.waiter.slot_mut(|slot| *slot = value) };
        // This waker is woken before the others: one of the others could drop a future that spins
        // for this wake.
        if let Some(waker) = waker {
            waker.wake();
        }
        retry(None);
        Step::Committed
    }

    /// Unlinks the waiter, and abandons a promise whose message has not arrived.
    #[cold]
    fn leave(&self, attempt: &Attempt<'_>) {
        self.shared.locked_quietly(|inner| {
            // SAFETY: the waiter is alive and was linked into this queue or into none.
            unsafe { inner.receiving.unlink(NonNull::from(&self.waiter)) };
            if !self.waiter.is_held() {
                return;
            }
            if !attempt.is_giving_up() {
                misuse("it withdraws a branch before it is decided");
            }
            // SAFETY: the waiter is held, so its slot is accessed under the lock, which this thread
            // holds.
            let slot = unsafe { self.waiter.slot_mut(|slot| std::mem::replace(slot, Slot::Empty)) };
            let Slot::Promised(promise) = slot else {
                unreachable!("only a promise outlasts the lock under which it was given")
            };
            // SAFETY: the promise was in the slot, and this thread holds the lock.
            let receiver = unsafe { Promise::abandon(promise) };
            attempt.detach();
            if let Some(receiver) = receiver {
                receiver.finish(); // the waker is not woken: this performer does not wait for it
            }
        });
    }
}

/// Implements receiving as an event, for an event that borrows its receiver or owns it.
macro_rules! receives {
    ([$($generics:tt)*] $event:ty, $shared:expr) => {
        impl<$($generics)*> Event for $event {
            type Output = Result<T, RecvError>;
            $crate::event::single! { #[inline] |this, branch: Receiving<'e, T>, attempt|
                branch: {
                    let shared: fn(&Self) -> &Shared<T> = $shared;
                    Receiving::new(shared(this))
                },
                try_commit: branch.try_commit(attempt),
                publish: branch.attempt(attempt, true),
                withdraw: branch.into_ref().get_ref().withdraw(attempt)
            }

            #[inline]
            fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
                branch.outcome()
            }
            #[inline]
            fn at_once(&self) -> Option<Self::Output> {
                let shared: fn(&Self) -> &Shared<T> = $shared;
                let shared = shared(self);
                $crate::channel::receiver::may_receive(shared)
                    .then(|| $crate::channel::receiver::receive_now(shared, &$crate::event::protocol::record::Awaiting))
                    .flatten()
            }
            fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
                branch.describe(waits);
            }
            fn awaits<'e>(&'e self, branch: &Self::Branch<'e>) -> Option<$crate::event::awaited::Awaits> {
                branch.shared.awaits($crate::event::awaited::Awaited::Message)
            }
        }
    };
}
pub(super) use receives;

receives!(['a, T: Send] RecvEvt<'a, T>, |event| event.shared);

copied!([T] RecvEvt<'_, T>);
debug_by_name!([T] RecvEvt<'_, T>);
crate::event::awaitable!(['a, T: Send] RecvEvt<'a, T>, single);
