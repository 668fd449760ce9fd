//! Abstractions that survive their clients: a manager owns the state, and a client may disappear at
//! any point.
//!
//! Locks are not enough for an object that several fibers share. A fiber that is cancelled or
//! panics, or a future that is dropped, in the middle of an update leaves the state half updated.
//! Here only a *manager* touches the state. Clients send it requests, as events. The worst that a
//! client can do is to disappear while its request waits; the manager notices that and drops the
//! request.
//!
//! The pattern comes from Flatt and Findler, *Kill-safe synchronization abstractions* (PLDI 2004):
//!
//! 1. A client performs [`Server::request_evt`]. When the performance begins, the request is
//!    queued.
//! 2. The manager takes requests with [`Requests::next_evt`] and keeps the requests that it cannot
//!    answer yet.
//! 3. It waits, in one choice, for further requests and for the [offers](Reply::offer_evt) that it
//!    makes to each waiting client. An offer happens when the client takes the answer: both commit
//!    at the same instant. If the client has gone, or goes, the offer returns an error instead.
//! 4. It changes its state after an offer has happened, not before. Nothing is lost that was meant
//!    for a client that stayed, and nothing takes effect for a client that went.
//!
//! A manager that never waits for a single client cannot be held up by one. A manager that makes an
//! offer to a single client outside such a choice waits for that client. The client arrives within
//! a moment, unless its choice contains a guard that blocks. A client whose request is a source of
//! a [`WaitSet`](crate::event::WaitSet) does not count as gone while the set is not being
//! performed. If that client stops at the very moment at which its answer is being made
//! ([`offer_with_evt`](Reply::offer_with_evt)), the offer waits until the client continues or goes.
//!
//! The examples `swap_channel.rs` and `kill_safe_queue.rs` are complete abstractions of this kind.
//! A short one:
//!
//! ```
//! # use lisle_core as lisle;
//! use lisle::kill_safe::Server;
//!
//! // Consecutive numbers. None is skipped if a client disappears while it asks for one.
//! let tickets = Server::<(), u64>::start_on_thread(|requests| {
//!     let mut next = 0;
//!     while let Some(request) = requests.next() {
//!         if request.reply().offer(next).is_ok() {
//!             next += 1;
//!         }
//!     }
//! })?;
//! assert_eq!(tickets.request(()), Ok(0));
//! assert_eq!(tickets.request(()), Ok(1));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Where the manager runs
//!
//! `lisle::kill_safe::start` makes the manager a fiber of the runtime on which it is called. On a
//! plain thread it uses the default runtime, which is never shut down. The manager ends
//!
//! - when it returns, as it should when [`Requests::next_evt`] gives `None`: the last handle was
//!   dropped, and no client can come;
//! - when it panics, which its runtime reports;
//! - when its runtime shuts down: it is unwound like other fibers.
//!
//! In each case the requests are dropped, and clients, also those on other runtimes, get
//! [`ServerGone`]. No client waits for ever. A server that must outlive the runtime in which it is
//! made runs on a thread of its own ([`Server::start_on_thread`]), or wherever its owner performs
//! the events of [`server`]: the manager may also be a plain function or a future. In a language
//! with custodians the clients would keep the manager alive. Fibers do not move between runtimes,
//! so here the user chooses where the manager runs.

use crate::channel::Sender;
use crate::event::choose;
use crate::event::{Event, Label, Nack, debug_by_name};
use crate::rpc::line::{self, Callers, Line, Pending};
use crate::threads;
use std::error::Error;
use std::fmt;
use std::io;

/// A client's handle to a manager. Clones refer to the same manager. When the last clone is
/// dropped, the manager gets the remaining requests and then `None`.
pub struct Server<A, B> {
    callers: Callers<A, B>,
}

/// The manager's end of a server. When it is dropped, clients get [`ServerGone`].
pub struct Requests<A, B> {
    server: line::Server<A, B>,
}

/// A request of a client, which waits for the answer.
#[must_use = "the client waits"]
pub struct Request<A, B> {
    arg: A,
    reply: Reply<B>,
}

/// A handle to a waiting client. If it is dropped without an answer, the client gets
/// [`ServerGone`].
#[must_use = "the client waits"]
pub struct Reply<B> {
    reply: Sender<B>,
    client: Nack,
}

