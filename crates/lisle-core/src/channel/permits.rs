//! How many asynchronous sends of a channel may be under way, and who waits to begin one.

use super::sender::{Sender, send_at_once};
use super::shared::Shared;
use crate::event::{Description, Source};
use std::ptr::NonNull;

/// How many sends of a channel may be under way at a time: then whoever begins another waits until one is done.
const UNDER_WAY: usize = 64;

/// The sends that are under way, and those who wait to begin one.
pub(crate) type Permits<T> = Source<Out<T>, Permit<T>>;

/// How many permits are out.
#[derive(Debug)]
pub struct Out<T> {
    count: usize,
    /// As long as there are any: so the channel has a sender, and stays where it is.
    keeper: Option<Sender<T>>,
}

impl<T> Out<T> {
    pub(super) fn none() -> Self {
        Out { count: 0, keeper: None }
    }

    #[cfg(all(test, lisle_loom))]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0 && self.keeper.is_none()
    }
}

/// Leave to have one send under way. It is given back when dropped; until then the channel is there, and has a sender.
#[derive(Debug)]
pub struct Permit<T> {
    shared: NonNull<Shared<T>>,
}

// SAFETY: it stands for a share of the sender that the permits keeps.
unsafe impl<T: Send> Send for Permit<T> {}

impl<T> Permit<T> {
    pub(super) fn shared(&self) -> NonNull<Shared<T>> {
        self.shared
    }
}

impl<T> Drop for Permit<T> {
    fn drop(&mut self) {
        // SAFETY: the permits keeps a sender until this permit is given back, and so is the channel there.
        let permits = unsafe { self.shared.as_ref() }.permits();
        // Let go of when nothing is locked any more: it may be the last.
        let _keeper = permits.update(|out, waiters| {
            if !waiters.is_empty() {
                // Straight to whoever waits.
                match waiters.grant(Permit { shared: self.shared }) {
                    Ok(()) => return None,
                    Err(deferred_drops) => std::mem::forget(deferred_drops),
                }
            }
            out.count -= 1;
            if out.count == 0 { out.keeper.take() } else { None }
        });
    }
}

impl<T> Sender<T> {
    pub(crate) fn permits(&self) -> &Permits<T> {
        self.shared.permits()
    }

    /// Sends a message, or gives it back if most likely that would have to wait.
    #[inline]
    pub(crate) fn send_at_once(&self, message: T) -> Option<T>
    where
        T: Send,
    {
        let mut message = Some(message);
        send_at_once(&self.shared, &mut message);
        message
    }

    /// Takes leave for a send, if there is any, from the state of this sender's permits.
    pub(crate) fn take_leave(&self, out: &mut Out<T>) -> Option<Permit<T>> {
        (out.count < UNDER_WAY).then(|| {
            if out.count == 0 {
                out.keeper = Some(self.clone());
            }
            out.count += 1;
            Permit { shared: NonNull::from(&*self.shared) }
        })
    }

    /// Says that a performer waits to begin a send.
    pub(crate) fn describe_beginning(&self, waits: &mut Description) {
        self.shared.describe("begin to send to", waits);
    }
}
