//! What the system says of this process.

/// Returns the processor time of this process in seconds.
pub fn processor_time() -> f64 {
    seconds(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the processor time of this thread in seconds.
pub fn thread_time() -> f64 {
    seconds(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn seconds(clock: libc::clockid_t) -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the time.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Returns the largest resident memory of this process in bytes.
pub fn resident() -> u64 {
    let status =
        std::fs::read_to_string("/proc/self/status").expect("the kernel tells the status of a process");
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it has the resident memory");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("it is a number") * 1024
}
