//! The programs that are compared with loom and shuttle: how many executions each has, and how many
//! of them differ in their observations.
//!
//! The number of different observations is a lower bound on the executions that have to be run. So
//! these numbers say where there is something left to reduce.

// The parts for the programs that go wrong are not used.
#![allow(dead_code)]

mod buffer;
#[path = "../../benches/peers/programs.rs"]
mod programs;
#[path = "../../benches/peers/threads.rs"]
mod threads;

/// The programs count their executions there. The verdict says more.
mod sample {
    pub(crate) fn begin() {}
}

use lisle_check::Checker;
use threads::Threads;

threads::threads! {
    Fibers: lisle::spawn => lisle::fiber::JoinHandle<()>,
    lisle::sync, lisle_check::atomic, |guard| guard
}

#[test]
fn as_many_as_differ_are_run_or_a_few_more() {
    let expected = [
        ("counter-2", 2, 2),
        ("counter-3", 6, 6),
        ("counter-4", 24, 24),
        ("counter-3-twice", 90, 90),
        ("buffer", 34, 34),
        ("treiber", 96, 90),
        ("sb", 3, 3),
        ("iriw", 15, 15),
        ("philosophers-3", 6, 6),
        ("philosophers-4", 14, 14),
        ("philosophers-7", 126, 126),
    ];
    for (name, executions, observed) in expected {
        let program = programs::find::<Fibers>(name).expect("there is a program of this name");
        let verdict = Checker::new().workers(1).observed().explore(program);
        assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{name}: {verdict}");
        let counts = (verdict.counts().complete, verdict.counts().redundant);
        assert_eq!((counts, verdict.observed()), ((executions, 0), Some(observed)), "{name}");
    }
}
