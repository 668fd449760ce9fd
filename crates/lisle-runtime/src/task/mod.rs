//! Tasks: light threads without a stack, which cost a call unless they wait.
//!
//! A task is an `async` block that begins at once, on the stack of the code that
//! [spawns](crate::spawn_task()) it. If it does not wait, it costs a call and a few instructions.
//! If it waits, it is *reified*: it stays where it is, in recycled memory, and its spawner goes on.
//! The partner that ends the wait makes the task run next, on its own domain. So tasks that
//! communicate come together on one domain.
//!
//! ```
//! # use lisle_runtime::facade as lisle;
//! use lisle::{channel, spawn_task};
//!
//! lisle::run(|| {
//!     let (tx, rx) = channel::<u64>();
//!     // Each task sends when the message is received. None has a stack, and none blocks the loop.
//!     for i in 0..100 {
//!         let tx = tx.clone();
//!         spawn_task(async move { tx.send_evt(i).await });
//!     }
//!     drop(tx);
//!     assert_eq!(rx.iter().sum::<u64>(), 4_950);
//! });
//! ```
//!
//! # Fibers or tasks?
//!
//! They are interchangeable: both perform the same events, join each other, and run on the same
//! domains. A [fiber](crate::fiber) is a function that waits wherever it calls something that
//! waits. It has a stack, and stays on its domain. A task is a future: it waits at an `.await`,
//! takes as many bytes as it keeps across one, and moves to the domain of its partner. Use tasks
//! for work that is short, or numerous, or that most often does not wait: to send without waiting,
//! to gather from many, to watch something. Use fibers for deep calls, or for code that blocks in
//! place.
//!
//! # Asynchronous events
//!
//! An event of Concurrent ML has happened when its operation is complete. *Asynchronous events*
//! have happened when something has *begun*: sends and receives that go on by themselves. There are
//! also operations on several events or futures at once. The operations that go on run in tasks,
//! which cost little, and nothing if there is no wait. A message that is sent goes on by itself,
//! without a task.
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
//! | | begins when performed or called | has happened when | result |
//! |---|---|---|---|
//! | [`send_async`](crate::channel::Sender::send_async), [`send_async_evt`](crate::channel::Sender::send_async_evt) | one send | it has begun | an `AsyncSend`: the send goes on if it is dropped |
//! | [`recv_async`](RecvAsync::recv_async), [`recv_async_evt`](RecvAsync::recv_async_evt) | one receive | it has begun | an [`AsyncRecv`]: cancelled if it is dropped |
//! | `choose_all`, `scatter`, `gather` | all its events | all have happened | |
//! | [`race`] | futures, until one has ended | one has ended | a [`Race`]: the losers are cancelled |
//! | [`rush`] | futures | one has ended | a [`Race`]: the losers go on |
//! | [`timeout`] | one future | it has ended, or the time is over | a [`Timeout`]: cancelled if it is dropped |
//!
//! ## When not to use them
//!
//! - If a message is to wait for its receiver, a [buffer](crate::channel::bounded) costs less. To
//!   send without ever waiting, use a [mailbox](crate::channel::unbounded).
//! - To take one of several events, [`choose`](lisle_core::choose) costs less than [`race`], and
//!   its losers have taken nothing. Races are for futures that do more than wait once.
//!
//! # Caveats
//!
//! - `.sync()`, `recv()` and the like work in a task, but they block the stack on which it runs. At
//!   first that is its spawner's. Await the event instead.
//! - A task that computes for long without awaiting keeps its spawner waiting: see
//!   [`inflate`](inflate()).
//! - In a task, [`fiber::is_cancelled`](crate::fiber::is_cancelled) and a
//!   [`fiber_local!`](crate::fiber_local) belong to the fiber on whose stack the task runs. A task
//!   is [cancelled](TaskHandle::cancel) by dropping its future. For values of its own use
//!   [`task_local!`](crate::task_local).
//! - A fiber that unblocks many tasks and neither waits nor yields keeps them from going on, and
//!   keeps their memory in use. So does a fiber that keeps its domain from other fibers.
//! - A timer in a task lies with the domain on which the task awaited it. If something keeps that domain
//!   in one turn, and another domain is idle, the task goes on there, up to 11 ms late.
//!
//! # Where it comes from
//!
//! Tasks are the *parasitic threads* of Multi-MLton: Sivaramakrishnan, Ziarek and Jagannathan,
//! *[Featherweight Threads for Communication](https://docs.lib.purdue.edu/cstech/1749)* (Purdue
//! 2011). There such a thread is a piece of its fiber's stack that is copied away when it waits.
//! Here it is the future that the compiler makes of an `async` block.
//!
//! Asynchronous events come from Ziarek, Sivaramakrishnan and Jagannathan, *Composable Asynchronous
//! Events* (PLDI 2011); on top of tasks in *Featherweight Threads for Communication* (Purdue 2011),
//! section 5. There each event of a `chooseAll` has a thread, and so has each asynchronous send.
//! Here a `choose_all` is one performance in several stages, and an asynchronous send is a message
//! in the channel's queue.

mod acml;
mod enter;
mod handle;
mod inflate;
mod local;
mod reify;
pub(crate) mod spawn;
pub(crate) mod within;

pub use acml::{
    AsyncRecv, Contenders, Race, RecvAsync, RecvAsyncEvt, Start, Timeout, TimeoutError, race, rush, timeout,
};
pub use handle::TaskHandle;
pub use inflate::{Inflate, YieldNow, inflate, yield_now};
pub use local::LocalKey;
pub use reify::{Prepared, Reified, Reify, Unprepared, reify};

pub(crate) use spawn::spawn_unchecked;

use crate::event::parker::top_task;
use crate::spawned::task_cell::Task;
use std::ptr::NonNull;

/// Returns the task that runs this code, if a task runs it.
pub(crate) fn current() -> Option<NonNull<Task>> {
    NonNull::new(top_task().get().cast_mut()).map(Task::of)
}
