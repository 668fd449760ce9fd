//! Limits of the pieces into which loops are divided, and loops in blocks one after the other.

use crate::support::{everywhere, work};
use crate::watch::watched;
use lisle::par::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const ITEMS: usize = 3_000;

/// Returns the numbers of steps in the pieces of a loop, and checks that together they are all
/// steps in order.
fn pieces(len: usize, limited: impl ParallelIterator<Item = usize>) -> Vec<usize> {
    let runs = limited.fold(Vec::new, |mut run, n| {
        work(n as u64);
        run.push(n);
        run
    });
    let mut runs: Vec<Vec<usize>> = runs.collect();
    assert!(runs.concat().into_iter().eq(0..len));
    // The accumulator of no steps.
    runs.retain(|run| !run.is_empty());
    runs.iter().map(Vec::len).collect()
}

#[test]
fn no_piece_is_shorter_than_the_least() {
    let _watched = watched();
    everywhere(|| {
        for len in [0, 1, 99, 100, 199, 200, ITEMS] {
            for min in [0, 1, 100] {
                let steps = pieces(len, (0..len).into_par_iter().with_min_len(min));
                assert!(steps.iter().all(|&steps| steps >= min.min(len)), "{len}, {min}: {steps:?}");
            }
        }
        // Loops of little work, whose cost is remembered.
        for _ in 0..50 {
            let sums = (0..150_usize).into_par_iter().with_min_len(60).fold(|| 0, |steps, _| steps + 1);
            let least = sums.min();
            assert!(least >= Some(60), "{least:?}");
        }
    });
}

#[test]
fn no_piece_is_longer_than_the_greatest() {
    let _watched = watched();
    everywhere(|| {
        for len in [0, 1, 64, 65, 1_000, ITEMS] {
            for max in [0, 1, 64] {
                let steps = pieces(len, (0..len).into_par_iter().with_max_len(max));
                assert!(steps.iter().all(|&steps| steps <= max.max(1)), "{len}, {max}: {steps:?}");
            }
            let steps = pieces(len, (0..len).into_par_iter().with_max_len(64).with_min_len(50));
            let expected = if len < 50 { len..len + 1 } else { 50..100 };
            assert!(steps.iter().all(|steps| expected.contains(steps)), "{len}: {steps:?}");
            let steps = pieces(len, (0..len).into_par_iter().grain(7).with_max_len(5));
            assert!(steps.iter().all(|&steps| steps <= 5));
            let steps = pieces(len, (0..len).into_par_iter().deterministic(7).with_min_len(20));
            assert_eq!(steps.len(), len.div_ceil(20));
        }
        for _ in 0..50 {
            let batches = (0..150_usize).into_par_iter().with_max_len(9).fold(|| 0, |steps, _| steps + 1);
            assert!(batches.max() <= Some(9));
        }
        let made = AtomicUsize::new(0);
        let init = || made.fetch_add(1, Relaxed);
        assert_eq!((0..ITEMS).into_par_iter().with_max_len(10).map_init(init, |_, n| n).count(), ITEMS);
        assert!(made.into_inner() >= ITEMS / 10);
        // Loops within loops have limits of their own.
        let inner = |n: usize| (n * 10..n * 10 + 10).into_par_iter().with_max_len(4);
        let steps = pieces(ITEMS, (0..ITEMS / 10).into_par_iter().flat_map(inner));
        assert!(steps.iter().all(|&steps| steps <= 4));
    });
}

#[test]
fn blocks_come_one_after_the_other() {
    let _watched = watched();
    everywhere(|| {
        let done = AtomicUsize::new(0);
        let blocks = (0..ITEMS).into_par_iter().map(|n| n + 1).by_uniform_blocks(70);
        let items: Vec<usize> = blocks
            .map(|n| {
                let before = done.fetch_add(1, Relaxed);
                assert!((n - 1) / 70 <= before / 70);
                work(n as u64) as usize
            })
            .collect();
        assert_eq!(items.len(), ITEMS);
        assert!((0..5_u8).into_par_iter().take(0).by_uniform_blocks(1).max().is_none());
    });
}

#[test]
fn a_search_in_growing_blocks_begins_few_items_in_vain() {
    let _watched = watched();
    everywhere(|| {
        let begun = AtomicUsize::new(0);
        let found = (0..u64::MAX).into_par_iter().by_exponential_blocks().find_first(|n| {
            begun.fetch_add(1, Relaxed);
            work(*n) > 0 && *n == 5_000
        });
        assert_eq!(found, Some(5_000));
        // The blocks before, and the one with the item, which is twice as long as all of these.
        assert!(begun.into_inner() <= 3 * 5_000 + 1_000);
        let failed = (0..u64::MAX)
            .into_par_iter()
            .by_exponential_blocks()
            .try_for_each(|n| n.checked_sub(1).map(drop));
        assert_eq!(failed, None);
    });
}

#[test]
#[should_panic(expected = "`by_uniform_blocks(0)`: a loop in blocks of 0 steps never ends")]
fn blocks_of_no_steps_are_refused() {
    drop((0..5).into_par_iter().by_uniform_blocks(0));
}
