//! Stopping and counting, wherever loops are divided.

use super::splits::divided;
use crate::event::Source;
use crate::iter::Stopped;
use crate::shim::ticks;
use crate::{Progress, prelude::*};
use lisle_core::never;
use lisle_core::sync::Condition;
use lisle_runtime::internal::PERIOD;
use std::sync::Arc;

const SEEDS: u64 = if cfg!(miri) { 5 } else { 500 };

#[test]
fn what_is_done_is_counted_once_wherever_a_loop_is_divided() {
    let data: Vec<u64> = (0..50).collect();
    for seed in 0..SEEDS {
        divided(seed, || {
            let progress = Progress::new();
            let mut expected = 0;
            let mut check = |steps| {
                expected += steps;
                assert_eq!((progress.done(), progress.total()), (expected, expected), "seed {seed}");
            };
            assert_eq!(data.par_iter().progress(&progress).sum::<u64>(), 1_225);
            check(50);
            let numbers = data.par_iter().copied().progress(&progress);
            let down: Vec<u64> = numbers.rev().map(|n| n + 1).collect();
            assert!(down.into_iter().eq((1..=50).rev()));
            check(50);
            let owned = data.clone().into_par_iter().progress(&progress);
            let odd: Vec<u64> = owned.filter(|n| n % 2 == 1).until(never::<()>()).collect().unwrap();
            assert_eq!(odd.len(), 25);
            check(50);
            let (a, b) = (data.par_iter().progress(&progress), data.par_iter().progress(&progress));
            assert_eq!(a.chain(b).step_by(3).count(), 34);
            check(100);
        });
    }
}

/// The steps that are done are those of blocks that were begun before the event, each once. Each
/// item is dropped.
#[test]
fn a_stop_comes_between_blocks_wherever_they_are() {
    for seed in 0..SEEDS / 5 {
        divided(seed, || {
            let items: Vec<_> = (0..50).map(|_| Arc::new(())).collect();
            let (kept, stop) = (items.clone(), Condition::new());
            let progress = Progress::new();
            let mut done = 0;
            let seen = Source::<u64, ()>::new(0);
            let end = items.into_par_iter().progress(&progress).until(stop.wait_evt()).run(|items| {
                let items = items.inspect(|_| {
                    // Long enough for a poll between any two blocks.
                    let start = ticks::now();
                    while ticks::now().wrapping_sub(start) < PERIOD {}
                    seen.update(|seen, _| *seen += 1);
                    if seen.with(|seen| *seen == seed % 50) {
                        stop.signal();
                    }
                });
                done = items.count() as u64;
            });
            assert_eq!((done, progress.total()), (progress.done(), 50));
            assert_eq!(seen.into_inner(), done);
            match end {
                Ok(()) => assert_eq!(done, 50),
                Err(Stopped(())) => assert!(done >= seed % 50),
            }
            assert!(kept.iter().all(|item| Arc::strong_count(item) == 1));
        });
    }
}
