//! A computation over all cores lets other fibers have their turn: a fiber that is ready beside it
//! runs again within a millisecond.
//!
//! Times are the processor times of the domains' threads. So the other load of the machine does not
//! matter.

use lisle::par::prelude::*;
use lisle::par::{self, Scan, dag};
use lisle::{Runtime, fiber};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

/// A turn that comes after more than this is late. Code that is not optimized takes many times as
/// long.
const LATE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 4 } else { 1 });
/// How many in a thousand may be late.
const LIMIT: u64 = 10;
/// How often a program is measured before it counts as late. The host of a virtual machine may take its
/// processor away in the middle of a step, and the thread's clock goes on; a step that is too long is so
/// each time.
const TRIES: usize = 3;
/// For how long each domain computes at least.
const WHILE: Duration = Duration::from_millis(20);

/// Returns for how long the calling thread has had a processor.
fn spent() -> Duration {
    let mut time = MaybeUninit::uninit();
    // SAFETY: `time` has room for the value written to it.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr()) }, 0);
    // SAFETY: it has been written.
    let time: libc::timespec = unsafe { time.assume_init() };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Computes for `micros` microseconds.
fn compute(micros: u64) {
    let start = spent();
    while spent() - start < Duration::from_micros(micros) {}
}

thread_local! {
    static IS_PREPARED: Cell<bool> = const { Cell::new(false) };
}

/// Returns the result of `f`. The time that it takes does not count.
fn prepared<T>(f: impl FnOnce() -> T) -> T {
    fiber::yield_now();
    let prepared = f();
    IS_PREPARED.set(true);
    fiber::yield_now();
    prepared
}

/// Calls `f` with a copy of `values`, which is made and dropped outside of the measured time.
fn with_copy<T: Clone>(values: &[T], f: impl FnOnce(&mut Vec<T>)) {
    let mut copy = prepared(|| values.to_vec());
    f(&mut copy);
    prepared(|| drop(copy));
}

/// Drops a result outside of the measured time.
fn dropped<T>(result: T) {
    prepared(|| drop(result));
}

/// Tells the watches that there is nothing more to be seen, also after a panic.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Does `work` again and again beside fibers that are always ready, one on each domain. Returns, in
/// parts of a thousand, how often a fiber that became ready while a domain computed would have had
/// to wait there for longer than [`LATE`].
fn late(domains: usize, work: impl Fn() + Send + Sync) -> Option<u64> {
    Runtime::builder().domains(domains).stack_size(1 << 20).run(|| {
        let (is_over, begun, satisfied) =
            (AtomicBool::new(false), Barrier::new(domains), AtomicUsize::new(0));
        fiber::scope(|scope| {
            let watch = || {
                // None goes on before there is one on each domain, since it keeps its thread.
                begun.wait();
                let (mut computed, mut late, mut last) = (Duration::ZERO, Duration::ZERO, spent());
                let mut is_satisfied = false;
                while !is_over.load(Relaxed) {
                    fiber::yield_now();
                    let now = spent();
                    let gap = now - last;
                    last = now;
                    if IS_PREPARED.take() {
                        continue;
                    }
                    // In a shorter time nothing but this fiber has run.
                    if gap > Duration::from_micros(10) {
                        computed += gap;
                        late += gap.saturating_sub(LATE);
                    }
                    if computed >= WHILE && !is_satisfied {
                        is_satisfied = true;
                        satisfied.fetch_add(1, Relaxed);
                    }
                }
                (computed, late)
            };
            let watches: Vec<_> = (0..domains).map(|_| scope.spawn(watch)).collect();
            let worker = scope.spawn(|| {
                let _over = Over(&is_over);
                let start = spent();
                // Other domains need not take part in a short computation.
                let is_enough = || satisfied.load(Relaxed) == domains || spent() - start >= 5 * WHILE;
                while !is_enough() {
                    work();
                    fiber::yield_now();
                }
            });
            drop(worker);
            let seen = watches.into_iter().map(|watch| watch.join().unwrap());
            let seen: Vec<_> = seen.filter(|(computed, _)| *computed >= WHILE / 2).collect();
            seen.iter().map(|(computed, late)| (late.as_nanos() * 1000 / computed.as_nanos()) as u64).max()
        })
    })
}

/// Numbers in no order.
fn numbers(count: usize) -> Vec<u64> {
    (0..count as u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)).collect()
}

