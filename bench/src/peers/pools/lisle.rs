//! This library: the domains of a runtime, loops in its fibers.

use super::{Number, Pool};
use lisle::par::{self, prelude::*};

pub(crate) struct Lisle;

impl Pool for Lisle {
    fn run<T: Send>(workers: usize, main: impl FnOnce() -> T + Send) -> T {
        crate::peers::runtime(workers).run(main)
    }

    #[inline(always)]
    fn join<A: Send, B: Send, R>(
        a: impl FnOnce() -> A + Send,
        b: impl FnOnce() -> B + Send,
        combine: impl FnOnce(A, B) -> R,
    ) -> R {
        // The form for recursions that do little at each step.
        par::join_with(a, b, combine)
    }

    fn each<T: Send>(items: &mut [T], item: impl Fn(usize, &mut T) + Send + Sync) {
        items.par_iter_mut().enumerate().for_each(|(nth, own)| item(nth, own));
    }

    fn rows<T: Send>(cells: &mut [T], width: usize, row: impl Fn(usize, &mut [T]) + Send + Sync) {
        cells.par_chunks_mut(width).enumerate().for_each(|(nth, own)| row(nth, own));
    }

    fn sum<T: Number>(numbers: &[T]) -> T {
        numbers.par_iter().sum()
    }

    fn sum_of<T: Sync>(items: &[T], item: impl Fn(&T) -> u64 + Send + Sync) -> u64 {
        items.par_iter().map(item).sum()
    }

    fn scan<T: Number>(numbers: &[T], sums: &mut [T]) {
        par::inclusive_scan(numbers, sums, |sum, number| *sum + *number);
    }

    fn sort(numbers: &mut [u64]) {
        numbers.par_sort();
    }

    fn sort_unstable(numbers: &mut [u64]) {
        numbers.par_sort_unstable();
    }
}
