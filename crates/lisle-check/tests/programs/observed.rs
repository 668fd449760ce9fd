//! How many executions differ in their observations.

use crate::several::{store_buffering, two_writers_and_two_readers};
use lisle::spawn;
use lisle::sync::Mutex;
use lisle_check::Checker;
use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::Arc;

/// Returns the number of executions, and of those that are observably different.
#[track_caller]
fn counts(program: impl Fn() + Clone + Send + Sync + 'static) -> (u64, u64) {
    let alone = Checker::new().observed().workers(1).explore(program.clone());
    assert!(alone.is_exhaustive() && alone.failure().is_none(), "{alone}");
    let together = Checker::new().observed().workers(2).explore(program);
    assert_eq!(
        (together.counts().complete, together.observed()),
        (alone.counts().complete, alone.observed())
    );
    (alone.counts().complete, alone.observed().unwrap())
}

/// `n_writers_a_reader`: N + 1 of (N + 1)! executions differ to who reads.
#[test]
fn writers_and_a_reader() {
    let mut factorial = 1;
    for n in 1..=4 {
        let program = move || {
            let x = Arc::new(AtomicU32::new(0));
            let writers: Vec<_> = (1..=n)
                .map(|value| {
                    let x = x.clone();
                    spawn(move || x.store(value, SeqCst))
                })
                .collect();
            let reader = spawn(move || x.load(SeqCst));
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            reader.join().unwrap();
        };
        factorial *= u64::from(n) + 1;
        assert_eq!(counts(program), (factorial, u64::from(n) + 1), "{n}");
    }
}

/// Tests of which each execution is observed: each order of two steps shows in a load.
#[test]
fn litmus_tests() {
    assert_eq!(counts(store_buffering), (3, 3));
    assert_eq!(counts(two_writers_and_two_readers), (15, 15));
}

#[test]
fn a_counter_is_observed_by_who_reads_it() {
    // Each fiber that takes the lock sees the value that the one before has left.
    let program = |observe: bool| {
        move || {
            let count = Arc::new((Mutex::new(0), AtomicU32::new(0)));
            let adders = [1, 2, 3].map(|n| {
                let count = count.clone();
                spawn(move || {
                    if observe {
                        *count.0.lock() += n;
                    } else {
                        count.1.store(n, SeqCst);
                    }
                })
            });
            let _ = adders.map(|adder| adder.join().unwrap());
        }
    };
    assert_eq!(counts(program(true)), (6, 6));
    assert_eq!(counts(program(false)), (6, 1));
}

#[test]
fn it_is_said_only_if_it_is_asked_for() {
    let verdict = Checker::new().observed().explore(store_buffering);
    assert_eq!(verdict.to_string(), "exhaustive: 3 executions, all end, 3 of them observably different");
    let verdict = Checker::new().explore(store_buffering);
    assert_eq!(
        (verdict.observed(), verdict.to_string().as_str()),
        (None, "exhaustive: 3 executions, all end")
    );
}
