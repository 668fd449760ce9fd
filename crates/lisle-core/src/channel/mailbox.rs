//! Mailboxes: channels without a bound.

use super::error::{RecvError, RecvTimeoutError, SendError, TryRecvError};
use super::observe::{ClosedEvt, Observed, ReadyEvt, Sign, Watchers};
use super::receiver::within;
use crate::drops;
use crate::event::protocol::queue::WaitQueue;
use crate::event::waiting::turn;
use crate::event::{
    Attempt, Description, Event, Label, Source, awaitable, copied, debug_by_name, visible_doing, waits_at,
};
use crate::shim::counted_down;
use crate::shim::sync::Arc;
use crate::shim::unseen::{AtomicUsize, Ordering};
use std::collections::{LinkedList, VecDeque};
use std::fmt;
use std::iter::FusedIterator;
use std::pin::Pin;
use std::time::Duration;

/// Creates a mailbox: a channel **without a bound**, whose senders never wait.
///
/// Nothing slows the senders down. If they are faster than the receivers for long, memory runs out,
/// and before that the messages ahead delay every message. Where a sender can wait,
/// [`bounded`](super::bounded) is the better choice. A mailbox is for senders that cannot wait: a
/// destructor, a guard, a callback, a server that answers slow clients. It also fits where
/// something else bounds the number of messages, for example when each client has one request under
/// way.
///
/// The idea is from Concurrent ML's `Mailbox` and the mailboxes of actors.
///
/// # Fairness
///
/// Messages are received in the order in which they were sent. Receivers that wait are served first
/// come, first served.
///
/// # Cost
///
/// A send takes a short lock once. Messages are stored in blocks of 32. Each block is freed when it
/// has been received, except for two, which are kept; a mailbox whose messages fit into them
/// allocates nothing more.
///
/// ```
/// # use lisle_core as lisle;
/// let (tx, rx) = lisle::channel::unbounded();
/// for i in 0..100 {
///     tx.send(i).unwrap(); // does not wait, although nothing receives
/// }
/// assert_eq!(rx.len(), 100);
/// drop(tx); // closed, but nothing is lost:
/// assert_eq!(rx.iter().sum::<i32>(), 4_950);
/// assert!(rx.recv().is_err());
/// ```
#[track_caller]
pub fn unbounded<T>() -> (MailSender<T>, MailReceiver<T>) {
    let state = Contents { messages: Blocks::new(), closed: false, watchers: Watchers::new() };
    let mailbox = Arc::new(Mailbox {
        source: Source::labelled(Label::new("mailbox"), state),
        senders: AtomicUsize::new(1),
        receivers: AtomicUsize::new(1),
    });
    (MailSender { mailbox: mailbox.clone() }, MailReceiver { mailbox })
}

pub(super) struct Mailbox<T> {
    source: Source<Contents<T>, Result<T, RecvError>>,
    senders: AtomicUsize,
    receivers: AtomicUsize,
}

/// The contents of a mailbox. Receivers wait only while there are no messages and it is not closed.
pub struct Contents<T> {
    messages: Blocks<T>,
    closed: bool,
    watchers: Watchers,
}

impl<T> Contents<T> {
    /// Takes the oldest message. Returns the error if there is none and none can come, and `None`
    /// if one may still come.
    fn receive(&mut self) -> Option<Result<T, RecvError>> {
        match self.messages.pop() {
            Some(message) => Some(Ok(message)),
            None => self.closed.then_some(Err(RecvError)),
        }
    }
}

impl<T> Mailbox<T> {
    fn close(&self) -> bool {
        self.source.update(|state, waiters| {
            let closed_now = !std::mem::replace(&mut state.closed, true);
            while closed_now && waiters.grant(Err(RecvError)).is_ok() {}
            if closed_now {
                waiters.commit_all(&mut state.watchers.closed);
                waiters.commit_all(&mut state.watchers.receivable);
            }
            closed_now
        })
    }

