//! Sending without waiting for the receiver.

use super::begun::{Begun, MaybeWaiting, Outcome, settle};
use crate::channel::outbox::{Errand, Fate, Permit};
use crate::channel::{Sender, TrySendError};
use crate::event::{Event, Waiting, Waits, awaitable, forwarded, waits_at};
use std::error::Error;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;

impl<T: Send + 'static> Sender<T> {
    /// Begins to send a message, and goes on: what it gives tells when the message has been taken.
    ///
    /// If a receiver waits, or the buffer has room, the message is there when this returns. If not, a
    /// [parasite](crate::parasite) waits for a receiver. At most 64 sends of a channel are under way at a time: then this
    /// waits, as [`Event::sync`] does, until one is done, so that a fast sender is held back. In a parasite await
    /// [`send_async_evt`](Sender::send_async_evt) instead.
    ///
    /// As long as the send is under way the channel has a sender. For many messages that nobody is to wait for, a
    /// channel with a [buffer](crate::channel::bounded) costs less.
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
    #[track_caller]
    pub fn send_async(&self, message: T) -> AsyncSend<T> {
        match self.try_send(message) {
            Ok(()) => AsyncSend { begun: Begun::ended(Ok(())) },
            Err(TrySendError::Full(message) | TrySendError::Closed(message)) => {
                let permit = (Leave { sender: self }).sync();
                begin(permit, message, Location::caller())
            }
        }
    }

    /// The event of having begun to send `message`, or rather a clone of it for each time the event is performed.
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
    /// use lisle::spawn_parasite;
    ///
    /// lisle::run(|| {
    ///     let (tx, rx) = lisle::channel();
    ///     let producer = spawn_parasite(async move {
    ///         for i in 0..1_000 {
    ///             tx.send_async_evt(i).await; // at most 64 ahead
    ///         }
    ///     });
    ///     assert_eq!(rx.iter().sum::<u32>(), 499_500);
    ///     producer.join().unwrap();
    /// });
    /// ```
    #[track_caller]
    pub fn send_async_evt(&self, message: T) -> SendAsyncEvt<'_, T>
    where
        T: Clone,
    {
        SendAsyncEvt { leave: Leave { sender: self }, message, site: Location::caller() }
    }
}

/// Begins a send for which there is leave.
fn begin<T: Send + 'static>(permit: Permit<T>, message: T, site: &'static Location<'static>) -> AsyncSend<T> {
    let begun = Begun::begin(site, |place| {
        Errand::new(permit, message, move |fate| {
            let sent = match fate {
                Fate::Sent => Ok(()),
                Fate::Closed(message) => Err(AsyncSendError::Closed(message)),
                Fate::Left(message) => Err(AsyncSendError::Cancelled(message)),
            };
            settle(&place, sent);
        })
    });
    AsyncSend { begun }
}

/// The event of getting leave for one more send to be under way.
struct Leave<'a, T> {
    sender: &'a Sender<T>,
}

impl<T: Send> Event for Leave<'_, T> {
    type Output = Permit<T>;
    waits_at!(this: usize, Permit<T>; this.sender.outbox(), |under_way| this.sender.take_leave(under_way));

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Permit<T> {
        branch.take()
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Waits) {
        self.sender.describe_beginning(waits);
    }
}

/// The event of having begun to send, see [`Sender::send_async_evt`].
pub struct SendAsyncEvt<'a, T> {
    leave: Leave<'a, T>,
    message: T,
    site: &'static Location<'static>,
}

impl<'a, T: Send + Clone + 'static> Event for SendAsyncEvt<'a, T> {
    type Output = AsyncSend<T>;
    forwarded!(leave: Leave<'a, T>, Waiting<'e, usize, Permit<T>>);
    forwarded!(describe leave);

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> AsyncSend<T> {
        let permit = self.leave.complete(branch);
        match permit.sender().try_send(self.message.clone()) {
            Ok(()) => AsyncSend { begun: Begun::ended(Ok(())) },
            Err(TrySendError::Full(message) | TrySendError::Closed(message)) => {
                begin(permit, message, self.site)
            }
        }
    }
}

awaitable!(['a, T: Send + Clone + 'static] SendAsyncEvt<'a, T>);

type Sent<T> = Result<(), AsyncSendError<T>>;

impl<T: Send + 'static> Outcome for Sent<T> {
    fn again(&self) -> Self {
        self.as_ref().map(drop).map_err(|_| AsyncSendError::Taken)
    }
}

/// A send that has begun, and the event of its end, see [`Sender::send_async`]. Dropping it lets the send go on.
///
/// # Errors
///
/// [`AsyncSendError::Closed`] if the channel has been closed, and [`AsyncSendError::Cancelled`] if the send has been
/// [taken back](AsyncSend::cancel) or its runtime has ended: the message comes back, to the first who asks.
///
/// # Cancel safety
///
/// Waiting takes nothing.
///
/// ```
/// use lisle::{Event, channel, choose, parasite::AsyncSendError, time::after};
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
    begun: Begun<Sent<T>>,
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

    /// Takes the message back, unless a receiver has taken it. Which of the two it was, and the message, are told by the
    /// [event](AsyncSend).
    pub fn cancel(&self) {
        self.begun.cancel();
    }

    /// Has the send ended?
    pub fn has_ended(&self) -> bool {
        self.begun.has_ended()
    }
}

impl<T: Send + 'static> Event for AsyncSend<T> {
    type Output = Result<(), AsyncSendError<T>>;
    forwarded!(begun: Begun<Sent<T>>, MaybeWaiting<'e, Sent<T>>);
    forwarded!(describe begun);

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        self.begun.complete(branch)
    }
}

awaitable!([T: Send + 'static] AsyncSend<T>);
awaitable!(['a, T: Send + 'static] &'a AsyncSend<T>);

/// Why a message was not sent in the end. Gives it back.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AsyncSendError<T> {
    /// The channel is closed.
    Closed(T),
    /// The send was taken back, or its runtime has ended.
    Cancelled(T),
    /// It was one of these; the message has been given back before.
    Taken,
}

impl<T> AsyncSendError<T> {
    /// The message, unless it has been given back before.
    pub fn into_inner(self) -> Option<T> {
        match self {
            AsyncSendError::Closed(message) | AsyncSendError::Cancelled(message) => Some(message),
            AsyncSendError::Taken => None,
        }
    }
}

impl<T> fmt::Debug for AsyncSendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AsyncSendError::Closed(_) => "Closed(..)",
            AsyncSendError::Cancelled(_) => "Cancelled(..)",
            AsyncSendError::Taken => "Taken",
        })
    }
}

impl<T> fmt::Display for AsyncSendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AsyncSendError::Closed(_) => "sending on a closed channel",
            AsyncSendError::Cancelled(_) => "the send was cancelled before anybody had taken the message",
            AsyncSendError::Taken => "the message that was not sent has been given back already",
        })
    }
}

impl<T> Error for AsyncSendError<T> {}

impl<T: Send + 'static> fmt::Debug for AsyncSend<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncSend").field("has_ended", &self.has_ended()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for SendAsyncEvt<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendAsyncEvt")
    }
}
