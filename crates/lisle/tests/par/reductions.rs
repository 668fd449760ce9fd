//! The order in which reductions combine values.

use crate::support::{everywhere, work};
use lisle::Runtime;
use lisle::par::prelude::*;
use std::sync::Mutex;

const STEPS: u64 = 20_000;

/// A map of x to a·x + b. Composition of such maps is associative, but not commutative.
type Line = (u64, u64);

fn after(first: Line, next: Line) -> Line {
    (first.0.wrapping_mul(next.0), first.1.wrapping_mul(next.0).wrapping_add(next.1))
}

fn line(n: u64) -> Line {
    (work(n) | 1, n)
}

#[test]
fn neighbours_stay_in_order() {
    let expected = (0..STEPS).map(line).fold((1, 0), after);
    everywhere(|| {
        let lines = || (0..STEPS).into_par_iter().map(line);
        assert_eq!(lines().reduce(|| (1, 0), after), expected);
        assert_eq!(lines().reduce_with(after), Some(expected));
        assert_eq!(lines().fold(|| (1, 0), after).reduce(|| (1, 0), after), expected);
        assert_eq!(lines().fold_with((1, 0), after).reduce_with(after), Some(expected));
        assert_eq!(lines().map(Some).try_reduce(|| (1, 0), |a, b| Some(after(a, b))), Some(expected));
        let folds = lines().fold(|| (1, 0), after).collect::<Vec<_>>();
        assert_eq!(folds.into_iter().fold((1, 0), after), expected);
        assert_eq!(lines().deterministic(16).reduce(|| (1, 0), after), expected);
    });
}

/// A loop that is not divided makes one accumulator, for any number of blocks.
#[test]
fn there_are_as_many_folds_as_runs() {
    Runtime::builder().domains(1).start().unwrap().run(|| {
        let folds = (0..STEPS).into_par_iter().map(work).grain(10).fold(|| 0, |count, _| count + 1);
        assert_eq!(folds.map(|count| count + 1).collect::<Vec<u64>>(), [STEPS + 1]);
    });
}

#[test]
fn of_equals_it_is_the_same_one_as_in_a_loop() {
    let data: Vec<(u64, u64)> = (0..STEPS).map(|n| (work(n) % 10, n)).collect();
    let (least, greatest) = (data.iter().min_by_key(|x| x.0), data.iter().max_by_key(|x| x.0));
    everywhere(|| {
        assert_eq!(data.par_iter().min_by_key(|x| x.0), least);
        assert_eq!(data.par_iter().max_by_key(|x| x.0), greatest);
        assert_eq!(data.par_iter().min_by(|a, b| a.0.cmp(&b.0)), least);
        assert_eq!(data.par_iter().max_by(|a, b| a.0.cmp(&b.0)), greatest);
        assert_eq!(data.par_iter().min(), data.iter().min());
        assert_eq!(data.par_iter().max(), data.iter().max());
    });
}

/// The sum of floating-point numbers depends on the order in which they are added.
#[test]
fn deterministic_sums_are_the_same_to_the_last_bit() {
    let numbers: Vec<f64> = (1..STEPS).map(|n| 1.0 / (work(n) as f64 + n as f64)).collect();
    let sums = Mutex::new(Vec::new());
    everywhere(|| {
        for _ in 0..3 {
            let sum = numbers.par_iter().deterministic(100).sum::<f64>();
            let folded = numbers.par_iter().deterministic(100).fold(|| 0.0, |a, x| a + x).sum::<f64>();
            let product = numbers.par_iter().map(|x| x + 1.0).deterministic(100).product::<f64>();
            let rows = || numbers.par_chunks(1_000);
            let outer = rows().deterministic(2).flat_map(|row| row).sum::<f64>();
            let inner =
                rows().flat_map(|row| row.par_iter().deterministic(100)).deterministic(2).sum::<f64>();
            sums.lock().unwrap().push([sum, folded, product, outer, inner].map(f64::to_bits));
        }
    });
    let sums = sums.into_inner().unwrap();
    assert!(sums.iter().all(|sum| *sum == sums[0]));
    // The result is approximately right.
    assert!((f64::from_bits(sums[0][0]) - numbers.iter().sum::<f64>()).abs() < 1e-6);
}

#[test]
fn sums_of_nothing_and_of_failures() {
    everywhere(|| {
        assert_eq!((0..0).into_par_iter().sum::<i32>(), 0);
        assert_eq!((0..0).into_par_iter().product::<i32>(), 1);
        assert_eq!((0..5).into_par_iter().map(|n| (n < 4).then_some(n)).sum::<Option<i32>>(), None);
        assert_eq!((0..5).into_par_iter().map(|n| (n < 5).then_some(n)).sum::<Option<i32>>(), Some(10));
        assert_eq!((0..5).into_par_iter().map(Ok::<_, ()>).product::<Result<i32, ()>>(), Ok(0));
        // Not 0.0: nothing is added to the existing value.
        assert_eq!([-0.0_f64].par_iter().sum::<f64>().to_bits(), [-0.0_f64].iter().sum::<f64>().to_bits());
    });
}
