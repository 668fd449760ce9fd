//! Sending a message that is made only once the send has won.
//!
//! A partner must never run the maker, which may block, panic, or use things that belong to its own
//! fiber. The commit therefore comes first (a waiting receiver is won, or room in the buffer is
//! reserved), then the maker runs in the sender with no lock held, and then the message is
//! delivered. In between the receiver holds a *promise*. The promise is kept, or revoked (the maker
//! panicked: the receiver starts over and has lost nothing), or abandoned by a receiver that leaves
//! (its future was dropped, or its runtime shuts down).
//!
//! A send that has committed no longer waits for a partner. If its receiver has left, the message
//! goes to another receiver that waits, or into the buffer if there is room, or back to the sender
//! as an error.

use super::error::SendWithError;
use super::sender::Sender;
use super::shared::{Leave, Sent, Shared, hand_over};
use super::slot::{Held, Promise, Slot};
use crate::event::protocol::queue::Waiter;
use crate::event::protocol::record::Outsider;
use crate::event::{Attempt, Description, Event, Step, debug_by_name, single};
use std::cell::Cell;
use std::pin::Pin;
use std::ptr::NonNull;

impl<T> Sender<T> {
    /// Returns the event of sending a message that is made only if the send has won.
    ///
    /// `make` runs in the performer after the commit, so it may block, and it may receive; the
    /// receiver that was won waits for it. If `make` panics, that receiver starts over and has lost
    /// nothing.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::SendWithError;
    /// use lisle::{Event, channel};
    ///
    /// let (tx, rx) = channel();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| assert_eq!(rx.recv(), Ok("made to order")));
    ///     tx.send_with_evt(|| "made to order").sync().unwrap();
    /// });
    /// drop(rx);
    /// assert_eq!(tx.send_with_evt(|| "not made").sync(), Err(SendWithError::Closed(None)));
    /// ```
    ///
    /// # Errors
    ///
    /// - [`Closed`](SendWithError::Closed): the channel is closed. The message is returned if it
    ///   had been made by then.
    /// - [`Left`](SendWithError::Left): the receiver that was to get the message left while the
    ///   message was made (it was cancelled, or its future was dropped). The message then goes to
    ///   another receiver that waits, or into the buffer if there is room. It is returned only if
    ///   neither is possible.
    ///
    /// # Blocking
    ///
    /// Once the send has won it waits for nothing but `make`. A poll, or the poll of a future,
    /// blocks for nothing else.
    ///
    /// # Cancel safety
    ///
    /// A send that loses a choice, a poll that fails, and a future that is dropped before it has
    /// won make no message.
    ///
    /// # Fairness
    ///
    /// Such senders are admitted when no other sender waits. A receiver that only polls does not
    /// meet them, since it would have to wait for the message.
    ///
    /// # Examples
    ///
    /// A receiver outlives a message that could not be made:
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel};
    ///
    /// let (tx, rx) = channel();
    /// std::thread::scope(|scope| {
    ///     let receiver = scope.spawn(|| rx.recv());
    ///     let fails = scope.spawn(|| tx.send_with_evt(|| panic!("no message")).sync());
    ///     assert!(fails.join().is_err());
    ///     tx.send(7).unwrap(); // the receiver waits again
    ///     assert_eq!(receiver.join().unwrap(), Ok(7));
    /// });
    /// ```
    pub fn send_with_evt<F: Fn() -> T>(&self, make: F) -> SendWithEvt<'_, T, F> {
        SendWithEvt { shared: &self.shared, make }
    }
}

/// The event of sending a message made on commit. See [`Sender::send_with_evt`].
#[must_use = "events do nothing unless performed"]
pub struct SendWithEvt<'a, T, F> {
    shared: &'a Shared<T>,
    make: F,
}

/// The branch of a [`SendWithEvt`].
#[derive(Debug)]
pub struct SendingWith<'e, T> {
    shared: &'e Shared<T>,
    waiter: Waiter<()>,
    promise: Promise<T>,
    /// `true` if the promise holds a permission that has not been used.
    committed: Cell<bool>,
}

// SAFETY: the branch is its waiter and, between a commit and its completion, the address of a
// receiver, which is used under the channel's lock.
unsafe impl<T: Send> Send for SendingWith<'_, T> {}

