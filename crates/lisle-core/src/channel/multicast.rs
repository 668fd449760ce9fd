//! Channels whose messages go to all of their ports.

use super::error::{RecvError, RecvTimeoutError, SendError, TryRecvError};
use super::observe::{ClosedEvt, Observed, ReadyEvt, Sign, Watchers};
use super::receiver::within;
use crate::drops::Drops;
use crate::event::lock::Lock;
use crate::event::protocol::queue::WaitQueue;
use crate::event::waiting::turn;
use crate::event::{
    Attempt, Description, Event, Label, Source, awaitable, copied, debug_by_name, is_modelled, visible_doing,
    waits_at,
};
use crate::shim::counted_down;
use crate::shim::unseen::{AtomicUsize, Ordering};
use std::fmt;
use std::iter::FusedIterator;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A channel whose messages go to all its [`Port`]s: each port gets each message that was sent
/// after the port was made, in the order in which they were sent. Clones share the channel.
///
/// The idea is from Concurrent ML's `Multicast`. Sending never waits. A message that is sent while
/// there is no port is dropped. When the last clone is dropped, the channel is closed; ports get
/// the messages that they have not yet received, then the error.
///
/// # Memory
///
/// A message is stored once, for any number of ports. Each port receives a clone, except that the
/// last port to pass the message receives the message itself. A message is kept until the slowest
/// port has passed it or is dropped. Nothing bounds how far that port may be behind: **a port that
/// is kept and not read makes memory grow with each message**. A port that wants only new messages
/// may [`skip`](Port::skip) the others; [`lag`](Port::lag) returns how many there are. Where only
/// the latest message counts, [`Watch`](crate::sync::Watch) keeps only that.
///
/// # Cost
///
/// A message takes one allocation. A port that is behind receives without touching anything that it
/// shares with other ports, except the message itself.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::channel::Multicast;
///
/// let news = Multicast::new();
/// let early = news.port();
/// news.send("first").unwrap();
/// let late = news.port();
/// news.send("second").unwrap();
/// drop(news); // closed
/// assert_eq!(early.iter().collect::<Vec<_>>(), ["first", "second"]);
/// assert_eq!(late.iter().collect::<Vec<_>>(), ["second"]);
/// ```
pub struct Multicast<T> {
    pub(super) shared: Arc<Shared<T>>,
}

pub(super) struct Shared<T> {
    source: Source<SequenceEnd<T>, Received<T>>,
    senders: AtomicUsize,
}

/// The end of the sequence of messages.
pub struct SequenceEnd<T> {
    /// The node that the next message will fill.
    tail: Arc<Node<T>>,
    closed: bool,
    watchers: Watchers,
}

/// A place for a message and those after it. Each port refers to the node that it will read next.
pub struct Node<T> {
    number: u64,
    /// Written once, under the source's lock.
    filled: OnceLock<Filled<T>>,
}

struct Filled<T> {
    message: T,
    next: Arc<Node<T>>,
}

/// A filled node, or `None` if there will be none.
type Received<T> = Option<Arc<Node<T>>>;

impl<T> Node<T> {
    fn new(number: u64) -> Arc<Self> {
        Arc::new(Node { number, filled: OnceLock::new() })
    }
}

impl<T> Drop for Node<T> {
    /// Drops the nodes that have no other owner one after the other. By default they would be
    /// dropped recursively, which could overflow the stack.
    fn drop(&mut self) {
        let mut next = None;
        let mut drops = Drops::new();
        let mut pass = |node: &mut Node<T>, next: &mut Option<Arc<Node<T>>>| {
            let Some(Filled { message, next: following }) = node.filled.take() else { return };
            *next = Some(following);
            // A panic is kept in `drops`.
            let _ = drops.run(|| drop(message));
        };
        pass(self, &mut next);
        while let Some(mut node) = next.take().and_then(Arc::into_inner) {
            pass(&mut node, &mut next);
        }
        drops.resume_first();
    }
}

impl<T> Multicast<T> {
    /// Creates a channel without ports.
    #[track_caller]
    pub fn new() -> Self {
        let state = SequenceEnd { tail: Node::new(0), closed: false, watchers: Watchers::new() };
        let source = Source::labelled(Label::new("multicast channel"), state);
        Multicast { shared: Arc::new(Shared { source, senders: AtomicUsize::new(1) }) }
    }

