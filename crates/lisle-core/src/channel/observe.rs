//! Events that observe a channel and take nothing from it: that it may be used at once, and that it
//! is closed.
//!
//! A watcher is neither a receiver nor a sender. It is linked into a queue of its own, under the
//! channel's lock, which receives and sends do not look at. The invariants of receivers and senders
//! (see `shared.rs`) are therefore unaffected, and two watchers that wait for each other to be
//! ready wait for ever. A thread that changes the channel commits all watchers of a sign that shows
//! after the change. They learn that the sign showed at that moment; nothing is reserved for them.
//!
//! A watcher does not see the partners of its own performance. Otherwise a choice between sending
//! to a channel and its being ready to receive from would make itself ready.

use crate::event::protocol::queue::{WaitQueue, Waiter};
use crate::event::protocol::record::{Attempt, Committer};
use crate::event::{Description, Event, Step, awaitable, single};
use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;

/// A sign that a channel can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Receivable,
    Sendable,
    Closed,
}

/// The watchers that wait for signs of a channel.
#[derive(Debug)]
pub(crate) struct Watchers {
    pub(crate) receivable: WaitQueue<()>,
    pub(crate) sendable: WaitQueue<()>,
    pub(crate) closed: WaitQueue<()>,
}

impl Watchers {
    pub(crate) const fn new() -> Self {
        Watchers { receivable: WaitQueue::new(), sendable: WaitQueue::new(), closed: WaitQueue::new() }
    }

    /// Returns `true` if a watcher waits until something can be received or sent.
    #[inline(always)]
    pub(crate) fn want_readiness(&self) -> bool {
        !self.receivable.is_empty() | !self.sendable.is_empty()
    }

    pub(crate) fn of(&mut self, sign: Sign) -> &mut WaitQueue<()> {
        match sign {
            Sign::Receivable => &mut self.receivable,
            Sign::Sendable => &mut self.sendable,
            Sign::Closed => &mut self.closed,
        }
    }
}

/// A function that is called with the queue of the watchers of a sign and with whether the sign
/// shows.
type Look<'l> = &'l mut dyn FnMut(&mut WaitQueue<()>, bool);

/// A channel, or a port of one, whose signs can be observed.
pub(crate) trait Observed {
    /// Runs `look` under the channel's lock.
    fn observe(&self, sign: Sign, attempt: &Attempt<'_>, look: Look<'_>);

    /// Returns `true` if the sign may show. It takes no lock, so it may still return `false` just
    /// after the sign began to show.
    fn may_show(&self, sign: Sign) -> bool {
        let _ = sign;
        true
    }

    fn describe(&self, operation: &'static str, waits: &mut Description);
}

type Observable<'a> = &'a (dyn Observed + Sync + 'a);

/// The event that a receive or a send may succeed at once. See
/// [`Receiver::recv_ready_evt`](super::Receiver::recv_ready_evt) and
/// [`Sender::send_ready_evt`](super::Sender::send_ready_evt).
#[derive(Clone, Copy)]
#[must_use = "events do nothing unless performed"]
pub struct ReadyEvt<'a> {
    channel: Observable<'a>,
    sign: Sign,
}

/// The event that a channel is closed. See [`Sender::closed_evt`](super::Sender::closed_evt).
#[derive(Clone, Copy)]
#[must_use = "events do nothing unless performed"]
pub struct ClosedEvt<'a> {
    channel: Observable<'a>,
    sign: Sign,
}

impl<'a> ReadyEvt<'a> {
    pub(crate) fn to_receive(channel: Observable<'a>) -> Self {
        ReadyEvt { channel, sign: Sign::Receivable }
    }

    pub(crate) fn to_send(channel: Observable<'a>) -> Self {
        ReadyEvt { channel, sign: Sign::Sendable }
    }
}

impl<'a> ClosedEvt<'a> {
    pub(crate) fn new(channel: Observable<'a>) -> Self {
        ClosedEvt { channel, sign: Sign::Closed }
    }
}

/// The branch of an event that takes nothing from a channel.
pub struct Observing<'e> {
    channel: Observable<'e>,
    sign: Sign,
    waiter: Waiter<()>,
}

impl<'e> Observing<'e> {
    fn new(channel: Observable<'e>, sign: Sign) -> Self {
        Observing { channel, sign, waiter: Waiter::new(()) }
    }

    /// Commits if the sign shows. Otherwise links the waiter if `wait` is `true`.
    fn attempt(self: Pin<&mut Self>, attempt: &Attempt<'_>, wait: bool) -> Step {
        let this = self.into_ref().get_ref();
        this.waiter.must_not_be_published();
        let mut step = Step::Waiting;
        this.channel.observe(this.sign, attempt, &mut |queue, is_shown| {
            if is_shown && attempt.commit_alone() {
                step = Step::Committed;
            } else if !is_shown && wait && !attempt.is_decided() {
                // SAFETY: the waiter is not linked, since it is not published, as checked above. It
                // is pinned, and it is not freed before `withdraw` has unlinked it.
                unsafe { queue.push(&this.waiter, attempt) };
            }
        });
        step
    }

    fn withdraw(&self, attempt: &Attempt<'_>) -> bool {
        if !self.waiter.is_free() {
            self.channel.observe(self.sign, attempt, &mut |queue, _| {
                // SAFETY: the waiter is alive and was linked into this queue or into none.
                unsafe { queue.unlink(NonNull::from(&self.waiter)) };
            });
        }
        self.waiter.taken_back(attempt);
        attempt.record().won_by(self.waiter.id())
    }

    fn describe(&self, waits: &mut Description) {
        let operation = match self.sign {
            Sign::Receivable => "wait to receive from",
            Sign::Sendable => "wait to send to",
            Sign::Closed => "wait for the closing of",
        };
        self.channel.describe(operation, waits);
    }
}

macro_rules! observes {
    ($($event:ident)*) => { $(
        impl Event for $event<'_> {
            type Output = ();
            single! { |this, branch: Observing<'e>, attempt|
                branch: Observing::new(this.channel, this.sign),
                try_commit: if this.channel.may_show(this.sign) {
                    branch.attempt(attempt, false)
                } else {
                    Step::Waiting
                },
                publish: branch.attempt(attempt, true),
                withdraw: branch.into_ref().get_ref().withdraw(attempt)
            }

            fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) {}
            fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
                branch.describe(waits);
            }
        }

        impl fmt::Debug for $event<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($event)).finish_non_exhaustive()
            }
        }

        awaitable!(['a] $event<'a>, single);
    )* };
}

observes!(ReadyEvt ClosedEvt);

impl fmt::Debug for Observing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observing").field("sign", &self.sign).finish_non_exhaustive()
    }
}
