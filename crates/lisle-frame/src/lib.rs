#![cfg_attr(feature = "threads", doc = include_str!("../README.md"))]
//!
//! # Features
//!
//! - `threads` (default): other threads run foreign calls: [`Workers`], or any [`Pool`].
//! - `runtime`: the domains of a Lisle runtime are a pool: `Domains`. It brings `lisle-runtime`.

// Code that is copied from the documentation gives no warnings.
#![doc(test(attr(deny(warnings))))]

// In an interpreter, models run on plain threads.
#[cfg(all(test, miri))]
extern crate loom_once as loom;

#[cfg(feature = "threads")]
#[doc = include_str!("guide.md")]
pub mod guide {}

mod batch;
mod calls;
mod current;
mod engine;
mod error;
mod foreign;
mod lists;
mod panics;
mod pool;
mod report;
mod shim;
mod streams;
mod under_way;
mod waiting;
mod world;

pub use batch::class::{Deadline, Native};
pub use calls::call::{Call, CallOnce, Once, TryCall, call};
pub use calls::function::Foreign;
pub use calls::lent::Lent;
pub use error::{Failure, ForeignCallError, Origin, StreamError};
pub use lists::{List, Members};
#[cfg(all(feature = "runtime", not(lisle_loom)))]
pub use pool::domains::Domains;
#[cfg(feature = "threads")]
pub use pool::work::{AnyPool, Pool, Progress, Work};
#[cfg(all(feature = "threads", not(lisle_loom)))]
pub use pool::workers::Workers;
pub use report::Report;
pub use streams::body::Out;
pub use streams::combinators::{Delay, Input};
pub use streams::handle::Stream;
pub use streams::making::{Here, Making, Scope, here};
pub use streams::reading::{Get, TryGet, With};
pub use waiting::{
    All, Elapsed, NextFrame, Race, Rush, all, async_scope, branch, frames, next_frame, race, rush, seconds,
    spawn, timeout, until,
};
pub use world::determinism::{Dependence, find_dependence};
pub use world::lending::Lending;
pub use world::snapshot::{Snapshot, SnapshotError};
pub use world::{Builder, World};
