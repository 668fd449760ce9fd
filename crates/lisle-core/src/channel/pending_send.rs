//! Sends that are under way: messages that wait in a channel for a receiver, in line with the senders that wait, while
//! whoever has sent them goes on.
//!
//! An pending is a performer without a thread. It lies in the channel's queue as a waiting sender does, and whoever commits
//! it wakes it as it would a fiber; but for an pending to be woken is to end, so that happens there and then, in the
//! committer, once that has let go of its locks. Nothing has to be scheduled for it. It is a wake all the same, so no code
//! of the user's runs there: a message that was refused is dropped later, see `deferred_drops.rs`.
//!
//! Two share an pending: the queue, until it has ended, and the handle that its sender has, which may ask and may take it
//! back. The send itself (its branch, and the permit that keeps the channel in place) belongs to who ends it:
//!
//! - Who takes it back does so under the lock of `fate`, if it is not `ending`, and if it can unlink it under the lock of
//!   the channel. As it is not ending, the permit is there, and so is the channel.
//! - Who has committed it is the only one who has. Before it touches the send it says, under the lock of `fate`, that it is
//!   ending. If the handle is gone there is nobody to tell.

use super::SendError;
use super::deferred_drops;
use super::permits::Permit;
use super::sender::Sending;
use super::shared::Shared;
use crate::event::record::{Record, Waker};
use crate::event::scratch::Scratch;
use crate::event::{Attempt, Label, Nowhere, Source, Step};
use crate::shim::atomic::{AtomicU8, Ordering};
use crate::shim::cell::UnsafeCell;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::pin::Pin;
use std::ptr::NonNull;

/// What has become of a message.
#[derive(Debug)]
pub enum Fate<T> {
    /// It was taken.
    Sent,
    /// The channel was closed.
    Closed(T),
    /// It was taken back.
    TakenBack(T),
    /// The message was not sent, and has been given back to who has asked first.
    Told,
}

/// A send that is under way.
pub(crate) struct PendingSend<T: 'static> {
    /// How many there are: the queue's, and the handle's.
    shares: AtomicU8,
    record: Record,
    /// There until it ends.
    send: UnsafeCell<Option<Held<T>>>,
    /// Somebody has begun to end it. Guarded by the lock of `fate`.
    ending: Cell<bool>,
    fate: Source<Option<Fate<T>>, ()>,
}

struct Held<T: 'static> {
    /// Refers to the channel, where the permit keeps it; so it is dropped first.
    sending: Sending<'static, T>,
    _permit: Permit<T>,
}

// SAFETY: who may touch what, and when, is told above; what goes from thread to thread is the message.
unsafe impl<T: Send> Send for PendingSend<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for PendingSend<T> {}

/// A share of an pending.
pub(crate) struct Share<T: 'static>(NonNull<PendingSend<T>>);

// SAFETY: as for what is shared.
unsafe impl<T: Send> Send for Share<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Share<T> {}

impl<T> Share<T> {
    /// The share as an address, for [`Share::drop_raw`].
    pub(super) fn into_raw(self) -> NonNull<()> {
        ManuallyDrop::new(self).0.cast()
    }

    /// # Safety
    ///
    /// `share` comes from [`Share::into_raw`] of this type, and is not used again.
    pub(super) unsafe fn drop_raw(share: NonNull<()>) {
        drop(Share(share.cast::<PendingSend<T>>()));
    }

    /// Is it the only one? Then it stays so.
    fn is_last(&self) -> bool {
        self.shares.load(Ordering::Acquire) == 1
    }
}

impl<T> Deref for Share<T> {
    type Target = PendingSend<T>;

    #[inline]
    fn deref(&self) -> &PendingSend<T> {
        // SAFETY: there as long as it is shared.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Drop for Share<T> {
    #[inline]
    fn drop(&mut self) {
        if self.is_last() || self.shares.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: made by `PendingSend::place`, and this was its last share.
            unsafe { Scratch::drop_one(self.0) };
        }
    }
}

