//! Memory models in explorations of several workers, and in such as go on another time.

use lisle::spawn;
use lisle_check::atomic::{AtomicU32, Ordering::Relaxed};
use lisle_check::cell::Cell;
use lisle_check::{Checker, Limit, Memory};
use std::sync::Arc;

/// Independent reads of independent writes: 16 graphs under RC11, 15 under x86-TSO.
fn independent_reads() {
    let flags = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let fibers: Vec<_> = (0..4_usize)
        .map(|n| {
            let flags = flags.clone();
            spawn(move || match n {
                0 | 1 => flags[n].store(1, Relaxed),
                _ => {
                    let _ = (flags[n - 2].load(Relaxed), flags[3 - n].load(Relaxed));
                }
            })
        })
        .collect();
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
}

#[test]
fn the_graphs_do_not_depend_on_the_workers() {
    for (memory, graphs) in [(Memory::Rc11, 16), (Memory::Tso, 15)] {
        for workers in [1, 2, 3] {
            let verdict = Checker::new().memory(memory).workers(workers).explore(independent_reads);
            assert!(verdict.is_exhaustive(), "{verdict}");
            assert_eq!(verdict.graphs(), graphs, "{workers} under {memory}: {verdict}");
        }
    }
}

#[test]
fn graphs_are_counted_on_when_it_goes_on() {
    let path = std::env::temp_dir().join(format!("lisle-check-graphs-{}", std::process::id()));
    let mut checker = Checker::new().workers(1).executions(4).save_to(&path);
    let mut parts = 0;
    let verdict = loop {
        let verdict = checker.explore(independent_reads);
        parts += 1;
        if !matches!(verdict.limit(), Some(Limit::Executions(_))) {
            break verdict;
        }
        checker = Checker::new().workers(1).executions(4).save_to(&path).resume(&path).unwrap();
    };
    assert!(verdict.is_exhaustive() && parts > 2, "{parts}: {verdict}");
    assert_eq!(verdict.graphs(), 16, "{verdict}");
}

/// A cell that two fibers write to: a race, in whichever fiber it is found.
#[test]
fn each_number_of_workers_finds_a_race() {
    struct Shared(Cell<u32>);
    // SAFETY: it is not so, and the checker is to say that.
    unsafe impl Sync for Shared {}
    for workers in [1, 2, 3] {
        let verdict = Checker::new().workers(workers).explore(|| {
            let shared = Arc::new(Shared(Cell::new(0)));
            let of_other = shared.clone();
            let other = spawn(move || of_other.0.set(1));
            shared.0.set(2);
            other.join().unwrap();
        });
        assert!(verdict.failure().unwrap().race().is_some(), "{verdict}");
    }
}
