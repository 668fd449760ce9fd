//! The event that an asynchronous receive performs.

use super::RecvError;
use super::receiver::{Receiver, Receiving};
use crate::event::{Description, Event, single};
use std::pin::Pin;

/// The event of receiving a message, with the receiver inside. It passes the result to `tell`, even
/// if the performance is dropped after a sender has committed it.
pub struct Fetch<T, U> {
    receiver: Receiver<T>,
    tell: U,
}

impl<T, U> Fetch<T, U> {
    pub fn new(receiver: Receiver<T>, tell: U) -> Self {
        Fetch { receiver, tell }
    }
}

/// The branch of a [`Fetch`].
pub struct Fetching<'e, T, U: Fn(Result<T, RecvError>)> {
    receiving: Receiving<'e, T>,
    tell: &'e U,
}

impl<'e, T, U: Fn(Result<T, RecvError>)> Fetching<'e, T, U> {
    fn receiving(self: Pin<&mut Self>) -> Pin<&mut Receiving<'e, T>> {
        // SAFETY: `receiving` is structurally pinned: it is never moved out of the branch.
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
    single! { |this, branch: Fetching<'e, T, U>, attempt|
        branch: Fetching { receiving: Receiving::new(&this.receiver.shared), tell: &this.tell },
        try_commit: branch.receiving().try_commit(attempt),
        publish: branch.receiving().attempt(attempt, true),
        withdraw: branch.receiving.withdraw(attempt)
    }

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        (self.tell)(branch.receiving.outcome());
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        branch.receiving.describe(waits);
    }
}
