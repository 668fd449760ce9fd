//! How much several workers help: the same explorations with one, two, and as many as there are
//! processors.

use lisle::sync::Mutex;
use lisle_check::Checker;
use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::Arc;
use std::time::Instant;

/// Without optimization the figures mean nothing: then the programs are small.
const IS_MEASURED: bool = !cfg!(debug_assertions);
const RUNS: usize = if IS_MEASURED { 5 } else { 1 };
const READERS: usize = if IS_MEASURED { 13 } else { 8 };
const FIBERS: usize = if IS_MEASURED { 7 } else { 5 };
const PHILOSOPHERS: usize = if IS_MEASURED { 11 } else { 6 };

/// Returns the median.
fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn measure(name: &str, program: impl Fn() + Clone + Send + Sync + 'static) {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut numbers = vec![1, 2, processors];
    numbers.dedup();
    let mut seconds = vec![Vec::new(); numbers.len()];
    let mut executions = 0;
    // In turn, so that the machine's other load is the same for all.
    for _ in 0..RUNS {
        for (number, seconds) in numbers.iter().zip(&mut seconds) {
            let begin = Instant::now();
            let verdict = Checker::new().workers(*number).explore(program.clone());
            seconds.push(begin.elapsed().as_secs_f64());
            assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
            assert!(executions == 0 || executions == verdict.counts().distinct(), "{verdict}");
            executions = verdict.counts().distinct();
        }
    }
    println!("{name}: {executions} executions");
    let medians: Vec<f64> = seconds.into_iter().map(median).collect();
    for (number, seconds) in numbers.iter().zip(&medians) {
        let rate = executions as f64 / seconds;
        println!(
            "    {number} workers: {seconds:.3} s, {rate:.0}/s, {:.2} times as fast",
            medians[0] / seconds
        );
    }
}

fn main() {
    measure(&format!("{READERS} readers of a variable"), || {
        let x = Arc::new(AtomicU32::new(0));
        let writer = x.clone();
        let writer = lisle::spawn(move || writer.store(1, SeqCst));
        let readers = [(); READERS].map(|()| {
            let x = x.clone();
            lisle::spawn(move || x.load(SeqCst))
        });
        writer.join().unwrap();
        let _ = readers.map(|reader| reader.join().unwrap());
    });
    measure(&format!("{FIBERS} fibers take a lock"), || {
        let count = Arc::new(Mutex::new(0));
        let fibers = [(); FIBERS].map(|()| {
            let count = count.clone();
            lisle::spawn(move || *count.lock() += 1)
        });
        let _ = fibers.map(|fiber| fiber.join().unwrap());
    });
    measure(&format!("{PHILOSOPHERS} philosophers, one of whom takes the other fork first"), || {
        let forks = [(); PHILOSOPHERS].map(|()| Arc::new(Mutex::new(())));
        let philosophers: Vec<_> = (0..PHILOSOPHERS)
            .map(|n| {
                let (mut one, mut other) = (forks[n].clone(), forks[(n + 1) % PHILOSOPHERS].clone());
                if n == 0 {
                    std::mem::swap(&mut one, &mut other);
                }
                lisle::spawn(move || {
                    let _one = one.lock();
                    let _other = other.lock();
                })
            })
            .collect();
        philosophers.into_iter().for_each(|philosopher| philosopher.join().unwrap());
    });
}