/// An error: the manager has ended, or it has dropped the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerGone;

/// An error: the client has given up. If the answer had been made by then, it is returned here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ClientGone<B>(pub Option<B>);

/// Creates the two ends of a server whose manager the caller runs: in a scope, on a thread, or as a
/// future.
///
/// # Examples
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::kill_safe;
///
/// let (server, requests) = kill_safe::server::<u32, u32>();
/// std::thread::scope(|scope| {
///     scope.spawn(move || {
///         while let Some(request) = requests.next() {
///             let (n, reply) = request.into_parts();
///             let _ = reply.offer(n * n); // fails if the client has gone
///         }
///     });
///     assert_eq!(server.request(7), Ok(49));
///     drop(server); // ends the manager
/// });
/// ```
#[track_caller]
pub fn server<A, B>() -> (Server<A, B>, Requests<A, B>) {
    let (callers, server) = Line::ends(Label::new("server"), 0);
    (Server { callers }, Requests { server })
}

impl<A: Send + 'static, B: Send + 'static> Server<A, B> {
    /// Starts a manager on a thread of its own, where it outlives every runtime. The process does
    /// not wait for it to end.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot start a thread.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::kill_safe::{Requests, Server};
    ///
    /// let squares = Server::start_on_thread(|requests: Requests<u32, u32>| {
    ///     while let Some(request) = requests.next() {
    ///         let (n, reply) = request.into_parts();
    ///         let _ = reply.offer(n * n); // fails if the client has gone
    ///     }
    /// })?;
    /// assert_eq!(squares.request(7), Ok(49));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn start_on_thread(manager: impl FnOnce(Requests<A, B>) + Send + 'static) -> io::Result<Self> {
        let (server, requests) = server();
        drop(threads::start("lisle-manager", "the manager of a server", move || manager(requests))?);
        Ok(server)
    }
}

impl<A: Send, B: Send> Server<A, B> {
    /// Sends a request and waits for its answer as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// Returns [`ServerGone`] if the manager has ended or has dropped the request.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::kill_safe::{self, ServerGone};
    ///
    /// let (server, requests) = kill_safe::server::<u32, u32>();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || requests.next().unwrap().reply().offer(49));
    ///     assert_eq!(server.request(7), Ok(49));
    ///     assert_eq!(server.request(8), Err(ServerGone)); // the manager has ended
    /// });
    /// ```
    pub fn request(&self, arg: A) -> Result<B, ServerGone> {
        let arg = std::cell::Cell::new(Some(arg));
        let answer = self.callers.call_evt(|| arg.take().expect("the request is performed once")).sync();
        answer.map_err(|_| ServerGone)
    }

    /// Returns `true` if the manager has ended.
    pub fn is_gone(&self) -> bool {
        self.callers.is_closed()
    }
}

impl<A: Clone + Send, B: Send> Server<A, B> {
    /// Returns the event of a request being answered. Each performance sends a request of its own
    /// when it begins, with a clone of `arg`.
    ///
    /// A poll leaves the manager no time to answer. It returns `None` unless the manager has ended.
    ///
    /// # Errors
    ///
    /// The event gives [`ServerGone`] if the manager has ended or has dropped the request.
    ///
    /// # Cancel safety
    ///
    /// A client that loses a choice, gives up, or drops its future has not been answered, and the
    /// manager learns this. A future that is dropped after the answer was handed over, but before
    /// it was polled again, drops the answer.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, choose, kill_safe, time::after};
    /// use std::time::Duration;
    ///
    /// let (server, requests) = kill_safe::server::<u32, u32>();
    /// let in_time = choose((
    ///     server.request_evt(7).wrap(|answer| answer.ok()),
    ///     after(Duration::from_millis(1)).wrap(|()| None),
    /// ));
    /// assert_eq!(in_time.sync(), None); // the manager does not answer
    /// assert!(requests.next_evt().poll().is_none()); // and is not left with the request
    /// ```
    pub fn request_evt(
        &self,
        arg: A,
    ) -> impl Event<Output = Result<B, ServerGone>>
    + IntoFuture<Output = Result<B, ServerGone>, IntoFuture: Send>
    + use<'_, A, B> {
        self.callers.call_evt(move || arg.clone()).wrap(|answer| answer.map_err(|_| ServerGone))
    }
}

