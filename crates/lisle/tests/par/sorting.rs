//! Sorts and scans through the public interface, at lengths at which they are divided.

use lisle::Runtime;
use lisle::par::{Scan, exclusive_scan, inclusive_scan, inclusive_scan_in_place};
use lisle::par::{prelude::*, sort};
use std::cmp::Reverse;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

const LENGTHS: [usize; 3] = [100, 20_000, 120_000];

/// Marsaglia's xorshift.
fn random(seed: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(seed | 1), |x| {
        let mut x = *x;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        Some(x)
    })
}

fn inputs(len: usize) -> Vec<Vec<u64>> {
    let few = |kinds: u64| random(7).map(move |x| x % kinds).take(len).collect();
    let ascending: Vec<u64> = (0..len as u64).collect();
    let descending: Vec<u64> = ascending.iter().rev().copied().collect();
    let mut rotated = ascending.clone();
    rotated.rotate_left(len / 3);
    vec![random(1).take(len).collect(), few(2), few(100), ascending, descending, rotated, vec![3; len]]
}

#[test]
fn all_sorts_are_those_of_std() {
    for input in LENGTHS.into_iter().flat_map(inputs) {
        let mut sorted = input.clone();
        sorted.sort();
        let check = |sort: &dyn Fn(&mut [u64])| {
            let mut ours = input.clone();
            sort(&mut ours);
            assert!(ours == sorted);
        };
        check(&|v| v.par_sort());
        check(&|v| v.par_sort_by(|a, b| a.cmp(b)));
        check(&|v| v.par_sort_by_key(|n| *n));
        check(&|v| v.par_sort_by_cached_key(|n| *n));
        check(&|v| v.par_sort_unstable());
        check(&|v| v.par_sort_unstable_by(|a, b| a.cmp(b)));
        check(&|v| v.par_sort_unstable_by_key(|n| *n));
    }
}

type Pair = (u64, usize);

#[test]
fn equal_elements_stay_in_their_order() {
    for input in LENGTHS.into_iter().flat_map(inputs) {
        let pairs: Vec<Pair> = input.iter().map(|n| n % 1_000).zip(0..).collect();
        let mut theirs = pairs.clone();
        theirs.sort_by_key(|pair| Reverse(pair.0));
        let check = |sort: &dyn Fn(&mut [Pair])| {
            let mut ours = pairs.clone();
            sort(&mut ours);
            assert!(ours == theirs);
        };
        check(&|v| sort::sort_by(v, |a, b| b.0.cmp(&a.0)));
        check(&|v| sort::sort_by_key(v, |pair| Reverse(pair.0)));
        check(&|v| sort::sort_by_cached_key(v, |pair| Reverse(pair.0)));
    }
}

#[test]
fn large_elements_and_such_that_own_something() {
    let input: Vec<u64> = random(2).take(60_000).collect();
    let mut words: Vec<String> = input.iter().map(u64::to_string).collect();
    let mut unstable = words.clone();
    let mut theirs = words.clone();
    theirs.sort();
    words.par_sort();
    assert!(words == theirs);
    unstable.par_sort_unstable();
    assert!(unstable == theirs);

    let mut blocks: Vec<[u64; 8]> = input.iter().map(|n| [n % 100, *n, 0, 0, 0, 0, 0, *n]).collect();
    let mut unstable = blocks.clone();
    let mut theirs = blocks.clone();
    theirs.sort();
    blocks.par_sort();
    assert!(blocks == theirs);
    unstable.par_sort_unstable();
    assert!(unstable == theirs);
}

