//! Bridges, wherever their loops are divided.

use super::splits::divided;
use crate::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

const SEEDS: u64 = if cfg!(miri) { 4 } else { 2_000 };

fn sorted(mut all: Vec<u64>) -> Vec<u64> {
    all.sort_unstable();
    all
}

#[test]
fn each_item_is_taken_once() {
    for seed in 0..SEEDS {
        let len = seed % 50;
        divided(seed, || {
            let all = (0..len).par_bridge().map(|n| n + 1).filter(|n| n % 3 != 0).collect();
            assert_eq!(sorted(all), (1..=len).filter(|n| n % 3 != 0).collect::<Vec<_>>());
            // As a part of another iterator.
            let three =
                (0..len).par_bridge().chain((100..110).chain(110..100 + len).par_bridge()).chain(7..9);
            let expected: Vec<u64> = [7, 8].into_iter().chain(0..len).chain(100..100 + len.max(10)).collect();
            assert_eq!(sorted(three.collect()), sorted(expected));
            // Inner loops.
            let pairs = (0..len).into_par_iter().flat_map(|n| (0..n % 4).par_bridge());
            assert_eq!(pairs.count() as u64, (0..len).map(|n| n % 4).sum::<u64>());
            assert_eq!((0..len).par_bridge().deterministic(3).sum::<u64>(), (0..len).sum());
        });
    }
}

#[test]
fn an_iterator_that_has_ended_is_left_alone() {
    for seed in 0..SEEDS / 4 {
        let mut left = Some(seed % 20);
        let items = std::iter::from_fn(move || {
            let now = left.expect("it has ended");
            left = now.checked_sub(1);
            left
        });
        assert_eq!(divided(seed, || items.par_bridge().count() as u64), seed % 20);
    }
}

#[test]
fn a_panic_of_next_ends_the_loop_and_loses_no_item() {
    for seed in 0..SEEDS / 4 {
        let items: Vec<_> = (0..20).map(|_| Arc::new(())).collect();
        let (kept, mut count) = (items.clone(), 0);
        let items = items.into_iter().inspect(|_| {
            count += 1;
            assert!(count <= 11, "`next` is called after its panic");
            if count == 11 {
                std::panic::resume_unwind(Box::new("eleven"));
            }
        });
        let end = catch_unwind(AssertUnwindSafe(|| divided(seed, || items.par_bridge().collect::<Vec<_>>())));
        assert_eq!(*end.unwrap_err().downcast::<&str>().unwrap(), "eleven");
        assert_eq!(count, 11);
        assert!(kept.iter().all(|item| Arc::strong_count(item) == 1));
    }
}

#[test]
fn a_copy_begins_where_the_original_is() {
    let bridge = (0..5_u64).par_bridge();
    assert_eq!(format!("{bridge:?}"), "IterBridge { items: 0..5, .. }");
    assert_eq!(bridge.clone().sum::<u64>(), 10);
    assert_eq!(bridge.sum::<u64>(), 10);
}
