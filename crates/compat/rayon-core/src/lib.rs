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

mod broadcast;
mod build;
mod builder;
mod configuration;
mod context;
mod current;
mod error;
mod fifo;
mod handlers;
mod here;
mod join;
mod pool;
mod queue;
mod registry;
mod scope;
mod server;
mod spawn;
mod thread;
mod yields;

pub use broadcast::{broadcast, spawn_broadcast};
pub use builder::{ThreadPoolBuilder, max_num_threads};
#[allow(deprecated)]
pub use configuration::{Configuration, initialize};
pub use context::BroadcastContext;
pub use error::ThreadPoolBuildError;
pub use here::{current_num_threads, current_thread_has_pending_tasks, current_thread_index};
pub use join::{FnContext, join, join_context};
pub use pool::ThreadPool;
pub use scope::{Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, scope, scope_fifo};
pub use spawn::{spawn, spawn_fifo};
pub use thread::ThreadBuilder;
pub use yields::{Yield, yield_local, yield_now};
