//! Pending sends: messages that wait in a channel for a receiver, in the same queue as the senders
//! that wait, while the fiber that sent them continues.
//!
//! A pending send is a performer without a thread. It is linked into the channel's queue as a
//! waiting sender is, and a committer wakes it as it would wake a fiber. The wake ends the pending
//! send: this happens in the committer, after it has released its locks, and nothing has to be
//! scheduled. It is still a wake, so no user code runs in it: a message that was refused is dropped
//! later, see `deferred_drops.rs`.
//!
//! A pending send has two shares. The queue holds one until the send has ended. The handle, which
//! the sender has, holds the other and may query the send and take it back. The send itself (its
//! branch, and the permit that keeps the channel in place) belongs to the thread that ends it:
//!
//! - A thread that takes it back does so under the lock of `fate`, if the send is not `ending` and
//!   the thread can unlink it under the lock of the channel. While it is not ending the permit
//!   exists, and therefore the channel.
//! - The thread that has committed it is the only one that has. Before it touches the send it sets
//!   `ending` under the lock of `fate`. If the handle is gone it need not set it.

use super::SendError;
use super::deferred_drops;
use super::permits::Permit;
use super::sender::Sending;
use super::shared::Shared;
use crate::event::interface::scratch::Scratch;
use crate::event::protocol::record::Record;
use crate::event::waker::PerformerWaker;
use crate::event::{Attempt, Label, Nowhere, Source, Step};
use crate::shim::atomic::{AtomicU8, Ordering};
use crate::shim::cell::UnsafeCell;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::pin::Pin;
use std::ptr::NonNull;

/// The outcome of a pending send.
#[derive(Debug)]
pub enum Fate<T> {
    /// The message was taken.
    Sent,
    /// The channel was closed.
    Closed(T),
    /// The message was taken back.
    TakenBack(T),
    /// The message was not sent, and an earlier query has already received it.
    Told,
}

/// A send that is under way.
pub(crate) struct PendingSend<T: 'static> {
    /// The number of shares: the queue's and the handle's.
    shares: AtomicU8,
    record: Record,
    /// Present until the send ends.
    send: UnsafeCell<Option<Held<T>>>,
    /// `true` if a thread has begun to end the send. Guarded by the lock of `fate`.
    ending: Cell<bool>,
    fate: Source<Option<Fate<T>>, ()>,
}

struct Held<T: 'static> {
    /// Refers to the channel, which the permit keeps in place. The fields are dropped in order, so
    /// this is dropped first.
    sending: Sending<'static, T>,
    _permit: Permit<T>,
}

// SAFETY: the module documentation says which thread may access which part and when. Only the
// message moves between threads.
unsafe impl<T: Send> Send for PendingSend<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for PendingSend<T> {}

/// A share of a pending send.
pub(crate) struct Share<T: 'static>(NonNull<PendingSend<T>>);

// SAFETY: as for `PendingSend`, to which it refers.
unsafe impl<T: Send> Send for Share<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Share<T> {}

impl<T> Share<T> {
    /// Converts the share to an address, for [`Share::drop_raw`].
    fn into_raw(self) -> NonNull<()> {
        ManuallyDrop::new(self).0.cast()
    }

    /// Drops a share that was converted by [`Share::into_raw`].
    ///
    /// # Safety
    ///
    /// `share` comes from [`Share::into_raw`] of this type and is not used again.
    unsafe fn drop_raw(share: NonNull<()>) {
        drop(Share(share.cast::<PendingSend<T>>()));
    }

    /// Returns `true` if this is the only share. It then stays the only one.
    fn is_last(&self) -> bool {
        self.shares.load(Ordering::Acquire) == 1
    }
}

impl<T> Deref for Share<T> {
    type Target = PendingSend<T>;

    #[inline]
    fn deref(&self) -> &PendingSend<T> {
        // SAFETY: the pending send is alive as long as it has a share.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Drop for Share<T> {
    #[inline]
    fn drop(&mut self) {
        if self.is_last() || self.shares.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: `PendingSend::place` created it, and this was its last share.
            unsafe { Scratch::drop_one(self.0) };
        }
    }
}

