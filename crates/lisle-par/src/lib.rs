//! The loops of [`lisle`](https://docs.rs/lisle): joins, parallel iterators, sorts, scans, scopes
//! of jobs and graphs of computations. Programs depend on `lisle`, whose module `par` has all of
//! this crate and explains it.
//!
//! The examples use the names of the facade: read `lisle::par` as `lisle_par`.

// Under loom only the protocols are built, not their users.
#![cfg_attr(lisle_loom, allow(dead_code, unused_imports))]

// In an interpreter, models run on plain threads.
#[cfg(all(test, miri))]
extern crate loom_once as loom;

#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_support;
#[cfg(all(test, any(lisle_loom, miri)))]
#[path = "scan/loom_tests.rs"]
mod scan_loom_tests;
#[cfg(all(test, any(lisle_loom, miri)))]
#[path = "scope/loom_tests.rs"]
mod scope_loom_tests;

#[cfg(not(lisle_loom))]
mod at;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod by_code;
#[cfg(not(lisle_loom))]
mod consumer;
#[cfg(not(lisle_loom))]
mod cost_history;
#[cfg(not(lisle_loom))]
pub mod dag;
#[cfg(not(lisle_loom))]
mod domains;
#[cfg(not(lisle_loom))]
mod drive;
#[cfg(not(lisle_loom))]
pub mod iter;
#[cfg(not(lisle_loom))]
mod join;
#[cfg(not(lisle_loom))]
mod join_history;
#[cfg(not(lisle_loom))]
mod kept;
#[cfg(not(lisle_loom))]
mod looks;
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
mod threads;

// The layers below, under the names that the modules of this crate use.
use lisle_core::event;
#[cfg(not(lisle_loom))]
use lisle_core::internal::affinity;
use lisle_core::internal::{panics, shim};
use lisle_runtime::internal::cell;
#[cfg(not(lisle_loom))]
use lisle_runtime::internal::within;
use lisle_runtime::internal::{heartbeat, job, pending};
#[cfg(not(lisle_loom))]
use lisle_runtime::internal::{modelled, owner};
#[cfg(all(test, any(lisle_loom, miri)))]
use lisle_runtime::internal::{offers, stacks};

#[cfg(not(lisle_loom))]
use domains::domains;
#[cfg(not(lisle_loom))]
pub use iter::sources::{
    array, collections, option, range, range_inclusive, result, slice, str, string, vec,
};
#[cfg(not(lisle_loom))]
pub use join::{join, join_at, join_with};
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
pub use threads::{current_num_threads, current_thread_index, max_num_threads};

/// The names that the facade exports of this crate and of the crates below. The examples here
/// call it `lisle`. They cannot use the facade itself, because a package must not depend on a
/// package that depends on it.
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod facade {
    pub use crate as par;
    pub use lisle_runtime::facade::*;
}
