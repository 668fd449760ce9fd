//! Loops over all cores: join, parallel loops, reductions, scans, sorts.

mod consumer;
mod drive;
pub mod iter;
mod join;
mod part;
mod plan;
pub mod prelude;

pub use join::join;
