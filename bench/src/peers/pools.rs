//! Pools of threads for loops, and how each writes a loop.
//!
//! A workload of loops is written once, against [`Pool`], and so the rows, steps and items of all
//! systems in Rust are the same code. Each operation of a pool has the form that the pool's own
//! documentation shows.

mod chili;
mod lisle;
mod rayon;
mod serial;

pub(crate) use self::{chili::Chili, lisle::Lisle, rayon::Rayon};
pub(crate) use serial::Serial;

use std::{iter::Sum, ops::Add};

/// Numbers, which can be added up in any order.
pub(crate) trait Number:
    Copy + Default + Send + Sync + Add<Output = Self> + Sum + for<'a> Sum<&'a Self> + 'static
{
}

impl Number for u32 {}
impl Number for u64 {}
impl Number for f64 {}

/// A pool of threads that run loops. All but `run` is called within it.
pub(crate) trait Pool {
    /// Starts a pool of `workers` workers, and runs `main` as one of them.
    fn run<T: Send>(workers: usize, main: impl FnOnce() -> T + Send) -> T;

    /// Runs two functions, at the same time if possible, and combines their results.
    fn join<A: Send, B: Send, R>(
        a: impl FnOnce() -> A + Send,
        b: impl FnOnce() -> B + Send,
        combine: impl FnOnce(A, B) -> R,
    ) -> R;

    /// Each item, with its number.
    fn each<T: Send>(items: &mut [T], item: impl Fn(usize, &mut T) + Send + Sync);

    /// Calls `row` with each row of `width` cells, and its number.
    fn rows<T: Send>(cells: &mut [T], width: usize, row: impl Fn(usize, &mut [T]) + Send + Sync);

    fn sum<T: Number>(numbers: &[T]) -> T;

    /// The sum of the results of `item`.
    fn sum_of<T: Sync>(items: &[T], item: impl Fn(&T) -> u64 + Send + Sync) -> u64;

    /// Puts the sum of `numbers` up to each into the same place of `sums`.
    fn scan<T: Number>(numbers: &[T], sums: &mut [T]);

    fn sort(numbers: &mut [u64]);

    fn sort_unstable(numbers: &mut [u64]);
}
