//! First-class events, and the channels, locks, timers and calls that are made of them: for any executor and for plain
//! threads.
//!
//! This crate is the lowest layer of [`lisle`](https://docs.rs/lisle), which most programs depend on instead: it adds
//! fibers, tasks, loops and sockets, and exports all that is here. Depend on this crate alone if you live in another
//! runtime and want its events there: they can be awaited on any executor and performed on plain threads, and no
//! scheduler, no poller and no stack switch is built for them.
//!
//! ```
//! use lisle_core::{Event, channel::channel, choose, time::after};
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
//! The examples of the modules name the facade: read `lisle::channel` as `lisle_core::channel`.
//!
//! # Cargo features
//!
//! - `fibers`, off by default: how a fiber waits, for `lisle-runtime`. It brings the crate `corosensei`. The switch from a
//!   fiber's stack to its worker's has to be inlined into the code that waits, or it costs four times as much; so it lies
//!   beside the events and not with the runtime (see `event/parker.rs`).
//!
//! What is hidden from the documentation is for the crates above this one, and changes without notice.

// Under loom only the protocols are built, not their users.
#![cfg_attr(lisle_loom, allow(dead_code, unused_imports))]

#[cfg(all(not(unix), not(lisle_loom)))]
compile_error!("lisle-core runs on Unix");

#[doc(hidden)]
pub mod abort;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod affinity;
pub mod channel;
#[doc(hidden)]
pub mod drops;
pub mod event;
#[cfg(not(lisle_loom))]
pub mod kill_safe;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod own_threads;
#[doc(hidden)]
pub mod panics;
#[cfg(not(lisle_loom))]
pub mod rpc;
#[doc(hidden)]
pub mod seam;
#[doc(hidden)]
pub mod shim;
pub mod sync;
pub mod time;
#[cfg(all(feature = "fibers", not(lisle_loom)))]
#[doc(hidden)]
pub mod unwinding;

pub use channel::channel;
pub use event::{Event, always, choose, never};

/// The example of the README, which the tests compile.
#[cfg(all(doctest, not(lisle_loom)))]
#[doc = include_str!("../README.md")]
struct Readme;
