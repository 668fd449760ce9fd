//! What asynchronous sends and receives ask of a channel: leave for so many at a time, and events that belong to
//! nobody's stack and tell what becomes of their message even if they are dropped.

use super::receiver::{Receiver, Receiving};
use super::sender::{Sender, Sending, sends};
use super::{RecvError, SendError};
use crate::event::{Attempt, Event, Source, Step, Waits};
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

impl<T> Drop for Permit<T> {
    fn drop(&mut self) {
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

/// The event of sending one message once. When it is dropped, `unsent` is told: it is given the message, unless that has been
/// sent, or has been given back in an error.
pub(crate) struct Errand<T, U: FnMut(Option<T>)> {
    permit: Permit<T>,
    message: Cell<Option<T>>,
    unsent: U,
}

impl<T, U: FnMut(Option<T>)> Errand<T, U> {
    pub(crate) fn new(permit: Permit<T>, message: T, unsent: U) -> Self {
        Errand { permit, message: Cell::new(Some(message)), unsent }
    }
}

impl<T, U: FnMut(Option<T>)> Drop for Errand<T, U> {
    fn drop(&mut self) {
        (self.unsent)(self.message.take());
    }
}

sends!([T: Send, U: FnMut(Option<T>)] Errand<T, U>, |event| {
    Sending::new(&event.permit.sender().shared, event.message.take(), Some(&event.message))
});

/// The event of receiving a message, with the receiver inside. A message that was received and not taken, since the
/// performance was dropped, is given to `unread`.
pub(crate) struct Fetch<T, U> {
    receiver: Receiver<T>,
    unread: U,
}

impl<T, U> Fetch<T, U> {
    pub(crate) fn new(receiver: Receiver<T>, unread: U) -> Self {
        Fetch { receiver, unread }
    }
}

/// The branch of a [`Fetch`].
pub(crate) struct Fetching<'e, T, U: Fn(T)> {
    receiving: Receiving<'e, T>,
    unread: &'e U,
}

impl<'e, T, U: Fn(T)> Fetching<'e, T, U> {
    fn receiving(self: Pin<&mut Self>) -> Pin<&mut Receiving<'e, T>> {
        // SAFETY: structurally pinned.
        unsafe { self.map_unchecked_mut(|this| &mut this.receiving) }
    }
}

impl<T, U: Fn(T)> Drop for Fetching<'_, T, U> {
    fn drop(&mut self) {
        if let Some(message) = self.receiving.take_unread() {
            (self.unread)(message);
        }
    }
}

impl<T: Send, U: Fn(T) + Sync> Event for Fetch<T, U> {
    type Output = Result<T, RecvError>;
    type Branch<'e>
        = Fetching<'e, T, U>
    where
        Self: 'e;

    fn is_single(&self) -> bool {
        true
    }
    fn branch(&self) -> Self::Branch<'_> {
        Fetching { receiving: Receiving::new(&self.receiver.shared), unread: &self.unread }
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
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        branch.receiving.outcome()
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Waits) {
        branch.receiving.describe(waits);
    }
}
