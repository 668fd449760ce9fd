//! Receiving without waiting for the sender.

use super::super::handle::TaskHandle;
use super::super::spawn::spawn_here;
use crate::channel::fetch::Fetch;
use crate::channel::{AsyncRecvError, Begun, OutcomeSlot, UnderWay};
use crate::channel::{Receiver, RecvError, TryRecvError};
use crate::event::{Always, Description, Hidden, Label, Source, awaitable, forwarded, turn};
use crate::shim::sync::Arc;
use lisle_core::{Event, always};
use std::fmt;
use std::panic::Location;
use std::pin::Pin;

/// Methods of [`Receiver`] that receive without waiting for the sender.
pub trait RecvAsync<T: Send + 'static> {
    /// Begins to receive a message, and goes on. The result is the event of the message.
    ///
    /// If a sender waits, its message is received at once. A later sender finds a
    /// [task](crate::task) that waits in the channel from now on, so it need not wait for the
    /// caller. As long as the receive is under way the channel has a receiver.
    ///
    /// # Fairness
    ///
    /// Receives that one thread begins get messages in the order in which they began.
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::task::RecvAsync;
    ///
    /// lisle::run(|| {
    ///     let (tx, rx) = lisle::channel();
    ///     let (first, second) = (rx.recv_async(), rx.recv_async());
    ///     tx.send("a").unwrap(); // does not wait: the first receive takes it
    ///     tx.send("b").unwrap();
    ///     assert_eq!((second.join(), first.join()), (Ok("b"), Ok("a")));
    /// });
    /// ```
    #[track_caller]
    fn recv_async(&self) -> AsyncRecv<T>;

    /// Returns the event of having begun to receive, which is always ready.
    ///
    /// It does the same as [`recv_async`](RecvAsync::recv_async), for a choice in which a receive
    /// begins only if this event is chosen.
    ///
    /// From Asynchronous CML's `aRecvEvt`.
    ///
    /// # Cancel safety
    ///
    /// If it loses a choice, nothing has begun.
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Event, task::RecvAsync};
    ///
    /// let (tx, rx) = lisle::channel::bounded(1);
    /// let receive = rx.recv_async_evt().sync();
    /// tx.send(7).unwrap();
    /// assert_eq!(receive.join(), Ok(7));
    /// ```
    #[track_caller]
    fn recv_async_evt(&self) -> RecvAsyncEvt<'_, T>;
}

impl<T: Send + 'static> RecvAsync<T> for Receiver<T> {
    #[track_caller]
    fn recv_async(&self) -> AsyncRecv<T> {
        begin(self, Location::caller())
    }

    #[track_caller]
    fn recv_async_evt(&self) -> RecvAsyncEvt<'_, T> {
        RecvAsyncEvt { receiver: self, always: always(()), site: Location::caller() }
    }
}

fn begin<T: Send + 'static>(receiver: &Receiver<T>, site: &'static Location<'static>) -> AsyncRecv<T> {
    let begun = match receiver.try_recv() {
        Ok(message) => Begun::ended(Ok(message)),
        Err(TryRecvError::Closed) => Begun::ended(Err(AsyncRecvError::Closed)),
        Err(_) => Begun::UnderWay(Receive::begin(receiver.clone(), site)),
    };
    AsyncRecv { begun }
}

/// The event of having begun to receive, see [`RecvAsync::recv_async_evt`].
#[must_use = "events do nothing unless performed"]
pub struct RecvAsyncEvt<'a, T> {
    receiver: &'a Receiver<T>,
    always: Always<()>,
    site: &'static Location<'static>,
}

impl<T: Send + 'static> Event for RecvAsyncEvt<'_, T> {
    type Output = AsyncRecv<T>;
    forwarded!(always: Always<()>);
    forwarded!(describe always);

    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) -> AsyncRecv<T> {
        begin(self.receiver, self.site)
    }
}

awaitable!(['a, T: Send + 'static] RecvAsyncEvt<'a, T>);

type Received<T> = Result<T, AsyncRecvError>;

/// A receive that is under way: a task that performs it, and the slot of its outcome, which
/// outlives a task that is cancelled.
struct Receive<T: Send + 'static> {
    slot: Arc<OutcomeSlot<Received<T>>>,
    task: TaskHandle<()>,
}

impl<T: Send + 'static> Receive<T> {
    /// Begins to receive before this returns.
    ///
    /// Receives that are begun one after another thus wait in that order: the task is not queued,
    /// and does not leave the stack before it waits.
    fn begin(receiver: Receiver<T>, site: &'static Location<'static>) -> Self {
        let slot = Arc::new(Source::labelled(Label::anywhere("outcome"), None));
        let gone = Gone(slot.clone());
        let fetch = Fetch::new(receiver, move |received: Result<T, RecvError>| {
            gone.settle(received.map_err(|RecvError| AsyncRecvError::Closed));
        });
        Receive { slot, task: spawn_here(fetch.future().staying(), site) }
    }
}

