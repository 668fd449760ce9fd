//! Loops over all cores: join, parallel loops, reductions, scans, sorts.

mod consumer;
mod drive;
mod join;
mod part;
mod plan;
pub mod sort;
mod workers;

pub use join::join;
pub(crate) use workers::workers;