    /// Sends a message to all ports. This never waits.
    ///
    /// # Errors
    ///
    /// Returns the message if the channel is closed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{Multicast, SendError};
    ///
    /// let news = Multicast::new();
    /// news.send("nobody hears this").unwrap(); // there is no port: it is dropped
    /// let (one, other) = (news.port(), news.port());
    /// news.send("hello").unwrap();
    /// assert_eq!((one.recv(), other.recv()), (Ok("hello"), Ok("hello")));
    /// news.close();
    /// assert_eq!(news.send("late"), Err(SendError("late")));
    /// ```
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut next = Node::new(0);
        let node = self.shared.source.update(|state, waiters| {
            if state.closed {
                return Err(SendError(message));
            }
            let number = state.tail.number + 1;
            Arc::get_mut(&mut next).expect("it is not shared yet").number = number;
            let node = std::mem::replace(&mut state.tail, next.clone());
            let first = node.filled.set(Filled { message, next });
            debug_assert!(first.is_ok(), "the tail is not filled");
            // Several performers may wait at one port, and only one of them gets the message.
            waiters.retry_all();
            waiters.commit_all(&mut state.watchers.receivable);
            Ok(node)
        })?;
        drop(node); // outside the lock, with the message if there are no ports
        Ok(())
    }

    /// Returns a port that gets the messages that are sent from now on.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{Multicast, TryRecvError};
    ///
    /// let news = Multicast::new();
    /// news.send("before").unwrap();
    /// let port = news.port();
    /// assert_eq!(port.try_recv(), Err(TryRecvError::Empty));
    /// news.send("after").unwrap();
    /// assert_eq!(port.recv(), Ok("after"));
    /// ```
    pub fn port(&self) -> Port<T> {
        let tail = self.shared.source.with(|state| state.tail.clone());
        Port { shared: self.shared.clone(), next: Lock::new(tail) }
    }

    /// Returns the event that the channel is closed. It closes explicitly or when the last sender
    /// is dropped; it stays open when the last port is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel::Multicast};
    ///
    /// let news = Multicast::<u32>::new();
    /// drop(news.port()); // the last port
    /// assert_eq!(news.closed_evt().poll(), None);
    /// news.clone().close();
    /// news.closed_evt().sync();
    /// ```
    pub fn closed_evt(&self) -> ClosedEvt<'_>
    where
        T: Send + Sync,
    {
        ClosedEvt::new(self)
    }

    /// Closes the channel for all its ends. Returns `false` if it was closed already.
    ///
    /// Ports get the messages that were sent before, then the error.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{Multicast, RecvError};
    ///
    /// let news = Multicast::new();
    /// let port = news.port();
    /// news.send(1).unwrap();
    /// assert!(news.close());
    /// assert!(!news.close()); // it was closed already
    /// assert_eq!(port.recv(), Ok(1));
    /// assert_eq!(port.recv(), Err(RecvError));
    /// ```
    pub fn close(&self) -> bool {
        self.shared.close()
    }

    /// Returns `true` if the channel is closed.
    pub fn is_closed(&self) -> bool {
        self.shared.source.with(|state| state.closed)
    }
}

impl<T> Shared<T> {
    fn close(&self) -> bool {
        self.source.update(|state, waiters| {
            let closed_now = !std::mem::replace(&mut state.closed, true);
            // A port that waits has passed all messages.
            while closed_now && waiters.grant(None).is_ok() {}
            if closed_now {
                waiters.commit_all(&mut state.watchers.closed);
                waiters.commit_all(&mut state.watchers.receivable);
            }
            closed_now
        })
    }

    fn describe(&self, operation: &'static str, waits: &mut Description) {
        self.source.describe(operation, waits);
    }
}

impl<T> Observed for Multicast<T> {
    fn observe(&self, sign: Sign, _: &Attempt<'_>, look: &mut dyn FnMut(&mut WaitQueue<()>, bool)) {
        self.shared.source.update(|state, _| look(state.watchers.of(sign), state.closed));
    }

    fn describe(&self, operation: &'static str, waits: &mut Description) {
        self.shared.describe(operation, waits);
    }
}

impl<T> Observed for Port<T> {
    fn observe(&self, sign: Sign, _: &Attempt<'_>, look: &mut dyn FnMut(&mut WaitQueue<()>, bool)) {
        self.shared.source.update(|state, _| {
            let is_shown = state.closed || (sign == Sign::Receivable && self.is_behind());
            look(state.watchers.of(sign), is_shown);
        });
    }

    fn describe(&self, operation: &'static str, waits: &mut Description) {
        self.shared.describe(operation, waits);
    }
}

impl<T> Clone for Multicast<T> {
    fn clone(&self) -> Self {
        self.shared.senders.fetch_add(1, Ordering::Relaxed);
        Multicast { shared: self.shared.clone() }
    }
}

impl<T> Drop for Multicast<T> {
    fn drop(&mut self) {
        visible_doing("drop a sender of", self.shared.source.label(), &self.shared.source);
        if counted_down(&self.shared.senders) {
            self.shared.close();
        }
    }
}

impl<T> Default for Multicast<T> {
    #[track_caller]
    fn default() -> Self {
        Multicast::new()
    }
}

