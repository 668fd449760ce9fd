//! The state of a channel and its transitions, each under the channel's lock.
//!
//! Rendezvous and bounded channels are one machine: a rendezvous channel is one without room. What
//! holds between transitions:
//!
//! - A receiver waits only if the buffer is empty and no sender waits (but for its own).
//! - A sender waits only if there is no room and no receiver waits (but for its own).
//! - `buffer.len() + reserved <= capacity`.
//! - Once closed, nobody waits to send, and nobody waits to receive.

use super::outbox::{Out, Outbox};
use super::promise::Promise;
use super::unwanted;
use crate::event::lock::Lock;
use crate::event::queue::{Committed, Decided, WaitQueue};
use crate::event::record::{Attempt, Committer, Task};
use crate::event::woken::Woken;
use crate::event::{Label, Waits, tally};
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::shim::sync::OnceLock;
use std::collections::VecDeque;
use std::ptr::NonNull;

/// Where a waiting receiver finds what it gets.
#[derive(Debug)]
pub(super) enum Slot<T> {
    Empty,
    Value(T),
    Closed,
    /// A sender has committed and is making the message.
    Promised(NonNull<Promise<T>>),
}

// SAFETY: a promise lies in the branch of its sender, which stays until the promise is kept or revoked,
// and is touched under the channel's lock.
unsafe impl<T: Send> Send for Slot<T> {}

#[derive(Debug)]
pub(super) struct Shared<T> {
    inner: Lock<Inner<T>>,
    /// Whether a receive, or a send, may succeed at once: looked at before taking the lock. Written under
    /// the lock; a reader that sees an old value would have read before the change.
    receivable: AtomicBool,
    sendable: AtomicBool,
    pub(super) senders: AtomicUsize,
    pub(super) receivers: AtomicUsize,
    label: Label,
    /// Made by the first asynchronous send.
    outbox: OnceLock<Box<Outbox<T>>>,
}

#[derive(Debug)]
pub(super) struct Inner<T> {
    buffer: VecDeque<T>,
    capacity: usize,
    /// Room promised to senders that are making their message.
    reserved: usize,
    closed: bool,
    pub(super) receiving: WaitQueue<Slot<T>>,
    pub(super) sending: WaitQueue<Option<T>>,
    /// Senders that make their message only once they have won. Partners do not commit these, they tell
    /// them to try again.
    pub(super) deferred: WaitQueue<()>,
}

/// What receiving came to.
pub(super) enum Received<T> {
    /// A message, and the sender to be woken for it.
    Value(T, Option<Task>),
    Closed,
    Nothing,
}

/// What sending came to. Unless it is done, the message is where it was.
pub(super) enum Sent {
    /// Done, and the receiver to be woken for it.
    Done(Option<Task>),
    Closed,
    Nothing,
}

/// What asking for leave to send came to.
pub(super) enum Leave<T> {
    /// This receiver waits for the message now.
    Receiver(Committed<Slot<T>>),
    /// Room in the buffer is reserved.
    Room,
    Closed,
    Nothing,
}

impl<T> Shared<T> {
    pub(super) fn new(capacity: usize, label: Label) -> Self {
        let inner = Inner {
            buffer: VecDeque::with_capacity(capacity),
            capacity,
            reserved: 0,
            closed: false,
            receiving: WaitQueue::new(),
            sending: WaitQueue::new(),
            deferred: WaitQueue::new(),
        };
        Shared {
            inner: Lock::new(inner),
            receivable: AtomicBool::new(false),
            sendable: AtomicBool::new(capacity > 0),
            senders: AtomicUsize::new(1),
            receivers: AtomicUsize::new(1),
            label,
            outbox: OnceLock::new(),
        }
    }

    /// Where asynchronous sends are counted.
    #[inline]
    pub(super) fn outbox(&self) -> &Outbox<T> {
        self.outbox.get_or_init(|| Box::new(Outbox::labelled(self.label.clone(), Out::none())))
    }

    /// Says that a performer waits to do `operation` with this channel. Nobody who could let it waits on the other
    /// side, or they would have met; so it says who could still come.
    pub(super) fn describe(&self, operation: &'static str, waits: &mut Waits) {
        waits.on(operation, &self.label, std::ptr::from_ref(self).addr());
        let counted = |count: &AtomicUsize, what: &str| {
            let count = count.load(Ordering::Relaxed);
            format!("{count} {what}{}", if count == 1 { "" } else { "s" })
        };
        waits.note(format!(
            "it has {} and {}",
            counted(&self.senders, "sender"),
            counted(&self.receivers, "receiver")
        ));
    }

    /// Runs one transition. What `transition` returns is dropped or used after the lock is free.
    #[inline(always)]
    pub(super) fn locked<R>(&self, transition: impl FnOnce(&mut Inner<T>) -> R) -> R {
        let mut inner = self.inner.lock();
        let result = transition(&mut inner);
        self.receivable.store(inner.is_receivable(), Ordering::Relaxed);
        self.sendable.store(inner.is_sendable(), Ordering::Relaxed);
        result
    }

    /// May a receive succeed at once?
    #[inline]
    pub(super) fn is_receivable(&self) -> bool {
        self.receivable.load(Ordering::Relaxed)
    }

    /// May a send succeed at once?
    #[inline]
    pub(super) fn is_sendable(&self) -> bool {
        self.sendable.load(Ordering::Relaxed)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.inner.lock().closed
    }

