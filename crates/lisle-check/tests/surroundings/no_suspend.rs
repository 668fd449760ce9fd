//! Code in which a fiber must not be suspended.

use crate::support::{failing, outcomes};
use lisle::fiber::no_suspend;
use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
use lisle_check::hint::spin_loop;
use std::cell::Cell;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

#[test]
fn nobody_runs_on_its_thread_meanwhile() {
    let depths = outcomes(|| {
        let step = AtomicU32::new(0);
        let deeper = || {
            no_suspend(|| {
                DEPTH.set(DEPTH.get() + 1);
                step.fetch_add(1, SeqCst);
                let depth = DEPTH.get();
                DEPTH.set(DEPTH.get() - 1);
                depth
            })
        };
        lisle::fiber::scope(|scope| {
            let other = scope.spawn(deeper);
            (deeper(), other.join().unwrap())
        })
    });
    assert_eq!(depths, [(1, 1)]);
}

#[test]
fn others_come_before_it_or_after_it() {
    let seen = outcomes(|| {
        let [x, y] = [const { AtomicU32::new(0) }; 2];
        lisle::fiber::scope(|scope| {
            let other = scope.spawn(|| {
                x.store(1, SeqCst);
                no_suspend(|| y.load(SeqCst))
            });
            y.store(1, SeqCst);
            (no_suspend(|| x.load(SeqCst)), other.join().unwrap())
        })
    });
    assert_eq!(seen, [(0, 1), (1, 0), (1, 1)]);
}

#[test]
fn a_loop_in_it_waits_for_nobody() {
    let report = failing(|| {
        no_suspend(|| {
            let flag = AtomicU32::new(0);
            while flag.load(SeqCst) == 0 {
                spin_loop();
            }
        });
    });
    assert!(report.contains("no_suspend"), "{report}");
}
