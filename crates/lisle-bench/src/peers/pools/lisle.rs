//! This library: the domains of a runtime, loops in its hosts.

use super::{Number, Pool, serial::scan_from};
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
        let piece = numbers.len().div_ceil(8).max(1);
        let totals: Vec<T> = numbers.par_chunks(piece).map(|own| own.iter().sum()).collect();
        let before = totals.iter().scan(T::default(), |sum, total| {
            let before = *sum;
            *sum = before + *total;
            Some(before)
        });
        let before: Vec<T> = before.collect();
        let pieces = numbers.par_chunks(piece).zip(sums.par_chunks_mut(piece)).zip(&before);
        pieces.for_each(|((numbers, sums), before)| scan_from(*before, numbers, sums));
    }

    fn sort(numbers: &mut [u64]) {
        sort_halves(numbers, <[u64]>::sort);
    }

    fn sort_unstable(numbers: &mut [u64]) {
        sort_halves(numbers, <[u64]>::sort_unstable);
    }
}

/// Both halves, and then the two runs that they are, which the standard library's sort merges.
fn sort_halves(numbers: &mut [u64], sort: fn(&mut [u64])) {
    if numbers.len() < 1 << 14 {
        return sort(numbers);
    }
    let (left, right) = numbers.split_at_mut(numbers.len() / 2);
    par::join(|| sort_halves(left, sort), || sort_halves(right, sort));
    numbers.sort();
}
