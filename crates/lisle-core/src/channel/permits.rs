//! The limit on the asynchronous sends of a channel that are under way, and the senders that wait
//! to begin one.

use super::sender::{Sender, send_at_once};
use super::shared::Shared;
use crate::event::protocol::record::Outsider;
use crate::event::{Description, Source, visible_doing};
use std::ptr::NonNull;

/// The number of sends of a channel that may be under way at a time. A sender that begins another
/// waits until one is done.
const UNDER_WAY: usize = 64;

/// The count of the sends that are under way, and the senders that wait to begin one.
pub(crate) type Permits<T> = Source<Out<T>, Permit<T>>;

/// The permits that are in use.
#[derive(Debug)]
pub struct Out<T> {
    count: usize,
    /// A sender, present while any permit is in use. It keeps the channel alive and gives it a
    /// sender.
    keeper: Option<Sender<T>>,
}

impl<T> Out<T> {
    pub(super) fn none() -> Self {
        Out { count: 0, keeper: None }
    }

    #[cfg(all(test, any(lisle_loom, miri)))]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0 && self.keeper.is_none()
    }
}

/// A permission to have one send under way, which is returned when dropped. Until then the channel
/// is alive and has a sender.
#[derive(Debug)]
pub struct Permit<T> {
    shared: NonNull<Shared<T>>,
}

// SAFETY: a permit stands for a share of the sender that `Out` keeps.
unsafe impl<T: Send> Send for Permit<T> {}

impl<T> Permit<T> {
    pub(super) fn shared(&self) -> NonNull<Shared<T>> {
        self.shared
    }
}

impl<T> Drop for Permit<T> {
    fn drop(&mut self) {
        // SAFETY: `Out` keeps a sender until this permit is returned, and the sender keeps the
        // channel alive.
        let permits = unsafe { self.shared.as_ref() }.permits();
        // The keeper may be the last sender, so it is dropped after the lock is released.
        let _keeper = permits.update(|out, waiters| {
            if !waiters.is_empty() {
                // The permit goes directly to the first waiter.
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

    /// Sends `message`, or returns it if the send would most likely have to wait.
    #[inline]
    pub(crate) fn send_at_once(&self, message: T) -> Option<T>
    where
        T: Send,
    {
        let mut message = Some(message);
        visible_doing("send to", self.shared.label(), &*self.shared);
        send_at_once(&self.shared, &mut message, &Outsider);
        message
    }

    /// Takes a permit from the state of this sender's permits, if fewer than the limit are in use.
    pub(crate) fn take_leave(&self, out: &mut Out<T>) -> Option<Permit<T>> {
        (out.count < UNDER_WAY).then(|| {
            if out.count == 0 {
                out.keeper = Some(self.clone());
            }
            out.count += 1;
            Permit { shared: NonNull::from(&*self.shared) }
        })
    }

    /// Describes that a performer waits to begin a send.
    pub(crate) fn describe_beginning(&self, waits: &mut Description) {
        self.shared.describe("begin to send to", waits);
    }
}
