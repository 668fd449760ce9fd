//! What parallel iterators begin with.

pub mod array;
pub mod chunks;
pub mod few;
pub mod range;
pub mod slice;
pub mod vec;