impl<T: Send + 'static> PendingSend<T> {
    /// Sends `message`: the order, if that has to wait for a receiver.
    pub(crate) fn place(permit: Permit<T>, message: T) -> Result<Share<T>, Fate<T>> {
        let place = Scratch::<PendingSend<T>>::room();
        let pending = place.as_ptr();
        // Each field is written in its place: to make the whole elsewhere and move it, right after it was written in pieces,
        // would take as long as all the rest.
        // SAFETY: room for an pending, as for all fields below.
        unsafe { (&raw mut (*pending).shares).write(AtomicU8::new(2)) };
        // SAFETY: whoever wakes the waker has committed the order: nobody else does, or ends it otherwise.
        let waker = unsafe { Waker::new(pending.cast(), ended::<T>) };
        // SAFETY: as above.
        unsafe { (&raw mut (*pending).record).write(Record::new(waker, true)) };
        // SAFETY: the channel is there as long as the permit is, and the reference goes before that.
        let shared: &'static Shared<T> = unsafe { permit.shared().as_ref() };
        let send = UnsafeCell::new(Some(Held {
            sending: Sending::new(shared, Some(message), None),
            _permit: permit,
        }));
        // SAFETY: as above.
        unsafe { (&raw mut (*pending).send).write(send) };
        // SAFETY: as above.
        unsafe { (&raw mut (*pending).ending).write(Cell::new(false)) };
        // SAFETY: as above.
        unsafe { (&raw mut (*pending).fate).write(Source::labelled(Label::anywhere("outcome"), None)) };
        let pending = Share(place);
        // The queue's.
        let queued = Share(pending.0);
        let sending = pending.send.with_mut(|send| {
            // SAFETY: nobody else knows of it, until it is linked; after that `attempt` does not touch it.
            let send = unsafe { (*send).as_mut() }.expect("there until it ends");
            // SAFETY: it stays within the order until it is dropped there.
            unsafe { Pin::new_unchecked(&mut send.sending) }
        });
        let attempt = Attempt::new(&pending.record, &Nowhere);
        attempt.may_publish(true);
        let step = sending.attempt(&attempt, true);
        if step == Step::Waiting {
            std::mem::forget(queued);
            return Ok(pending);
        }
        drop(queued);
        // SAFETY: not linked, so it is ours.
        Err(unsafe { pending.conclude(Fate::Closed) })
    }

    /// Takes the message back, unless somebody has taken it, or the channel was closed. When this returns nobody can take
    /// it any more.
    pub(crate) fn take_back(this: &Share<T>) {
        let is_ours = this.fate.update(|fate, _| {
            if fate.is_some() || this.ending.get() {
                return false;
            }
            let is_ours = this.send.with(|send| {
                // SAFETY: nobody is ending it, and nobody can begin to before we let go of the lock.
                let send = unsafe { (*send).as_ref() }.expect("there until it ends");
                send.sending.unlink()
            });
            this.ending.set(is_ours);
            is_ours
        });
        if is_ours {
            // The queue's, as we have unlinked it.
            let _queued = Share(this.0);
            // SAFETY: we have unlinked it, and said that it is ending.
            let fate = unsafe { this.conclude(Fate::TakenBack) };
            this.settle(fate);
        }
    }

    /// Where it is told what has become of the message.
    pub(crate) fn fate(&self) -> &Source<Option<Fate<T>>, ()> {
        &self.fate
    }

    /// Takes the send out, and gives its permit back. A message that is left in it was not sent.
    ///
    /// # Safety
    ///
    /// It is not linked; nobody else touches the send.
    unsafe fn conclude(&self, unsent: impl FnOnce(T) -> Fate<T>) -> Fate<T> {
        self.send.with_mut(|place| {
            // SAFETY: ours, by the caller's promise.
            let send = unsafe { (*place).as_ref() }.expect("there until it ends");
            send.sending.withdraw(&Attempt::new(&self.record, &Nowhere));
            let fate = match send.sending.outcome() {
                Ok(()) => Fate::Sent,
                Err(SendError(message)) => unsent(message),
            };
            // SAFETY: as above.
            unsafe { *place = None };
            fate
        })
    }

    /// Tells what has become of the message.
    fn settle(&self, fate: Fate<T>) {
        self.fate.update(|place, waiters| {
            *place = Some(fate);
            while waiters.grant(()).is_ok() {}
        });
    }
}

/// Ends an pending that has been committed, or that a closed channel has refused.
///
/// # Safety
///
/// `pending` is the share of its queue, where it lies no more.
unsafe fn ended<T: Send + 'static>(pending: *const ()) {
    // SAFETY: the address of an pending, by the caller's promise.
    let pending = Share(unsafe { NonNull::new_unchecked(pending.cast_mut().cast::<PendingSend<T>>()) });
    let is_watched = !pending.is_last();
    if is_watched {
        pending.fate.update(|_, _| pending.ending.set(true));
    }
    // SAFETY: committed, and nobody takes it back any more.
    match unsafe { pending.conclude(Fate::Closed) } {
        Fate::Sent if !is_watched => {}
        Fate::Sent => pending.settle(Fate::Sent),
        refused => {
            pending.settle(refused);
            deferred_drops::put(pending);
        }
    }
}
