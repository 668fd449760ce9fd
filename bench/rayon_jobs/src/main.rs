//! What joins, loops and jobs of rayon cost. Writes a line for each program: its name, and the least processor time of its
//! rounds in nanoseconds, for each join, element or job.
//!
//! `rayon-jobs THREADS`

use rayon::prelude::*;
use rayon::{Scope, ThreadPoolBuilder, join, scope, scope_fifo};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

const ROUNDS: u32 = 7;

fn main() {
    let threads =
        std::env::args().nth(1).and_then(|threads| threads.parse().ok()).expect("rayon-jobs THREADS");
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    pool.install(measure);
}

fn measure() {
    least("join", 832_040, || _ = black_box(fib_by_joins(28)));
    least("join-sort", 1 << 18, || quicksort(&mut numbers(1 << 18)));
    least("par_sort", 1 << 18, || numbers(1 << 18).par_sort());
    least("par_iter-sum", 1 << 22, || {
        _ = black_box((0..1_u64 << 22).into_par_iter().map(|n| n ^ n >> 3).sum::<u64>())
    });
    least("par_iter-small", 10_000 * 64, || {
        for _ in 0..10_000 {
            black_box((0..64_u64).into_par_iter().sum::<u64>());
        }
    });
    least("scope-tree", 1 << 18, || scope(|s| tree(s, 17)));
    least("scope-fib", 28_656, || _ = black_box(fib_by_scopes(22)));
    least("scope-of-two", 200_000, || {
        (0..100_000).for_each(|_| scope(|s| (0..2).for_each(|n| s.spawn(move |_| _ = black_box(n)))))
    });
    least("scope-flat", 200_000, || scope(|s| (0..200_000).for_each(|n| s.spawn(move |_| _ = black_box(n)))));
    least("scope_fifo-flat", 200_000, || {
        scope_fifo(|s| (0..200_000).for_each(|n| s.spawn_fifo(move |_| _ = black_box(n))))
    });
    least("spawn", 100_000, || {
        static LEFT: AtomicUsize = AtomicUsize::new(0);
        LEFT.store(100_000, Ordering::Relaxed);
        (0..100_000).for_each(|_| rayon::spawn(|| _ = LEFT.fetch_sub(1, Ordering::Relaxed)));
        while LEFT.load(Ordering::Relaxed) > 0 {
            rayon::yield_now();
        }
    });
}

/// Runs a program of so many `steps` some times, and writes the least time of a step.
fn least(name: &str, steps: u32, mut program: impl FnMut()) {
    let time = |_| {
        let begin = processor_time();
        program();
        processor_time() - begin
    };
    let least = (0..ROUNDS).map(time).fold(f64::INFINITY, f64::min);
    println!("{name} {:.2}", least / f64::from(steps));
}

/// Returns the processor time of this process in nanoseconds.
fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to `time`.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn fib_by_joins(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = join(|| fib_by_joins(n - 1), || fib_by_joins(n - 2));
    a + b
}

fn fib_by_scopes(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (mut a, mut b) = (0, 0);
    scope(|s| {
        s.spawn(|_| a = fib_by_scopes(n - 1));
        b = fib_by_scopes(n - 2);
    });
    a + b
}

fn tree<'scope>(s: &Scope<'scope>, depth: u32) {
    if depth > 0 {
        s.spawn(move |s| tree(s, depth - 1));
        s.spawn(move |s| tree(s, depth - 1));
    }
}

fn numbers(count: u64) -> Vec<u64> {
    (0..count).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20).collect()
}

fn quicksort(numbers: &mut [u64]) {
    if numbers.len() < 32 {
        return numbers.sort_unstable();
    }
    let (less, _, more) = numbers.select_nth_unstable(numbers.len() / 2);
    join(|| quicksort(less), || quicksort(more));
}
