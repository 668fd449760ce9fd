//! The slot of a waiting receiver: a message, or the promise of a message that is being made (see
//! `promise.rs`).

use crate::event::protocol::queue::Committed;
use crate::shim::cell::UnsafeCell;
use std::marker::PhantomPinned;
use std::ptr::NonNull;

/// The place where a waiting receiver finds its outcome.
#[derive(Debug)]
pub(super) enum Slot<T> {
    Empty,
    Value(T),
    Closed,
    /// A sender has committed and is making the message.
    Promised(NonNull<Promise<T>>),
}

// SAFETY: a promise is part of the branch of its sender, which stays in place until the promise is
// kept or revoked, and it is accessed under the channel's lock.
unsafe impl<T: Send> Send for Slot<T> {}

/// The permission of a sender that has won. It is part of the sender's branch; a receiver with a
/// promise points to it.
#[derive(Debug)]
pub(super) struct Promise<T> {
    /// Accessed under the channel's lock once a receiver points here.
    pub(super) leave: UnsafeCell<Held<T>>,
    _pinned: PhantomPinned,
}

/// The receiver or the room that the sender has won for its message.
#[derive(Debug)]
pub(super) enum Held<T> {
    Nothing,
    Receiver(Committed<Slot<T>>),
    /// There was a receiver, and it has left.
    Abandoned,
    Room,
    Closed,
}

impl<T> Promise<T> {
    pub(super) fn new() -> Self {
        Promise { leave: UnsafeCell::new(Held::Nothing), _pinned: PhantomPinned }
    }

    /// Abandons the promise for a receiver that leaves, and returns that receiver. The caller holds
    /// the channel's lock.
    ///
    /// # Safety
    ///
    /// The receiver's slot held this promise when the lock was taken.
    pub(super) unsafe fn abandon(this: NonNull<Promise<T>>) -> Option<Committed<Slot<T>>> {
        // SAFETY: a promise stays alive until it is kept or revoked, and both empty the slot under
        // the lock.
        let this = unsafe { this.as_ref() };
        // SAFETY: this thread holds the lock, and the sender accesses the promise only under the
        // lock while a receiver points here.
        match this.leave.with_mut(|leave| unsafe { std::mem::replace(&mut *leave, Held::Abandoned) }) {
            Held::Receiver(receiver) => Some(receiver),
            Held::Nothing | Held::Abandoned | Held::Room | Held::Closed => None,
        }
    }
}
