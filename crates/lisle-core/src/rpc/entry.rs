//! The serving end of calls.

use super::Answered;
use super::line::{Pending, Server};
use crate::channel::Sender;
use crate::event::{Event, Nack, debug_by_name, is_interruption, raising};
use crate::panics;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The end that serves. Several servers may share it. When it is dropped, calls return an error.
///
/// Functions run in the performer of the event, after the commit, and may block. If one panics, its
/// caller gets [`CallError::Panicked`](super::CallError::Panicked), and the panic continues in the
/// server. In a future, write `entry.entry_evt(function).future().await`.
pub struct Entry<A, B> {
    server: Server<A, Answered<B>>,
}

/// An error: all callers were dropped, and no requests are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoCallers;

impl<A, B> Entry<A, B> {
    pub(super) fn new(server: Server<A, Answered<B>>) -> Self {
        Entry { server }
    }
}

impl<A: Send, B: Send> Entry<A, B> {
    /// Returns the event of there being a request, which gives the request to the server. The
    /// oldest comes first.
    ///
    /// # Errors
    ///
    /// The event gives [`NoCallers`] if all callers were dropped.
    ///
    /// # Cancel safety
    ///
    /// A request that was granted to a future at the very moment at which the future was dropped
    /// goes back to the head of the queue.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, rpc::rpc};
    ///
    /// let (caller, entry) = rpc::<&str, usize>();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || assert_eq!(caller.call("four"), Ok(4)));
    ///     let request = entry.request_evt().sync().unwrap();
    ///     let (text, reply) = request.into_parts();
    ///     reply.answer(text.len());
    /// });
    /// ```
    pub fn request_evt(
        &self,
    ) -> impl Event<Output = Result<Request<A, B>, NoCallers>>
    + IntoFuture<Output = Result<Request<A, B>, NoCallers>, IntoFuture: Send>
    + use<'_, A, B> {
        self.server.next_evt().wrap(|next| match next {
            Some(Pending { arg, reply, client }) => Ok(Request { arg, reply: Reply { reply, client } }),
            None => Err(NoCallers),
        })
    }

    /// Returns the event of serving one request with `function`.
    ///
    /// # Errors
    ///
    /// The event gives [`NoCallers`] if all callers were dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, rpc::NoCallers, rpc::rpc};
    ///
    /// let (caller, entry) = rpc::<u32, u32>();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || assert_eq!(caller.call(7), Ok(49)));
    ///     let square = entry.entry_evt(|n| n * n);
    ///     assert_eq!(square.sync(), Ok(())); // serves the call
    ///     assert_eq!(square.sync(), Err(NoCallers)); // the only caller was dropped
    /// });
    /// ```
    pub fn entry_evt<F: Fn(A) -> B>(&self, function: F) -> impl Event<Output = Result<(), NoCallers>> {
        self.serving(move |arg| (function(arg), ()))
    }

    /// Returns the event of serving one request with `function`, which also gets `input`.
    ///
    /// # Errors
    ///
    /// The event gives [`NoCallers`] if all callers were dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, rpc::rpc};
    ///
    /// let (caller, entry) = rpc::<u32, u32>();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || assert_eq!(caller.call(7), Ok(70)));
    ///     let factor = 10_u32; // what the server knows
    ///     assert_eq!(entry.entry_in_evt(factor, |n, factor| n * factor).sync(), Ok(()));
    /// });
    /// ```
    pub fn entry_in_evt<C, F: Fn(A, &C) -> B>(
        &self,
        input: C,
        function: F,
    ) -> impl Event<Output = Result<(), NoCallers>> {
        self.serving(move |arg| (function(arg, &input), ()))
    }

    /// Returns the event of serving one request with `function`, which also returns an output for
    /// the server.
    ///
    /// # Errors
    ///
    /// The event gives [`NoCallers`] if all callers were dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, rpc::rpc};
    ///
    /// let (caller, entry) = rpc::<u32, u32>();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || assert_eq!(caller.call(7), Ok(49)));
    ///     // The caller gets the square, and the server learns of what.
    ///     assert_eq!(entry.entry_out_evt(|n| (n * n, n)).sync(), Ok(7));
    /// });
    /// ```
    pub fn entry_out_evt<D, F: Fn(A) -> (B, D)>(
        &self,
        function: F,
    ) -> impl Event<Output = Result<D, NoCallers>> {
        self.serving(function)
    }

    /// Returns the event of serving one request with `function`, which also gets `input` and
    /// returns an output for the server, such as its next state.
    ///
    /// # Errors
    ///
    /// The event gives [`NoCallers`] if all callers were dropped.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, rpc::rpc};
    /// use std::thread;
    ///
    /// let (caller, entry) = rpc::<u64, u64>();
    /// thread::spawn(move || {
    ///     let mut sum = 0;
    ///     let add = |n, sum: &u64| (sum + n, sum + n);
    ///     while let Ok(next) = entry.entry_in_out_evt(sum, add).sync() {
    ///         sum = next;
    ///     }
    /// });
    /// assert_eq!(caller.call(2), Ok(2));
    /// assert_eq!(caller.call(3), Ok(5));
    /// ```
    pub fn entry_in_out_evt<C, D, F: Fn(A, &C) -> (B, D)>(
        &self,
        input: C,
        function: F,
    ) -> impl Event<Output = Result<D, NoCallers>> {
        self.serving(move |arg| function(arg, &input))
    }

    fn serving<D, F: Fn(A) -> (B, D)>(&self, function: F) -> impl Event<Output = Result<D, NoCallers>> {
        self.request_evt().wrap(move |request| Ok(request?.serve_out(&function)))
    }
}

