//! The scheduler of [`lisle`](https://docs.rs/lisle): fibers, tasks, the domains that run them, and
//! the work that loops put off and give away. Programs depend on `lisle`, not on this crate.
//!
//! - [`fiber`] and [`task`]: the light threads that a program spawns.
//! - `sched`: domains, queues, stealing, sleeping, the poller, the wait graph, and [`Runtime`].
//! - `jobs`: the work that joins and loops put off, offer to other domains and take back.
//!   `lisle-par` is built on it.
//!
//! The examples use the names of the facade: read `lisle::fiber` as `lisle_runtime::fiber`. The module
//! `internal`, which is hidden from the documentation, is for the crates above this one and changes
//! without notice.

// Under loom only the protocols are built. The code that uses them is not.
#![cfg_attr(lisle_loom, allow(dead_code, unused_imports, unreachable_pub))]

// In an interpreter, models run on plain threads.
#[cfg(all(test, miri))]
extern crate loom_once as loom;

#[cfg(not(lisle_loom))]
mod descriptor;
#[cfg(all(test, lisle_loom))]
#[path = "sched/reactor/direction.rs"]
mod direction;
#[cfg(not(lisle_loom))]
pub mod fiber;
#[cfg(not(lisle_loom))]
mod handled;
#[doc(hidden)]
pub mod internal;
#[allow(missing_debug_implementations, missing_docs, reason = "not for users")]
mod jobs;
#[cfg(not(lisle_loom))]
#[allow(missing_debug_implementations, missing_docs, reason = "not for users")]
mod loops;
#[cfg(all(feature = "model", not(lisle_loom)))]
#[allow(missing_debug_implementations, missing_docs, reason = "not for users")]
mod model;
#[cfg_attr(lisle_loom, cfg(test))]
mod queue;
#[cfg(not(lisle_loom))]
mod report;
#[cfg(not(lisle_loom))]
mod runtime;
#[cfg(not(lisle_loom))]
#[allow(missing_debug_implementations, missing_docs, reason = "not for users")]
mod sched;
#[cfg(not(lisle_loom))]
#[allow(missing_debug_implementations, missing_docs, reason = "not for users")]
mod signals;
#[cfg(not(lisle_loom))]
#[allow(missing_debug_implementations, missing_docs, reason = "not for users")]
mod spawned;
#[cfg(lisle_loom)]
#[allow(missing_debug_implementations, missing_docs, reason = "not for users")]
mod spawned {
    pub mod cell;
}
#[cfg(not(lisle_loom))]
mod stack;
#[cfg(not(lisle_loom))]
pub mod task;
#[cfg(not(lisle_loom))]
mod unwind_safe;

// The layer below, under the names that the modules here use for it.
#[cfg(not(lisle_loom))]
use lisle_core::internal::{abort, affinity, fork, own_threads, threads, unwinding};
use lisle_core::internal::{memory, panics, shim};
#[cfg(not(lisle_loom))]
use lisle_core::{channel, sync, time};
use lisle_core::{event, masked};

#[cfg(not(lisle_loom))]
pub use fiber::{blocking::blocking, spawn::spawn};
#[cfg(not(lisle_loom))]
pub use report::{
    Asleep, Awaited, Blocked, Deadlock, Delayed, NoStack, NoThread, PanicPolicy, Performer, Report,
    RunningFiber, Shutdown, Stall, Straggler, Unjoined, WaitGraph,
};
#[cfg(not(lisle_loom))]
pub use runtime::{
    Builder, DomainThread, Handle, InstallDefaultError, Runtime, Statistics, run, statistics, waiting,
};
#[cfg(not(lisle_loom))]
pub use sched::OnDeadlock;
#[cfg(not(lisle_loom))]
pub use task::spawn::spawn_task;

/// The exports of the facade from this crate and the crate below: the examples here call it
/// `lisle`. They cannot use the facade itself, since a package must not depend on a package that
/// depends on it.
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod facade {
    pub use crate::{
        Asleep, Awaited, Blocked, Builder, Deadlock, Delayed, DomainThread, Handle, InstallDefaultError,
        NoStack, NoThread, OnDeadlock, PanicPolicy, Performer, Report, RunningFiber, Runtime, Shutdown,
        Stall, Statistics, Straggler, Unjoined, WaitGraph, blocking, fiber, fiber_local, run, spawn,
        spawn_task, statistics, task, task_local, waiting,
    };
    pub use lisle_core::{Event, always, channel, choose, event, never, rpc, select, sync, time};
}