impl<A, B> Clone for Server<A, B> {
    fn clone(&self) -> Self {
        Server { callers: self.callers.clone() }
    }
}

impl<A: Send, B: Send> Requests<A, B> {
    /// Returns the next request, and waits for it as [`Event::sync`] does. Returns `None` once all
    /// handles were dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::kill_safe;
    ///
    /// let (server, requests) = kill_safe::server::<&str, usize>();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || assert_eq!(server.request("four"), Ok(4)));
    ///     let request = requests.next().unwrap();
    ///     assert_eq!(request.arg(), &"four");
    ///     request.reply().offer(request.arg().len()).unwrap();
    ///     assert!(requests.next().is_none()); // the only handle was dropped
    /// });
    /// ```
    pub fn next(&self) -> Option<Request<A, B>> {
        self.next_evt().sync()
    }

    /// Returns the event of the next request, oldest first. Once all handles were dropped, it
    /// always gives `None`.
    ///
    /// # Cancel safety
    ///
    /// A request that was granted to a future at the very moment at which the future was dropped
    /// goes back to the head of the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, choose, kill_safe, time::after};
    /// use std::time::Duration;
    ///
    /// let (server, requests) = kill_safe::server::<u32, u32>();
    /// let next = choose((
    ///     requests.next_evt().wrap(|next| if next.is_some() { "a request" } else { "the end" }),
    ///     after(Duration::from_millis(1)).wrap(|()| "nothing"),
    /// ));
    /// assert_eq!(next.sync(), "nothing");
    /// drop(server);
    /// assert_eq!(next.sync(), "the end"); // from now on always
    /// ```
    pub fn next_evt(
        &self,
    ) -> impl Event<Output = Option<Request<A, B>>>
    + IntoFuture<Output = Option<Request<A, B>>, IntoFuture: Send>
    + use<'_, A, B> {
        self.server.next_evt().wrap(|next| {
            let Pending { arg, reply, client } = next?;
            Some(Request { arg, reply: Reply { reply, client } })
        })
    }
}

impl<A, B> Request<A, B> {
    /// Returns the argument of the request.
    pub fn arg(&self) -> &A {
        &self.arg
    }

    /// Returns the handle to the client.
    pub fn reply(&self) -> &Reply<B> {
        &self.reply
    }

    /// Returns the argument of the request and the handle to the client.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::kill_safe::{self, ServerGone};
    ///
    /// let (server, requests) = kill_safe::server::<&str, usize>();
    /// std::thread::scope(|scope| {
    ///     let answers = scope.spawn(move || (server.request("four"), server.request("five")));
    ///     let (text, reply) = requests.next().unwrap().into_parts();
    ///     reply.offer(text.len()).unwrap();
    ///     drop(requests.next()); // unanswered
    ///     assert_eq!(answers.join().unwrap(), (Ok(4), Err(ServerGone)));
    /// });
    /// ```
    pub fn into_parts(self) -> (A, Reply<B>) {
        (self.arg, self.reply)
    }
}

impl<B: Send> Reply<B> {
    /// Offers an answer and waits, as [`Event::sync`] does, until the client has taken it or has
    /// gone.
    ///
    /// # Errors
    ///
    /// Returns the answer in [`ClientGone`] if the client has gone.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::kill_safe::{self, ClientGone};
    /// use lisle::{Event, choose};
    ///
    /// let (server, requests) = kill_safe::server::<u32, u32>();
    /// let (give_up, told) = lisle::channel();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         assert_eq!(server.request(7), Ok(49));
    ///         choose((server.request_evt(8).wrap(drop), told.recv_evt().wrap(drop))).sync();
    ///     });
    ///     assert_eq!(requests.next().unwrap().reply().offer(49), Ok(())); // the client has it
    ///     let second = requests.next().unwrap();
    ///     give_up.send(()).unwrap();
    ///     assert_eq!(second.reply().offer(64), Err(ClientGone(Some(64))));
    /// });
    /// ```
    pub fn offer(&self, answer: B) -> Result<(), ClientGone<B>> {
        let answer = std::cell::Cell::new(Some(answer));
        let make = || answer.take().expect("an answer is offered once");
        self.offer_with_evt(make).sync().map_err(|ClientGone(made)| ClientGone(made.or(answer.take())))
    }

