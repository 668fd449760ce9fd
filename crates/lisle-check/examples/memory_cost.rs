//! Measures the cost of the atomics and cells outside of checks, beside the cost of `std`'s.
//!
//! With `--no-default-features` the atomics are `std`'s, and both columns are the same.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64 as StdAtomic, Ordering::Relaxed};
use std::time::Instant;

use lisle_check::atomic::AtomicU64;
use lisle_check::cell::UnsafeCell;

const TIMES: u32 = 2_000_000;
const ROUNDS: usize = 15;

/// Returns the nanoseconds that one call takes, in the best of some rounds.
fn measure(mut operation: impl FnMut()) -> f64 {
    let round = |_| {
        let begin = Instant::now();
        (0..TIMES).for_each(|_| operation());
        begin.elapsed().as_secs_f64() * 1e9 / f64::from(TIMES)
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

fn compare(name: &str, std: impl FnMut(), checked: impl FnMut()) {
    println!("{name:<22} {:>6.2} ns {:>6.2} ns", measure(std), measure(checked));
}

fn main() {
    let kind = if cfg!(feature = "programs") { "with the feature `programs`" } else { "without features" };
    println!("{kind:<28} std  lisle_check");
    let (std, checked) = (StdAtomic::new(0), AtomicU64::new(0));
    compare(
        "load",
        || {
            black_box(black_box(&std).load(Relaxed));
        },
        || {
            black_box(black_box(&checked).load(Relaxed));
        },
    );
    compare("store", || black_box(&std).store(1, Relaxed), || black_box(&checked).store(1, Relaxed));
    compare(
        "fetch_add",
        || {
            black_box(&std).fetch_add(1, Relaxed);
        },
        || {
            black_box(&checked).fetch_add(1, Relaxed);
        },
    );
    let exchanges = (StdAtomic::new(0), AtomicU64::new(0));
    compare(
        "compare_exchange_weak",
        || {
            let _ = black_box(&exchanges.0).compare_exchange_weak(0, 0, Relaxed, Relaxed);
        },
        || {
            let _ = black_box(&exchanges.1).compare_exchange_weak(0, 0, Relaxed, Relaxed);
        },
    );
    let (std, checked) = (std::cell::UnsafeCell::new(0_u64), UnsafeCell::const_new(0_u64));
    compare(
        "write to a cell",
        // SAFETY: nobody else has the cell.
        || unsafe { *black_box(&std).get() = black_box(1) },
        // SAFETY: as above.
        || black_box(&checked).with_mut(|value| unsafe { *value = black_box(1) }),
    );
}
