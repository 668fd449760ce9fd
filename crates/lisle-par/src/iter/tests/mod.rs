//! Compares parallel iterators with the standard ones, with loops divided at random.

mod bridge;
mod collections;
mod control;
mod drains;
mod drops;
mod erased;
mod liars;
mod programs;
mod shown;
mod slices;
mod sources;
pub(super) mod splits;
mod texts;
mod trees;
