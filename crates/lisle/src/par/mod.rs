//! Loops over all cores: join, parallel loops, reductions, scans, sorts.

mod consumer;
mod drive;
mod join;
mod part;
mod plan;

pub use join::join;
