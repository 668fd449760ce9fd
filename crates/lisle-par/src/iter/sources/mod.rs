//! The sources of parallel iterators.

pub mod array;
pub mod chunks;
mod collections;
pub(super) mod few;
pub mod range;
pub mod slice;
pub mod vec;
