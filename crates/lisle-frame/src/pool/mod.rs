//! The threads that run batches beside the world's own thread.
//!
//! - `ring`, `table`: the data that the world and its workers share.
//! - `work`: a seat at a world's table, for a thread that works there; the trait for pools.
//! - `workers`: a pool with its own threads; `inbox`: the place where they sleep. `domains`: the
//!   domains of a Lisle runtime.
//! - `link`: the world's side.

#[cfg(all(feature = "runtime", not(lisle_loom)))]
pub(crate) mod domains;
#[cfg(all(feature = "threads", any(test, not(lisle_loom))))]
mod inbox;
#[cfg(feature = "threads")]
mod link;
#[cfg(all(test, feature = "threads", any(lisle_loom, miri)))]
mod loom_tests;
#[cfg(not(feature = "threads"))]
mod no_link;
#[cfg(feature = "threads")]
pub(crate) mod ring;
#[cfg(feature = "threads")]
mod table;
#[cfg(feature = "threads")]
pub(crate) mod work;
#[cfg(all(feature = "threads", not(lisle_loom)))]
pub(crate) mod workers;

#[cfg(feature = "threads")]
pub(crate) use link::Link;
#[cfg(not(feature = "threads"))]
pub(crate) use no_link::Link;
