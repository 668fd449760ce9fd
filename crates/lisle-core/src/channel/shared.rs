//! The state of a channel and its transitions, each under the channel's lock.
//!
//! Rendezvous and bounded channels are one machine: a rendezvous channel is one without room.
//! Between transitions the following holds:
//!
//! - A receiver waits only if the buffer is empty and no sender waits, except senders of its own
//!   performance.
//! - A sender waits only if there is no room and no receiver waits, except receivers of its own
//!   performance.
//! - `buffer.len() + reserved <= capacity`.
//! - Once the channel is closed, nothing waits to send and nothing waits to receive.
//! - A watcher waits until something can be received only if nothing is buffered and no sender
//!   waits. A watcher waits until something can be sent only if there is no room and no receiver
//!   waits. Both exclude partners of the watcher's own performance. A watcher is neither a receiver
//!   nor a sender (see `observe.rs`).

use super::deferred_drops;
use super::observe::{Observed, Sign, Watchers};
use super::permits::{Out, Permits};
use super::slot::Slot;
use crate::drops;
use crate::event::declare_made;
use crate::event::lock::{Guard, Lock};
use crate::event::protocol::queue::{Committed, Decided, WaitQueue};
use crate::event::protocol::record::{Attempt, Committer, Meeting, Record};
use crate::event::protocol::woken::Woken;
use crate::event::waker::PerformerWaker;
use crate::event::{Description, Label, tally};
use crate::shim::atomic::Ordering;
use crate::shim::model::{Touch, is_running};
use crate::shim::sync::OnceLock;
use crate::shim::{unreported, unseen};
use std::collections::VecDeque;

/// The fields that each message writes come first and take 56 bytes, and then the buffer if there
/// is one. Two partners on different cores pass these to and fro. Fields that are only read stay
/// with both. The struct is not aligned to a cache line: a program that waits for a hundred
/// thousand channels would have a quarter more lines.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Shared<T> {
    /// A [`Hint`]. It is written under the lock and read without it. A reader that sees an old
    /// value could as well have read before the change.
    hint: unseen::AtomicUsize,
    pub(super) inner: Lock<Inner<T>>,
    pub(super) senders: unseen::AtomicUsize,
    pub(super) receivers: unseen::AtomicUsize,
    label: Label,
    /// Created by the first asynchronous send.
    permits: OnceLock<Box<Permits<T>>>,
}

/// A snapshot of whether a receive or a send may succeed at once and of how often the channel has
/// changed. It is read before taking the lock, and by polls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hint(usize);

const RECEIVABLE: usize = 1;
const SENDABLE: usize = 2;
/// The value of one change, above the bits of possible operations.
const CHANGE: usize = 4;

impl Hint {
    /// Returns `true` if a receive may succeed at once.
    #[inline(always)]
    pub(super) fn is_receivable(self) -> bool {
        self.0 & RECEIVABLE != 0
    }

