//! The state of a channel and its transitions, each under the channel's lock.
//!
//! Rendezvous and bounded channels are one machine: a rendezvous channel is one without room. What
//! holds between transitions:
//!
//! - A receiver waits only if the buffer is empty and no sender waits (but for its own).
//! - A sender waits only if there is no room and no receiver waits (but for its own).
//! - `buffer.len() + reserved <= capacity`.
//! - Once closed, nobody waits to send, and nobody waits to receive.
//! - Who waits until something can be received waits only if nothing is buffered and nobody waits to send (but he himself);
//!   who waits until something can be sent, only if there is no room and nobody waits to receive (but he himself). Neither is a
//!   receiver or a sender (see `observe.rs`).

use super::deferred_drops;
use super::observe::{Observed, Sign, Watchers};
use super::permits::{Out, Permits};
use super::promise::Promise;
use crate::drops;
use crate::event::lock::{Guard, Lock};
use crate::event::queue::{Committed, Decided, WaitQueue};
use crate::event::record::{Attempt, Committer, Meeting, Record, Waker};
use crate::event::woken::Woken;
use crate::event::{Description, Label, tally};
use crate::shim::atomic::{AtomicUsize, Ordering};
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
    /// A [`Hint`]. Written under the lock, and read without; a reader that sees an old value would have read before the
    /// change.
    hint: AtomicUsize,
    pub(super) senders: AtomicUsize,
    pub(super) receivers: AtomicUsize,
    label: Label,
    /// Made by the first asynchronous send.
    permits: OnceLock<Box<Permits<T>>>,
}

/// Whether a receive, or a send, may succeed at once, and how often the channel has changed: looked at before taking
/// the lock, and by polls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hint(usize);

const RECEIVABLE: usize = 1;
const SENDABLE: usize = 2;
/// One change, above the bits that say what is possible.
const CHANGE: usize = 4;

impl Hint {
    /// May a receive succeed at once?
    #[inline(always)]
    pub(super) fn is_receivable(self) -> bool {
        self.0 & RECEIVABLE != 0
    }

    /// May a send succeed at once?
    #[inline(always)]
    pub(super) fn is_sendable(self) -> bool {
        self.0 & SENDABLE != 0
    }

    #[inline(always)]
    pub(super) fn changes(self) -> usize {
        self.0 & !(RECEIVABLE | SENDABLE)
    }
}

#[derive(Debug)]
pub(super) struct Inner<T> {
    buffer: VecDeque<T>,
    capacity: usize,
    /// How often something may have become possible for somebody who comes now: a message, room, a partner that waits, the
    /// end. In steps of `CHANGE`.
    changes: usize,
    /// Room promised to senders that are making their message.
    reserved: usize,
    closed: bool,
    pub(super) receiving: WaitQueue<Slot<T>>,
    pub(super) sending: WaitQueue<Option<T>>,
    /// Senders that make their message only once they have won. Partners do not commit these, they tell
    /// them to try again.
    pub(super) deferred: WaitQueue<()>,
    pub(super) watchers: Watchers,
}

/// What receiving came to.
pub(super) enum Received<T> {
    /// A message, and the sender to be woken for it.
    Value(T, Option<Waker>),
    Closed,
    Nothing,
}

