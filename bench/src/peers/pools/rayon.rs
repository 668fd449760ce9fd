//! rayon: a pool of its own, parallel iterators inside of it.

use super::{Number, Pool, serial::scan_from};
use rayon::prelude::*;

pub(crate) struct Rayon;

impl Pool for Rayon {
    fn run<T: Send>(workers: usize, main: impl FnOnce() -> T + Send) -> T {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("a pool starts");
        // As one of its workers: a call from outside would wake one for each loop.
        pool.install(main)
    }

    #[inline(always)]
    fn join<A: Send, B: Send, R>(
        a: impl FnOnce() -> A + Send,
        b: impl FnOnce() -> B + Send,
        combine: impl FnOnce(A, B) -> R,
    ) -> R {
        let (a, b) = rayon::join(a, b);
        combine(a, b)
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

    /// In two passes, by hand: the sum of each piece, then the sums within each. A few pieces for
    /// each worker even out the delay of one.
    fn scan<T: Number>(numbers: &[T], sums: &mut [T]) {
        let piece = numbers.len().div_ceil(4 * rayon::current_num_threads()).max(1);
        let totals: Vec<T> = numbers.par_chunks(piece).map(|own| own.iter().sum()).collect();
        let before = totals.iter().scan(T::default(), |sum, total| {
            let before = *sum;
            *sum = before + *total;
            Some(before)
        });
        let before: Vec<T> = before.collect();
        let pieces = numbers.par_chunks(piece).zip(sums.par_chunks_mut(piece)).zip(before);
        pieces.for_each(|((numbers, sums), before)| scan_from(before, numbers, sums));
    }

    fn sort(numbers: &mut [u64]) {
        numbers.par_sort();
    }

    fn sort_unstable(numbers: &mut [u64]) {
        numbers.par_sort_unstable();
    }
}
