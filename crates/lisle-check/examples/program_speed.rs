//! How many executions a second are explored by one worker, which is one core.

use lisle::sync::Mutex;
use lisle_check::atomic::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
};
use lisle_check::{Checker, Memory};
use std::sync::Arc;
use std::time::Instant;

/// Without optimization the figures mean nothing: then the programs are small.
const IS_MEASURED: bool = !cfg!(debug_assertions);
const RUNS: usize = if IS_MEASURED { 5 } else { 1 };

fn measure(name: &str, program: impl Fn() + Clone + Send + Sync + 'static) {
    measure_by(Checker::new(), name, program);
}

/// Prints the median of some runs.
fn measure_by(checker: Checker, name: &str, program: impl Fn() + Clone + Send + Sync + 'static) {
    let checker = checker.workers(1);
    let verdict = checker.explore(program.clone());
    let run = |_| {
        let begin = Instant::now();
        assert_eq!(checker.explore(program.clone()).counts(), verdict.counts());
        begin.elapsed().as_secs_f64()
    };
    let mut seconds: Vec<f64> = (0..RUNS).map(run).collect();
    seconds.sort_by(f64::total_cmp);
    let seconds = seconds[RUNS / 2];
    let all = verdict.counts().all();
    println!("{name}: {verdict}, {seconds:.3} s, {:.0} executions a second and core", all as f64 / seconds);
}

fn main() {
    measure_by(
        Checker::new().random(1).executions(if IS_MEASURED { 100_000 } else { 2_000 }),
        "store buffering, by chance",
        || {
            let x = Arc::new([const { AtomicU32::new(0) }; 2]);
            let y = x.clone();
            let other = lisle::spawn(move || {
                y[1].store(1, SeqCst);
                y[0].load(SeqCst)
            });
            x[0].store(1, SeqCst);
            let here = x[1].load(SeqCst);
            assert!(here + other.join().unwrap() > 0);
        },
    );
    for n in [2, if IS_MEASURED { 14 } else { 8 }] {
        measure(&format!("{n} readers"), move || {
            let x = Arc::new(AtomicU32::new(0));
            let writer = x.clone();
            let writer = lisle::spawn(move || writer.store(1, SeqCst));
            let readers: Vec<_> = (0..n)
                .map(|_| {
                    let x = x.clone();
                    lisle::spawn(move || x.load(SeqCst))
                })
                .collect();
            writer.join().unwrap();
            readers.into_iter().for_each(|reader| assert!(reader.join().unwrap() <= 1));
        });
    }
    measure("two fibers that add 8 times each", || {
        let x = Arc::new(AtomicU32::new(0));
        let y = x.clone();
        let other = lisle::spawn(move || {
            for _ in 0..8 {
                y.fetch_add(1, SeqCst);
            }
        });
        for _ in 0..8 {
            x.fetch_add(1, SeqCst);
        }
        other.join().unwrap();
    });
    measure("a counter of 3 fibers, twice each, under a lock", || {
        let count = Arc::new(Mutex::new(0));
        let fibers = [(); 3].map(|()| {
            let count = count.clone();
            lisle::spawn(move || {
                *count.lock() += 1;
                *count.lock() += 1;
            })
        });
        let _ = fibers.map(|fiber| fiber.join().unwrap());
        assert_eq!(*count.lock(), 6);
    });
    measure("three fibers store twice and load", || {
        let x = Arc::new([const { AtomicU32::new(0) }; 3]);
        let fibers = [0, 1, 2].map(|n| {
            let x = x.clone();
            lisle::spawn(move || {
                x[n].store(1, SeqCst);
                x[(n + 1) % 3].store(2, SeqCst);
                x[(n + 2) % 3].load(SeqCst)
            })
        });
        let _ = fibers.map(|fiber| fiber.join().unwrap());
    });
    let models: &[Memory] =
        if IS_MEASURED { &[Memory::Sc, Memory::Tso, Memory::Rc11] } else { &[Memory::Rc11] };
    for &memory in models {
        measure_by(Checker::new().memory(memory), "four fibers store once and load twice, relaxed", || {
            let x = Arc::new([const { AtomicU32::new(0) }; 4]);
            let fibers = [0, 1, 2, 3].map(|n| {
                let x = x.clone();
                lisle::spawn(move || {
                    x[n].store(1, Relaxed);
                    x[(n + 1) % 4].load(Relaxed) + x[(n + 2) % 4].load(Relaxed)
                })
            });
            let _ = fibers.map(|fiber| fiber.join().unwrap());
        });
    }
    for number in [3, 4, 5] {
        measure(&format!("{number} philosophers, one of whom takes the other fork first"), move || {
            let forks: Vec<_> = (0..number).map(|_| Arc::new(Mutex::new(()))).collect();
            let philosophers: Vec<_> = (0..number)
                .map(|n| {
                    let (mut one, mut other) = (forks[n].clone(), forks[(n + 1) % number].clone());
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
}
