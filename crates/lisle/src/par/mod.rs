//! Loops over all cores: join, parallel loops, reductions, scans, sorts.

mod consumer;
mod drive;
mod join;
mod part;
mod plan;
mod scan;
pub mod sort;
mod workers;

pub use join::join;
pub use scan::{Scan, exclusive_scan, exclusive_scan_in_place, inclusive_scan, inclusive_scan_in_place};
pub(crate) use workers::workers;
