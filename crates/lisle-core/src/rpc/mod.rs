//! Synchronous calls of functions that another performer runs: the RPC of Concurrent ML.
//!
//! [`rpc`] creates two ends. A [`Caller`] asks, and [`call_evt`](Caller::call_evt) is the event of
//! being answered. The holder of the [`Entry`] serves: one synchronization with one of its events
//! runs a function for one caller. Both sides are events and can be part of a choice: a caller
//! waits for an answer or for a timeout, a server for requests of several kinds or for a signal to
//! end.
//!
//! ```
//! # use lisle_core as lisle;
//! use lisle::{Event, rpc::rpc};
//! use std::thread;
//!
//! let (caller, entry) = rpc::<u32, u32>();
//! let server = thread::spawn(move || {
//!     let mut served = 0;
//!     while entry.entry_evt(|n| n * n).sync().is_ok() {
//!         served += 1;
//!     }
//!     served
//! });
//! assert_eq!(caller.call(7), Ok(49));
//! drop(caller); // that was the last one
//! assert_eq!(server.join().unwrap(), 1);
//! ```
//!
//! The forms come from Concurrent ML's library. There the function is given when the pair is made.
//! Here each event of an entry gets a function, which may be a different one each time.
//!
//! | Concurrent ML | here | the server gives | the server gets |
//! |---|---|---|---|
//! | `mkRPC` | [`Entry::entry_evt`] | | |
//! | `mkRPC_In` | [`Entry::entry_in_evt`] | an input | |
//! | `mkRPC_Out` | [`Entry::entry_out_evt`] | | an output |
//! | `mkRPC_InOut` | [`Entry::entry_in_out_evt`] | an input | an output |
//! | | [`Entry::request_evt`] | the answer, at any later time | the [`Request`] |
//!
//! # Giving up
//!
//! A call commits when its answer is taken, so a caller may give up at any time until then: it may
//! lose a choice, be dropped, or unwind. The server learns this by a negative acknowledgement. If
//! the caller has gone before its request was served, the request is skipped. If the caller goes
//! while the request is being served, the answer is dropped. The function may therefore have run
//! although the call has not happened. Where that matters, see [`kill_safe`](crate::kill_safe),
//! which hands answers over.
//!
//! A server never waits for its callers: it leaves the answer and continues.

mod entry;
pub(crate) mod line;

pub use entry::{Entry, NoCallers, Reply, Request};

use crate::channel::ClosedEvt;
use crate::event::{Event, Label, debug_by_name};
use line::{Callers, Line};
use std::cell::Cell;
use std::error::Error;
use std::fmt;

/// Creates the two ends of calls that take an `A` and give a `B`.
///
/// # Examples
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, rpc::rpc};
///
/// let (caller, entry) = rpc::<&str, usize>();
/// std::thread::scope(|scope| {
///     scope.spawn(move || while entry.entry_evt(str::len).sync().is_ok() {});
///     assert_eq!(caller.call("four"), Ok(4));
///     drop(caller); // ends the server
/// });
/// ```
#[track_caller]
pub fn rpc<A, B>() -> (Caller<A, B>, Entry<A, B>) {
    let (callers, server) = Line::ends(Label::new("rpc"), 1);
    (Caller { callers }, Entry::new(server))
}

/// The end that asks. Clones call the same server. When the last clone is dropped, the server's
/// events give [`NoCallers`] once no requests are left.
pub struct Caller<A, B> {
    callers: Callers<A, Answered<B>>,
}

/// The answer, or the message with which the function panicked.
type Answered<B> = Result<B, String>;

/// An error: why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// The serving end was dropped, or the request was dropped unanswered.
    Closed,
    /// The function that was to answer has panicked, with this message.
    Panicked(String),
}

impl<A: Send, B: Send> Caller<A, B> {
    /// Calls, and waits for the answer as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// Returns an error if the serving end is dropped, the request is dropped unanswered, or the
    /// function panics.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, rpc::CallError, rpc::rpc};
    ///
    /// let (caller, entry) = rpc::<u32, u32>();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| entry.request_evt().sync().unwrap().serve(|n| n * n));
    ///     assert_eq!(caller.call(7), Ok(49));
    /// });
    /// drop(entry);
    /// assert_eq!(caller.call(7), Err(CallError::Closed));
    /// ```
    pub fn call(&self, arg: A) -> Result<B, CallError> {
        let arg = Cell::new(Some(arg));
        let answer = self.callers.call_evt(|| arg.take().expect("the call is performed once")).sync();
        outcome(answer)
    }
}

impl<A: Clone + Send, B: Send> Caller<A, B> {
    /// Returns the event of being answered. Each performance sends a request of its own, with a
    /// clone of `arg`, when it begins.
    ///
    /// # Errors
    ///
    /// The event gives an error if the serving end is dropped, the request is dropped unanswered,
    /// or the function panics.
    ///
    /// # Cancel safety
    ///
    /// A caller that gives up has not been answered, and the server learns this. The server may
    /// have served the request nevertheless.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, choose, rpc::rpc, time::after};
    /// use std::time::Duration;
    ///
    /// let (caller, entry) = rpc::<u32, u32>();
    /// let in_time = choose((
    ///     caller.call_evt(1).wrap(|answer| answer.ok()),
    ///     after(Duration::from_millis(1)).wrap(|()| None),
    /// ));
    /// assert_eq!(in_time.sync(), None);
    /// assert!(entry.request_evt().poll().is_none()); // the caller has given up
    /// ```
    pub fn call_evt(
        &self,
        arg: A,
    ) -> impl Event<Output = Result<B, CallError>>
    + IntoFuture<Output = Result<B, CallError>, IntoFuture: Send>
    + use<'_, A, B> {
        self.callers.call_evt(move || arg.clone()).wrap(outcome)
    }

    /// Returns `true` if the serving end was dropped.
    pub fn is_closed(&self) -> bool {
        self.callers.is_closed()
    }

    /// Returns the event of the serving end being dropped. It happens when
    /// [`is_closed`](Caller::is_closed) becomes `true`, for all waiters, and is ready from then on.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, rpc::rpc};
    ///
    /// let (caller, entry) = rpc::<u32, u32>();
    /// assert_eq!(caller.closed_evt().poll(), None);
    /// drop(entry);
    /// caller.closed_evt().sync();
    /// assert!(caller.is_closed());
    /// ```
    pub fn closed_evt(&self) -> ClosedEvt<'_> {
        self.callers.closed_evt()
    }
}

fn outcome<B>(answer: Result<Answered<B>, crate::channel::RecvError>) -> Result<B, CallError> {
    match answer {
        Ok(answered) => answered.map_err(CallError::Panicked),
        Err(_) => Err(CallError::Closed),
    }
}

impl<A, B> Clone for Caller<A, B> {
    fn clone(&self) -> Self {
        Caller { callers: self.callers.clone() }
    }
}

debug_by_name!([A, B] Caller<A, B>);

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Closed => f.write_str("calling, but no server is left"),
            CallError::Panicked(message) => write!(f, "the called function has panicked: {message}"),
        }
    }
}

impl Error for CallError {}
