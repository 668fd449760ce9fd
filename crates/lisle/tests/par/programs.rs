//! Loops of several shapes, against the standard iterators.

use crate::support::{Random, everywhere, work};
use lisle::par::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const STEPS: u64 = 20_000;

#[test]
fn maps_and_filters() {
    let expected: Vec<u64> = (0..STEPS).map(work).filter(|n| n % 3 != 0).collect();
    everywhere(|| {
        assert_eq!((0..STEPS).into_par_iter().map(work).filter(|n| n % 3 != 0).collect::<Vec<_>>(), expected);
        let same = (0..STEPS).into_par_iter().filter_map(|n| Some(work(n)).filter(|n| n % 3 != 0));
        assert_eq!(same.collect::<Vec<_>>(), expected);
    });
}

#[test]
fn slices_side_by_side() {
    let a: Vec<u64> = (0..STEPS).map(work).collect();
    let b: Vec<u64> = a.iter().map(|n| n / 2).collect();
    let expected: Vec<u64> = a.iter().zip(&b).map(|(a, b)| work(*a) ^ b).collect();
    everywhere(|| {
        let mut c = vec![0; a.len()];
        c.par_iter_mut().zip(&a).zip(&b).for_each(|((c, a), b)| *c = work(*a) ^ b);
        assert_eq!(c, expected);
        let mut c = vec![0; a.len()];
        c.par_chunks_mut(7).zip(a.par_chunks(7)).enumerate().for_each(|(at, (c, a))| {
            for (i, (c, a)) in c.iter_mut().zip(a).enumerate() {
                *c = work(*a) ^ b[at * 7 + i];
            }
        });
        assert_eq!(c, expected);
        let reversed: Vec<u64> =
            a.par_iter().rev().zip(b.par_iter().rev()).map(|(a, b)| work(*a) ^ b).collect();
        assert!(reversed.iter().eq(expected.iter().rev()));
    });
}

#[test]
fn each_step_is_done_once() {
    everywhere(|| {
        let times: Vec<AtomicU64> = (0..STEPS).map(|_| AtomicU64::new(0)).collect();
        (0..STEPS).into_par_iter().for_each(|n| {
            work(n);
            times[n as usize].fetch_add(1, Ordering::Relaxed);
        });
        assert!(times.into_iter().all(|times| times.into_inner() == 1));
    });
}

#[test]
fn loops_within_loops() {
    let expected: Vec<u64> = (0..100).map(|n| (0..n).map(work).fold(0, |a, b| a ^ b)).collect();
    everywhere(|| {
        let inner = |n| (0..n).into_par_iter().map(work).reduce(|| 0, |a, b| a ^ b);
        assert_eq!((0..100).into_par_iter().map(inner).collect::<Vec<_>>(), expected);
        let pairs = (0..100).into_par_iter().flat_map(|a| (0..a).into_par_iter().map(move |b| (a, work(b))));
        assert!(
            pairs
                .collect::<Vec<_>>()
                .into_iter()
                .eq((0..100).flat_map(|a| (0..a).map(move |b| (a, work(b)))))
        );
    });
}

/// An initial value stays with the thread that has created it.
#[test]
fn values_at_hand() {
    everywhere(|| {
        let made = AtomicU64::new(0);
        let init = || {
            made.fetch_add(1, Ordering::Relaxed);
            // Not `Send`.
            std::rc::Rc::new(std::cell::Cell::new(0))
        };
        let seen = Mutex::new(0);
        (0..1_000).into_par_iter().grain(100).for_each_init(init, |count, _| {
            count.set(count.get() + 1);
            assert!(count.get() <= 1_000);
            *seen.lock().unwrap() += 1;
        });
        assert_eq!(seen.into_inner().unwrap(), 1_000);
        // There are ten blocks, so there are at most ten parts.
        assert!((1..=10).contains(&made.into_inner()));
    });
}

/// The same program, a hundred times with different numbers.
#[test]
fn of_any_length() {
    everywhere(|| {
        let mut random = Random::seeded(5);
        for _ in 0..100 {
            let (len, skip, step, size) =
                (random.below(3_000) as u64, random.below(100), random.below(5) + 1, random.below(50) + 1);
            let parallel: Vec<Vec<(usize, u64)>> = (0..len)
                .into_par_iter()
                .skip(skip)
                .map(work)
                .step_by(step)
                .enumerate()
                .rev()
                .chain([(7, 7)])
                .chunks(size)
                .collect();
            let skipped = (0..len).skip(skip).map(work).step_by(step).enumerate();
            let mut serial: Vec<(usize, u64)> = skipped.collect();
            serial.reverse();
            serial.push((7, 7));
            assert!(parallel.iter().map(|chunk| &chunk[..]).eq(serial.chunks(size)));
        }
    });
}