/// A position in the sequence of a [`Multicast`] channel's messages, from which it receives them.
///
/// A clone is a port of its own, at the same position. Several performers may use one port; each
/// message then goes to one of them, in no particular order.
pub struct Port<T> {
    pub(super) shared: Arc<Shared<T>>,
    /// The node to be read next. Its lock is taken alone or within the source's lock.
    next: Lock<Arc<Node<T>>>,
}

impl<T> Port<T> {
    /// Passes the next message, if there is one.
    fn pass(&self) -> Option<Arc<Node<T>>> {
        let mut place = self.next.lock();
        let next = place.filled.get()?.next.clone();
        Some(std::mem::replace(&mut *place, next))
    }

    /// Passes the next message, or returns `Some(None)` if the channel is closed and no message is
    /// left. It needs the state, and so the source's lock, to distinguish "not yet" from "never".
    fn pass_or_end(&self, state: &SequenceEnd<T>) -> Option<Received<T>> {
        self.pass().map(Some).or_else(|| state.closed.then_some(None))
    }

    /// Returns `true` if there is a message that the port has not yet received.
    fn is_behind(&self) -> bool {
        self.next.lock().filled.get().is_some()
    }

    /// Returns how many messages the port has not yet received.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::Multicast;
    ///
    /// let news = Multicast::new();
    /// let port = news.port();
    /// (1..=3).for_each(|n| news.send(n).unwrap());
    /// assert_eq!(port.lag(), 3);
    /// port.recv().unwrap();
    /// assert_eq!(port.lag(), 2);
    /// ```
    pub fn lag(&self) -> u64 {
        let next = self.next.lock().number;
        self.shared.source.with(|state| state.tail.number) - next
    }

    /// Skips all messages that the port has not yet received. Returns how many they were.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::Multicast;
    ///
    /// let news = Multicast::new();
    /// let port = news.port();
    /// (1..=3).for_each(|n| news.send(n).unwrap());
    /// assert_eq!(port.skip(), 3);
    /// assert_eq!(port.skip(), 0);
    /// news.send(4).unwrap();
    /// assert_eq!(port.recv(), Ok(4));
    /// ```
    pub fn skip(&self) -> u64 {
        let tail = self.shared.source.with(|state| state.tail.clone());
        let mut place = self.next.lock();
        if tail.number <= place.number {
            return 0; // other users of the port have brought it here, or further
        }
        let skipped = tail.number - place.number;
        let passed = std::mem::replace(&mut *place, tail);
        drop(place);
        drop(passed); // outside the lock, with the messages
        skipped
    }

    /// Returns `true` if the channel is closed. There may be messages that this port has not yet
    /// received.
    pub fn is_closed(&self) -> bool {
        self.shared.source.with(|state| state.closed)
    }
}

/// Returns the message of a node that has been passed: a clone, unless no other port will see it.
fn message<T: Clone>(node: Arc<Node<T>>) -> T {
    match Arc::try_unwrap(node) {
        Ok(mut node) => node.filled.take().expect("a passed node is filled").message,
        Err(node) => node.filled.get().expect("a passed node is filled").message.clone(),
    }
}

