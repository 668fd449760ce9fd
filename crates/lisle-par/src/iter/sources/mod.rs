//! The sources of parallel iterators.

pub mod array;
pub(super) mod bridge;
pub mod chunks;
mod collections;
pub(super) mod few;
pub mod range;
pub mod slice;
pub mod vec;
