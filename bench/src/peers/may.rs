//! may: stackful coroutines on workers of their own.

/// Configures may's one scheduler. Must come before the first coroutine.
pub(crate) fn start(workers: usize) {
    may::config().set_workers(workers);
}

/// Runs `main` as a coroutine, and waits for it.
pub(crate) fn run<T: Send + 'static>(main: impl FnOnce() -> T + Send + 'static) -> T {
    spawn(main).join().expect("no coroutine panics")
}

pub(crate) fn spawn<T: Send + 'static>(
    body: impl FnOnce() -> T + Send + 'static,
) -> may::coroutine::JoinHandle<T> {
    // SAFETY: may asks that a coroutine use no thread-local storage and not outgrow its stack. The
    // bodies here only send, receive, spawn, sleep, yield and add.
    unsafe { may::coroutine::spawn(body) }
}

/// The note of a program that asks for a crowd.
pub(crate) const CROWD: &str = "as many as vm.max_map_count allows, by default 32,000";

/// How many of `tasks` coroutines there can be at once. The stack of each ends in a guard page, so
/// it is two of the mappings that the kernel allows a process; some are left for everything else.
pub(crate) fn crowd(tasks: u64) -> u64 {
    let limit = std::fs::read_to_string("/proc/sys/vm/max_map_count").expect("/proc is mounted");
    let mappings: u64 = limit.trim().parse().expect("the kernel writes a number");
    tasks.min(mappings.saturating_sub(1_000) / 2)
}

/// Has may make `count` stacks at its start, and keep them. Comes before the first coroutine.
pub(crate) fn keep_stacks(count: u64) {
    may::config().set_pool_capacity(count as usize);
}
