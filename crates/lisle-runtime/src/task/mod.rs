//! Tasks: light threads without a stack, which cost a call unless they wait.
//!
//! A task is an `async` block that begins at once, on the stack of the code that
//! [spawns](spawn_task) it. If it does not wait, it costs a call and a few instructions. If it
//! waits, it is *reified*: it stays where it is, in recycled memory, and its spawner goes on. The
//! performer that provides what the task waits for makes the task run next, on its own domain.
//! Tasks that communicate thus come together on one domain.
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
//! takes as many bytes as it keeps across one, and moves to the domain where what it waits for is.
//! Use tasks for work that is short, or numerous, or that most often does not wait: to send without
//! waiting, to gather from many, to watch something. Use fibers for deep calls, or for code that
//! blocks in place.
//!
//! *Asynchronous events* ([`acml`]) are built on tasks: sends and receives that begin and go on by
//! themselves, all of several events, the first of several futures.
//!
//! # Caveats
//!
//! - `.sync()`, `recv()` and the like work in a task, but they block the stack on which it runs. At
//!   first that is its spawner's. Await the event instead.
//! - A task that computes for long without awaiting keeps its spawner waiting: see
//!   [`inflate`](inflate()).
//! - [`fiber::is_cancelled`](crate::fiber::is_cancelled) and a [`fiber_local!`](crate::fiber_local)
//!   are those of the fiber on whose stack a task runs. A task is [cancelled](TaskHandle::cancel)
//!   by dropping its future. For values of its own use [`task_local!`](crate::task_local).
//! - A fiber that unblocks many tasks and neither waits nor yields keeps them from going on, and
//!   keeps their memory in use. So does a fiber that keeps its domain from other fibers.
//! - Timers in tasks belong to a thread that serves the whole process. One costs more than in a
//!   fiber.
//!
//! # Where it comes from
//!
//! Tasks are the *parasitic threads* of Multi-MLton: Sivaramakrishnan, Ziarek and Jagannathan,
//! *[Featherweight Threads for Communication](https://docs.lib.purdue.edu/cstech/1749)* (Purdue
//! 2011). There such a thread is a piece of its fiber's stack that is copied away when it waits.
//! Here it is the future that the compiler makes of an `async` block.

pub mod acml;
mod body;
mod handle;
mod inflate;
mod life;
mod local;
mod pieces;
mod record;
mod reify;
mod slots;
mod snapshot;
mod spawn;

pub use acml::{
    AsyncRecv, Contenders, Race, RecvAsync, RecvAsyncEvt, Start, Timeout, TimeoutError, race, rush, timeout,
};
pub use handle::TaskHandle;
pub use inflate::{Inflate, YieldNow, inflate, yield_now};
pub use local::LocalKey;
pub use reify::{Prepared, Reified, Reify, Unprepared, reify};
pub use spawn::spawn_task;

pub(crate) use life::run;
pub(crate) use pieces::{give_back, give_back_all};
pub(crate) use record::Task;
pub(crate) use snapshot::{waiting, wake_all};
pub(crate) use spawn::{has_room, spawn_unchecked};

use crate::event::parker::top_task;
use std::ptr::NonNull;

/// Returns the task that runs this code, if a task runs it.
fn current() -> Option<NonNull<Task>> {
    NonNull::new(top_task().get().cast_mut()).map(Task::of)
}
