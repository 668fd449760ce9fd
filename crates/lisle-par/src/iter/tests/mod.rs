//! Compares parallel iterators with the standard ones, with loops divided at random.

mod bridge;
mod control;
mod drops;
mod erased;
mod liars;
mod programs;
mod slices;
pub(super) mod splits;
mod texts;
