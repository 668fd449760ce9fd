//! First-class events, and the channels, locks, timers and calls that are built from them, for any
//! executor and for plain threads.
//!
//! This crate is the lowest layer of [`lisle`](https://docs.rs/lisle), which adds fibers, tasks,
//! loops and sockets and re-exports everything here. Most programs depend on `lisle`. Depend on
//! this crate alone to use its events in another runtime: they can be awaited on any executor and
//! performed on plain threads, and no scheduler, poller or stack switch is compiled for them.
//!
//! ```
//! use lisle_core::{Event, channel, choose, time::after};
//! use std::time::Duration;
//!
//! let (tx, rx) = channel::<u64>();
//! std::thread::spawn(move || tx.send(1));
//! let first = choose((
//!     rx.recv_evt().wrap(Result::ok),
//!     after(Duration::from_secs(60)).wrap(|()| None),
//! ));
//! assert_eq!(first.sync(), Some(1));
//! ```
//!
//! The examples of the modules use the names of the facade: read `lisle::channel` as
//! `lisle_core::channel`.
//!
//! # Platforms
//!
//! It runs on Unix and on Windows. It compiles for WebAssembly without a host
//! (`wasm32-unknown-unknown`), which has one thread and no clock. There events are awaited, tried
//! and polled: channels, mailboxes, cells, locks, choices, nacks, wait sets, calls. Operations that
//! the platform lacks panic: timers, deadlines and every wait for a limited time, servers of
//! [`kill_safe`], and a wait in direct style (`sync`, `recv`, `lock`) that is not over at once. A
//! mutex goes to the performer that comes first, since no time passes after which a waiter is next.
//!
//! # Cargo features
//!
//! - `fibers`, off by default, on Unix: the code with which a fiber waits, for `lisle-runtime`. It adds the
//!   dependency `corosensei`, for platforms without a switch of our own (see `segment`). The switch
//!   from a fiber's stack to its domain's must be inlined into the code that waits, or it costs
//!   four times as much. That code is therefore in this crate, beside the events, and not in the
//!   runtime (see `event/performer/parker.rs`).
//!
//! The module `internal` and the other items that are hidden from the documentation are for the crates
//! above this one and change without notice. They have conditions that their signatures do not state, so a program that calls
//! them has none of the guarantees of safe code.

// Under loom only the protocols are built, not the code that uses them.
#![cfg_attr(lisle_loom, allow(dead_code, unused_imports))]

// In an interpreter, models run on plain threads.
#[cfg(all(test, miri))]
extern crate loom_once as loom;

#[cfg(all(feature = "fibers", not(unix), not(lisle_loom)))]
compile_error!("fibers run on Unix: their stacks and their unwinding have no other back end");

mod abort;
#[cfg(not(lisle_loom))]
mod affinity;
pub mod channel;
mod drops;
pub mod event;
#[cfg(all(feature = "fibers", not(lisle_loom)))]
mod exceptions;
mod fork;
#[doc(hidden)]
pub mod internal;
#[cfg(not(lisle_loom))]
pub mod kill_safe;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_models;
#[allow(missing_docs, reason = "not for users")]
mod memory;
#[cfg(not(lisle_loom))]
mod own_threads;
mod panics;
#[cfg(not(lisle_loom))]
pub mod rpc;
mod seam;
#[cfg(all(feature = "fibers", not(lisle_loom)))]
mod segment;
#[allow(missing_docs, reason = "not for users")]
mod shim;
pub mod sync;
#[cfg(all(feature = "fibers", not(lisle_loom)))]
mod thread_end;
#[cfg(not(lisle_loom))]
mod threads;
pub mod time;
#[cfg(not(lisle_loom))]
mod unwind_safe;
#[cfg(all(feature = "fibers", not(lisle_loom)))]
mod unwinding;

pub use channel::create::channel;
pub use event::combinators::{
    basic::{always, never},
    choose::choose,
};
pub use event::interface::event::Event;

/// Compiles the example of the README as a doctest.
#[cfg(all(doctest, not(lisle_loom)))]
#[doc = include_str!("../README.md")]
struct Readme;
