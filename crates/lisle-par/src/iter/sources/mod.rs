//! The sources of parallel iterators.

pub mod array;
pub(super) mod bridge;
mod collections;
mod cuts;
pub(super) mod few;
pub mod range;
pub mod range_inclusive;
pub mod slice;
pub mod str;
pub mod vec;