    /// Returns the event of the client taking `answer`, or of the client having gone. Each
    /// performance offers `answer` or a clone of it.
    ///
    /// # Errors
    ///
    /// The event gives [`ClientGone`] if the client has gone.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, choose, kill_safe};
    ///
    /// let (server, requests) = kill_safe::server::<u32, u32>();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || assert_eq!(server.request(7), Ok(49)));
    ///     let (n, reply) = requests.next().unwrap().into_parts();
    ///     // Other clients need not wait until this one has taken its answer.
    ///     let step = choose((
    ///         reply.offer_evt(n * n).wrap(|taken| taken.is_ok()),
    ///         requests.next_evt().wrap(|_| unreachable!("there is one client, and it waits")),
    ///     ));
    ///     assert!(step.sync());
    /// });
    /// ```
    pub fn offer_evt(
        &self,
        answer: B,
    ) -> impl Event<Output = Result<(), ClientGone<B>>>
    + IntoFuture<Output = Result<(), ClientGone<B>>, IntoFuture: Send>
    + use<'_, B>
    where
        B: Clone,
    {
        choose((
            self.reply.send_evt(answer).wrap(|sent| sent.map_err(|_| ClientGone(None))),
            self.gone_evt().wrap(|()| Err(ClientGone(None))),
        ))
    }

    /// Returns the event of [`offer_evt`](Reply::offer_evt), with an answer that is made only once
    /// the client has committed to take it.
    ///
    /// If `make` panics, the client has not been answered and continues to wait. A manager can
    /// therefore use `make` to commit to another client as well (see the example
    /// `swap_channel.rs`). In a future, write `reply.offer_with_evt(make).future().await`.
    ///
    /// # Errors
    ///
    /// The event gives [`ClientGone`] if the client has gone. If its future was dropped while the
    /// answer was being made, the answer is returned.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, kill_safe};
    /// use std::cell::Cell;
    ///
    /// let (server, requests) = kill_safe::server::<(), u32>();
    /// let made = Cell::new(0);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || assert_eq!(server.request(()), Ok(1)));
    ///     let request = requests.next().unwrap();
    ///     let next = || made.replace(made.get() + 1) + 1;
    ///     assert_eq!(request.reply().offer_with_evt(next).sync(), Ok(()));
    /// });
    /// assert_eq!(made.get(), 1); // once, for the client that has taken it
    /// ```
    pub fn offer_with_evt<F: Fn() -> B>(
        &self,
        make: F,
    ) -> impl Event<Output = Result<(), ClientGone<B>>> + use<'_, B, F> {
        choose((
            self.reply
                .send_with_evt(make)
                .wrap(|sent| sent.map_err(|refused| ClientGone(refused.into_inner()))),
            self.gone_evt().wrap(|()| Err(ClientGone(None))),
        ))
    }
}

impl<B> Reply<B> {
    /// Returns `true` if the client has given up.
    pub fn is_gone(&self) -> bool {
        self.client.is_lost()
    }

    /// Returns the event of the client having given up. It is never ready once the client has been
    /// answered.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, choose, kill_safe};
    ///
    /// let (server, requests) = kill_safe::server::<u32, u32>();
    /// let (give_up, told) = lisle::channel();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         choose((server.request_evt(7).wrap(drop), told.recv_evt().wrap(drop))).sync();
    ///     });
    ///     let request = requests.next().unwrap();
    ///     give_up.send(()).unwrap();
    ///     request.reply().gone_evt().sync();
    ///     assert!(request.reply().is_gone());
    /// });
    /// ```
    pub fn gone_evt(&self) -> Nack {
        self.client.clone()
    }
}

debug_by_name!([A, B] Server<A, B>);
debug_by_name!([A, B] Requests<A, B>);

impl<A, B> fmt::Debug for Request<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("reply", &self.reply).finish_non_exhaustive()
    }
}

impl<B> fmt::Debug for Reply<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("is_gone", &self.client.has_lost()).finish()
    }
}

impl<B> fmt::Debug for ClientGone<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientGone(..)")
    }
}

impl fmt::Display for ServerGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("asking a server that has ended or refuses to answer")
    }
}

impl<B> fmt::Display for ClientGone<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("answering a client that has gone")
    }
}

impl Error for ServerGone {}
impl<B> Error for ClientGone<B> {}
