//! Sending without waiting for the receiver.

use super::begun::{Begun, Outcome, OutcomeSlot, UnderWay};
use super::error::AsyncSendError;
use crate::channel::Sender;
use crate::channel::pending_send::{Fate, PendingSend, Share};
use crate::channel::permits::{Out, Permit};
use crate::event::waiting::turn;
use crate::event::{Description, Event, Hidden, Label, awaitable, debug_by_name, forwarded, waits_at};
use std::cell::Cell;
use std::fmt;
use std::pin::Pin;

impl<T: Send + 'static> Sender<T> {
    /// Begins to send a message and returns a handle, which tells when the message has been taken.
    ///
    /// If a receiver waits, or the buffer has room, the message has been delivered when this
    /// returns. Otherwise the send is pending: the message waits by itself, in the same queue as
    /// the senders that wait. The receiver that takes it ends the send, which needs no thread and
    /// no task. At most 64 sends of a channel are under way at a time. Beyond that this waits, as
    /// [`Event::sync`] does, until one is done, which slows down a fast sender. In a task, await
    /// [`send_async_evt`](Sender::send_async_evt) instead.
    ///
    /// While the send is under way the channel has a sender. The send belongs to the channel and
    /// not to a runtime, so it remains if the sender's runtime ends. For many messages whose end is
    /// not waited for, a channel with a [buffer](crate::channel::bounded) costs less.
    ///
    /// # Complexity
    ///
    /// A pending send costs about as much as one that its sender waits for, without the switch: two
    /// short locks here and two where it is received. Once warm it allocates nothing if it is
    /// received on the same thread. Otherwise it takes one allocation, since the thread that frees
    /// the memory keeps it for reuse.
    ///
    /// # Fairness
    ///
    /// Messages of one thread arrive in the order in which their sends began.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// let (tx, rx) = lisle::channel();
    /// let first = tx.send_async("a"); // no receiver yet
    /// let _second = tx.send_async("b");
    /// assert!(!first.has_ended());
    /// drop(tx);
    /// assert_eq!(rx.iter().collect::<Vec<_>>(), ["a", "b"]);
    /// assert_eq!(first.join(), Ok(()));
    /// ```
    pub fn send_async(&self, message: T) -> AsyncSend<T> {
        turn::pass_if_due();
        let Some(message) = self.send_at_once(message) else {
            return AsyncSend { begun: Begun::ended(Fate::Sent) };
        };
        let permit = self.permits().update(|out, _| self.take_leave(out));
        begin(permit.unwrap_or_else(|| (Leave { sender: self }).sync()), message)
    }

    /// Returns the event of having begun to send `message`. Each performance sends a clone of it.
    /// An event that is awaited is performed once: it sends the message itself, which need not be
    /// `Clone`.
    ///
    /// It works as [`send_async`](Sender::send_async) does. It is ready unless 64 sends of the
    /// channel are under way.
    ///
    /// The idea is from Asynchronous CML's `aSendEvt`.
    ///
    /// # Cancel safety
    ///
    /// If the event loses a choice, is polled in vain, or its future is dropped, no send has begun.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::Event;
    /// use std::thread;
    ///
    /// let (tx, rx) = lisle::channel();
    /// let producer = thread::spawn(move || {
    ///     for i in 0..1_000 {
    ///         tx.send_async_evt(i).sync(); // at most 64 ahead
    ///     }
    /// });
    /// assert_eq!(rx.iter().sum::<u32>(), 499_500);
    /// producer.join().unwrap();
    /// ```
    pub fn send_async_evt(&self, message: T) -> SendAsyncEvt<'_, T> {
        SendAsyncEvt { leave: Leave { sender: self }, message }
    }
}

/// Begins a send with a permit.
fn begin<T: Send + 'static>(permit: Permit<T>, message: T) -> AsyncSend<T> {
    AsyncSend { begun: PendingSend::place(permit, message).map_or_else(Begun::ended, Begun::UnderWay) }
}

/// The event of getting a permit for one more send.
struct Leave<'a, T> {
    sender: &'a Sender<T>,
}

impl<T: Send + 'static> Leave<'_, T> {
    /// Begins a send with a permit. If a receiver waits, the permit is most likely not needed.
    fn begin(&self, permit: Permit<T>, message: T) -> AsyncSend<T> {
        match self.sender.send_at_once(message) {
            Some(message) => begin(permit, message),
            None => AsyncSend { begun: Begun::ended(Fate::Sent) },
        }
    }
}

impl<T: Send> Event for Leave<'_, T> {
    type Output = Permit<T>;
    waits_at!(this: Out<T>, Permit<T>; this.sender.permits(), |under_way| this.sender.take_leave(under_way));

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Permit<T> {
        // SAFETY: `branch` is a branch of this event.
        unsafe { branch.take() }
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        self.sender.describe_beginning(waits);
    }
}

/// The event of having begun to send. See [`Sender::send_async_evt`].
#[must_use = "events do nothing unless performed"]
pub struct SendAsyncEvt<'a, T> {
    leave: Leave<'a, T>,
    message: T,
}

impl<'a, T: Send + Clone + 'static> Event for SendAsyncEvt<'a, T> {
    type Output = AsyncSend<T>;
    forwarded!(leave: Leave<'a, T>, Hidden<'e, Out<T>, Permit<T>>);
    forwarded!(describe leave);

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> AsyncSend<T> {
        let permit = self.leave.complete(branch);
        self.leave.begin(permit, self.message.clone())
    }
}

/// The event of having begun to send a message, performed once.
#[must_use = "events do nothing unless performed"]
pub struct SendAsyncOnce<'a, T> {
    leave: Leave<'a, T>,
    message: Cell<Option<T>>,
}