/// After a comparison has panicked, every element is there once: each holds a count of its own, and
/// all are counted.
#[test]
fn comparisons_that_panic_lose_nothing() {
    const LEN: usize = 30_000;
    let all = Arc::new(());
    let calls = AtomicUsize::new(0);
    for stable in [true, false] {
        for limit in (0..1_000_000).step_by(70_001) {
            let mut elements: Vec<(u64, Arc<()>)> =
                random(limit as u64).take(LEN).map(|n| (n, all.clone())).collect();
            let sum = |elements: &[(u64, Arc<()>)]| {
                elements.iter().fold(0_u64, |sum, element| sum.wrapping_add(element.0))
            };
            let before = sum(&elements);
            calls.store(0, Relaxed);
            let compare = |a: &(u64, Arc<()>), b: &(u64, Arc<()>)| {
                if calls.fetch_add(1, Relaxed) == limit {
                    resume_unwind(Box::new("as it should"));
                }
                a.0.cmp(&b.0)
            };
            let done = catch_unwind(AssertUnwindSafe(|| match stable {
                true => elements.par_sort_by(compare),
                false => elements.par_sort_unstable_by(compare),
            }));
            assert!(done.is_ok() == (calls.load(Relaxed) <= limit));
            assert!(sum(&elements) == before);
            assert!(Arc::strong_count(&all) == 1 + LEN);
        }
    }
}

#[test]
fn scans_are_those_of_a_loop() {
    for len in LENGTHS {
        let input: Vec<u64> = random(3).take(len).collect();
        let mut sums = vec![0; len];
        inclusive_scan(&input, &mut sums, |a, b| a.wrapping_add(*b));
        let mut sum = 0_u64;
        for (element, sum_to_here) in input.iter().zip(&sums) {
            sum = sum.wrapping_add(*element);
            assert_eq!(sum, *sum_to_here);
        }
        let mut starts = vec![0; len];
        assert_eq!(exclusive_scan(&input, &mut starts, 0, |a, b| a.wrapping_add(*b)), sum);
        assert!(starts[0] == 0 && starts[1..] == sums[..len - 1]);
    }
}

#[test]
fn the_order_of_elements_is_kept_in_scans() {
    let mut texts: Vec<String> = (0..3_000).map(|i| char::from(b'a' + i as u8 % 26).to_string()).collect();
    let expected = texts.concat();
    inclusive_scan_in_place(&mut texts, |a, b| a.clone() + b);
    assert!(texts.iter().enumerate().all(|(i, text)| *text == expected[..=i]));
}

#[test]
fn fixed_scans_of_floats_are_the_same_each_time() {
    let input: Vec<f32> = random(4).map(|n| (n % 1_000_000) as f32 / 3.0).take(200_000).collect();
    let scan = Scan::new(|a: &f32, b: &f32| a + b).fixed();
    let mut first = input.clone();
    scan.inclusive_in_place(&mut first);
    for _ in 0..10 {
        let mut again = vec![0.0; input.len()];
        scan.inclusive(&input, &mut again);
        assert!(again.iter().zip(&first).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}

/// For a pinned thread the system reports one processor.
#[test]
fn sorts_and_scans_are_divided_among_domains_that_are_pinned() {
    if thread::available_parallelism().is_ok_and(|processors| processors.get() < 2) {
        return;
    }
    Runtime::builder().domains(2).pin(true).run(|| {
        let here = thread::current().id();
        let elsewhere = AtomicBool::new(false);
        let look = || elsewhere.fetch_or(thread::current().id() != here, Relaxed);
        let mut numbers: Vec<u64> = random(5).take(200_000).collect();
        let start = Instant::now();
        let is_awaited = || !elsewhere.load(Relaxed) && start.elapsed() < Duration::from_secs(20);
        while is_awaited() {
            numbers.reverse();
            sort::sort_by(&mut numbers, |a, b| {
                look();
                a.cmp(b)
            });
        }
        assert!(elsewhere.swap(false, Relaxed), "a sort is not divided");
        while is_awaited() {
            inclusive_scan_in_place(&mut numbers, |a, b| {
                look();
                a.wrapping_add(*b)
            });
        }
        assert!(elsewhere.load(Relaxed), "a scan is not divided");
    });
}
