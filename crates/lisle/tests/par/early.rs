//! Loops that end early, also endless ones.

use crate::support::everywhere;
use lisle::par::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

const ENDLESS: std::ops::Range<u64> = 0..u64::MAX;

#[test]
fn anything_will_do() {
    everywhere(|| {
        let found = ENDLESS.into_par_iter().find_any(|n| n % 1_000 == 999).unwrap();
        assert_eq!(found % 1_000, 999);
        assert!(ENDLESS.into_par_iter().any(|n| n % 1_000 == 999));
        assert!(!ENDLESS.into_par_iter().all(|n| n % 1_000 != 999));
        let at = ENDLESS.into_par_iter().map(|n| n % 1_000).position_any(|n| n == 999).unwrap();
        assert_eq!(at % 1_000, 999);
        let mapped = ENDLESS.into_par_iter().filter(|n| n % 2 == 1).find_map_any(|n| n.checked_sub(5_000));
        assert!(mapped.is_some());
    });
}

#[test]
fn the_first_one() {
    everywhere(|| {
        assert_eq!(ENDLESS.into_par_iter().find_first(|n| n % 12_345 == 12_344), Some(12_344));
        assert_eq!(ENDLESS.into_par_iter().position_first(|n| n == 54_321), Some(54_321));
        assert_eq!(ENDLESS.into_par_iter().rev().position_first(|n| n == u64::MAX - 10), Some(9));
        assert_eq!(ENDLESS.into_par_iter().find_map_first(|n| n.checked_sub(777)), Some(0));
        assert_eq!(ENDLESS.into_par_iter().position_last(|n| n < u64::MAX - 10), Some(usize::MAX - 11));
        let endless = ENDLESS.into_par_iter().filter(|n| n % 2 == 1).flat_map_iter(|n| [n, n + 1]);
        assert_eq!(endless.find_first(|n| *n > 20_000), Some(20_001));
    });
}

#[test]
fn the_last_one() {
    everywhere(|| {
        let data: Vec<u32> = (0..20_000).collect();
        assert_eq!(data.par_iter().find_last(|n| **n % 7_000 == 0), Some(&14_000));
        assert_eq!(data.par_iter().filter(|n| **n < 10_000).find_last(|_| true), Some(&9_999));
        assert_eq!(data.par_iter().find_map_last(|n| n.checked_sub(19_999)), Some(0));
        assert_eq!(data.par_iter().find_last(|_| false), None);
        assert_eq!(data.par_iter().position_last(|n| *n < 5), Some(4));
    });
}

#[test]
fn the_first_failure() {
    everywhere(|| {
        let limit = |n: u64| if n < 9_999 { Ok(n) } else { Err(n) };
        assert_eq!(ENDLESS.into_par_iter().try_for_each(|n| limit(n).map(drop)), Err(9_999));
        assert_eq!(ENDLESS.into_par_iter().map(limit).try_reduce(|| 0, |a, b| Ok(a.max(b))), Err(9_999));
        assert_eq!(ENDLESS.into_par_iter().map(limit).collect::<Result<Vec<u64>, u64>>(), Err(9_999));
        assert_eq!(ENDLESS.into_par_iter().map(|n| limit(n).ok()).collect::<Option<Vec<u64>>>(), None);
        let row =
            |n: u64| (n..n.saturating_add(100)).into_par_iter().map(move |m| limit(n.saturating_add(m)));
        let rows = ENDLESS.into_par_iter().flat_map(row);
        assert_eq!(rows.collect::<Result<Vec<u64>, u64>>(), Err(9_999));
        let broken = ENDLESS.into_par_iter().try_for_each(|n| match n {
            77 => ControlFlow::Break("77"),
            _ => ControlFlow::Continue(()),
        });
        assert_eq!(broken, ControlFlow::Break("77"));
        // A fold that fails ends only itself. The reduction of the folds ends them all.
        let folded = ENDLESS.into_par_iter().try_fold(|| 0, |sum: u64, n| limit(n).map(|n| sum.max(n)));
        assert_eq!(folded.try_reduce(|| 0, |a, b| Ok(a.max(b))), Err(9_999));
    });
}

/// The participant that has found the item begins nothing after it. Neither does a loop that is not
/// divided.
#[test]
fn what_comes_after_is_left_alone() {
    lisle::Runtime::builder().domains(1).start().unwrap().run(|| {
        let begun = AtomicUsize::new(0);
        let count = |n: &u64| {
            begun.fetch_add(1, Ordering::Relaxed);
            *n == 500
        };
        assert_eq!(ENDLESS.into_par_iter().find_first(count), Some(500));
        assert_eq!(begun.swap(0, Ordering::Relaxed), 501);
        assert_eq!(ENDLESS.into_par_iter().find_any(count), Some(500));
        assert_eq!(begun.swap(0, Ordering::Relaxed), 501);
        let found = ENDLESS.into_par_iter().map(|n| if count(&n) { Err(n) } else { Ok(n) });
        assert_eq!(found.collect::<Result<Vec<_>, _>>(), Err(500));
        assert_eq!(begun.into_inner(), 501);
    });
}

#[test]
fn nothing_is_found() {
    everywhere(|| {
        let data: Vec<u32> = (0..20_000).collect();
        assert_eq!(data.par_iter().find_any(|_| false), None);
        assert_eq!(data.par_iter().find_first(|_| false), None);
        assert_eq!(data.par_iter().position_any(|_| false), None);
        assert!(data.par_iter().all(|_| true) && !data.par_iter().any(|_| false));
        assert_eq!(data.par_iter().try_for_each(|_| Ok::<(), ()>(())), Ok(()));
        let (sum, same) = (data.iter().sum::<u32>(), data.par_iter().map(|n| Some(*n)));
        assert_eq!(same.try_reduce(|| 0, u32::checked_add), Some(sum));
    });
}