    /// Returns `true` if a send may succeed at once.
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
#[repr(C)]
pub(super) struct Inner<T> {
    /// Counts how often something may have become possible for a newcomer: a message, room, a
    /// waiting partner, or the closing. It counts in steps of `CHANGE`.
    pub(super) changes: usize,
    pub(super) receiving: WaitQueue<Slot<T>>,
    pub(super) sending: WaitQueue<Option<T>>,
    /// The room that is promised to senders that are making their message.
    pub(super) reserved: usize,
    pub(super) buffer: VecDeque<T>,
    pub(super) capacity: usize,
    pub(super) closed: bool,
    /// Senders that make their message only once they have won. Partners do not commit them but
    /// tell them to try again.
    pub(super) deferred: WaitQueue<()>,
    pub(super) watchers: Watchers,
}

/// The result of receiving.
pub(super) enum Received<T> {
    /// A message, and the waker of the sender that it came from or that it made room for.
    Value(T, Option<PerformerWaker>),
    Closed,
    Nothing,
}

/// The result of sending. Unless it is `Done`, the message is where it was.
pub(super) enum Sent {
    /// The message was sent. The waker belongs to the receiver, if one waited.
    Done(Option<PerformerWaker>),
    Closed,
    Nothing,
}

/// The result of asking for permission to send a message that does not exist yet.
pub(super) enum Leave<T> {
    /// This receiver now waits for the message.
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
            hint: unseen::AtomicUsize::new(if capacity > 0 { SENDABLE } else { 0 }),
            senders: unseen::AtomicUsize::new(1),
            receivers: unseen::AtomicUsize::new(1),
            label,
            permits: OnceLock::new(),
        }
    }

    pub(super) fn label(&self) -> &Label {
        &self.label
    }

    /// Returns the source that counts the asynchronous sends.
    #[inline]
    pub(super) fn permits(&self) -> &Permits<T> {
        self.permits.get_or_init(|| Box::new(Permits::labelled(self.label.clone(), Out::none())))
    }

    /// Describes that a performer waits to do `operation` with this channel. No partner waits on
    /// the other side, or they would have met, so the description counts the ends from which a
    /// partner could still come.
    pub(super) fn describe(&self, operation: &'static str, waits: &mut Description) {
        waits.on(operation, &self.label, std::ptr::from_ref(self).addr());
        let counted = |count: &unseen::AtomicUsize, what: &str| {
            let count = count.load(Ordering::Relaxed);
            format!("{count} {what}{}", if count == 1 { "" } else { "s" })
        };
        waits.note(format!(
            "it has {} and {}",
            counted(&self.senders, "sender"),
            counted(&self.receivers, "receiver")
        ));
    }

    /// Runs one transition for a caller that has no waiters here. The result of `transition` is
    /// dropped or used after the lock is released.
    #[inline(always)]
    pub(super) fn locked<R>(&self, transition: impl FnOnce(&mut Inner<T>) -> R) -> R {
        self.locked_by(None, transition)
    }

    /// Runs one transition for a performer, whose own watchers are not told of its changes.
    #[inline(always)]
    pub(super) fn locked_by<R>(
        &self,
        by: Option<&Attempt<'_>>,
        transition: impl FnOnce(&mut Inner<T>) -> R,
    ) -> R {
        let mut inner = self.inner.lock_unseen();
        let before = is_running().then(|| {
            declare_made(&self.label, self);
            inner.outline()
        });
        let result = transition(&mut inner);
        if let Some(before) = before {
            self.touched(inner.touch_since(before, by));
        }
        self.note(&inner);
        if inner.watchers.want_readiness() {
            self.tell(inner, by);
        } else {
            drop(inner);
        }
        result
    }

    /// Runs a transition that makes nothing receivable or sendable that was not before.
    #[inline(always)]
    pub(super) fn locked_quietly<R>(&self, transition: impl FnOnce(&mut Inner<T>) -> R) -> R {
        let mut inner = self.inner.lock_unseen();
        let before = is_running().then(|| {
            declare_made(&self.label, self);
            inner.outline()
        });
        let result = transition(&mut inner);
        if let Some(before) = before {
            self.touched(inner.touch_since(before, None));
        }
        self.note(&inner);
        drop(inner);
        result
    }

    #[inline(always)]
    fn note(&self, inner: &Inner<T>) {
        let receivable = if inner.is_receivable() { RECEIVABLE } else { 0 };
        let sendable = if inner.is_sendable() { SENDABLE } else { 0 };
        // The store is a release for polls: a poll that sees the effect of a change of this channel
        // also sees the changes before it.
        self.hint.store(inner.changes | receivable | sendable, Ordering::Release);
    }

    /// Commits the watchers whose sign shows now, and releases the lock.
    #[cold]
    fn tell(&self, mut guard: Guard<'_, Inner<T>, false>, by: Option<&Attempt<'_>>) {
        let woken = Woken::default();
        let inner = &mut *guard;
        let mut watchers = std::mem::replace(&mut inner.watchers, Watchers::new());
        for sign in [Sign::Receivable, Sign::Sendable] {
            let may_show = if sign == Sign::Receivable { inner.is_receivable() } else { inner.is_sendable() };
            if may_show {
                let is_told = |watcher: &Record| {
                    let is_own = by.is_some_and(|by| by.is_own(watcher));
                    // A record that the performer has just linked counts as present, even if its
                    // performer is about to open a wait set.
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

    /// Returns the operations that may be possible now.
    #[inline(always)]
    pub(super) fn hint(&self) -> Hint {
        if is_running() {
            declare_made(&self.label, self);
            self.touched(Touch::Read);
        }
        Hint(self.hint.load(Ordering::Acquire))
    }

    /// Does the same as [`hint`](Shared::hint), for a performer. It need not look for a thing for
    /// which a model has let it wait.
    #[inline(always)]
    pub(super) fn hint_for(&self, attempt: &Attempt<'_>) -> Hint {
        if is_running() && attempt.awaited().is_some() {
            return unreported(|| self.hint());
        }
        self.hint()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.look(|inner| inner.closed)
    }

    pub(super) fn capacity(&self) -> usize {
        self.inner.lock_unseen().capacity
    }

    pub(super) fn len(&self) -> usize {
        self.look(|inner| inner.buffer.len())
    }

    fn look<R>(&self, look: impl FnOnce(&Inner<T>) -> R) -> R {
        self.touched(Touch::Read);
        unreported(|| look(&self.inner.lock_unseen()))
    }

    /// Closes the channel and wakes all waiters. Buffered messages can still be received. Returns
    /// `false` if it was closed already.
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
                // A sender whose message is still in its slot learns from that.
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

    /// Closes the channel and drops the buffered messages, since no receiver is left.
    pub(super) fn abandon(&self) {
        self.close();
        drops::each(self.locked(|inner| std::mem::take(&mut inner.buffer)));
    }

    /// Tells every sender that waits for permission to try again, except senders of the caller's
    /// own performance.
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
    /// Returns `true` if the sign shows to a watcher for which the partners that satisfy `is_there`
    /// count as present.
    fn shows(&self, sign: Sign, is_there: impl Fn(&Record) -> bool) -> bool {
        self.closed
            || match sign {
                Sign::Receivable => !self.buffer.is_empty() || self.sending.has(is_there),
                Sign::Sendable => self.has_room() || self.receiving.has(is_there),
                Sign::Closed => false,
            }
    }

    #[inline]
    pub(super) fn is_receivable(&self) -> bool {
        !self.buffer.is_empty() || !self.sending.is_empty() || self.closed
    }

    #[inline]
    pub(super) fn is_sendable(&self) -> bool {
        !self.receiving.is_empty() || self.has_room() || self.closed
    }

    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.buffer.len() + self.reserved < self.capacity
    }

    /// Counts a change that may have made something possible.
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

    /// Moves the message of the first waiting sender into the room that has become free. Returns
    /// the sender's waker.
    fn refill(&mut self) -> Option<PerformerWaker> {
        if !self.has_room() {
            return None;
        }
        let mut sender = self.sending.commit_outside()?;
        let message = sender.slot(Option::take).expect("a waiting sender has its message");
        self.buffer.push_back(message);
        Some(sender.finish())
    }

    /// Takes `message` and gives it to a waiting receiver or puts it into the buffer.
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
        // A receiver that polls would not wait for the message.
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

    /// Puts `message` into the room reserved for it, or gives it to a receiver that has come to
    /// wait meanwhile.
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

    /// Releases reserved room. A waiting sender may use it; returns that sender's waker.
    pub(super) fn release_reserved(&mut self) -> Option<PerformerWaker> {
        self.reserved -= 1;
        self.changed();
        self.refill()
    }
}

/// Moves `message` to a receiver that has been won. Returns the receiver's waker.
#[inline]
pub(super) fn hand_over<T>(mut receiver: Committed<Slot<T>>, message: &mut Option<T>) -> PerformerWaker {
    let message = message.take().expect("a sender has its message until it is sent");
    receiver.slot(|slot| *slot = Slot::Value(message));
    tally::communication();
    receiver.finish()
}
