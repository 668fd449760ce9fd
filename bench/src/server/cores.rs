//! Which cores the server has, and which the load.
//!
//! The runner has pinned this process to the server's cores. The load may have the cores that the
//! runner itself may use: the runner's set respects a container's cpuset and the user's `taskset`.

use rustix::{
    process::getppid,
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};

/// Moves this process, and all that it starts from now on, off the server's cores, if there are
/// others.
pub(crate) fn leave_to_server(workers: usize) {
    pin(&for_load(&ours(), &all(), workers));
}

fn ours() -> CpuSet {
    sched_getaffinity(None).expect("a process may ask where it may run")
}

/// The runner's cores. If it may not be asked, only our own are known to be allowed.
fn all() -> CpuSet {
    getppid().and_then(|runner| sched_getaffinity(Some(runner)).ok()).unwrap_or_else(ours)
}

fn pin(set: &CpuSet) {
    // A core that has gone since is no reason to fail: the load then shares the server's.
    let _ = sched_setaffinity(None, set);
}

/// The first `count` of the cores that are not the server's; if there is none, the server's.
fn for_load(server: &CpuSet, all: &CpuSet, count: usize) -> CpuSet {
    let mut load = CpuSet::new();
    for core in (0..CpuSet::MAX_CPU).filter(|&core| all.is_set(core) && !server.is_set(core)).take(count) {
        load.set(core);
    }
    if load.count() == 0 { *server } else { load }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(cores: &[usize]) -> CpuSet {
        let mut set = CpuSet::new();
        for &core in cores {
            set.set(core);
        }
        set
    }

    #[test]
    fn the_load_takes_other_cores_where_there_are_any() {
        assert_eq!(for_load(&set(&[0]), &set(&[0, 1, 2]), 1), set(&[1]));
        assert_eq!(for_load(&set(&[2]), &set(&[2, 5]), 1), set(&[5]));
        assert_eq!(for_load(&set(&[0, 1]), &set(&[0, 1, 2, 3, 4]), 2), set(&[2, 3]));
        assert_eq!(for_load(&set(&[0, 1]), &set(&[0, 1]), 2), set(&[0, 1]));
    }
}