debug_by_name!([A, B] Entry<A, B>);

/// A call that waits for its answer. If it is dropped unanswered, the caller gets an error.
#[must_use = "the caller waits"]
pub struct Request<A, B> {
    arg: A,
    reply: Reply<B>,
}

impl<A, B: Send> Request<A, B> {
    /// Returns the argument of the call.
    pub fn arg(&self) -> &A {
        &self.arg
    }

    /// Returns the argument of the call, and the right to answer.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, rpc::CallError, rpc::rpc};
    ///
    /// let (caller, entry) = rpc::<&str, usize>();
    /// std::thread::scope(|scope| {
    ///     let call = scope.spawn(|| caller.call("four"));
    ///     let (text, reply) = entry.request_evt().sync().unwrap().into_parts();
    ///     assert_eq!(text, "four");
    ///     drop(reply); // unanswered
    ///     assert_eq!(call.join().unwrap(), Err(CallError::Closed));
    /// });
    /// ```
    pub fn into_parts(self) -> (A, Reply<B>) {
        (self.arg, self.reply)
    }

    /// Answers with the result of `function`.
    ///
    /// # Panics
    ///
    /// Panics if `function` panics, after the caller has been told.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, rpc::CallError, rpc::rpc};
    ///
    /// let (caller, entry) = rpc::<&str, usize>();
    /// std::thread::scope(|scope| {
    ///     let calls = scope.spawn(move || (caller.call("four"), caller.call("five")));
    ///     let request = entry.request_evt().sync().unwrap();
    ///     assert_eq!(request.arg(), &"four");
    ///     request.serve(str::len);
    ///     drop(entry.request_evt().sync()); // unanswered
    ///     assert_eq!(calls.join().unwrap(), (Ok(4), Err(CallError::Closed)));
    /// });
    /// ```
    pub fn serve(self, function: impl FnOnce(A) -> B) {
        self.serve_out(|arg| (function(arg), ()));
    }

    #[inline(never)] // Required of a function that raises a panic again.
    fn serve_out<D>(self, function: impl FnOnce(A) -> (B, D)) -> D {
        let Request { arg, reply } = self;
        let _raising = raising();
        match catch_unwind(AssertUnwindSafe(|| function(arg))) {
            Ok((answer, output)) => {
                reply.answer(answer);
                output
            }
            Err(panic) => {
                // A fiber that its runtime or a deadline unwinds has not panicked; it does not answer.
                if !is_interruption(&*panic) {
                    reply.leave(Err(panics::message(&*panic).to_owned()));
                }
                resume_unwind(panic)
            }
        }
    }
}

impl<A, B> fmt::Debug for Request<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("reply", &self.reply).finish_non_exhaustive()
    }
}

/// The right to answer one caller. If it is dropped unused, the caller gets an error.
#[must_use = "the caller waits"]
pub struct Reply<B> {
    reply: Sender<Answered<B>>,
    client: Nack,
}

impl<B: Send> Reply<B> {
    /// Answers. This never waits. If the caller has gone meanwhile, the answer is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, rpc::rpc};
    ///
    /// let (caller, entry) = rpc::<&str, usize>();
    /// std::thread::scope(|scope| {
    ///     let calls = [1, 2].map(|_| scope.spawn(|| caller.call("four")));
    ///     // The requests may be answered at any later time, in any order.
    ///     let [one, other] = [(); 2].map(|()| entry.request_evt().sync().unwrap().into_parts());
    ///     other.1.answer(other.0.len());
    ///     one.1.answer(one.0.len());
    ///     assert_eq!(calls.map(|call| call.join().unwrap()), [Ok(4), Ok(4)]);
    /// });
    /// ```
    pub fn answer(self, answer: B) {
        self.leave(Ok(answer));
    }

    fn leave(self, answer: Answered<B>) {
        // The channel has room for one answer, so this does not wait. It fails if the caller has
        // gone.
        drop(self.reply.send(answer));
    }
}

impl<B> Reply<B> {
    /// Returns `true` if the caller has given up.
    pub fn is_gone(&self) -> bool {
        self.client.is_lost()
    }

    /// Returns the event of the caller having given up. It is never ready once the caller has taken
    /// its answer.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, choose, rpc::rpc};
    ///
    /// let (caller, entry) = rpc::<u32, u32>();
    /// let (give_up, told) = lisle::channel();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         choose((caller.call_evt(7).wrap(drop), told.recv_evt().wrap(drop))).sync();
    ///     });
    ///     let (_, reply) = entry.request_evt().sync().unwrap().into_parts();
    ///     assert!(!reply.is_gone());
    ///     give_up.send(()).unwrap();
    ///     reply.gone_evt().sync(); // stop working for this caller
    ///     assert!(reply.is_gone());
    /// });
    /// ```
    pub fn gone_evt(&self) -> Nack {
        self.client.clone()
    }
}

impl<B> fmt::Debug for Reply<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("is_gone", &self.client.has_lost()).finish()
    }
}

impl fmt::Display for NoCallers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("serving calls, but no caller is left")
    }
}

impl Error for NoCallers {}
