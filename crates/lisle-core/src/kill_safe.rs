//! Abstractions that survive their clients: a manager that owns the state, and clients that may go at any point.
//!
//! Locks are not enough for an object that several fibers share: one that is cancelled, or panics, or is a future that
//! is dropped, while it is in the middle of things leaves the middle of things behind. Here a *manager* alone touches the
//! state. Clients send it requests, as events, and what a client does at the worst of times is to go while its request
//! waits, which the manager notices and forgets.
//!
//! The pattern is that of Flatt and Findler, *Kill-safe synchronization abstractions* (PLDI 2004):
//!
//! 1. A client performs [`Server::request_evt`]. As it begins, the request goes into a line.
//! 2. The manager takes requests with [`Requests::next_evt`], and keeps those that it cannot answer yet.
//! 3. It waits, in one choice, for further requests and for what it has to [offer](Reply::offer_evt) to each client that
//!    waits. An offer happens when the client takes the answer, and then both have committed in the same instant;
//!    if the client has gone, or goes, the offer says so instead.
//! 4. It changes its state when an offer has happened, not before. So nothing is lost that was meant for a client that
//!    stayed, and nothing has happened for one that went.
//!
//! A manager that never waits for a single client cannot be held up by one. One that offers to a single client outside
//! of such a choice waits for that client, which is there in a moment, but for one whose choice has a guard that
//! blocks. A client whose request is a source of a [`WaitSet`](crate::event::WaitSet) has not gone when that is not
//! performed for a while; if it stops at the very moment at which its answer is being made
//! ([`offer_with_evt`](Reply::offer_with_evt)), the offer waits until it goes on or goes.
//!
//! The examples `swap_channel.rs` and `kill_safe_queue.rs` are whole abstractions of this kind. In short:
//!
//! ```
//! use lisle::kill_safe::{self, Server};
//!
//! // Tickets with consecutive numbers: none is skipped, whoever goes while asking for one.
//! let tickets: Server<(), u64> = kill_safe::start(|requests| {
//!     let mut next = 0;
//!     while let Some(request) = requests.next() {
//!         if request.reply().offer(next).is_ok() {
//!             next += 1;
//!         }
//!     }
//! });
//! assert_eq!(tickets.request(()), Ok(0));
//! assert_eq!(tickets.request(()), Ok(1));
//! ```
//!
//! # Where the manager runs
//!
//! `lisle::kill_safe::start` makes it a fiber of the runtime on which it is called; on a plain thread, of the default
//! runtime, which is never shut down. It ends
//!
//! - when it returns, as it should when [`Requests::next_evt`] gives nothing: the last handle has gone, and with it
//!   all clients;
//! - when it panics, which its runtime reports;
//! - when its runtime shuts down: it is unwound like other fibers.
//!
//! In each case the requests are dropped, and clients, also those of other runtimes, get [`ServerGone`]; none waits for
//! ever. A server that is to outlive the runtime in which it is made runs on a thread of its own
//! ([`Server::start_on_thread`]), or wherever its owner performs the events of [`server`]: the manager may be a plain
//! function or a future as well. In a language with a custodian one would have its clients keep the manager alive;
//! fibers do not move between runtimes, so here one chooses.

use crate::affinity;
use crate::channel::Sender;
use crate::event::{Event, Label, Nack, choose};
use crate::rpc::line::{self, Callers, Line, Pending};
use std::error::Error;
use std::fmt;
use std::io;

/// The clients' handle of a manager. Clones belong to the same one; when the last goes, the manager is told.
pub struct Server<A, B> {
    callers: Callers<A, B>,
}

/// The manager's end. When it goes, clients get [`ServerGone`].
pub struct Requests<A, B> {
    server: line::Server<A, B>,
}

/// A client that waits.
#[must_use = "the client waits"]
pub struct Request<A, B> {
    arg: A,
    reply: Reply<B>,
}

/// The way to a client that waits. If it is dropped the client gets [`ServerGone`].
#[must_use = "the client waits"]
pub struct Reply<B> {
    reply: Sender<B>,
    client: Nack,
}

/// The manager has ended, or has dropped the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerGone;

/// The client has given up. If the answer had been made by then, it comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ClientGone<B>(pub Option<B>);

