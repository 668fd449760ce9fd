//! Light threads with and without stacks, first-class events, loops over all cores and sockets on one scheduler.
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
//! - [`run`] starts a runtime and runs a function in it; [`spawn`] starts a *fiber*, a light thread in direct
//!   style ([`fiber`]).
//! - [`spawn_task`] starts a *task*, an `async` block that begins as a call and becomes a thread only if it
//!   waits ([`task`]).
//! - What may block is an *event* ([`event`]): a value to be performed ([`Event::sync`]), tried
//!   ([`Event::poll`]), awaited (`.await`, on any executor), or chosen from ([`choose`]). A choice takes
//!   exactly one of its alternatives; the others have taken nothing.
//! - [`mod@channel`]s, [`sync`] cells, [`time`] and [`net`] sockets all work from fibers, from plain OS threads
//!   and from futures, against each other.
//! - Loops over all cores ([`par`]): iterators, joins, sorts and scans, on the same domains.
//! - What happens outside is an event, too: the exit of a [`process`], a [`mod@signal`], a line of [`io`], the end of a
//!   foreign [`thread`] or [`mod@future`].
//!
//! # Guide
//!
//! The [`guide`] is to be read, the rest to be looked up:
//!
//! - [*Events in ten minutes*](guide::events) for those who have never met them;
//! - [*From Go's select*](guide::from_go), [*From tokio's select!*](guide::from_tokio) and
//!   [*From Racket and Guile Fibers*](guide::from_racket_and_fibers) for those who know the idea under other names;
//! - [*Cancellation*](guide::cancellation) and [*Pitfalls*](guide::pitfalls) before it gets serious;
//! - [*Who has what*](guide::compared), a table.
//!
//! # When not to use it
//!
//! - Where every byte counts, a fiber takes a page of memory or two, a future less.
//! - On Windows: fibers, domains and sockets are for Unix. Linux on x86-64 is what is tested.
//! - With libraries written for one async runtime's sockets and timers: they want that runtime. Events can
//!   be awaited there, though, so the two can talk.
//!
//! # Caveats
//!
//! First [what is unsound](fiber#soundness) with fibers: to wait within code that trusts the nesting of calls on a thread.
//!
//! See also those of [`fiber`]: long computations, destructors that wait, thread-locals, stack size; and those of
//! [`task`].
//!
//! # Cargo features
//!
//! - `files`, off by default: `io::watch_files`, changes of files and directories as events. It brings the crate
//!   `notify`, some ten crates in all, and one thread for each watch that is alive.

// Under loom only the protocols are built, not their users.
#![cfg_attr(lisle_loom, allow(dead_code, unused_imports))]

#[cfg(all(not(unix), not(lisle_loom)))]
compile_error!("lisle runs on Unix: its fibers, domains and sockets have no other back end");

// What the tests here share with those in `tests/` calls the library by its name.
#[cfg(all(test, not(lisle_loom)))]
extern crate self as lisle;

mod abort;
#[cfg(not(lisle_loom))]
mod affinity;
pub mod channel;
#[cfg(all(test, lisle_loom))]
#[path = "domain/reactor/direction.rs"]
mod direction;
#[cfg(not(lisle_loom))]
mod domain;
#[cfg(all(test, lisle_loom))]
#[path = "domain/loom_tests.rs"]
mod domain_loom_tests;
mod drops;
pub mod event;
#[cfg(not(lisle_loom))]
pub mod fiber;
#[cfg(not(lisle_loom))]
pub mod future;
#[cfg(not(lisle_loom))]
pub mod guide;
#[cfg(not(lisle_loom))]
pub mod io;
#[cfg(not(lisle_loom))]
pub mod kill_safe;
#[cfg(not(lisle_loom))]
pub mod net;
#[cfg(not(lisle_loom))]
mod own_threads;
mod panics;
pub mod par;
#[cfg(not(lisle_loom))]
pub mod process;
#[cfg(not(lisle_loom))]
mod report;
#[cfg(not(lisle_loom))]
pub mod rpc;
mod shim;
#[cfg(not(lisle_loom))]
pub mod signal;
pub mod sync;
#[cfg(not(lisle_loom))]
pub mod task;
#[cfg(not(lisle_loom))]
pub mod thread;
pub mod time;
#[cfg(not(lisle_loom))]
mod unwinding;

pub use channel::channel;
pub use event::{Event, always, choose, never};

#[cfg(not(lisle_loom))]
pub use domain::{
    Awaited, Blocked, Builder, Deadlock, Delayed, Handle, InstallDefaultError, OnDeadlock, Performer,
    RunningFiber, Runtime, Shutdown, Stall, Statistics, Straggler, WaitGraph, run, statistics, waiting,
};
#[cfg(not(lisle_loom))]
pub use fiber::{JoinHandle, PanicPolicy, blocking, spawn, spawn_on};
#[cfg(not(lisle_loom))]
pub use report::{NoStack, Report, Unjoined};
#[cfg(not(lisle_loom))]
pub use task::spawn_task;

/// The examples of the README, which the tests compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
