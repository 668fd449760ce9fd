//! Asynchronous events: operations that begin without waiting for their end, that wait for all of
//! several events, or that take the first of several futures.
//!
//! An event of Concurrent ML has happened when its operation is complete. This module has events
//! that have happened when something has *begun*, and operations on several events or futures at
//! once. What goes on meanwhile runs in [tasks](crate::task), which cost little, and nothing if
//! nothing has to be waited for. A message that is sent goes on by itself, without a task.
//!
//! ```
//! # use lisle_runtime::facade as lisle;
//! use lisle::event::choose_all;
//! use lisle::task::{RecvAsync, timeout};
//! use lisle::{Event, channel, choose, time::after};
//! use std::time::Duration;
//!
//! lisle::run(|| {
//!     let (orders, order) = channel();
//!     let (parts, part) = channel();
//!     let (bills, bill) = channel();
//!
//!     // Begin to send, and go on. The result is the event that the message has been taken.
//!     let ordered = orders.send_async("two wheels");
//!     assert!(!ordered.has_ended());
//!
//!     lisle::spawn(move || {
//!         assert_eq!(order.recv(), Ok("two wheels"));
//!         bills.send(80).unwrap(); // in any order
//!         parts.send("wheels").unwrap();
//!     });
//!
//!     // Wait for all at the same time.
//!     let both = choose_all((part.recv_evt(), bill.recv_evt()));
//!     assert_eq!(both.sync(), (Ok("wheels"), Ok(80)));
//!     ordered.join().unwrap();
//!
//!     // Limit the time of a future that is more than one event.
//!     let never = async move { (part.recv_async().await, std::future::pending::<()>().await) };
//!     assert!(timeout(Duration::from_millis(1), never).join().is_err());
//! });
//! ```
//!
//! | | begins when performed or called | has happened when | what it leaves |
//! |---|---|---|---|
//! | [`send_async`](crate::channel::Sender::send_async), [`send_async_evt`](crate::channel::Sender::send_async_evt) | one send | it has begun | an `AsyncSend`: the send goes on if it is dropped |
//! | [`recv_async`](RecvAsync::recv_async), [`recv_async_evt`](RecvAsync::recv_async_evt) | one receive | it has begun | an [`AsyncRecv`]: cancelled if it is dropped |
//! | `choose_all`, `scatter`, `gather` | all its events | all have happened | |
//! | [`race`] | futures, until one has ended | one has ended | a [`Race`]: the losers are cancelled |
//! | [`rush`] | futures | one has ended | a [`Race`]: the losers go on |
//! | [`timeout`] | one future | it has ended, or the time is over | a [`Timeout`]: cancelled if it is dropped |
//!
//! # When not to use them
//!
//! - If a message is to wait for its receiver, a [buffer](crate::channel::bounded) costs less. To
//!   send without ever waiting, use a [mailbox](crate::channel::unbounded_mailbox).
//! - To take one of several events, [`choose`](lisle_core::choose) costs less than [`race`], and
//!   its losers have taken nothing. Races are for futures that do more than wait once.
//!
//! # Where it comes from
//!
//! Ziarek, Sivaramakrishnan and Jagannathan: *Composable Asynchronous Events* (PLDI 2011); on top
//! of tasks in *Featherweight Threads for Communication* (Purdue 2011), section 5. There each event
//! of a `chooseAll` has a thread, and so has each asynchronous send. Here a `choose_all` is one
//! performance in several stages, and an asynchronous send is a message in the channel's queue.

mod race;
mod receiving;
mod timeout;

pub use race::{Contenders, Race, Start, race, rush};
pub use receiving::{AsyncRecv, RecvAsync, RecvAsyncEvt};
pub use timeout::{Timeout, TimeoutError, timeout};