/// What sending came to. Unless it is done, the message is where it was.
pub(super) enum Sent {
    /// Done, and the receiver to be woken for it.
    Done(Option<Waker>),
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
            changes: 0,
            reserved: 0,
            closed: false,
            receiving: WaitQueue::new(),
            sending: WaitQueue::new(),
            deferred: WaitQueue::new(),
            watchers: Watchers::new(),
        };
        Shared {
            inner: Lock::new(inner),
            hint: AtomicUsize::new(if capacity > 0 { SENDABLE } else { 0 }),
            senders: AtomicUsize::new(1),
            receivers: AtomicUsize::new(1),
            label,
            permits: OnceLock::new(),
        }
    }

    /// Where asynchronous sends are counted.
    #[inline]
    pub(super) fn permits(&self) -> &Permits<T> {
        self.permits.get_or_init(|| Box::new(Permits::labelled(self.label.clone(), Out::none())))
    }

    /// Says that a performer waits to do `operation` with this channel. Nobody who could let it waits on the other
    /// side, or they would have met; so it says who could still come.
    pub(super) fn describe(&self, operation: &'static str, waits: &mut Description) {
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

    /// Runs one transition, for somebody who waits for nothing here. What `transition` returns is dropped or used after the
    /// lock is free.
    #[inline(always)]
    pub(super) fn locked<R>(&self, transition: impl FnOnce(&mut Inner<T>) -> R) -> R {
        self.locked_by(None, transition)
    }

    /// The same for a performer, whose own waits are not told of what it has done.
    #[inline(always)]
    pub(super) fn locked_by<R>(
        &self,
        by: Option<&Attempt<'_>>,
        transition: impl FnOnce(&mut Inner<T>) -> R,
    ) -> R {
        let mut inner = self.inner.lock();
        let result = transition(&mut inner);
        self.note(&inner);
        if inner.watchers.want_readiness() {
            self.tell(inner, by);
        }
        result
    }

    /// Runs a transition after which nothing can be received or sent that could not be before.
    #[inline(always)]
    pub(super) fn locked_quietly<R>(&self, transition: impl FnOnce(&mut Inner<T>) -> R) -> R {
        let mut inner = self.inner.lock();
        let result = transition(&mut inner);
        self.note(&inner);
        result
    }

    #[inline(always)]
    fn note(&self, inner: &Inner<T>) {
        let receivable = if inner.is_receivable() { RECEIVABLE } else { 0 };
        let sendable = if inner.is_sendable() { SENDABLE } else { 0 };
        // Released for polls: who sees what came of one channel's change sees the changes before it, too.
        self.hint.store(inner.changes | receivable | sendable, Ordering::Release);
    }

    /// Commits those who wait for what can be seen now, and lets go of the lock.
    #[cold]
    fn tell(&self, mut guard: Guard<'_, Inner<T>>, by: Option<&Attempt<'_>>) {
        let woken = Woken::default();
        let inner = &mut *guard;
        let mut watchers = std::mem::replace(&mut inner.watchers, Watchers::new());
        for sign in [Sign::Receivable, Sign::Sendable] {
            let may_show = if sign == Sign::Receivable { inner.is_receivable() } else { inner.is_sendable() };
            if may_show {
                let is_told = |watcher: &Record| {
                    let is_own = by.is_some_and(|by| by.is_own(watcher));
                    // What the performer has just linked is there, though it may be about to open a wait set.
                    let is_linked = |record: &Record| by.is_some_and(|by| std::ptr::eq(by.record(), record));
                    !is_own && inner.shows(sign, |record| is_linked(record) || record.is_there_for(watcher))
                };
                watchers.of(sign).commit_all(is_told, &woken);
            }
        }
        inner.watchers = watchers;
        drop(guard);
        drop(woken);
    }

    /// What may be possible now.
    #[inline(always)]
    pub(super) fn hint(&self) -> Hint {
        Hint(self.hint.load(Ordering::Acquire))
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
            let woken = Woken::default();
            let closed_now = !std::mem::replace(&mut inner.closed, true);
            if closed_now {
                inner.changed();
                while let Some(mut receiver) = inner.receiving.commit_outside() {
                    receiver.slot(|slot| *slot = Slot::Closed);
                    woken.push(receiver.finish());
                }
                // A sender whose message still lies in its slot learns from that.
                while let Some(sender) = inner.sending.commit_outside() {
                    woken.push(sender.finish());
                }
                inner.deferred.retry_all(None, &woken);
                inner.watchers.closed.commit_all(|_| true, &woken);
            }
            (closed_now, woken)
        });
        deferred_drops::drop_after(|| drop(woken));
        closed_now
    }

    /// Closes the channel and drops what is buffered: nobody is left to receive it.
    pub(super) fn abandon(&self) {
        self.close();
        drops::each(self.locked(|inner| std::mem::take(&mut inner.buffer)));
    }

    /// Has every sender that waits for leave, but for our own, try again.
    #[cold]
    pub(super) fn retry_deferred(&self, by: Option<&Attempt<'_>>) {
        let _woken = self.locked(|inner| {
            let woken = Woken::default();
            inner.deferred.retry_all(by, &woken);
            woken
        });
    }
}

impl<T> Observed for Shared<T> {
    fn observe(&self, sign: Sign, attempt: &Attempt<'_>, look: &mut dyn FnMut(&mut WaitQueue<()>, bool)) {
        self.locked_quietly(|inner| {
            let is_shown = inner.shows(sign, |record| attempt.may_meet(record));
            look(inner.watchers.of(sign), is_shown);
        });
    }

    fn may_show(&self, sign: Sign) -> bool {
        let hint = self.hint();
        match sign {
            Sign::Receivable => hint.is_receivable(),
            Sign::Sendable => hint.is_sendable(),
            Sign::Closed => hint.is_receivable() && hint.is_sendable(),
        }
    }

    fn describe(&self, operation: &'static str, waits: &mut Description) {
        self.describe(operation, waits);
    }
}

impl<T> Inner<T> {
    /// Is this to be seen by somebody for whom such partners are there?
    fn shows(&self, sign: Sign, is_there: impl Fn(&Record) -> bool) -> bool {
        self.closed
            || match sign {
                Sign::Receivable => !self.buffer.is_empty() || self.sending.has(is_there),
                Sign::Sendable => self.has_room() || self.receiving.has(is_there),
                Sign::Closed => false,
            }
    }

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

    /// Something may have become possible.
    #[inline(always)]
    pub(super) fn changed(&mut self) {
        self.changes = self.changes.wrapping_add(CHANGE);
    }

    #[inline(always)]
    pub(super) fn changes(&self) -> usize {
        self.changes
    }

    /// Takes the oldest message, if there is one.
    #[inline]
    pub(super) fn receive(&mut self, by: &impl Committer) -> Received<T> {
        if !self.buffer.is_empty() {
            if !by.commit_alone() {
                return Received::Nothing;
            }
            let message = self.buffer.pop_front().expect("not empty, as just seen");
            self.changed();
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
    fn refill(&mut self) -> Option<Waker> {
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
            self.changed();
            return Sent::Done(None);
        }
        Sent::Nothing
    }

    /// Commits to sending a message that does not exist yet.
    pub(super) fn ask_leave(&mut self, by: &impl Committer) -> Leave<T> {
        if self.closed {
            return if by.commit_alone() { Leave::Closed } else { Leave::Nothing };
        }
        // A poll would not wait for the message.
        let met = self.receiving.commit_where(|receiver| {
            if receiver.record().is_fleeting() { Meeting::Own } else { receiver.meet(by) }
        });
        match met {
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
        self.changed();
        Sent::Done(receiver.map(|receiver| hand_over(receiver, message)))
    }

    /// Gives reserved room back; a sender that waits may have it.
    pub(super) fn release_reserved(&mut self) -> Option<Waker> {
        self.reserved -= 1;
        self.changed();
        self.refill()
    }
}

/// Moves `message` to a receiver that has been won.
#[inline]
pub(super) fn hand_over<T>(mut receiver: Committed<Slot<T>>, message: &mut Option<T>) -> Waker {
    let message = message.take().expect("a sender has its message until it is sent");
    receiver.slot(|slot| *slot = Slot::Value(message));
    tally::communication();
    receiver.finish()
}