    fn is_closed(&self) -> bool {
        self.source.with(|state| state.closed)
    }

    fn len(&self) -> usize {
        self.source.with(|state| state.messages.len)
    }
}

impl<T> Observed for Mailbox<T> {
    fn observe(&self, sign: Sign, _: &Attempt<'_>, look: &mut dyn FnMut(&mut WaitQueue<()>, bool)) {
        self.source.update(|state, _| {
            let is_shown = state.closed || (sign == Sign::Receivable && state.messages.len > 0);
            look(state.watchers.of(sign), is_shown);
        });
    }

    fn describe(&self, operation: &'static str, waits: &mut Description) {
        self.source.describe(operation, waits);
    }
}

/// The sending end of a mailbox. See [`unbounded`]. Clones share the mailbox.
///
/// When the last clone is dropped, the mailbox is closed. Its messages can still be received.
pub struct MailSender<T> {
    pub(super) mailbox: Arc<Mailbox<T>>,
}

impl<T> MailSender<T> {
    /// Sends a message. This never waits, so it may be called anywhere: in destructors, also while
    /// unwinding, in guards and wraps, and in callbacks of other libraries. It must not be called
    /// in signal handlers, since it takes a lock and may allocate.
    ///
    /// # Errors
    ///
    /// Returns the message if the mailbox is closed or all receivers are dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{MailSender, SendError, unbounded};
    ///
    /// struct Handle(MailSender<&'static str>);
    ///
    /// impl Drop for Handle {
    ///     fn drop(&mut self) {
    ///         let _ = self.0.send("dropped"); // a destructor should not wait
    ///     }
    /// }
    ///
    /// let (tx, rx) = unbounded();
    /// drop(Handle(tx.clone()));
    /// assert_eq!(rx.recv(), Ok("dropped"));
    /// drop(rx);
    /// assert_eq!(tx.send("late"), Err(SendError("late")));
    /// ```
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.mailbox.source.update(|state, waiters| {
            if state.closed {
                return Err(SendError(message));
            }
            if let Err(Ok(message)) = waiters.grant(Ok(message)) {
                state.messages.push(message);
                waiters.commit_all(&mut state.watchers.receivable);
            }
            Ok(())
        })
    }

    /// Closes the mailbox for all its ends. Returns `false` if it was closed already.
    ///
    /// Receivers get the messages in it, then the error.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{RecvError, SendError, unbounded};
    ///
    /// let (tx, rx) = unbounded();
    /// tx.send(1).unwrap();
    /// assert!(tx.close());
    /// assert_eq!(tx.send(2), Err(SendError(2)));
    /// assert_eq!(rx.recv(), Ok(1));
    /// assert_eq!(rx.recv(), Err(RecvError));
    /// ```
    pub fn close(&self) -> bool {
        self.mailbox.close()
    }

    /// Returns `true` if the mailbox is closed.
    pub fn is_closed(&self) -> bool {
        self.mailbox.is_closed()
    }

    /// Returns how many messages are in the mailbox.
    pub fn len(&self) -> usize {
        self.mailbox.len()
    }

    /// Returns `true` if no message is in the mailbox.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Send> MailSender<T> {
    /// Returns the event that the mailbox is closed, explicitly or because all receivers are
    /// dropped. See [`Sender::closed_evt`](super::Sender::closed_evt).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel::unbounded};
    ///
    /// let (tx, rx) = unbounded::<u32>();
    /// assert_eq!(tx.closed_evt().poll(), None);
    /// drop(rx);
    /// tx.closed_evt().sync();
    /// assert!(tx.is_closed());
    /// ```
    pub fn closed_evt(&self) -> ClosedEvt<'_> {
        ClosedEvt::new(&*self.mailbox)
    }
}

