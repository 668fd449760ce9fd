//! Light threads with and without stacks, first-class events, loops over all cores and sockets on
//! one scheduler.
//!
//! ```
//! use lisle::{Event, channel, choose, time::after};
//! use std::time::Duration;
//!
//! lisle::run(|| {
//!     let (tx, rx) = channel::<u64>();
//!     lisle::spawn(move || (0..1_000).try_for_each(|i| tx.send(i)));
//!     let next = choose((
//!         rx.recv_evt().wrap(Result::ok),
//!         after(Duration::from_millis(50)).wrap(|()| None),
//!     ));
//!     let mut sum = 0;
//!     while let Some(n) = next.sync() {
//!         sum += n;
//!     }
//!     assert_eq!(sum, 499_500);
//! });
//! ```
//!
//! - [`run`] starts a runtime and runs a function in it. [`spawn`] starts a *fiber*, a light thread
//!   in direct style ([`fiber`]).
//! - [`spawn_task`] starts a *task*, an `async` block that begins as a call, and costs memory only if
//!   it waits ([`task`]).
//! - An operation that may block is an *event* ([`event`]): a value that can be performed
//!   ([`Event::sync`]), polled ([`Event::poll`]), awaited (`.await`, on any executor), or chosen
//!   from ([`choose`]). A choice commits exactly one of its alternatives. The other alternatives have
//!   taken nothing.
//! - [`mod@channel`]s, [`sync`] cells, [`time`] and [`net`] sockets work from fibers, from plain OS
//!   threads and from futures, in any combination.
//! - Loops run over all cores ([`par`]): iterators, joins, sorts and scans, on the same domains.
//! - Code performs an *effect*, and a handler decides its meaning ([`effect`]): generators,
//!   schedulers, exceptions, doubles in tests, in direct style.
//! - Events also come from outside the program: the exit of a [`process`], a [`mod@signal`], a
//!   line of [`io`], the end of a foreign [`thread`] or [`mod@future`].
//!
//! # Guide
//!
//! The pages of the [`guide`] explain the library, and the modules are the reference:
//!
//! - [*A tour*](guide::tour), one paragraph and one example for each part of the library;
//! - [*Events in ten minutes*](guide::events), [*Tasks in ten minutes*](guide::tasks) and [*Effects in
//!   ten minutes*](guide::effects) for readers who have never met them;
//! - [*From Go's select*](guide::from_go), [*From tokio's select!*](guide::from_tokio), [*From
//!   rayon*](guide::from_rayon) and [*From Racket and Guile Fibers*](guide::from_racket_and_fibers) for
//!   readers who know the idea under other names;
//! - [*Servers*](guide::servers) for readers who know axum or hyper;
//! - [*Cancellation*](guide::cancellation), [*Pitfalls*](guide::pitfalls) and [*When a thread is the
//!   better fiber*](guide::threads) before use in production;
//! - [*Events compared*](guide::compared), a table of libraries and languages.
//!
//! # When not to use it
//!
//! - If every byte counts: a fiber takes one or two pages of memory, and a future takes less.
//! - On Windows: fibers, domains and sockets are for Unix. The library is tested on Linux on x86-64.
//! - With libraries that are written for the sockets and timers of one async runtime: they need
//!   that runtime. Futures there can await Lisle's events, though, so the two can communicate.
//!
//! # Caveats
//!
//! Read first [which code is unsound](fiber#soundness) with fibers: waiting inside code that relies on
//! the nesting of calls on a thread, such as the initializer of a [`std::thread_local!`].
//!
//! See also the caveats of [`fiber`] (long computations, destructors that wait, thread-locals,
//! stack size) and of [`task`].
//!
//! # Cargo features
//!
//! - `files`, off by default: `io::watch_files`, changes to files and directories as events. It
//!   adds the crate `notify`, some ten crates in all, and one thread for each live watch.
//! - `frame`, off by default: `lisle::frame`, worlds of streams for games and simulations. It
//!   brings the crates `lisle-frame` and `core_affinity`.

// The loom models are in the layers below.
#![cfg(not(lisle_loom))]

#[cfg(not(unix))]
compile_error!("lisle runs on Unix: its fibers, domains and sockets have no other back end");

// Code that the tests here share with the tests in `tests/` refers to the library as `lisle`.
#[cfg(test)]
extern crate self as lisle;

pub mod effect;
pub mod future;
pub mod guide;
pub mod io;
pub mod kill_safe;
#[cfg(all(test, feature = "model"))]
mod model;
pub mod net;
pub mod par;
pub mod process;
pub mod signal;
pub mod thread;

// The layers below, under the names that the modules here use for them.
use lisle_core::internal::{affinity, fork, shim, threads};
use lisle_runtime::internal::reactor;

#[doc(inline)]
#[cfg(feature = "frame")]
pub use lisle_frame as frame;

pub use lisle_core::{Event, always, channel, choose, event, never, rpc, select, sync, time};
#[doc(inline)]
pub use lisle_runtime::{
    Asleep, Awaited, Blocked, Builder, Deadlock, Delayed, DomainThread, Handle, InstallDefaultError, NoStack,
    NoThread, OnDeadlock, PanicPolicy, Performer, Report, RunningFiber, Runtime, Shutdown, Stall, Statistics,
    Straggler, Unjoined, WaitGraph, blocking, fiber, run, spawn, spawn_task, statistics, task, waiting,
};

#[doc(inline)]
pub use lisle_runtime::{fiber_local, task_local};

/// The examples of the README, which the tests compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
