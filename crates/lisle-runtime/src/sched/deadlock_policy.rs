//! The policy of a runtime for deadlocks, and its knowledge of one.

use crate::report::Deadlock;
use crate::shim::{
    atomic::{AtomicUsize, Ordering},
    sync::OnceLock,
};

/// The policy of a runtime for the case that none of its fibers can ever go on, see
/// [`Builder::on_deadlock`](crate::Builder::on_deadlock).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnDeadlock {
    /// The runtime does nothing, and does not check for deadlocks.
    Ignore,
    /// The runtime reports the wait graph once, see
    /// [`Builder::on_report`](crate::Builder::on_report), and stays as it is. For programs that are
    /// examined with a debugger, or that a signal's handler ends.
    Report,
    /// The runtime is shut down, its fibers are unwound, and `run` panics with the same text. If no
    /// thread is in `run`, as may be with a runtime that was [started](crate::Builder::start), the
    /// deadlock is [reported](crate::Builder::on_report).
    #[default]
    Panic,
}

/// The state of a runtime about deadlocks.
#[derive(Debug)]
pub(crate) struct Deadlocks {
    pub(crate) policy: OnDeadlock,
    /// Set if a deadlock ends the runtime and is returned as an error.
    pub(crate) is_returned: bool,
    /// Set if the user has promised that nothing outside wakes fibers.
    pub(crate) closed_world: bool,
    pub(crate) found: OnceLock<Deadlock>,
    /// How many threads are in `run` or `try_run`, and will learn of a deadlock that ends the
    /// runtime.
    pub(crate) callers: AtomicUsize,
}

impl Deadlocks {
    /// Returns the deadlock that has ended the runtime.
    pub(crate) fn fatal(&self) -> Option<&Deadlock> {
        self.found.get().filter(|_| self.is_fatal())
    }

    pub(super) fn is_fatal(&self) -> bool {
        self.is_returned || self.policy == OnDeadlock::Panic
    }

    /// Counts the calling thread as one that will learn of a deadlock, until the result is dropped.
    pub(crate) fn caller(&self) -> Caller<'_> {
        self.callers.fetch_add(1, Ordering::SeqCst);
        Caller(self)
    }
}

/// A guard for a thread that will learn of a deadlock that ends the runtime.
pub(crate) struct Caller<'a>(&'a Deadlocks);

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        self.0.callers.fetch_sub(1, Ordering::SeqCst);
    }
}