impl<T> Clone for MailSender<T> {
    fn clone(&self) -> Self {
        self.mailbox.senders.fetch_add(1, Ordering::Relaxed);
        MailSender { mailbox: self.mailbox.clone() }
    }
}

impl<T> Drop for MailSender<T> {
    fn drop(&mut self) {
        visible_doing("drop a sender of", self.mailbox.source.label(), &self.mailbox.source);
        if counted_down(&self.mailbox.senders) {
            self.mailbox.close();
        }
    }
}

/// The receiving end of a mailbox. See [`unbounded`]. Clones share the mailbox; each
/// message goes to one of them.
///
/// When the last clone is dropped, the mailbox is closed and its messages are dropped.
pub struct MailReceiver<T> {
    pub(super) mailbox: Arc<Mailbox<T>>,
}

impl<T> MailReceiver<T> {
    /// Returns the event of receiving one message, oldest first. A closed mailbox gives the
    /// messages in it, then always `Err`.
    ///
    /// # Cancel safety
    ///
    /// A receive that loses a choice, a poll that fails, and a future that is dropped before a
    /// sender has committed it have taken nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel::unbounded, choose, time::after};
    /// use std::time::Duration;
    ///
    /// let (tx, rx) = unbounded();
    /// let in_time = choose((
    ///     rx.recv_evt().wrap(Result::ok),
    ///     after(Duration::from_millis(1)).wrap(|()| None),
    /// ));
    /// assert_eq!(in_time.sync(), None);
    /// tx.send(7).unwrap();
    /// assert_eq!(in_time.sync(), Some(7));
    /// ```
    pub fn recv_evt(&self) -> MailEvt<'_, T> {
        MailEvt { mailbox: &self.mailbox }
    }

    /// Receives a message if there is one.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no message now, or none can come any more.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{TryRecvError, unbounded};
    ///
    /// let (tx, rx) = unbounded();
    /// assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    /// tx.send(1).unwrap();
    /// drop(tx);
    /// assert_eq!(rx.try_recv(), Ok(1));
    /// assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    /// ```
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match self.mailbox.source.update(|state, _| state.receive()) {
            Some(Ok(message)) => Ok(message),
            Some(Err(RecvError)) => Err(TryRecvError::Closed),
            None => {
                turn::came_to_nothing();
                Err(TryRecvError::Empty)
            }
        }
    }

    /// Closes the mailbox for all its ends. Returns `false` if it was closed already. Its messages
    /// can still be received.
    pub fn close(&self) -> bool {
        self.mailbox.close()
    }

    /// Returns `true` if the mailbox is closed. Its messages may still be received.
    pub fn is_closed(&self) -> bool {
        self.mailbox.is_closed()
    }

    /// Returns how many messages are in the mailbox.
    pub fn len(&self) -> usize {
        self.mailbox.len()
    }

    /// Returns `true` if no message is in the mailbox.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Send> MailReceiver<T> {
    /// Receives a message and waits for it as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// Returns an error if the mailbox is closed and empty.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{RecvError, unbounded};
    ///
    /// let (tx, rx) = unbounded();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || tx.send(1).unwrap());
    ///     assert_eq!(rx.recv(), Ok(1)); // waits for the thread
    ///     assert_eq!(rx.recv(), Err(RecvError)); // the only sender was dropped
    /// });
    /// ```
    pub fn recv(&self) -> Result<T, RecvError> {
        self.recv_evt().sync()
    }

    /// Receives a message and waits for at most `timeout`. A message that is available is received
    /// even if the timeout is zero.
    ///
    /// # Errors
    ///
    /// Returns an error if the time is over, in which case nothing was taken, or if the mailbox is
    /// closed and empty.
    ///
    /// # Panics
    ///
    /// Panics outside a runtime if the system refuses the thread that timers need there, see
    /// [`time`](crate::time#panics).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{RecvTimeoutError, unbounded};
    /// use std::time::Duration;
    ///
    /// let (tx, rx) = unbounded();
    /// let late = rx.recv_timeout(Duration::from_millis(1));
    /// assert_eq!(late, Err(RecvTimeoutError::Timeout));
    /// tx.send(1).unwrap();
    /// drop(tx);
    /// assert_eq!(rx.recv_timeout(Duration::ZERO), Ok(1));
    /// assert_eq!(rx.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Closed));
    /// ```
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        within(timeout, self.recv_evt())
    }

    /// Returns the event that there is a message, or that the mailbox is closed. It takes nothing,
    /// so another receiver may be faster. See
    /// [`Receiver::recv_ready_evt`](super::Receiver::recv_ready_evt).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel::unbounded};
    ///
    /// let (tx, rx) = unbounded();
    /// assert_eq!(rx.recv_ready_evt().poll(), None);
    /// tx.send(1).unwrap();
    /// rx.recv_ready_evt().sync();
    /// rx.recv_ready_evt().sync(); // it takes nothing
    /// assert_eq!(rx.try_recv(), Ok(1));
    /// ```
    pub fn recv_ready_evt(&self) -> ReadyEvt<'_> {
        ReadyEvt::to_receive(&*self.mailbox)
    }

    /// Returns the event that the mailbox is closed, explicitly or because all senders are dropped.
    /// Its messages may still be received. See
    /// [`Receiver::closed_evt`](super::Receiver::closed_evt).
    pub fn closed_evt(&self) -> ClosedEvt<'_> {
        ClosedEvt::new(&*self.mailbox)
    }

    /// Returns an iterator that receives until the mailbox is closed and empty.
    pub fn iter(&self) -> MailIter<&Self> {
        MailIter { receiver: self }
    }
}

