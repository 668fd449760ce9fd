//! loom: every execution, without a bound on preemptions. It also explores the weak orders of C11,
//! and some for sequentially consistent accesses. So it has more executions where there are
//! atomics.

use crate::{program, threads::threads};

threads! {
    Loom: loom::thread::spawn => loom::thread::JoinHandle<()>,
    loom::sync, loom::sync::atomic, |guard| guard.unwrap()
}

pub(crate) fn exhaustive(name: &str) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = None;
    builder.max_permutations = None;
    builder.max_duration = None;
    // As many as it has room for.
    builder.max_threads = 5;
    builder.max_branches = 100_000;
    builder.check(program::<Loom>(name));
}
