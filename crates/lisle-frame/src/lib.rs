//! A world of streams: half a million light threads that give one value a frame each, and foreign
//! functions that other cores run in batches.

mod clock;
mod core;
mod determinism;
mod error;
mod foreign;
mod lists;
mod pool;
mod report;
mod shim;
mod snapshot;
mod streams;
mod waiting;
mod world;

pub use determinism::{Dependence, find_dependence};
pub use error::{CallError, Failure, Origin, StreamError};
pub use foreign::call::{Call, CallOnce, Once, TryCall, call};
pub use foreign::function::{Deadline, Foreign, Native};
pub use lists::{List, Members};
#[cfg(all(feature = "runtime", not(lisle_loom)))]
pub use pool::domains::Domains;
#[cfg(feature = "threads")]
pub use pool::work::{Pool, Progress, Work};
#[cfg(all(feature = "threads", not(lisle_loom)))]
pub use pool::workers::Workers;
pub use report::Report;
pub use snapshot::{Snapshot, SnapshotError};
pub use streams::body::Out;
pub use streams::combinators::{Delay, Input};
pub use streams::handle::Stream;
pub use streams::making::{Here, Making, Scope, here};
pub use streams::reading::{Get, TryGet, With};
pub use waiting::{All, NextFrame, Race, Rush, all, branch, frames, next_frame, race, rush};
#[cfg(feature = "threads")]
pub use world::AnyPool;
pub use world::{Builder, World};