/// Checks all of these, and then says which of them are late.
fn check(programs: &[(&str, &(dyn Fn() + Send + Sync))]) {
    let mut late_ones = Vec::new();
    for domains in [1, 2] {
        for (name, work) in programs {
            let mut tries = Vec::new();
            while tries.last().is_none_or(|late| *late > LIMIT) && tries.len() < TRIES {
                tries.push(late(domains, work).expect("at least one domain has computed"));
            }
            if tries.last() > Some(&LIMIT) {
                late_ones.push(format!("{name} on {domains}: {tries:?} of 1000"));
            }
        }
    }
    assert!(late_ones.is_empty(), "late: {late_ones:#?}");
}

#[test]
fn beside_sorts() {
    const MANY: usize = 100_000;
    let random = numbers(MANY);
    let few: Vec<u64> = random.iter().map(|n| n % 7).collect();
    let rising: Vec<u64> = (0..2 * MANY as u64).collect();
    let falling: Vec<u64> = rising.iter().rev().copied().collect();
    let texts: Vec<String> = random.iter().take(MANY / 4).map(u64::to_string).collect();
    let wide: Vec<[u64; 64]> = random.iter().take(MANY / 16).map(|&n| [n; 64]).collect();
    let slow = |a: &u64, b: &u64| {
        compute(30);
        a.cmp(b)
    };
    // Slow where the first ones are not.
    let slow_later = |a: &u64, b: &u64| {
        compute(if *a > 1_000 { 10 } else { 0 });
        a.cmp(b)
    };
    let rising_then = [&rising[..1_000], &random[..2_000]].concat();
    let slow_key = |n: &u64| {
        compute(100);
        *n
    };
    check(&[
        ("numbers", &|| with_copy(&random, |all| all.par_sort_unstable())),
        ("numbers, stably", &|| with_copy(&random, |all| all.par_sort())),
        ("few numbers", &|| with_copy(&few, |all| all.par_sort_unstable())),
        ("few numbers, stably", &|| with_copy(&few, |all| all.par_sort())),
        ("rising", &|| with_copy(&rising, |all| all.par_sort_unstable())),
        ("rising, stably", &|| with_copy(&rising, |all| all.par_sort())),
        ("falling", &|| with_copy(&falling, |all| all.par_sort_unstable())),
        ("falling, stably", &|| with_copy(&falling, |all| all.par_sort())),
        ("texts", &|| with_copy(&texts, |all| all.par_sort_unstable())),
        ("texts, stably", &|| with_copy(&texts, |all| all.par_sort())),
        ("wide", &|| with_copy(&wide, |all| all.par_sort_unstable())),
        ("wide, stably", &|| with_copy(&wide, |all| all.par_sort())),
        ("by a key", &|| with_copy(&random, |all| all.par_sort_by_key(|n| random[*n as usize % MANY]))),
        ("by a cached key", &|| with_copy(&random, |all| all.par_sort_by_cached_key(|n| n % 1_000))),
        ("by a text", &|| with_copy(&random[..9_000], |all| all.par_sort_by_cached_key(u64::to_string))),
        ("by a slow cached key", &|| with_copy(&random[..500], |all| all.par_sort_by_cached_key(slow_key))),
        ("slowly", &|| with_copy(&random[..300], |all| all.par_sort_unstable_by(slow))),
        ("slowly, stably", &|| with_copy(&random[..300], |all| all.par_sort_by(slow))),
        ("slowly, few", &|| with_copy(&random[..20], |all| all.par_sort_by(slow))),
        ("slowly, rising", &|| with_copy(&rising[..3_000], |all| all.par_sort_by(slow))),
        ("slowly later", &|| with_copy(&rising_then, |all| all.par_sort_unstable_by(slow_later))),
    ]);
}

#[test]
fn beside_scans() {
    let numbers = numbers(300_000);
    let slow = |a: &u64, b: &u64| {
        compute(30);
        a.wrapping_add(*b)
    };
    let add = |a: &u64, b: &u64| a.wrapping_add(*b);
    let mut outputs = Mutex::new(vec![0; numbers.len()]);
    outputs.get_mut().unwrap().fill(1);
    let long_chunks = Scan::new(slow).grain(NonZeroUsize::new(400).unwrap());
    check(&[
        ("sums", &|| with_copy(&numbers, |all| par::inclusive_scan_in_place(all, add))),
        ("sums before", &|| _ = par::exclusive_scan(&numbers, &mut outputs.lock().unwrap(), 0, add)),
        ("fixed sums", &|| with_copy(&numbers, |all| Scan::new(add).fixed().inclusive_in_place(all))),
        ("slowly", &|| with_copy(&numbers[..1_000], |all| par::inclusive_scan_in_place(all, slow))),
        ("slowly, few", &|| with_copy(&numbers[..100], |all| _ = par::exclusive_scan_in_place(all, 0, slow))),
        ("slowly, in long chunks", &|| {
            with_copy(&numbers[..2_000], |all| long_chunks.inclusive_in_place(all));
        }),
    ]);
}

