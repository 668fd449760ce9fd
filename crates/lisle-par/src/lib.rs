//! Loops over all cores: join, parallel loops, reductions, scans, sorts.
//!
//! They run on the same domains as everything else, and cost about what a call costs while nobody is there to take a part.
//!
//! ```
//! use lisle::par::{self, prelude::*};
//!
//! lisle::run(|| {
//!     // Loops are written as iterators.
//!     let squares: Vec<u64> = (0..1_000_u64).into_par_iter().map(|n| n * n).collect();
//!     let sum: u64 = squares.par_iter().sum();
//!     assert_eq!(sum, 332_833_500);
//!
//!     // Recursions put one half off.
//!     fn fibonacci(n: u64) -> u64 {
//!         if n < 2 {
//!             return n;
//!         }
//!         let (a, b) = par::join(|| fibonacci(n - 1), || fibonacci(n - 2));
//!         a + b
//!     }
//!     assert_eq!(fibonacci(20), 6_765);
//! });
//! ```
//!
//! [`join`] is for two halves, [`iter`] for loops, [`scope()`] for jobs and promises, [`dag!`](macro@crate::dag) for a graph of
//! computations.
//!
//! # How it divides
//!
//! Nothing is divided beforehand. A join notes its second half down, a loop what is left of it, and goes on. Only when another
//! domain has nothing to do is the oldest of what was noted down given to it, and half of that to the next. So there is no
//! grain to choose and no penalty for a loop that turns out to be short. The README beside this file argues why that is so
//! and why nobody waits in vain.
//!
//! # Where it runs
//!
//! - In a fiber: on the domains of its runtime. If the fiber has to wait for a part that another domain has, it gives its own
//!   to other fibers; and if it computes for long, these have a turn, and sockets and timers are looked at, every 50 µs or
//!   so. A server goes on serving on the domains on which a loop runs.
//! - On a plain thread: there, with the help of the domains of the default runtime, which is started for it.
//! - In a task, in a part of another loop, in a half of a join: as there.
//!
//! # Caveats
//!
//! - A part may run on another thread and in another fiber than the code around it: thread-locals and
//!   [`fiber::LocalKey`](lisle_runtime::fiber::LocalKey)s are not those of the caller. Their values must be [`Send`].
//! - Parts of a loop must not wait for each other: nobody promises that they run at the same time. They may wait for
//!   anything else; the domain does something else meanwhile.
//! - A loop may let other fibers run. So do not hold a lock of the standard library across it that other fibers of the runtime
//!   want: the one that locks it would stop the thread on which the loop is to go on. (Its own parts may want it, before and
//!   after: they do not run in between.) The locks of [`sync`](lisle_core::sync) may be held.
//! - A step is not interrupted. One that takes 10 ms keeps the other fibers of its domain waiting for that long.

// Under loom only the protocols are built, not their users.
#![cfg_attr(lisle_loom, allow(dead_code, unused_imports))]

#[cfg(all(test, lisle_loom))]
mod loom_support;
#[cfg(all(test, lisle_loom))]
#[path = "scan/loom_tests.rs"]
mod scan_loom_tests;
#[cfg(all(test, lisle_loom))]
#[path = "scope/loom_tests.rs"]
mod scope_loom_tests;

#[cfg(not(lisle_loom))]
mod consumer;
#[cfg(not(lisle_loom))]
mod cost_history;
#[cfg(not(lisle_loom))]
pub mod dag;
#[cfg(not(lisle_loom))]
mod drive;
#[cfg(not(lisle_loom))]
pub mod iter;
#[cfg(not(lisle_loom))]
mod join;
#[cfg(not(lisle_loom))]
mod origin;
#[cfg(not(lisle_loom))]
mod part;
#[cfg(not(lisle_loom))]
mod plan;
#[cfg(not(lisle_loom))]
pub mod prelude;
#[cfg(not(lisle_loom))]
mod progress;
#[cfg(not(lisle_loom))]
mod scan;
#[cfg(not(lisle_loom))]
mod scope;
#[cfg(not(lisle_loom))]
pub mod sort;
#[cfg(not(lisle_loom))]
mod workers;

// The layers below, under the names by which the modules here know them.
#[cfg(not(lisle_loom))]
use lisle_core::affinity;
use lisle_core::{event, panics, shim};
use lisle_runtime::jobs::{heartbeat, job, pending};
#[cfg(all(test, lisle_loom))]
use lisle_runtime::jobs::{offers, stacks};
#[cfg(not(lisle_loom))]
use lisle_runtime::loops::owner;
#[cfg(not(lisle_loom))]
use lisle_runtime::sched::within;

#[cfg(not(lisle_loom))]
pub use dag::Dag;
#[cfg(not(lisle_loom))]
pub use iter::Stopped;
#[cfg(not(lisle_loom))]
pub use join::{join, join_with};
#[cfg(all(test, lisle_loom))]
use loom_support::join as join_within;
#[cfg(not(lisle_loom))]
use origin::join as join_within;
#[cfg(not(lisle_loom))]
pub use progress::{Progress, ReachedEvt};
#[cfg(not(lisle_loom))]
pub use scan::{Scan, exclusive_scan, exclusive_scan_in_place, inclusive_scan, inclusive_scan_in_place};
#[cfg(not(lisle_loom))]
pub use scope::{Promise, Scope, scope};
#[cfg(not(lisle_loom))]
use workers::workers;
