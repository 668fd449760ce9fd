//! Synchronous calls of functions that others run: the RPC of Concurrent ML.
//!
//! [`rpc`] makes two ends. A [`Caller`] asks, and [`call_evt`](Caller::call_evt) is the event of being answered. Who
//! holds the [`Entry`] serves: one synchronization with one of its events runs a function for one caller. As events,
//! both can be chosen from: a caller waits for an answer or for so long, a server for requests of several kinds or
//! for being asked to end.
//!
//! ```
//! use lisle::{Event, rpc::rpc};
//!
//! lisle::run(|| {
//!     let (caller, entry) = rpc::<u32, u32>();
//!     let server = lisle::spawn(move || {
//!         let mut served = 0;
//!         while entry.entry_evt(|n| n * n).sync().is_ok() {
//!             served += 1;
//!         }
//!         served
//!     });
//!     assert_eq!(caller.call(7), Ok(49));
//!     drop(caller); // that was the last one
//!     assert_eq!(server.join().unwrap(), 1);
//! });
//! ```
//!
//! The forms are those of Concurrent ML's library, whose functions are made with the pair; here an entry is given a
//! function with each event, which may be another one each time.
//!
//! | Concurrent ML | here | the server gives | the server gets |
//! |---|---|---|---|
//! | `mkRPC` | [`Entry::entry_evt`] | | |
//! | `mkRPC_In` | [`Entry::entry_in_evt`] | an input | |
//! | `mkRPC_Out` | [`Entry::entry_out_evt`] | | an output |
//! | `mkRPC_InOut` | [`Entry::entry_in_out_evt`] | an input | an output |
//! | | [`Entry::request_evt`] | the answer, at its leisure | the [`Request`] |
//!
//! # Who gives up
//!
//! A call commits when its answer is taken, so a caller may give up at any time until then: lose a choice, be dropped,
//! unwind. The server is told by a negative acknowledgement. A request whose caller has gone before it was served is
//! passed over; if the caller goes while it is being served the answer is dropped. So the function may have run although
//! the call has not happened: where that matters, see [`kill_safe`](crate::kill_safe), which hands answers over.
//!
//! A server never waits for its callers: it leaves the answer and goes on.

mod entry;
pub(crate) mod line;

pub use entry::{Entry, NoCallers, Reply, Request};

use crate::channel::ClosedEvt;
use crate::event::{Event, Label};
use line::{Callers, Line};
use std::cell::Cell;
use std::error::Error;
use std::fmt;

/// Makes the two ends of calls that take an `A` and give a `B`.
#[track_caller]
pub fn rpc<A, B>() -> (Caller<A, B>, Entry<A, B>) {
    let (callers, server) = Line::ends(Label::new("rpc"), 1);
    (Caller { callers }, Entry::new(server))
}

/// The end that asks. Clones call the same server; when the last one goes, the server's events say so.
pub struct Caller<A, B> {
    callers: Callers<A, Answered<B>>,
}

/// What comes back: the answer, or the message with which the function panicked.
type Answered<B> = Result<B, String>;

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// The serving end has gone, or has dropped the request unanswered.
    Closed,
    /// The function that was to answer has panicked, with this message.
    Panicked(String),
}

impl<A: Send, B: Send> Caller<A, B> {
    /// Calls, and waits for the answer as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// The serving end has gone, or its function panicked.
    pub fn call(&self, arg: A) -> Result<B, CallError> {
        let arg = Cell::new(Some(arg));
        let answer = self.callers.call_evt(|| arg.take().expect("the call is performed once")).sync();
        outcome(answer)
    }
}

impl<A: Clone + Send, B: Send> Caller<A, B> {
    /// The event of being answered. Each performance sends a request of its own, with a clone of `arg`, as it begins.
    ///
    /// # Errors
    ///
    /// The serving end has gone, or its function panicked.
    ///
    /// # Cancel safety
    ///
    /// Who gives up has not been answered; the server notices. It may have served the request all the same.
    ///
    /// ```
    /// use lisle::{Event, choose, rpc::rpc, time::after};
    /// use std::time::Duration;
    ///
    /// let (caller, entry) = rpc::<u32, u32>();
    /// let in_time = choose((
    ///     caller.call_evt(1).wrap(|answer| answer.ok()),
    ///     after(Duration::from_millis(1)).wrap(|()| None),
    /// ));
    /// assert_eq!(in_time.sync(), None);
    /// assert!(entry.request_evt().poll().is_none()); // it has given up
    /// ```
    pub fn call_evt(
        &self,
        arg: A,
    ) -> impl Event<Output = Result<B, CallError>>
    + IntoFuture<Output = Result<B, CallError>, IntoFuture: Send>
    + use<'_, A, B> {
        self.callers.call_evt(move || arg.clone()).wrap(outcome)
    }

    /// Has the serving end gone?
    pub fn is_closed(&self) -> bool {
        self.callers.is_closed()
    }

    /// The event of the serving end having gone. It happens as [`is_closed`](Caller::is_closed) turns true, for all who wait,
    /// and is ready from then on.
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

impl<A, B> fmt::Debug for Caller<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Caller")
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Closed => f.write_str("calling, and nobody answers any more"),
            CallError::Panicked(message) => write!(f, "what was called has panicked: {message}"),
        }
    }
}

impl Error for CallError {}