impl<T: Send + 'static> UnderWay<Received<T>> for Receive<T> {
    fn slot(&self) -> &OutcomeSlot<Received<T>> {
        &self.slot
    }

    /// When this returns, no sender can meet the receive any more. The exception is a task that is
    /// queued or runs elsewhere, because a sender has met it, or something has woken it in vain.
    fn take_back(&self) {
        self.task.cancel_here();
    }

    fn describe(&self, waits: &mut Description) {
        self.task.describe(&None, waits);
    }
}

/// A guard that settles a receive as cancelled if it is dropped without an outcome.
struct Gone<T: Send + 'static>(Arc<OutcomeSlot<Received<T>>>);

impl<T: Send + 'static> Gone<T> {
    fn settle(&self, received: Received<T>) {
        let _unused = self.0.update(|held, waiters| {
            if held.is_some() {
                return Some(received);
            }
            *held = Some(received);
            while waiters.grant(()).is_ok() {}
            None
        });
    }
}

impl<T: Send + 'static> Drop for Gone<T> {
    fn drop(&mut self) {
        self.settle(Err(AsyncRecvError::Cancelled));
    }
}

/// A receive that has begun, and the event of its message, see [`RecvAsync::recv_async`].
///
/// As an event it yields the message, once. **Dropping it cancels the receive**, so no message goes
/// to a receiver that does not want one. Only a message that a sender has given to it before is
/// dropped with it. To keep such a message, [cancel](AsyncRecv::cancel) the receive and perform the
/// event. (A race with an earlier user of its memory may wake its task in vain. After such a wake,
/// a sender may still give it a message until the task's next turn.)
///
/// # Errors
///
/// [`AsyncRecvError::Closed`] if the channel is closed and empty, and [`AsyncRecvError::Cancelled`]
/// if the receive has been cancelled or its runtime has ended.
///
/// # Cancel safety
///
/// Waiting takes nothing.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::{channel, channel::AsyncRecvError, task::RecvAsync};
///
/// lisle::run(|| {
///     let (tx, rx) = channel();
///     drop(rx.recv_async());
///     let kept = rx.recv_async();
///     tx.send(7).unwrap(); // not lost
///     kept.cancel(); // too late
///     assert_eq!(kept.join(), Ok(7));
///     let other = rx.recv_async();
///     other.cancel();
///     assert_eq!(other.join(), Err(AsyncRecvError::Cancelled));
/// });
/// ```
#[must_use = "a receive whose handle is dropped is cancelled"]
pub struct AsyncRecv<T: Send + 'static> {
    begun: Begun<Received<T>, Receive<T>>,
}

impl<T: Send + 'static> AsyncRecv<T> {
    /// Waits for the message, as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// As the [event](AsyncRecv).
    pub fn join(self) -> Result<T, AsyncRecvError> {
        self.sync()
    }

    /// Returns the event of the message, which is the handle itself.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Event, choose, never, task::RecvAsync};
    ///
    /// let (tx, rx) = lisle::channel();
    /// let (first, second) = (rx.recv_async(), rx.recv_async());
    /// tx.send(7).unwrap();
    /// let either = choose((first.done_evt(), second.done_evt(), never()));
    /// assert_eq!(either.sync(), Ok(7)); // the second receive is still under way
    /// ```
    pub fn done_evt(&self) -> &Self {
        self
    }

    /// Takes the receive back, unless a sender has given it a message. The [event](AsyncRecv) tells
    /// which of the two happened.
    pub fn cancel(&self) {
        self.begun.take_back();
    }

    /// Returns `true` if the message has come, or is certain not to come.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Event, task::RecvAsync};
    ///
    /// let (tx, rx) = lisle::channel();
    /// let receive = rx.recv_async();
    /// assert!(!receive.has_ended());
    /// tx.send(7).unwrap();
    /// assert_eq!(receive.done_evt().sync(), Ok(7));
    /// assert!(receive.has_ended());
    /// ```
    pub fn has_ended(&self) -> bool {
        turn::asked_whether(self.begun.has_ended())
    }
}

impl<T: Send + 'static> Drop for AsyncRecv<T> {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl<T: Send + 'static> Event for AsyncRecv<T> {
    type Output = Result<T, AsyncRecvError>;
    forwarded!(begun: Begun<Received<T>, Receive<T>>, Option<Hidden<'e, Option<Received<T>>, ()>>);
    forwarded!(describe begun);

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        self.begun.complete(branch)
    }
}

awaitable!([T: Send + 'static] AsyncRecv<T>);
awaitable!(['a, T: Send + 'static] &'a AsyncRecv<T>);

impl<T: Send + 'static> fmt::Debug for AsyncRecv<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncRecv").field("has_ended", &self.begun.has_ended()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for RecvAsyncEvt<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecvAsyncEvt")
    }
}