    pub(super) fn capacity(&self) -> usize {
        self.inner.lock().capacity
    }

    pub(super) fn len(&self) -> usize {
        self.inner.lock().buffer.len()
    }

    /// Closes the channel: whoever waits learns it. What is buffered can still be received.
    pub(super) fn close(&self) -> bool {
        let (closed_now, woken) = self.locked(|inner| {
            let mut woken = Woken::default();
            let closed_now = !std::mem::replace(&mut inner.closed, true);
            if closed_now {
                while let Some(mut receiver) = inner.receiving.commit_outside() {
                    receiver.slot(|slot| *slot = Slot::Closed);
                    woken.push(receiver.finish());
                }
                // A sender whose message still lies in its slot learns from that.
                while let Some(sender) = inner.sending.commit_outside() {
                    woken.push(sender.finish());
                }
                inner.deferred.retry_all(None, &mut woken);
            }
            (closed_now, woken)
        });
        unwanted::drop_after(|| drop(woken));
        closed_now
    }

    /// Closes the channel and drops what is buffered: nobody is left to receive it.
    pub(super) fn abandon(&self) {
        self.close();
        let _buffered = self.locked(|inner| std::mem::take(&mut inner.buffer));
    }

    /// Has every sender that waits for leave, but for our own, try again.
    #[cold]
    pub(super) fn retry_deferred(&self, by: Option<&Attempt<'_>>) {
        let _woken = self.locked(|inner| {
            let mut woken = Woken::default();
            inner.deferred.retry_all(by, &mut woken);
            woken
        });
    }
}

impl<T> Inner<T> {
    #[inline]
    fn is_receivable(&self) -> bool {
        !self.buffer.is_empty() || !self.sending.is_empty() || self.closed
    }

    #[inline]
    fn is_sendable(&self) -> bool {
        !self.receiving.is_empty() || self.has_room() || self.closed
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.buffer.len() + self.reserved < self.capacity
    }

    /// Takes the oldest message, if there is one.
    #[inline]
    pub(super) fn receive(&mut self, by: &impl Committer) -> Received<T> {
        if !self.buffer.is_empty() {
            if !by.commit_alone() {
                return Received::Nothing;
            }
            let message = self.buffer.pop_front().expect("not empty, as just seen");
            tally::communication();
            return Received::Value(message, self.refill());
        }
        match self.sending.commit(by) {
            Ok(Some(mut sender)) => {
                let message = sender.slot(Option::take).expect("a waiting sender has its message");
                tally::communication();
                return Received::Value(message, Some(sender.finish()));
            }
            Err(Decided) => return Received::Nothing,
            Ok(None) => {}
        }
        if self.closed && by.commit_alone() { Received::Closed } else { Received::Nothing }
    }

    /// Lets the first waiting sender put its message into the room that has become free.
    fn refill(&mut self) -> Option<Task> {
        if !self.has_room() {
            return None;
        }
        let mut sender = self.sending.commit_outside()?;
        let message = sender.slot(Option::take).expect("a waiting sender has its message");
        self.buffer.push_back(message);
        Some(sender.finish())
    }

    /// Takes `message` out and hands it to a waiting receiver or puts it into the buffer.
    #[inline]
    pub(super) fn send(&mut self, by: &impl Committer, message: &mut Option<T>) -> Sent {
        if self.closed {
            return if by.commit_alone() { Sent::Closed } else { Sent::Nothing };
        }
        match self.receiving.commit(by) {
            Ok(Some(receiver)) => return Sent::Done(Some(hand_over(receiver, message))),
            Err(Decided) => return Sent::Nothing,
            Ok(None) => {}
        }
        if self.has_room() && by.commit_alone() {
            self.buffer.extend(message.take());
            return Sent::Done(None);
        }
        Sent::Nothing
    }

    /// Commits to sending a message that does not exist yet.
    pub(super) fn ask_leave(&mut self, by: &impl Committer) -> Leave<T> {
        if self.closed {
            return if by.commit_alone() { Leave::Closed } else { Leave::Nothing };
        }
        match self.receiving.commit(by) {
            Ok(Some(receiver)) => return Leave::Receiver(receiver),
            Err(Decided) => return Leave::Nothing,
            Ok(None) => {}
        }
        if self.has_room() && by.commit_alone() {
            self.reserved += 1;
            return Leave::Room;
        }
        Leave::Nothing
    }

    /// Puts `message` into the room reserved for it; a receiver may have come to wait meanwhile.
    pub(super) fn fill_reserved(&mut self, message: &mut Option<T>) -> Sent {
        self.reserved -= 1;
        if self.closed {
            return Sent::Closed;
        }
        let receiver = self.receiving.commit_outside();
        if receiver.is_none() {
            self.buffer.extend(message.take());
        }
        Sent::Done(receiver.map(|receiver| hand_over(receiver, message)))
    }

    /// Gives reserved room back; a sender that waits may have it.
    pub(super) fn release_reserved(&mut self) -> Option<Task> {
        self.reserved -= 1;
        self.refill()
    }
}

/// Moves `message` to a receiver that has been won.
#[inline]
pub(super) fn hand_over<T>(mut receiver: Committed<Slot<T>>, message: &mut Option<T>) -> Task {
    let message = message.take().expect("a sender has its message until it is sent");
    receiver.slot(|slot| *slot = Slot::Value(message));
    tally::communication();
    receiver.finish()
}
