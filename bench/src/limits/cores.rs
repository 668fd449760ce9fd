//! Two threads, each on a core of its own.

use crate::{job::timed, peers};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::{sync::Barrier, thread, time::Duration};

/// The first core that this process may use, and the last. Ends the sample if they are one: threads
/// that wait for each other in place would take turns of whole slices of time.
fn two() -> [usize; 2] {
    let usable = sched_getaffinity(None).expect("a process may ask where it may run");
    let mut cores = (0..CpuSet::MAX_CPU).filter(|&core| usable.is_set(core));
    match (cores.next(), cores.next_back()) {
        (Some(first), Some(last)) => [first, last],
        _ => peers::cannot("there is only one core, so that nothing crosses"),
    }
}

fn keep_to(core: usize) {
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).expect("the core is the process's own");
}

/// Runs `one` and `other` at the same time, on two cores, and says how long `one` took. Both are
/// there before it begins.
pub(super) fn on_two(one: impl FnOnce() + Send, other: impl FnOnce() + Send) -> Duration {
    let [first, last] = two();
    beside(one, other, || keep_to(first), || keep_to(last))
}

/// As [`on_two`], both on the first core.
pub(super) fn on_one(one: impl FnOnce() + Send, other: impl FnOnce() + Send) -> Duration {
    let usable = sched_getaffinity(None).expect("a process may ask where it may run");
    let first = (0..CpuSet::MAX_CPU).find(|&core| usable.is_set(core)).expect("it runs somewhere");
    beside(one, other, || keep_to(first), || keep_to(first))
}

fn beside(
    one: impl FnOnce() + Send,
    other: impl FnOnce() + Send,
    one_goes: impl FnOnce() + Send,
    other_goes: impl FnOnce() + Send,
) -> Duration {
    let both = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            other_goes();
            both.wait();
            other();
        });
        // A thread of its own: the caller may run where it was.
        let timing = scope.spawn(|| {
            one_goes();
            both.wait();
            timed(one)
        });
        timing.join().expect("it only waits")
    })
}
