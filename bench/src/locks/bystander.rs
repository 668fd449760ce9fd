//! A thread that computes beside a contest and never touches the lock: how much is it slowed down?
//! It multiplies matrices, as the one in AMD's measurement of a spin lock does.

use super::wait::{Phase, is_over};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// Rows and columns of a matrix: three of them fit a core's first cache.
const SIZE: usize = 24;

type Matrix = [[f64; SIZE]; SIZE];

/// The result of a bystander.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Computed {
    products: u64,
    elapsed: Duration,
    /// For how long the thread had a core.
    ran: Duration,
}

impl Computed {
    /// Multiplies until it `is_enough`, and counts from when `is_counted`, one product at least.
    fn until(is_counted: impl Fn() -> bool, is_enough: impl Fn() -> bool) -> Self {
        let (mut start, mut ran) = (Instant::now(), thread_time());
        let (mut a, b) = (matrix(1.0), matrix(2.0));
        let (mut products, mut counts) = (0, false);
        loop {
            a = multiply(black_box(&a), black_box(&b));
            products += 1;
            if !counts && is_counted() {
                (products, counts) = (1, true);
                (start, ran) = (Instant::now(), thread_time());
            }
            if is_enough() {
                return Computed { products, elapsed: start.elapsed(), ran: thread_time() - ran };
            }
        }
    }

    /// For so long, with nobody beside it.
    pub(crate) fn alone(target: Duration) -> Self {
        let start = Instant::now();
        Computed::until(|| true, || start.elapsed() >= target)
    }

    /// While a contest is counted.
    pub(crate) fn beside() -> Self {
        Computed::until(|| Phase::now() >= Phase::Counted, is_over)
    }

    /// For how long it had a core.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        self.ran.as_secs_f64()
    }

    /// How many times as long a product takes beside others as alone: by the clock, and by the time
    /// for which the thread had a core.
    pub(crate) fn slowed(&self, alone: &Computed) -> [f64; 2] {
        let by = |time: fn(&Computed) -> Duration| {
            let each = |computed: &Computed| time(computed).as_secs_f64() / computed.products as f64;
            each(self) / each(alone)
        };
        [by(|computed| computed.elapsed), by(|computed| computed.ran)]
    }
}

/// Processor time of this thread.
fn thread_time() -> Duration {
    let clock = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(clock.tv_sec.cast_unsigned(), clock.tv_nsec as u32)
}

fn matrix(seed: f64) -> Matrix {
    let mut matrix = [[0.0; SIZE]; SIZE];
    for (i, row) in matrix.iter_mut().enumerate() {
        for (j, number) in row.iter_mut().enumerate() {
            *number = seed / (1 + i + j) as f64;
        }
    }
    matrix
}

/// The product, its rows scaled so that the numbers neither grow nor vanish however often it is
/// multiplied.
fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
    let mut product = [[0.0; SIZE]; SIZE];
    for (row, of_a) in product.iter_mut().zip(a) {
        for (factor, of_b) in of_a.iter().zip(b) {
            for (number, other) in row.iter_mut().zip(of_b) {
                *number += factor * other;
            }
        }
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|number| *number /= sum);
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_stay_of_one_size() {
        let (mut a, b) = (matrix(1.0), matrix(2.0));
        for _ in 0..1_000 {
            a = multiply(&a, &b);
        }
        for row in a {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn half_as_many_in_the_same_time_is_slowed_twice() {
        let second = Duration::from_secs(1);
        let alone = Computed { products: 100, elapsed: second, ran: second };
        let beside = Computed { products: 50, elapsed: second, ran: second / 2 };
        assert_eq!(beside.slowed(&alone), [2.0, 1.0]);
        assert_eq!(Computed::alone(Duration::ZERO).products, 1);
    }
}