impl<'a, T: Send + 'static> Event for SendAsyncOnce<'a, T> {
    type Output = AsyncSend<T>;
    forwarded!(leave: Leave<'a, T>, Hidden<'e, Out<T>, Permit<T>>);
    forwarded!(describe leave);

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> AsyncSend<T> {
        let permit = self.leave.complete(branch);
        self.leave.begin(permit, self.message.take().expect("performed once"))
    }
}

awaitable!(['a, T: Send + 'static] SendAsyncEvt<'a, T> => SendAsyncOnce<'a, T>, |event| {
    SendAsyncOnce { leave: event.leave, message: Cell::new(Some(event.message)) }
});

impl<T: Send + 'static> Outcome for Fate<T> {
    fn again(&self) -> Self {
        match self {
            Fate::Sent => Fate::Sent,
            Fate::Closed(_) | Fate::TakenBack(_) | Fate::Told => Fate::Told,
        }
    }
}

impl<T: Send + 'static> UnderWay<Fate<T>> for Share<T> {
    fn slot(&self) -> &OutcomeSlot<Fate<T>> {
        self.fate()
    }
    fn take_back(&self) {
        PendingSend::take_back(self);
    }
    fn describe(&self, waits: &mut Description) {
        waits.on(
            "wait for the end of",
            &Label::anywhere("asynchronous send"),
            std::ptr::from_ref::<PendingSend<T>>(self).addr(),
        );
    }
}

/// A handle to a send that has begun, which is also the event of its end. See
/// [`Sender::send_async`]. Dropping it lets the send continue.
///
/// # Errors
///
/// The event gives [`AsyncSendError::Closed`] if the channel was closed, and
/// [`AsyncSendError::Cancelled`] if the send was [taken back](AsyncSend::cancel). The message is
/// returned to the first caller that queries it. If the handle was dropped, the thread that closes
/// the channel drops the message.
///
/// # Cancel safety
///
/// Waiting takes nothing.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, channel, choose, channel::AsyncSendError, time::after};
/// use std::time::Duration;
///
/// let (tx, rx) = channel();
/// let send = tx.send_async(7);
/// // Do something else, then see whether a receiver has taken it.
/// let taken = choose(((&send).wrap(|_| true), after(Duration::from_millis(1)).wrap(|()| false)));
/// assert!(!taken.sync());
/// send.cancel();
/// assert_eq!(send.join(), Err(AsyncSendError::Cancelled(7)));
/// assert!(rx.try_recv().is_err());
/// ```
#[must_use = "it tells whether the message was sent; drop it if that is of no interest"]
pub struct AsyncSend<T: Send + 'static> {
    begun: Begun<Fate<T>, Share<T>>,
}

impl<T: Send + 'static> AsyncSend<T> {
    /// Waits until the message has been taken, as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// Returns the errors of the [event](AsyncSend).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::AsyncSendError;
    ///
    /// let (tx, rx) = lisle::channel();
    /// let (first, second) = (tx.send_async(1), tx.send_async(2));
    /// assert_eq!(rx.recv(), Ok(1));
    /// assert_eq!(first.join(), Ok(()));
    /// drop(rx); // closes the channel
    /// assert_eq!(second.join(), Err(AsyncSendError::Closed(2)));
    /// ```
    pub fn join(self) -> Result<(), AsyncSendError<T>> {
        self.sync()
    }

    /// Returns the event of the send's end, which is the handle itself.
    pub fn done_evt(&self) -> &Self {
        self
    }

    /// Takes the message back, unless a receiver has taken it. After this returns, no receiver can
    /// take it any more. The [event](AsyncSend) tells which of the two happened and returns the
    /// message.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::AsyncSendError;
    ///
    /// let (tx, rx) = lisle::channel();
    /// let (first, second) = (tx.send_async(1), tx.send_async(2));
    /// assert_eq!(rx.recv(), Ok(1));
    /// first.cancel(); // too late
    /// second.cancel();
    /// assert_eq!(first.join(), Ok(()));
    /// assert_eq!(second.join(), Err(AsyncSendError::Cancelled(2)));
    /// ```
    pub fn cancel(&self) {
        self.begun.take_back();
    }

    /// Returns `true` if the send has ended.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// let (tx, rx) = lisle::channel();
    /// let send = tx.send_async(1);
    /// assert!(!send.has_ended()); // no receiver has taken it
    /// assert_eq!(rx.recv(), Ok(1));
    /// assert!(send.has_ended());
    /// ```
    pub fn has_ended(&self) -> bool {
        turn::asked_whether(self.begun.has_ended())
    }
}

impl<T: Send + 'static> Event for AsyncSend<T> {
    type Output = Result<(), AsyncSendError<T>>;
    forwarded!(begun: Begun<Fate<T>, Share<T>>, Option<Hidden<'e, Option<Fate<T>>, ()>>);
    forwarded!(describe begun);

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        match self.begun.complete(branch) {
            Fate::Sent => Ok(()),
            Fate::Closed(message) => Err(AsyncSendError::Closed(message)),
            Fate::TakenBack(message) => Err(AsyncSendError::Cancelled(message)),
            Fate::Told => Err(AsyncSendError::Taken),
        }
    }
}

awaitable!([T: Send + 'static] AsyncSend<T>);
awaitable!(['a, T: Send + 'static] &'a AsyncSend<T>);

impl<T: Send + 'static> fmt::Debug for AsyncSend<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncSend").field("has_ended", &self.begun.has_ended()).finish_non_exhaustive()
    }
}

debug_by_name!([T] SendAsyncOnce<'_, T>);
debug_by_name!([T] SendAsyncEvt<'_, T>);