impl<T> Clone for MailReceiver<T> {
    fn clone(&self) -> Self {
        self.mailbox.receivers.fetch_add(1, Ordering::Relaxed);
        MailReceiver { mailbox: self.mailbox.clone() }
    }
}

impl<T> Drop for MailReceiver<T> {
    fn drop(&mut self) {
        visible_doing("drop a receiver of", self.mailbox.source.label(), &self.mailbox.source);
        if counted_down(&self.mailbox.receivers) {
            self.mailbox.close();
            let mut left = self.mailbox.source.update(|state, _| std::mem::take(&mut state.messages));
            drops::each(std::iter::from_fn(|| left.pop())); // outside the lock
        }
    }
}

/// An iterator over messages until the mailbox is closed and empty. See [`MailReceiver::iter`].
#[derive(Debug)]
pub struct MailIter<R> {
    receiver: R,
}

impl<T: Send> Iterator for MailIter<&MailReceiver<T>> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T: Send> Iterator for MailIter<MailReceiver<T>> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<R> FusedIterator for MailIter<R> where Self: Iterator {}

impl<T: Send> IntoIterator for &MailReceiver<T> {
    type Item = T;
    type IntoIter = MailIter<Self>;
    fn into_iter(self) -> MailIter<Self> {
        self.iter()
    }
}

impl<T: Send> IntoIterator for MailReceiver<T> {
    type Item = T;
    type IntoIter = MailIter<Self>;
    fn into_iter(self) -> MailIter<Self> {
        MailIter { receiver: self }
    }
}

/// The event of receiving a message from a mailbox. See [`MailReceiver::recv_evt`].
#[must_use = "events do nothing unless performed"]
pub struct MailEvt<'a, T> {
    mailbox: &'a Mailbox<T>,
}

impl<T: Send> Event for MailEvt<'_, T> {
    type Output = Result<T, RecvError>;
    waits_at!(this: Contents<T>, Result<T, RecvError>; this.mailbox.source, Contents::receive);
    waits_at!(describe "receive from");

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        // SAFETY: `branch` is a branch of this event.
        unsafe { branch.take() }
    }
}

