//! No pool: plain loops of the standard library.

use super::{Number, Pool};

pub(crate) struct Serial;

impl Pool for Serial {
    fn run<T: Send>(workers: usize, main: impl FnOnce() -> T + Send) -> T {
        assert_eq!(workers, 1, "one thread is one worker");
        main()
    }

    #[inline(always)]
    fn join<A: Send, B: Send, R>(
        a: impl FnOnce() -> A + Send,
        b: impl FnOnce() -> B + Send,
        combine: impl FnOnce(A, B) -> R,
    ) -> R {
        combine(a(), b())
    }

    fn each<T: Send>(items: &mut [T], item: impl Fn(usize, &mut T) + Send + Sync) {
        items.iter_mut().enumerate().for_each(|(nth, own)| item(nth, own));
    }

    fn rows<T: Send>(cells: &mut [T], width: usize, row: impl Fn(usize, &mut [T]) + Send + Sync) {
        cells.chunks_mut(width).enumerate().for_each(|(nth, own)| row(nth, own));
    }

    fn sum<T: Number>(numbers: &[T]) -> T {
        numbers.iter().sum()
    }

    fn sum_of<T: Sync>(items: &[T], item: impl Fn(&T) -> u64 + Send + Sync) -> u64 {
        items.iter().map(item).sum()
    }

    fn scan<T: Number>(numbers: &[T], sums: &mut [T]) {
        scan_from(T::default(), numbers, sums);
    }

    fn sort(numbers: &mut [u64]) {
        numbers.sort();
    }

    fn sort_unstable(numbers: &mut [u64]) {
        numbers.sort_unstable();
    }
}

/// Writes the sums of a part of the numbers; the numbers before it have the sum `before`.
pub(super) fn scan_from<T: Number>(before: T, numbers: &[T], sums: &mut [T]) {
    let mut sum = before;
    for (number, own) in numbers.iter().zip(sums) {
        sum = sum + *number;
        *own = sum;
    }
}