impl<T: Send + 'static> PendingSend<T> {
    /// Sends `message`. Returns the pending send if the message has to wait for a receiver, and the
    /// outcome as an error if the send has ended.
    pub(crate) fn place(permit: Permit<T>, message: T) -> Result<Share<T>, Fate<T>> {
        let place = Scratch::<PendingSend<T>>::room();
        let pending = place.as_ptr();
        // Each field is written in its place. Creating the whole elsewhere and moving it, directly
        // after it was written in pieces, would take as long as all the rest.
        // SAFETY: `place` has room for a pending send; the same holds for all fields below.
        unsafe { (&raw mut (*pending).shares).write(AtomicU8::new(2)) };
        // SAFETY: only the thread that has committed the pending send wakes this waker. No other
        // thread commits it or ends it.
        let waker = unsafe { PerformerWaker::new(pending.cast(), ended::<T>) };
        // SAFETY: as for the first field.
        unsafe { (&raw mut (*pending).record).write(Record::new(waker, true)) };
        // SAFETY: the channel is alive as long as the permit is, and `Held` drops the reference
        // before the permit.
        let shared: &'static Shared<T> = unsafe { permit.shared().as_ref() };
        let send = UnsafeCell::new(Some(Held {
            sending: Sending::new(shared, Some(message), None),
            _permit: permit,
        }));
        // SAFETY: as for the first field.
        unsafe { (&raw mut (*pending).send).write(send) };
        // SAFETY: as for the first field.
        unsafe { (&raw mut (*pending).ending).write(Cell::new(false)) };
        // SAFETY: as for the first field.
        unsafe { (&raw mut (*pending).fate).write(Source::labelled(Label::anywhere("outcome"), None)) };
        let pending = Share(place);
        // This share is the queue's.
        let queued = Share(pending.0);
        let sending = pending.send.with_mut(|send| {
            // SAFETY: no other thread knows of the pending send until it is linked, and after that
            // `attempt` does not touch it.
            let send = unsafe { (*send).as_mut() }.expect("there until it ends");
            // SAFETY: the branch stays within the pending send until it is dropped there.
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
        // SAFETY: the pending send is not linked, so no other thread accesses it.
        Err(unsafe { pending.conclude(Fate::Closed) })
    }

    /// Takes the message back, unless a receiver has taken it or the channel was closed. After this
    /// returns, no receiver can take it any more.
    pub(crate) fn take_back(this: &Share<T>) {
        let is_ours = this.fate.update(|fate, _| {
            if fate.is_some() || this.ending.get() {
                return false;
            }
            let is_ours = this.send.with(|send| {
                // SAFETY: no thread is ending the send, and none can begin to while this thread
                // holds the lock.
                let send = unsafe { (*send).as_ref() }.expect("there until it ends");
                send.sending.unlink()
            });
            this.ending.set(is_ours);
            is_ours
        });
        if is_ours {
            // This share is the queue's, since this thread has unlinked the pending send.
            let _queued = Share(this.0);
            // SAFETY: this thread has unlinked the pending send and has set `ending`.
            let fate = unsafe { this.conclude(Fate::TakenBack) };
            this.settle(fate);
        }
    }

    /// Returns the source that receives the outcome.
    pub(crate) fn fate(&self) -> &Source<Option<Fate<T>>, ()> {
        &self.fate
    }

    /// Takes the send out and returns its permit. A message that is still in the send was not sent.
    ///
    /// # Safety
    ///
    /// The pending send is not linked, and no other thread accesses `send`.
    unsafe fn conclude(&self, unsent: impl FnOnce(T) -> Fate<T>) -> Fate<T> {
        self.send.with_mut(|place| {
            // SAFETY: this thread has exclusive access, by the caller's promise.
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

    /// Stores the outcome and wakes the performers that wait for it.
    fn settle(&self, fate: Fate<T>) {
        self.fate.update(|place, waiters| {
            *place = Some(fate);
            while waiters.grant(()).is_ok() {}
        });
    }
}

/// Ends a pending send that has been committed or that a closed channel has refused.
///
/// # Safety
///
/// `pending` is the share of its queue, in which it is no longer linked.
unsafe fn ended<T: Send + 'static>(pending: *const ()) {
    // SAFETY: this is the address of a pending send, by the caller's promise, and not null.
    let pending = Share(unsafe { NonNull::new_unchecked(pending.cast_mut().cast::<PendingSend<T>>()) });
    let is_watched = !pending.is_last();
    if is_watched {
        pending.fate.update(|_, _| pending.ending.set(true));
    }
    // SAFETY: the pending send is committed, and no thread takes it back any more.
    match unsafe { pending.conclude(Fate::Closed) } {
        Fate::Sent if !is_watched => {}
        Fate::Sent => pending.settle(Fate::Sent),
        refused => {
            pending.settle(refused);
            // SAFETY: `drop_raw` is for a share of this type, and this one is not used again.
            unsafe { deferred_drops::put(pending.into_raw(), Share::<T>::drop_raw) };
        }
    }
}
