//! The cores that this process may use.

use rustix::thread::{CpuSet, sched_getaffinity};

fn usable() -> CpuSet {
    sched_getaffinity(None).expect("a process may ask where it may run")
}

/// How many there are.
pub(crate) fn count() -> usize {
    usable().count() as usize
}

/// The first `count` of them; all, if there are fewer.
pub(super) fn first(count: usize) -> CpuSet {
    let usable = usable();
    let mut set = CpuSet::new();
    for core in (0..CpuSet::MAX_CPU).filter(|&core| usable.is_set(core)).take(count) {
        set.set(core);
    }
    set
}
