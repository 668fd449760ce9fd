//! Loops with more items than could ever be counted: products of ranges. They end because the items
//! that decide them are found early.

use crate::support::everywhere;
use crate::watch::watched;
use lisle::Runtime;
use lisle::par::prelude::*;
use std::ops::ControlFlow;

const BILLION: u32 = 1_000_000_000;
const OCTILLION: u128 = 1_000_000_000_000_000_000_000_000_000;

/// The numbers below `OCTILLION`. Each of the two loops is within the loop of the adapter before
/// it.
fn flat() -> impl ParallelIterator<Item = u128> {
    (0..BILLION)
        .into_par_iter()
        .map(|i| u64::from(i) * u64::from(BILLION))
        .flat_map(|i| (0..BILLION).into_par_iter().map(move |j| i + u64::from(j)))
        .map(|i| u128::from(i) * u128::from(BILLION))
        .flat_map(|i| (0..BILLION).into_par_iter().map(move |j| i + u128::from(j)))
}

/// The numbers below `OCTILLION`. The loop of a step has a loop within it.
fn nested() -> impl ParallelIterator<Item = u128> {
    let billions =
        |i: u128| (0..BILLION).into_par_iter().map(move |j| i * u128::from(BILLION) + u128::from(j));
    billions(0).flat_map(move |i| billions(i).flat_map(billions))
}

/// Runs `f` wherever there are several domains: one alone would have to go through all items before
/// the ones that are looked for.
fn on_several(f: impl Fn() + Send + Sync) {
    for domains in [2, 3, 8] {
        Runtime::builder().domains(domains).stack_size(1 << 20).start().unwrap().run(&f);
    }
}

/// Runs the same search in both products of ranges.
macro_rules! in_both {
    ($($search:tt)*) => {
        (flat().$($search)*, nested().$($search)*)
    };
}

/// Another domain that is in the same step of the outermost loop, and beyond the item, ends too.
#[test]
fn the_first_of_an_octillion() {
    let _watched = watched();
    everywhere(|| {
        for n in [0, 1, 50_000] {
            assert_eq!(in_both!(find_first(|x| *x == n)), (Some(n), Some(n)));
            assert_eq!(in_both!(find_first(|x| *x >= n)), (Some(n), Some(n)));
        }
        let broken = |x: u128| if x == 7_777 { ControlFlow::Break(x) } else { ControlFlow::Continue(()) };
        let end = ControlFlow::Break(7_777);
        assert_eq!(in_both!(try_for_each(broken)), (end, end));
        let failed = |x: u128| if x == 7_777 { Err(x) } else { Ok(x) };
        let sums = in_both!(map(failed).try_reduce(|| 0, |a, b| Ok(a + b)));
        assert_eq!(sums, (Err(7_777), Err(7_777)));
        let all = in_both!(map(failed).collect::<Result<Vec<_>, _>>());
        assert_eq!(all, (Err(7_777), Err(7_777)));
    });
}

/// The items before one that was found are left out, however many they are.
#[test]
fn the_last_of_an_octillion() {
    let _watched = watched();
    on_several(|| {
        let last = Some(OCTILLION - 1);
        assert_eq!(in_both!(find_last(|_| true)), (last, last));
        assert_eq!((0..u64::MAX).into_par_iter().find_last(|_| true), Some(u64::MAX - 1));
        let grained = (0..u64::MAX).into_par_iter().grain(1_000).map(|n| n / 2);
        assert_eq!(grained.find_map_last(Some), Some((u64::MAX - 1) / 2));
    });
}

#[test]
fn any_of_an_octillion() {
    let _watched = watched();
    everywhere(|| {
        assert!(flat().find_any(|x| x % 1_000 == 999).is_some());
        assert!(nested().any(|x| x % 1_000 == 999));
    });
    on_several(|| {
        let half = OCTILLION / 2;
        let found = in_both!(find_any(|x| *x > half));
        assert!(found.0 > Some(half) && found.1 > Some(half));
        let found = in_both!(filter(|x| *x > half).find_any(|_| true));
        assert!(found.0 > Some(half) && found.1 > Some(half));
    });
}
