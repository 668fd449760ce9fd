//! The library's own OS threads, told apart from those of the program.
//!
//! Whether anything outside a runtime could wake its fibers depends on what threads the process has. So each thread
//! that the library starts enlists: workers and monitors for their runtime, the others for everybody. A thread that
//! is just beginning, or about to end, is not in the list and counts as a stranger: to err on that side is harmless.

use crate::shim::sync::{Mutex, MutexGuard};
use std::cell::Cell;

/// Whose thread it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// It serves all runtimes, and those who have none.
    Everybody,
    /// It belongs to the runtime with this number.
    Runtime(usize),
}

struct Own {
    thread: u64,
    owner: Owner,
}

static OWN: Mutex<Vec<Own>> = Mutex::new(Vec::new());

thread_local! {
    static IS_OWN: Cell<bool> = const { Cell::new(false) };
}

fn own() -> MutexGuard<'static, Vec<Own>> {
    OWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A thread's being in the list, until dropped.
#[derive(Debug)]
pub struct Enlisted {
    thread: Option<u64>,
    was_own: bool,
}

/// Enlists the current thread.
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

/// Is the current thread one of the library's own?
pub(crate) fn is_own() -> bool {
    IS_OWN.get()
}

/// Has the process threads that belong neither to this runtime nor to everybody? `true` also if that cannot be
/// known.
pub fn has_strangers(runtime: usize) -> bool {
    // While the list is locked nobody in it ends.
    let own = own();
    let is_known = |own: &&Own| [Owner::Everybody, Owner::Runtime(runtime)].contains(&own.owner);
    let known: Vec<u64> = own.iter().filter(is_known).map(|own| own.thread).collect();
    // The count is of one moment, which a walk through the threads is not: some may come and go behind its back. The
    // walk is for a process that was forked off, whose list names threads that it does not have.
    let all_known = system::all().is_some_and(|threads| threads.iter().all(|thread| known.contains(thread)));
    !all_known || system::count() != Some(known.len())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    /// The system's number for the current thread.
    pub(super) fn current() -> Option<u64> {
        // SAFETY: the call takes nothing and cannot fail.
        u64::try_from(unsafe { libc::gettid() }).ok()
    }

    /// How many threads this process has.
    pub(super) fn count() -> Option<usize> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        status.lines().find_map(|line| line.strip_prefix("Threads:"))?.trim().parse().ok()
    }

    /// The numbers of all threads of this process.
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
