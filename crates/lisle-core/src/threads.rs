//! Starts the threads of the library, and reports it if the system refuses one.
//!
//! A process may reach a limit on threads at any time, and most programs meet it for the first time
//! in production. `EAGAIN` alone tells the user neither the purpose of the thread nor which of half
//! a dozen limits to raise. So each start goes through [`start`], whose error says both. Where
//! there is a `Result` the caller passes it on, and where there is none it reports it.

use crate::affinity;
use std::io;
use std::thread::{Builder, JoinHandle};

/// Starts a thread with this name, which is not pinned, for `purpose`.
///
/// # Errors
///
/// Returns an error with the purpose of the thread and the limits.
pub fn start(
    name: impl Into<String>,
    purpose: &str,
    f: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    start_as(Builder::new().name(name.into()), purpose, affinity::elsewhere(f))
}

/// Does the same for a thread that is pinned as its starter, or has a stack of another size.
///
/// # Errors
///
/// As for [`start`].
pub fn start_as<T: Send + 'static>(
    builder: Builder,
    purpose: &str,
    f: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    builder.spawn(f).map_err(|error| refused(purpose, &error))
}

/// Says that the system has refused a thread for `purpose`.
#[cold]
pub fn refused(purpose: &str, error: &io::Error) -> io::Error {
    let remedy = limits::remedy();
    let text = format!("the system gives no thread for {purpose}: {error}; start fewer threads{remedy}");
    io::Error::new(error.kind(), text)
}

/// The limits of a Unix system, as far as they can be read.
#[cfg(unix)]
mod limits {
    /// Returns further remedies, with the known limits.
    pub(super) fn remedy() -> String {
        let known = [of_user(), of_container()].into_iter().flatten();
        let known: Vec<_> = known.map(|(limit, name)| format!("{name} is {limit}")).collect();
        let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
        format!(
            ", or raise the limit{known}: that of the user (ulimit -u), of the container (pids.max), of the system \
             (kernel.threads-max), or of memory (ulimit -v)"
        )
    }

    /// Returns how many threads the user may have, over all processes.
    fn of_user() -> Option<(libc::rlim_t, &'static str)> {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `limit` is live and writable during the call.
        let status = unsafe { libc::getrlimit(libc::RLIMIT_NPROC, &raw mut limit) };
        (status == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some((limit.rlim_cur, "ulimit -u"))
    }

    /// Returns how many threads the control group may have that this process is in.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn of_container() -> Option<(libc::rlim_t, &'static str)> {
        let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
        let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
        let limit = std::fs::read_to_string(format!("/sys/fs/cgroup{group}/pids.max")).ok()?;
        Some((limit.trim().parse().ok()?, "pids.max"))
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn of_container() -> Option<(libc::rlim_t, &'static str)> {
        None
    }
}

/// Other systems have no limit but their memory, or no threads at all.
#[cfg(not(unix))]
mod limits {
    pub(super) fn remedy() -> &'static str {
        ", or with smaller stacks"
    }
}

#[cfg(test)]
mod tests {
    use super::start_as;
    use std::thread::Builder;

    /// The message names the limits of a Unix system.
    #[cfg(unix)]
    #[test]
    #[cfg_attr(miri, ignore = "Miri does not know the limits of a system")]
    fn a_refusal_names_the_purpose_the_cause_and_the_limits() {
        use super::refused;
        use std::io;
        let refusal = refused("timers", &io::Error::from_raw_os_error(libc::EAGAIN));
        assert_eq!(refusal.kind(), io::ErrorKind::WouldBlock);
        let text = refusal.to_string();
        for part in ["no thread for timers: ", "os error 11", "ulimit -u", "pids.max", "kernel.threads-max"] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "it asks for more memory than there is")]
    fn a_stack_that_cannot_be_had_is_a_refusal() {
        let refusal = start_as(Builder::new().stack_size(usize::MAX / 4), "a test", || ()).unwrap_err();
        assert!(refusal.to_string().starts_with("the system gives no thread for a test: "), "{refusal}");
    }
}