copied!([T] MailEvt<'_, T>);
awaitable!(['a, T: Send] MailEvt<'a, T>, single);

/// The number of messages for which a block has room.
const BLOCK: usize = 32;

/// A queue of messages in blocks. No block is empty unless it is the only one, and only the last
/// may have room at its end.
///
/// A single growing ring would have to be copied as a whole, under the lock.
struct Blocks<T> {
    blocks: LinkedList<VecDeque<T>>,
    len: usize,
    /// An empty block for reuse, or no block.
    spare: LinkedList<VecDeque<T>>,
}

impl<T> Blocks<T> {
    fn new() -> Self {
        Blocks { blocks: LinkedList::new(), len: 0, spare: LinkedList::new() }
    }

    fn push(&mut self, message: T) {
        if self.blocks.back().is_none_or(|last| last.len() == BLOCK) {
            if self.spare.is_empty() {
                self.spare.push_back(VecDeque::with_capacity(BLOCK));
            }
            self.blocks.append(&mut self.spare);
        }
        self.blocks.back_mut().expect("just seen to").push_back(message);
        self.len += 1;
    }

    fn pop(&mut self) -> Option<T> {
        let first = self.blocks.front_mut()?;
        let message = first.pop_front()?;
        self.len -= 1;
        if first.is_empty() && self.blocks.len() > 1 {
            let rest = self.blocks.split_off(1);
            self.spare = std::mem::replace(&mut self.blocks, rest);
        }
        Some(message)
    }
}

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Blocks::new()
    }
}

macro_rules! debug {
    ($($type:ident)*) => { $(
        impl<T> fmt::Debug for $type<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($type)).field("len", &self.mailbox.len()).finish_non_exhaustive()
            }
        }
    )* };
}

debug!(MailSender MailReceiver);

impl<T> fmt::Debug for Contents<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contents").field("len", &self.messages.len).finish_non_exhaustive()
    }
}

debug_by_name!([T] MailEvt<'_, T>);

#[cfg(all(test, not(lisle_loom)))]
mod tests {
    use super::{BLOCK, Blocks};

    impl<T> Blocks<T> {
        fn room(&self) -> usize {
            self.blocks.iter().chain(&self.spare).map(|block| block.capacity()).sum()
        }
    }

    #[test]
    fn messages_come_out_in_order_and_memory_is_given_back() {
        let mut blocks = Blocks::new();
        let (mut pushed, mut popped) = (0, 0);
        let most = if cfg!(miri) { 3 * BLOCK } else { 10_000 };
        for burst in [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, most, 3, 5 * BLOCK] {
            for _ in 0..burst {
                blocks.push(pushed);
                pushed += 1;
            }
            let keep = burst / 3;
            while blocks.len > keep {
                assert_eq!(blocks.pop(), Some(popped));
                popped += 1;
                assert_eq!(blocks.len, pushed - popped);
            }
            assert!(blocks.room() <= blocks.len + 3 * BLOCK, "{} for {}", blocks.room(), blocks.len);
        }
        while let Some(message) = blocks.pop() {
            assert_eq!(message, popped);
            popped += 1;
        }
        assert_eq!(popped, pushed);
        assert!(blocks.room() <= 2 * BLOCK);
    }

    /// With a steady backlog the same blocks are used in turn.
    #[test]
    fn a_steady_state_uses_the_same_blocks() {
        let mut blocks = Blocks::new();
        (0..2 * BLOCK).for_each(|i| blocks.push(i));
        (0..BLOCK).for_each(|_| assert!(blocks.pop().is_some()));
        let room = blocks.room();
        let mut places = std::collections::HashSet::new();
        for i in 0..if cfg!(miri) { 2 } else { 10 } * BLOCK {
            blocks.push(i);
            places.insert(std::ptr::from_ref(blocks.blocks.back().unwrap()));
            assert!(blocks.pop().is_some());
            assert_eq!(blocks.room(), room);
        }
        assert_eq!(places.len(), 2);
    }
}