#[test]
fn beside_loops() {
    let numbers = numbers(100_000);
    let numbers = &numbers;
    let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
    check(&[
        ("a sum", &|| _ = black_box(numbers.par_iter().map(|n| n % 5).sum::<u64>())),
        ("a map", &|| dropped(numbers.par_iter().map(|n| n / 3).collect::<Vec<_>>())),
        ("a filter", &|| dropped(numbers.par_iter().filter(|n| *n % 3 > 0).collect::<Vec<_>>())),
        ("slow steps", &|| (0..300).into_par_iter().for_each(|_| compute(100))),
        ("a zip", &|| {
            let sum = numbers.par_iter().zip(numbers).map(|(a, b)| a ^ b).reduce(|| 0, |a, b| a | b);
            black_box(sum);
        }),
        ("chunks", &|| dropped(numbers.into_par_iter().chunks(100).map(|c| c.len()).collect::<Vec<_>>())),
        ("a fold", &|| {
            let all = numbers.par_iter().fold(Vec::new, |mut all, n| {
                all.push(*n);
                all
            });
            black_box(all.map(|all| all.len()).sum::<usize>());
        }),
        ("a search", &|| _ = black_box(numbers.par_iter().find_any(|n| **n == 1))),
        ("a search that ends early", &|| {
            let texts = prepared(|| texts.clone());
            black_box(texts.into_par_iter().find_first(|_| true));
        }),
        ("lists in a list", &|| {
            let all =
                (0..300).into_par_iter().flat_map(|n| numbers[n..n + 300].par_iter()).collect::<Vec<_>>();
            dropped(all);
        }),
        ("two collections", &|| {
            let (even, odd): (Vec<u64>, Vec<u64>) = numbers.par_iter().partition(|n| *n % 2 == 0);
            dropped((even, odd));
        }),
        ("a table", &|| dropped(numbers.par_iter().map(|n| (*n, 1)).collect::<HashMap<_, _>>())),
        ("a tree", &|| dropped(numbers[..5_000].par_iter().map(|n| (*n, 1)).collect::<BTreeMap<_, _>>())),
        ("a text", &|| dropped(texts.par_iter().map(String::as_str).collect::<String>())),
        ("results", &|| dropped(numbers.par_iter().map(|n| Ok(*n)).collect::<Result<Vec<_>, ()>>())),
        ("pairs", &|| {
            let pairs: (Vec<u64>, HashMap<u64, ()>) = numbers.par_iter().map(|n| (*n, (*n, ()))).unzip();
            dropped(pairs);
        }),
        ("a fixed order", &|| {
            black_box(numbers.par_iter().map(|n| n % 5).deterministic(500).sum::<u64>());
        }),
    ]);
}

#[test]
fn beside_joins_and_jobs() {
    fn tree(depth: u32, leaf: &(impl Fn() + Sync)) {
        if depth == 0 {
            return leaf();
        }
        par::join(|| tree(depth - 1, leaf), || tree(depth - 1, leaf));
    }
    check(&[
        ("short halves", &|| tree(14, &|| _ = black_box(1))),
        ("long halves", &|| tree(8, &|| compute(200))),
        ("two halves", &|| _ = par::join(|| compute(300), || compute(300))),
        ("jobs", &|| {
            par::scope(|scope| (0..200).for_each(|_| drop(scope.spawn(|| compute(200)))));
        }),
        ("jobs that are waited for", &|| {
            par::scope(|scope| {
                let promises: Vec<_> = (0..200).map(|_| scope.spawn(|| compute(200))).collect();
                promises.into_iter().for_each(|promise| promise.wait());
            });
        }),
        ("jobs one by one", &|| {
            par::scope(|scope| (0..200).for_each(|_| scope.spawn(|| compute(200)).wait()));
        }),
        ("short jobs", &|| {
            par::scope(|scope| (0..5_000).for_each(|_| drop(scope.spawn(|| _ = black_box(1)))));
        }),
        ("a graph", &|| {
            dag! {
                let a = {
                    compute(300);
                    1
                };
                let b = {
                    compute(300);
                    2
                };
                let c = |a| compute(300 + *a);
                let d = |a, b| compute(300 + *a + *b);
                (c, d)
            };
        }),
    ]);
}
