//! Events that own their end of the channel, for code that creates a channel and returns an event
//! of it.

use super::receiver::{Receiver, Receiving, receives};
use super::sender::{Sender, Sending, sends};
use super::shared::Shared;
use super::{RecvError, SendError};
use crate::drops::Careful;
use crate::event::{Description, Event, awaitable, debug_by_name};
use std::cell::Cell;
use std::pin::Pin;

/// The event of receiving a message, with the receiver inside. See [`Receiver::into_recv_evt`].
#[must_use = "events do nothing unless performed"]
pub struct OwnedRecvEvt<T> {
    receiver: Receiver<T>,
}

/// The event of sending clones of a message, with the sender inside. See [`Sender::into_send_evt`].
#[must_use = "events do nothing unless performed"]
pub struct OwnedSendEvt<T> {
    sender: Sender<T>,
    message: Careful<T>,
}

impl<T> Receiver<T> {
    /// Returns the event [`recv_evt`](Receiver::recv_evt) with the receiver inside, for functions
    /// that create a channel and return the event of its answer.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::Event;
    ///
    /// fn answer() -> impl Event<Output = u32> {
    ///     let (tx, rx) = lisle::channel::bounded(1);
    ///     tx.send(42).unwrap();
    ///     rx.into_recv_evt().wrap(|answer| answer.unwrap())
    /// }
    /// assert_eq!(answer().sync(), 42);
    /// ```
    pub fn into_recv_evt(self) -> OwnedRecvEvt<T> {
        OwnedRecvEvt { receiver: self }
    }
}

impl<T> OwnedRecvEvt<T> {
    /// Returns the receiver.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel::bounded};
    ///
    /// let (tx, rx) = bounded(1);
    /// let answer = rx.into_recv_evt();
    /// assert_eq!(answer.poll(), None);
    /// tx.send(42).unwrap();
    /// assert_eq!(answer.into_inner().recv(), Ok(42));
    /// ```
    pub fn into_inner(self) -> Receiver<T> {
        self.receiver
    }
}

impl<T> Sender<T> {
    /// Returns the event [`send_evt`](Sender::send_evt) with the sender inside. If it is awaited,
    /// it sends the message itself.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel::bounded};
    ///
    /// let (tx, rx) = bounded(2);
    /// let send = tx.into_send_evt("again");
    /// send.sync().unwrap();
    /// send.sync().unwrap(); // each performance sends a clone
    /// drop(send); // with the last sender
    /// assert_eq!(rx.iter().collect::<Vec<_>>(), ["again", "again"]);
    /// ```
    pub fn into_send_evt(self, message: T) -> OwnedSendEvt<T> {
        OwnedSendEvt { sender: self, message: Careful::new(message) }
    }
}

impl<T> OwnedSendEvt<T> {
    /// Returns the sender and the message.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel::bounded};
    ///
    /// let (tx, _rx) = bounded(0);
    /// let send = tx.into_send_evt("later");
    /// assert!(send.poll().is_none()); // no receiver waits
    /// let (tx, message) = send.into_inner();
    /// assert!(!tx.is_closed());
    /// assert_eq!(message, "later");
    /// ```
    pub fn into_inner(self) -> (Sender<T>, T) {
        (self.sender, self.message.into_inner())
    }
}

receives!([T: Send] OwnedRecvEvt<T>, |event| &event.receiver.shared);
sends!([T: Send + Clone] OwnedSendEvt<T>, |event| {
    Sending::new(&event.sender.shared, Some(event.message.get().clone()), None)
});

/// The event of sending one message once. A message that was not sent returns to the cell.
pub struct OwnedSendOnce<T> {
    sender: Sender<T>,
    message: Cell<Option<T>>,
}

sends!([T: Send] OwnedSendOnce<T>, |event| {
    Sending::new(&event.sender.shared, event.message.take(), Some(&event.message))
}, once: |event| &event.sender.shared);

debug_by_name!([T] OwnedSendOnce<T>);
debug_by_name!([T] OwnedRecvEvt<T>);
debug_by_name!([T] OwnedSendEvt<T>);
awaitable!([T: Send] OwnedRecvEvt<T>, single);
awaitable!([T: Send] OwnedSendEvt<T> => OwnedSendOnce<T>, |event| {
    OwnedSendOnce { sender: event.sender, message: Cell::new(Some(event.message.into_inner())) }
}, single);
