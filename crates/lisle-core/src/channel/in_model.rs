//! The reports about a channel to a model. To the model a channel is one object, and not a lock
//! with data under it.
//!
//! In a buffer, sends and receives commute as long as each finds its place or its message. The
//! model lets blocking ones begin only then (`awaits`), and learns which message and which place
//! they took (`touch_since`). All other changes commute with nothing: tries, choices, meetings,
//! waiters.
//!
//! Channels without a buffer are left alone: there a try succeeds only if somebody waits, and so
//! one can see that a performer waits.

use super::shared::{Inner, Shared};
use crate::event::Attempt;
use crate::event::telling::awaited::{Awaited, Awaits};
use crate::shim::model::{Touch, touched};
use crate::shim::unreported;

/// The parts that a transition may change.
#[derive(Clone, Copy)]
pub(super) struct Outline {
    messages: usize,
    changes: usize,
    is_closed: bool,
    /// Nobody waits, and nothing is reserved.
    is_plain: bool,
}

impl<T> Shared<T> {
    /// Tells the model of this thread how the channel is touched.
    pub(super) fn touched(&self, touch: Touch) {
        touched(std::ptr::from_ref(self).addr(), touch);
    }

    /// Returns the thing for which a performer waits, if a model may let it begin when the thing is
    /// there.
    pub(super) fn awaits(&self, what: Awaited) -> Option<Awaits> {
        unreported(|| {
            let inner = self.inner.lock_unseen();
            let is_there = match what {
                Awaited::Message => inner.is_receivable(),
                Awaited::Place | Awaited::Free => inner.is_sendable(),
            };
            (inner.capacity > 0).then_some(Awaits { what, is_there })
        })
    }
}

impl<T> Inner<T> {
    pub(super) fn outline(&self) -> Outline {
        let nobody_waits = self.receiving.is_empty() && self.sending.is_empty() && self.deferred.is_empty();
        Outline {
            messages: self.buffer.len(),
            changes: self.changes,
            is_closed: self.closed,
            is_plain: nobody_waits && self.reserved == 0 && !self.watchers.want_readiness(),
        }
    }

    /// Returns how a transition has touched the channel. `by` is the performer's.
    pub(super) fn touch_since(&self, before: Outline, by: Option<&Attempt<'_>>) -> Touch {
        let now = self.outline();
        if !before.is_plain || !now.is_plain {
            return Touch::Write;
        }
        if before.is_closed != now.is_closed {
            return Touch::Close;
        }
        let awaited = by.and_then(Attempt::awaited);
        if before.changes == now.changes {
            return match awaited {
                Some(Awaited::Message) if now.is_closed => Touch::TakeEnd,
                Some(Awaited::Place) if now.is_closed && !self.has_room() => Touch::PutEnd,
                _ => Touch::Read,
            };
        }
        match awaited {
            Some(Awaited::Message) if now.messages + 1 == before.messages => Touch::Take(before.messages),
            Some(Awaited::Place) if now.messages == before.messages + 1 => {
                Touch::Put(self.capacity - before.messages)
            }
            _ if now.messages + 1 == before.messages => Touch::TryTake(before.messages),
            _ if now.messages == before.messages + 1 => Touch::TryPut(self.capacity - before.messages),
            _ => Touch::Write,
        }
    }
}
