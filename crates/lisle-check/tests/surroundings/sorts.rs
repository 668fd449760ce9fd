//! Sorts and scans over all cores: their parts are processes, as the parts of other loops are.

use crate::support::{executions, failing, outcomes};
use lisle::channel;
use lisle::par::prelude::*;
use lisle::par::{self, Scan};
use lisle::sync::Mutex;
use lisle_check::Checker;
use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Counts, in two steps that others can come between.
fn count(calls: &AtomicU32) {
    calls.store(calls.load(SeqCst) + 1, SeqCst);
}

/// All sorts and scans, of some lengths, with functions that nobody sees.
#[test]
fn what_nobody_sees_costs_one_execution() {
    let program = || {
        for len in [2, 5, 16, 40, 300] {
            let numbers: Vec<u32> = (0..len).map(|n| n * 7_919 % (len + 1)).collect();
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            let sorts: [fn(&mut [u32]); 3] = [
                |numbers| numbers.par_sort(),
                |numbers| numbers.par_sort_unstable(),
                |numbers| numbers.par_sort_by_cached_key(u32::to_string),
            ];
            for sort in &sorts[..2] {
                let mut ours = numbers.clone();
                sort(&mut ours);
                assert_eq!(ours, sorted);
            }
            sorts[2](&mut sorted);
            assert!(sorted.is_sorted_by_key(u32::to_string));

            let expected: Vec<u32> =
                numbers.iter().scan(0, |sum, n| Some(std::mem::replace(sum, *sum + n))).collect();
            let scan = || Scan::new(|a: &u32, b: &u32| a + b);
            for scan in [scan(), scan().fixed(), scan().grain(2.try_into().unwrap())] {
                let mut sums = vec![0; numbers.len()];
                assert_eq!(scan.exclusive(&numbers, &mut sums, 0), numbers.iter().sum::<u32>());
                assert_eq!(sums, expected);
                let mut sums = numbers.clone();
                scan.inclusive_in_place(&mut sums);
                assert_eq!(sums[..sums.len() - 1], expected[1..]);
            }
        }
    };
    assert_eq!(executions(program), 1);
}

#[test]
fn comparisons_of_a_sort_interleave() {
    // Two comparisons at the same time count at the same time, and a count may be lost.
    let seen = |sort: fn(&mut [u32], &AtomicU32)| {
        let program = move || {
            let calls = AtomicU32::new(0);
            let mut numbers = [4, 1, 12, 3, 2, 10, 5, 11, 8, 6, 9, 7];
            sort(&mut numbers, &calls);
            assert!(numbers.is_sorted());
            calls.load(SeqCst)
        };
        let alone = Checker::new().parts(1).outcomes(program);
        assert_eq!(alone.len(), 1, "{alone}");
        let divided = Checker::new().random(1).executions(100).outcomes(program);
        assert!(divided.verdict().failure().is_none() && divided.len() > 1, "{divided}");
    };
    seen(|numbers, calls| {
        numbers.par_sort_by(|a, b| {
            count(calls);
            a.cmp(b)
        });
    });
    seen(|numbers, calls| {
        numbers.par_sort_unstable_by_key(|n| {
            count(calls);
            *n
        });
    });
    seen(|numbers, calls| {
        numbers.par_sort_by_cached_key(|n| {
            count(calls);
            *n
        });
    });
}

#[test]
fn the_keys_of_a_sort_are_computed_in_any_order() {
    // Three keys are three parts, which make one step each.
    let orders = executions(|| {
        let next = AtomicU32::new(0);
        let mut numbers = [7, 7, 7];
        numbers.par_sort_by_cached_key(|_| {
            next.fetch_add(1, SeqCst);
        });
    });
    assert_eq!(orders, 6);
}

#[test]
fn what_two_comparisons_wait_for_is_found() {
    // The one has the lock, and waits for a message that the other sends under the lock.
    let report = failing(|| {
        let (tx, rx) = channel::bounded(1);
        let lock = Mutex::new(());
        let mut numbers = [4, 1, 3, 2];
        numbers.par_sort_by(|a, b| {
            let _held = lock.lock();
            match (*a).max(*b) {
                4 => drop(rx.recv()),
                _ => drop(tx.send(())),
            }
            a.cmp(b)
        });
    });
    assert!(report.contains("nothing can go on") && report.contains("lock mutex"), "{report}");
}

