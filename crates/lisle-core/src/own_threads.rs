//! A list of the OS threads that the library started, to distinguish them from the program's own.
//!
//! Whether anything outside a runtime could wake its fibers depends on which threads the process
//! has. Each thread that the library starts therefore adds itself to the list: domains and monitors
//! for their runtime, other threads for all runtimes. A thread that is just starting, or about to
//! end, is not in the list and counts as a stranger. An error in that direction is harmless.

use crate::fork::PerProcess;
use crate::shim::sync::{Mutex, MutexGuard};
use std::cell::Cell;

/// The owner of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The thread serves all runtimes, and code without a runtime.
    Everybody,
    /// The thread belongs to the runtime with this number.
    Runtime(usize),
}

struct Own {
    thread: u64,
    owner: Owner,
}

static OWN: PerProcess<Mutex<Vec<Own>>> = PerProcess::new(Mutex::default);

thread_local! {
    static IS_OWN: Cell<bool> = const { Cell::new(false) };
}

fn own() -> MutexGuard<'static, Vec<Own>> {
    OWN.get().lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A guard that keeps a thread in the list until it is dropped.
#[derive(Debug)]
pub struct Enlisted {
    thread: Option<u64>,
    was_own: bool,
}

/// Adds the current thread to the list.
#[must_use = "the thread is in the list until this is dropped"]
pub fn enlist(owner: Owner) -> Enlisted {
    let thread = system::current();
    if let Some(thread) = thread {
        own().push(Own { thread, owner });
    }
    Enlisted { thread, was_own: IS_OWN.replace(true) }
}

impl Drop for Enlisted {
    fn drop(&mut self) {
        IS_OWN.set(self.was_own);
        let mut own = own();
        if let Some(place) = own.iter().position(|own| Some(own.thread) == self.thread) {
            own.swap_remove(place);
        }
    }
}

/// Returns `true` if the current thread was started by the library.
pub(crate) fn is_own() -> bool {
    IS_OWN.get()
}

/// Returns `true` if the process has threads that belong neither to this runtime nor to all, or if
/// that cannot be determined.
pub fn has_strangers(runtime: usize) -> bool {
    // While the list is locked, no thread in it ends.
    let own = own();
    let is_known = |own: &&Own| [Owner::Everybody, Owner::Runtime(runtime)].contains(&own.owner);
    let known: Vec<u64> = own.iter().filter(is_known).map(|own| own.thread).collect();
    // The count is taken at one moment. The walk through the threads is not: threads may start and
    // end during it. The walk is for a process that was made by a bare `clone`, whose list names
    // threads that it does not have.
    let all_known = system::all().is_some_and(|threads| threads.iter().all(|thread| known.contains(thread)));
    !all_known || system::count() != Some(known.len())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    /// Returns the system's number for the current thread.
    pub(super) fn current() -> Option<u64> {
        // SAFETY: the call takes no arguments and cannot fail.
        u64::try_from(unsafe { libc::gettid() }).ok()
    }

    /// Returns how many threads this process has.
    pub(super) fn count() -> Option<usize> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        status.lines().find_map(|line| line.strip_prefix("Threads:"))?.trim().parse().ok()
    }

    /// Returns the numbers of all threads of this process.
    pub(super) fn all() -> Option<Vec<u64>> {
        let directory = std::fs::read_dir("/proc/self/task").ok()?;
        directory.map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    pub(super) fn current() -> Option<u64> {
        None
    }
    pub(super) fn count() -> Option<usize> {
        None
    }
    pub(super) fn all() -> Option<Vec<u64>> {
        None
    }
}
