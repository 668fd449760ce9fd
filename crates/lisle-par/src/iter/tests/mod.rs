//! Compares parallel iterators with the standard ones, with loops divided at random.

mod bridge;
mod control;
mod drops;
mod erased;
mod liars;
mod programs;
pub(super) mod splits;
