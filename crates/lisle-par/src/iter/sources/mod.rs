//! The sources of parallel iterators.

pub mod array;
pub(super) mod bridge;
pub mod collections;
mod cuts;
pub(super) mod few;
pub mod option;
pub(super) mod pieces;
pub mod range;
pub mod range_inclusive;
pub mod result;
pub mod slice;
pub mod str;
pub mod string;
pub(super) mod tree;
pub mod vec;