impl<T: Clone + Send + Sync> Port<T> {
    /// Returns the event of receiving the next message. A closed channel gives the messages that
    /// were sent before, then always `Err`.
    ///
    /// The message is cloned in the performer, after the commit.
    ///
    /// # Cancel safety
    ///
    /// A receive that loses a choice, a poll that fails, and a future that is dropped before it was
    /// ready have passed no message.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel::Multicast, choose, time::after};
    /// use std::time::Duration;
    ///
    /// let news = Multicast::new();
    /// let port = news.port();
    /// let in_time = choose((
    ///     port.recv_evt().wrap(Result::ok),
    ///     after(Duration::from_millis(1)).wrap(|()| None),
    /// ));
    /// assert_eq!(in_time.sync(), None);
    /// news.send(7).unwrap();
    /// assert_eq!(in_time.sync(), Some(7));
    /// ```
    pub fn recv_evt(&self) -> PortEvt<'_, T> {
        PortEvt { port: self }
    }

    /// Receives the next message and waits for it as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// Returns an error if the channel is closed and this port has received everything.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{Multicast, RecvError};
    ///
    /// let news = Multicast::new();
    /// let ports = [news.port(), news.port()];
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || news.send(1).unwrap());
    ///     for port in ports {
    ///         assert_eq!(port.recv(), Ok(1)); // each port gets the message
    ///         assert_eq!(port.recv(), Err(RecvError)); // the only sender was dropped
    ///     }
    /// });
    /// ```
    pub fn recv(&self) -> Result<T, RecvError> {
        turn::pass_if_due();
        if !is_modelled()
            && let Some(node) = self.pass()
        {
            return Ok(message(node));
        }
        self.recv_evt().sync()
    }

    /// Receives the next message if there is one.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no message now, or none can come any more.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::channel::{Multicast, TryRecvError};
    ///
    /// let news = Multicast::new();
    /// let port = news.port();
    /// assert_eq!(port.try_recv(), Err(TryRecvError::Empty));
    /// news.send(1).unwrap();
    /// drop(news);
    /// assert_eq!(port.try_recv(), Ok(1));
    /// assert_eq!(port.try_recv(), Err(TryRecvError::Closed));
    /// ```
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match self.recv_evt().poll() {
            Some(Ok(message)) => Ok(message),
            Some(Err(RecvError)) => Err(TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Receives the next message and waits for at most `timeout`. A message that is available is
    /// received even if the timeout is zero.
    ///
    /// # Errors
    ///
    /// Returns an error if the time is over, in which case nothing was received, or if the channel
    /// is closed and this port has received everything.
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
    /// use lisle::channel::{Multicast, RecvTimeoutError};
    /// use std::time::Duration;
    ///
    /// let news = Multicast::new();
    /// let port = news.port();
    /// let late = port.recv_timeout(Duration::from_millis(1));
    /// assert_eq!(late, Err(RecvTimeoutError::Timeout));
    /// news.send(1).unwrap();
    /// drop(news);
    /// assert_eq!(port.recv_timeout(Duration::ZERO), Ok(1));
    /// assert_eq!(port.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Closed));
    /// ```
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        within(timeout, self.recv_evt())
    }

    /// Returns the event that there is a message for this port, or that the channel is closed. It
    /// takes nothing, so another user of the port may be faster. See
    /// [`Receiver::recv_ready_evt`](super::Receiver::recv_ready_evt).
    pub fn recv_ready_evt(&self) -> ReadyEvt<'_> {
        ReadyEvt::to_receive(self)
    }

    /// Returns the event that the channel is closed, explicitly or because all senders are dropped.
    /// There may be messages that this port has not yet received.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel::Multicast};
    ///
    /// let news = Multicast::new();
    /// let port = news.port();
    /// news.send("last").unwrap();
    /// assert_eq!(port.closed_evt().poll(), None);
    /// drop(news);
    /// port.closed_evt().sync();
    /// assert_eq!(port.recv(), Ok("last"));
    /// ```
    pub fn closed_evt(&self) -> ClosedEvt<'_> {
        ClosedEvt::new(self)
    }

    /// Returns an iterator that receives until the channel is closed and everything has been
    /// received.
    pub fn iter(&self) -> PortIter<'_, T> {
        PortIter { port: self }
    }
}

impl<T> Clone for Port<T> {
    fn clone(&self) -> Self {
        Port { shared: self.shared.clone(), next: Lock::new(self.next.lock().clone()) }
    }
}

impl<'a, T: Clone + Send + Sync> IntoIterator for &'a Port<T> {
    type Item = T;
    type IntoIter = PortIter<'a, T>;
    fn into_iter(self) -> PortIter<'a, T> {
        self.iter()
    }
}

/// An iterator over messages until the channel is closed and all have been received. See
/// [`Port::iter`].
#[derive(Debug)]
pub struct PortIter<'a, T> {
    port: &'a Port<T>,
}

impl<T: Clone + Send + Sync> Iterator for PortIter<'_, T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.port.recv().ok()
    }
}

impl<T: Clone + Send + Sync> FusedIterator for PortIter<'_, T> {}

/// The event of receiving a message at a port. See [`Port::recv_evt`].
#[must_use = "events do nothing unless performed"]
pub struct PortEvt<'a, T> {
    port: &'a Port<T>,
}

impl<T: Clone + Send + Sync> Event for PortEvt<'_, T> {
    type Output = Result<T, RecvError>;
    waits_at!(this: SequenceEnd<T>, Option<Arc<Node<T>>>; this.port.shared.source, |state| this.port.pass_or_end(state));
    waits_at!(describe "receive from");

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        // SAFETY: `branch` is a branch of this event.
        unsafe { branch.take() }.map(message).ok_or(RecvError)
    }
}

copied!([T] PortEvt<'_, T>);
awaitable!(['a, T: Clone + Send + Sync] PortEvt<'a, T>, single);

impl<T> fmt::Debug for Multicast<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Multicast").field("closed", &self.is_closed()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Port<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Port").field("lag", &self.lag()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for SequenceEnd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SequenceEnd").field("tail", &self.tail).field("closed", &self.closed).finish()
    }
}

impl<T> fmt::Debug for Node<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("number", &self.number).finish_non_exhaustive()
    }
}

debug_by_name!([T] PortEvt<'_, T>);
