//! What asynchronous sends and receives ask of a channel: leave for so many at a time, and events that belong to
//! nobody's stack and tell what becomes of their message even if they are dropped.

use super::receiver::{Receiver, Receiving};
use super::sender::{Sender, Sending, sends};
use super::{RecvError, SendError};
use crate::event::{Attempt, Event, Source, Step, Waits, forwarded};
use std::cell::Cell;
use std::pin::Pin;

/// How many sends of a channel may be under way at a time: then whoever begins another waits until one is done.
pub(crate) const UNDER_WAY: usize = 64;

/// How many sends are under way, and who waits to begin one.
pub(crate) type Outbox<T> = Source<usize, Permit<T>>;

/// Leave to have one send under way, and the sender for it. It is given back when dropped.
#[derive(Debug)]
pub struct Permit<T> {
    /// There until dropped.
    sender: Option<Sender<T>>,
}

impl<T> Permit<T> {
    pub(crate) fn sender(&self) -> &Sender<T> {
        self.sender.as_ref().expect("there until dropped")
    }
}

impl<T> Permit<T> {
    fn give_back(&mut self) {
        let Some(sender) = self.sender.take() else { return };
        sender.outbox().update(|under_way, waiters| {
            // Straight to whoever waits. `sender` is alive until later, so this one is no channel's last.
            let next = Permit { sender: (!waiters.is_empty()).then(|| sender.clone()) };
            if next.sender.is_none() {
                *under_way -= 1;
            } else if let Err(mut unwanted) = waiters.grant(next) {
                *under_way -= 1;
                unwanted.sender = None;
            }
        });
    }
}

impl<T> Drop for Permit<T> {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl<T> Sender<T> {
    pub(crate) fn outbox(&self) -> &Outbox<T> {
        self.shared.outbox()
    }

    /// Takes leave for a send, if there is any, from the state of this sender's outbox.
    pub(crate) fn take_leave(&self, under_way: &mut usize) -> Option<Permit<T>> {
        (*under_way < UNDER_WAY).then(|| {
            *under_way += 1;
            Permit { sender: Some(self.clone()) }
        })
    }

    /// Says that a performer waits to begin a send.
    pub(crate) fn describe_beginning(&self, waits: &mut Waits) {
        self.shared.describe("begin to send to", waits);
    }
}

/// What has become of a message.
pub(crate) enum Fate<T> {
    Sent,
    /// The channel is closed.
    Closed(T),
    /// The performance was dropped before.
    Left(T),
}

/// The event of sending one message once. When it is dropped, performed or not, it tells what has become of the message:
/// then its permit has been given back.
pub(crate) struct Errand<T, U: FnMut(Fate<T>)> {
    once: Once<T>,
    refused: Cell<Option<T>>,
    tell: U,
}

struct Once<T> {
    permit: Permit<T>,
    message: Cell<Option<T>>,
}

sends!([T: Send] Once<T>, |event| {
    Sending::new(&event.permit.sender().shared, event.message.take(), Some(&event.message))
});

impl<T, U: FnMut(Fate<T>)> Errand<T, U> {
    pub(crate) fn new(permit: Permit<T>, message: T, tell: U) -> Self {
        let once = Once { permit, message: Cell::new(Some(message)) };
        Errand { once, refused: Cell::new(None), tell }
    }
}

impl<T: Send, U: FnMut(Fate<T>)> Event for Errand<T, U> {
    type Output = ();
    forwarded!(once: Once<T>, Sending<'e, T>);
    forwarded!(describe once);

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        if let Err(SendError(message)) = self.once.complete(branch) {
            self.refused.set(Some(message));
        }
    }
}

impl<T, U: FnMut(Fate<T>)> Drop for Errand<T, U> {
    fn drop(&mut self) {
        let fate = match (self.refused.take(), self.once.message.take()) {
            (Some(message), _) => Fate::Closed(message),
            (None, Some(message)) => Fate::Left(message),
            (None, None) => Fate::Sent,
        };
        self.once.permit.give_back();
        (self.tell)(fate);
    }
}

/// The event of receiving a message, with the receiver inside. It tells what it has received, also if the performance is
/// dropped when a sender has committed it.
pub(crate) struct Fetch<T, U> {
    receiver: Receiver<T>,
    tell: U,
}

impl<T, U> Fetch<T, U> {
    pub(crate) fn new(receiver: Receiver<T>, tell: U) -> Self {
        Fetch { receiver, tell }
    }
}

/// The branch of a [`Fetch`].
pub(crate) struct Fetching<'e, T, U: Fn(Result<T, RecvError>)> {
    receiving: Receiving<'e, T>,
    tell: &'e U,
}

impl<'e, T, U: Fn(Result<T, RecvError>)> Fetching<'e, T, U> {
    fn receiving(self: Pin<&mut Self>) -> Pin<&mut Receiving<'e, T>> {
        // SAFETY: structurally pinned.
        unsafe { self.map_unchecked_mut(|this| &mut this.receiving) }
    }
}

impl<T, U: Fn(Result<T, RecvError>)> Drop for Fetching<'_, T, U> {
    fn drop(&mut self) {
        if let Some(message) = self.receiving.take_unread() {
            (self.tell)(Ok(message));
        }
    }
}

impl<T: Send, U: Fn(Result<T, RecvError>) + Sync> Event for Fetch<T, U> {
    type Output = ();
    type Branch<'e>
        = Fetching<'e, T, U>
    where
        Self: 'e;

    fn is_single(&self) -> bool {
        true
    }
    fn branch(&self) -> Self::Branch<'_> {
        Fetching { receiving: Receiving::new(&self.receiver.shared), tell: &self.tell }
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.receiving().try_commit(attempt)
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.receiving().attempt(attempt, true)
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        branch.receiving.withdraw(attempt)
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        (self.tell)(branch.receiving.outcome());
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Waits) {
        branch.receiving.describe(waits);
    }
}