impl<T> SendingWith<'_, T> {
    fn attempt(self: Pin<&mut Self>, attempt: &Attempt<'_>, wait: bool) -> Step {
        let this = self.into_ref();
        this.waiter.must_not_be_published();
        assert!(!this.committed.get(), "a send was tried again after it had committed");
        this.shared.locked_by(Some(attempt), |inner| {
            let held = match inner.ask_leave(attempt) {
                Leave::Room => Held::Room,
                Leave::Closed => Held::Closed,
                Leave::Receiver(mut receiver) => {
                    receiver.slot(|slot| *slot = Slot::Promised(NonNull::from(&this.get_ref().promise)));
                    Held::Receiver(receiver)
                }
                Leave::Nothing => {
                    if wait && !attempt.is_decided() {
                        // SAFETY: the waiter is not linked, since it is not published, as checked
                        // above. It is pinned, and it is not freed before `withdraw` has unlinked
                        // it.
                        unsafe { inner.deferred.push(&this.get_ref().waiter, attempt) };
                    } else if !wait {
                        attempt.evidence().unready(this.shared, inner.changes());
                    }
                    return Step::Waiting;
                }
            };
            // SAFETY: this thread holds the lock.
            this.promise.leave.with_mut(|leave| unsafe { *leave = held });
            this.committed.set(true);
            Step::Committed
        })
    }

    /// Returns `true` if the channel was closed when the send committed. A permission in the state
    /// `Closed` is never shared with a receiver.
    fn is_refused(&self) -> bool {
        // SAFETY: this thread holds the lock, so no receiver changes the promise.
        self.shared.locked(|_| self.promise.leave.with(|leave| unsafe { matches!(*leave, Held::Closed) }))
    }

    /// Takes the permission. The caller holds the lock.
    fn take_leave(&self) -> Held<T> {
        // SAFETY: the caller holds the lock.
        self.promise.leave.with_mut(|leave| unsafe { std::mem::replace(&mut *leave, Held::Nothing) })
    }

    /// Delivers `message` as the permission allows.
    fn deliver(&self, message: &mut Option<T>) -> Sent {
        self.shared.locked(|inner| match self.take_leave() {
            Held::Receiver(receiver) => Sent::Done(Some(hand_over(receiver, message))),
            Held::Room => inner.fill_reserved(message),
            Held::Abandoned => inner.send(&Outsider, message),
            Held::Closed | Held::Nothing => Sent::Closed,
        })
    }

    /// Revokes the permission: a receiver with a promise starts over, and reserved room becomes
    /// free again.
    fn revoke(&self) {
        let woken = self.shared.locked(|inner| match self.take_leave() {
            Held::Receiver(mut receiver) => {
                receiver.slot(|slot| *slot = Slot::Empty);
                Some(receiver.revoke())
            }
            Held::Room => inner.release_reserved(),
            Held::Nothing | Held::Abandoned | Held::Closed => None,
        });
        if let Some(waker) = woken {
            waker.wake();
        }
        if self.shared.locked(|inner| !inner.deferred.is_empty()) {
            self.shared.retry_deferred(None);
        }
    }

    /// Leaves the queue. A sender with a maker is never won by another party.
    fn withdraw(&self, attempt: &Attempt<'_>) -> bool {
        if !self.waiter.is_free() {
            self.shared.locked_quietly(|inner| {
                // SAFETY: the waiter is alive and was linked into this queue or into none.
                unsafe { inner.deferred.unlink(NonNull::from(&self.waiter)) };
            });
        }
        self.waiter.taken_back(attempt);
        false
    }
}

impl<T> Drop for SendingWith<'_, T> {
    fn drop(&mut self) {
        if self.committed.get() {
            self.revoke();
        }
    }
}

impl<T: Send, F: Fn() -> T> Event for SendWithEvt<'_, T, F> {
    type Output = Result<(), SendWithError<T>>;
    single! { |this, branch: SendingWith<'e, T>, attempt|
        branch: SendingWith {
            shared: this.shared,
            waiter: Waiter::new(()),
            promise: Promise::new(),
            committed: Cell::new(false),
        },
        try_commit: {
            let hint = branch.shared.hint();
            if hint.is_sendable() {
                return branch.attempt(attempt, false);
            }
            attempt.evidence().unready(branch.shared, hint.changes());
            Step::Waiting
        },
        publish: branch.attempt(attempt, true),
        withdraw: branch.withdraw(attempt)
    }

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        if branch.is_refused() {
            branch.committed.set(false);
            return Err(SendWithError::Closed(None));
        }
        // If this panics, dropping the branch revokes the promise.
        let mut message = Some((self.make)());
        branch.committed.set(false);
        match branch.deliver(&mut message) {
            Sent::Done(waker) => {
                if let Some(waker) = waker {
                    waker.wake();
                }
                Ok(())
            }
            Sent::Closed => Err(SendWithError::Closed(message)),
            Sent::Nothing => Err(SendWithError::Left(message.expect("it was not delivered"))),
        }
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        branch.shared.describe("send to", waits);
    }
}

debug_by_name!([T, F] SendWithEvt<'_, T, F>);
crate::event::awaitable!(['a, T: Send, F: Fn() -> T] SendWithEvt<'a, T, F>);