#[test]
fn operations_of_a_scan_interleave() {
    let sum_and_calls = || {
        let calls = AtomicU32::new(0);
        let mut sums = [0; 4];
        par::inclusive_scan(&[1, 2, 3, 4], &mut sums, |a, b| {
            count(&calls);
            a + b
        });
        assert_eq!(sums, [1, 3, 6, 10]);
        calls.load(SeqCst)
    };
    // The second chunk is added up while the first is scanned, and scanned then.
    assert_eq!(outcomes(sum_and_calls), [3, 4, 5]);
    assert_eq!(Checker::new().parts(1).outcomes(sum_and_calls).len(), 1);
}

#[test]
fn a_scan_of_what_is_not_associative_differs_by_its_division() {
    let program = || {
        let mut rest = [9, 4, 2, 1];
        par::inclusive_scan_in_place(&mut rest, |a: &i32, b: &i32| a - b);
        rest
    };
    let of = |checker: Checker| {
        let outcomes = checker.outcomes(program);
        assert!(outcomes.verdict().is_exhaustive(), "{outcomes}");
        outcomes.iter().map(|outcome| *outcome.result()).collect::<BTreeSet<_>>()
    };
    assert_eq!(of(Checker::new().parts(1)), [[9, 5, 3, 2]].into());
    // The last sum is the sum before its chunk, less the chunk's sum if some worker adds the chunk
    // up.
    assert_eq!(
        of(Checker::new().every_division()).len(),
        1,
        "a carry is all that a chunk of two is scanned with"
    );
    let three = || {
        let mut sums = [9, 4, 2, 1, 5, 6];
        par::inclusive_scan_in_place(&mut sums, |a: &i32, b: &i32| a - b);
        sums
    };
    let divided = Checker::new().every_division().outcomes(three);
    let last: BTreeSet<_> = divided.iter().map(|outcome| outcome.result()[5]).collect();
    assert_eq!(last, [9 - 4 - 2 - 1 - 5 - 6, 9 - 4 - (2 - 1) - 5 - 6].into());
    // A fixed scan has the same result in every division.
    let fixed = || {
        let mut sums = [9, 4, 2, 1, 5, 6];
        Scan::new(|a: &i32, b: &i32| a - b).fixed().inclusive_in_place(&mut sums);
        sums
    };
    let verdict = Checker::new().every_division().same_result(fixed);
    assert!(verdict.failure().is_none(), "{verdict}");
}

#[test]
fn equal_elements_may_come_in_any_order_of_an_unstable_sort() {
    let order = |sort: fn(&mut [(u32, u32)])| {
        let program = move || {
            let mut pairs: Vec<(u32, u32)> = (0..24).map(|n| (n * 7 % 3, n)).collect();
            sort(&mut pairs);
            pairs
        };
        Checker::new().every_division().outcomes(program).len()
    };
    assert_eq!(order(|pairs| pairs.par_sort_unstable_by_key(|pair| pair.0)), 2, "by one worker, or divided");
    assert_eq!(order(|pairs| pairs.par_sort_by_key(|pair| pair.0)), 1);
}

#[test]
fn a_panic_in_a_comparison_leaves_all_elements() {
    let panics = outcomes(|| {
        let calls = AtomicU32::new(0);
        let dropped = Arc::new(());
        let mut elements: Vec<_> = [4, 1, 3, 2].map(|n| (n, dropped.clone())).into();
        let sorted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            elements.par_sort_by(|a, b| {
                assert!(calls.fetch_add(1, SeqCst) != 1, "the second one");
                a.0.cmp(&b.0)
            });
        }));
        let mut numbers: Vec<_> = elements.iter().map(|element| element.0).collect();
        numbers.sort_unstable();
        assert_eq!((numbers, Arc::strong_count(&dropped)), (vec![1, 2, 3, 4], 5));
        sorted.is_err()
    });
    assert_eq!(panics, [true]);
}
