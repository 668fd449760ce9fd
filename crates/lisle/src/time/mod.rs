//! Time.
#[cfg(not(lisle_loom))]
pub(crate) mod outside;
#[cfg(lisle_loom)]
#[path = "outside_unmodelled.rs"]
pub(crate) mod outside;
mod timer;
pub(crate) mod wheel;
pub use timer::{After, At, after, at, sleep};
