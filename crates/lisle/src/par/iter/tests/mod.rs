//! Parallel iterators against the standard ones, with loops divided at random.

mod drops;
mod control;
mod erased;
mod liars;
mod programs;
pub(super) mod splits;
