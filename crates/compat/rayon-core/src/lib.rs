//! rayon-core's interface on the scheduler of [Lisle](https://docs.rs/lisle).
//!
//! Programs do not name this package. They put it in the place of the original, and rayon, and everything
//! that is built on rayon, then runs on Lisle's domains:
//!
//! ```toml
//! [patch.crates-io]
//! rayon-core = { git = "https://github.com/lisle-rs/lisle" }
//! ```
//!
//! - A thread of a pool is a *domain*: it also runs fibers, tasks, timers and sockets. Code that waits for a
//!   pool in a fiber ([`ThreadPool::install`], [`scope`](scope()), [`broadcast`](broadcast())) gives its
//!   domain to others meanwhile.
//! - A [`ThreadPool`] is a runtime of Lisle. The pool of code that runs in a runtime is that runtime,
//!   also if the program has started it without this package. The pool of all other code, the *global* one, is
//!   Lisle's default runtime.
//! - A spawned job may wait for events, since it runs in a fiber.
//!
//! The README lists what differs.

// Under loom only the protocols are built, not their users.
#![cfg_attr(any(lisle_loom, miri), allow(dead_code))]

// In an interpreter, models run on plain threads.
#[cfg(all(test, miri))]
extern crate loom_once as loom;

#[cfg(all(test, any(lisle_loom, miri)))]
#[path = "scope/count.rs"]
mod count;
#[cfg(all(test, any(lisle_loom, miri)))]
#[path = "server/flag.rs"]
mod flag;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_tests;

#[cfg(not(lisle_loom))]
mod broadcast;
#[cfg(not(lisle_loom))]
mod build;
#[cfg(not(lisle_loom))]
mod builder;
#[cfg(not(lisle_loom))]
mod configuration;
#[cfg(not(lisle_loom))]
mod context;
#[cfg(not(lisle_loom))]
mod current;
#[cfg(not(lisle_loom))]
mod error;
#[cfg(not(lisle_loom))]
mod fifo;
#[cfg(not(lisle_loom))]
mod handlers;
#[cfg(not(lisle_loom))]
mod here;
#[cfg(not(lisle_loom))]
mod home;
#[cfg(not(lisle_loom))]
mod join;
#[cfg(not(lisle_loom))]
mod pool;
#[cfg(not(lisle_loom))]
mod queue;
#[cfg(not(lisle_loom))]
mod registry;
mod runner;
#[cfg(not(lisle_loom))]
mod scope;
#[cfg(not(lisle_loom))]
mod server;
#[cfg(not(lisle_loom))]
mod spawn;
#[cfg(not(lisle_loom))]
mod thread;
#[cfg(not(lisle_loom))]
mod yields;

#[cfg(not(lisle_loom))]
pub use broadcast::{broadcast, spawn_broadcast};
#[cfg(not(lisle_loom))]
pub use builder::{ThreadPoolBuilder, max_num_threads};
#[allow(deprecated)]
#[cfg(not(lisle_loom))]
pub use configuration::{Configuration, initialize};
#[cfg(not(lisle_loom))]
pub use context::BroadcastContext;
#[cfg(not(lisle_loom))]
pub use error::ThreadPoolBuildError;
#[cfg(not(lisle_loom))]
pub use here::{current_num_threads, current_thread_has_pending_tasks, current_thread_index};
#[cfg(not(lisle_loom))]
pub use join::{FnContext, join, join_context};
#[cfg(not(lisle_loom))]
pub use pool::ThreadPool;
#[cfg(not(lisle_loom))]
pub use scope::{Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, scope, scope_fifo};
#[cfg(not(lisle_loom))]
pub use spawn::{spawn, spawn_fifo};
#[cfg(not(lisle_loom))]
pub use thread::ThreadBuilder;
#[cfg(not(lisle_loom))]
pub use yields::{Yield, yield_local, yield_now};
