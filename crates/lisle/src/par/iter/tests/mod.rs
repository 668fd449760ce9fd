//! Parallel iterators against the standard ones, with loops divided at random.

mod control;
mod erased;
mod programs;
pub(super) mod splits;