/// Makes the two ends of a server whose manager its owner runs: in a scope, on a thread, as a future.
#[track_caller]
pub fn server<A, B>() -> (Server<A, B>, Requests<A, B>) {
    let (callers, server) = Line::ends(Label::new("server"), 0);
    (Server { callers }, Requests { server })
}

impl<A: Send + 'static, B: Send + 'static> Server<A, B> {
    /// Starts a manager on a thread of its own, so that it outlives every runtime. The process does not wait for it.
    ///
    /// # Errors
    ///
    /// The system gives no thread.
    #[track_caller]
    pub fn start_on_thread(manager: impl FnOnce(Requests<A, B>) + Send + 'static) -> io::Result<Self> {
        let (server, requests) = server();
        let builder = std::thread::Builder::new().name("lisle-manager".into());
        drop(builder.spawn(affinity::elsewhere(move || manager(requests)))?);
        Ok(server)
    }
}

impl<A: Send, B: Send> Server<A, B> {
    /// Sends a request, and waits for its answer as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// The manager has ended, or has dropped the request.
    pub fn request(&self, arg: A) -> Result<B, ServerGone> {
        let arg = std::cell::Cell::new(Some(arg));
        let answer = self.callers.call_evt(|| arg.take().expect("the request is performed once")).sync();
        answer.map_err(|_| ServerGone)
    }

    /// Has the manager ended?
    pub fn is_gone(&self) -> bool {
        self.callers.is_closed()
    }
}

impl<A: Clone + Send, B: Send> Server<A, B> {
    /// The event of a request being answered. Each performance sends a request of its own as it begins, with a clone of
    /// `arg`.
    ///
    /// A poll gives the manager no time to answer, so it gives nothing, unless the manager has ended.
    ///
    /// # Errors
    ///
    /// The manager has ended, or has dropped the request.
    ///
    /// # Cancel safety
    ///
    /// Who loses a choice, gives up or is a future that is dropped has not been answered, and the manager knows. Dropped
    /// after the answer was handed over, and before it was polled again, a future drops the answer.
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
    /// The next request; waits for it as [`Event::sync`] does. Nothing once all handles have gone.
    pub fn next(&self) -> Option<Request<A, B>> {
        self.next_evt().sync()
    }

    /// The event of a request, the oldest first. Once all handles have gone it gives nothing, again and again.
    ///
    /// # Cancel safety
    ///
    /// A request that was granted to a future at the very moment at which it was dropped goes back to the head of the
    /// line.
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
    /// What the client asks for.
    pub fn arg(&self) -> &A {
        &self.arg
    }

    /// The way to the client.
    pub fn reply(&self) -> &Reply<B> {
        &self.reply
    }

    /// What the client asks for, and the way to it.
    pub fn into_parts(self) -> (A, Reply<B>) {
        (self.arg, self.reply)
    }
}

impl<B: Send> Reply<B> {
    /// Offers an answer, and waits as [`Event::sync`] does until the client has taken it or gone.
    ///
    /// # Errors
    ///
    /// The client has gone; the answer comes back.
    pub fn offer(&self, answer: B) -> Result<(), ClientGone<B>> {
        let answer = std::cell::Cell::new(Some(answer));
        let make = || answer.take().expect("an answer is offered once");
        self.offer_with_evt(make).sync().map_err(|ClientGone(made)| ClientGone(made.or(answer.take())))
    }

    /// The event of the client taking `answer`, or a clone of it for each time the event is performed; or of the client
    /// being gone.
    ///
    /// # Errors
    ///
    /// The client has gone.
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

    /// As [`offer_evt`](Reply::offer_evt), with an answer that is made once the client has committed to take it.
    ///
    /// If `make` panics, the client has not been answered, and goes on waiting: so a manager can, at that point, still
    /// make sure of another client (see the example `swap_channel.rs`). In a future, write `reply.offer_with_evt(make).future().await`.
    ///
    /// # Errors
    ///
    /// The client has gone. If its future was dropped while the answer was being made, the answer comes back.
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
    /// Has the client given up?
    pub fn is_gone(&self) -> bool {
        self.client.is_lost()
    }

    /// The event of the client having given up. Never ready once it has been answered.
    pub fn gone_evt(&self) -> Nack {
        self.client.clone()
    }
}

impl<A, B> fmt::Debug for Server<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Server")
    }
}

impl<A, B> fmt::Debug for Requests<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Requests")
    }
}

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
