//! Sending without waiting for the receiver.

use super::begun::{Begun, Outcome, Place, UnderWay};
use super::error::AsyncSendError;
use crate::channel::Sender;
use crate::channel::pending_send::{Fate, PendingSend, Share};
use crate::channel::permits::{Out, Permit};
use crate::event::{Description, Event, Hidden, Label, awaitable, forwarded, turn, waits_at};
use std::cell::Cell;
use std::fmt;
use std::pin::Pin;

impl<T: Send + 'static> Sender<T> {
    /// Begins to send a message, and goes on: what it gives tells when the message has been taken.
    ///
    /// If a receiver waits, or the buffer has room, the message is there when this returns. If not, it waits in line with
    /// the senders that wait, by itself: whoever takes it ends the send, and no thread is needed for it, not even a
    /// task. At most 64 sends of a channel are under way at a time: then this waits, as [`Event::sync`] does, until
    /// one is done, so that a fast sender is held back. In a task await
    /// [`send_async_evt`](Sender::send_async_evt) instead.
    ///
    /// As long as the send is under way the channel has a sender. It belongs to the channel, not to a runtime, so it
    /// stays if the sender's runtime ends. For many messages that nobody is to wait for, a channel with a
    /// [buffer](crate::channel::bounded) costs less.
    ///
    /// # Complexity
    ///
    /// A send that has to wait costs about as much as one that its sender waits for, without a switch: two short locks
    /// here and two where it is received. No allocation once warm, if it is received on the same thread; else one, as
    /// memory is kept by the thread that lets go of it.
    ///
    /// # Fairness
    ///
    /// Messages of one thread arrive in the order in which their sends began.
    ///
    /// ```
    /// lisle::run(|| {
    ///     let (tx, rx) = lisle::channel();
    ///     let first = tx.send_async("a"); // nobody receives yet
    ///     let _second = tx.send_async("b");
    ///     assert!(!first.has_ended());
    ///     drop(tx);
    ///     assert_eq!(rx.iter().collect::<Vec<_>>(), ["a", "b"]);
    ///     assert_eq!(first.join(), Ok(()));
    /// });
    /// ```
    pub fn send_async(&self, message: T) -> AsyncSend<T> {
        let Some(message) = self.send_at_once(message) else {
            return AsyncSend { begun: Begun::ended(Fate::Sent) };
        };
        let permit = self.permits().update(|out, _| self.take_leave(out));
        begin(permit.unwrap_or_else(|| (Leave { sender: self }).sync()), message)
    }

    /// The event of having begun to send `message`, or rather a clone of it for each time the event is performed. If it is
    /// awaited, that is once: then the message itself is sent, and need not be `Clone`.
    ///
    /// As [`send_async`](Sender::send_async); it is ready unless 64 sends of the channel are under way.
    ///
    /// From Asynchronous CML's `aSendEvt`.
    ///
    /// # Cancel safety
    ///
    /// If it loses a choice, is polled in vain, or its future is dropped, nothing has begun.
    ///
    /// ```
    /// use lisle::spawn_task;
    ///
    /// lisle::run(|| {
    ///     let (tx, rx) = lisle::channel();
    ///     let producer = spawn_task(async move {
    ///         for i in 0..1_000 {
    ///             tx.send_async_evt(i).await; // at most 64 ahead
    ///         }
    ///     });
    ///     assert_eq!(rx.iter().sum::<u32>(), 499_500);
    ///     producer.join().unwrap();
    /// });
    /// ```
    pub fn send_async_evt(&self, message: T) -> SendAsyncEvt<'_, T> {
        SendAsyncEvt { leave: Leave { sender: self }, message }
    }
}

/// Begins a send for which there is leave.
fn begin<T: Send + 'static>(permit: Permit<T>, message: T) -> AsyncSend<T> {
    AsyncSend { begun: PendingSend::place(permit, message).map_or_else(Begun::ended, Begun::UnderWay) }
}

/// The event of getting leave for one more send to be under way.
struct Leave<'a, T> {
    sender: &'a Sender<T>,
}

impl<T: Send + 'static> Leave<'_, T> {
    /// Begins a send, with leave. Most likely that is not needed if somebody waits.
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
        // SAFETY: the branch is of this event.
        unsafe { branch.take() }
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        self.sender.describe_beginning(waits);
    }
}

/// The event of having begun to send, see [`Sender::send_async_evt`].
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

/// The event of having begun to send a message, once.
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
    fn place(&self) -> &Place<Fate<T>> {
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

/// A send that has begun, and the event of its end, see [`Sender::send_async`]. Dropping it lets the send go on.
///
/// # Errors
///
/// [`AsyncSendError::Closed`] if the channel has been closed, and [`AsyncSendError::Cancelled`] if the send has been
/// [taken back](AsyncSend::cancel): the message comes back, to the first who asks. If the handle is gone whoever closes
/// the channel drops the message.
///
/// # Cancel safety
///
/// Waiting takes nothing.
///
/// ```
/// use lisle::{Event, channel, choose, channel::AsyncSendError, time::after};
/// use std::time::Duration;
///
/// lisle::run(|| {
///     let (tx, rx) = channel();
///     let send = tx.send_async(7);
///     // Do something else, then see whether anybody has taken it.
///     let taken = choose(((&send).wrap(|_| true), after(Duration::from_millis(1)).wrap(|()| false)));
///     assert!(!taken.sync());
///     send.cancel();
///     assert_eq!(send.join(), Err(AsyncSendError::Cancelled(7)));
///     assert!(rx.try_recv().is_err());
/// });
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
    /// As the [event](AsyncSend).
    pub fn join(self) -> Result<(), AsyncSendError<T>> {
        self.sync()
    }

    /// The event of the send's end, which is the handle itself.
    pub fn done_evt(&self) -> &Self {
        self
    }

    /// Takes the message back, unless a receiver has taken it. When this returns nobody can take it any more. Which of the
    /// two it was, and the message, are told by the [event](AsyncSend).
    pub fn cancel(&self) {
        self.begun.take_back();
    }

    /// Has the send ended?
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

impl<T> fmt::Debug for SendAsyncOnce<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendAsyncOnce")
    }
}

impl<T> fmt::Debug for SendAsyncEvt<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendAsyncEvt")
    }
}
