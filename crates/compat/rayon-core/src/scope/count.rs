//! The count of the parts of a scope that have not ended.

use crate::runner::{Ended, Runner};
use lisle_core::event::sync_masked;
use lisle_core::internal::shim::atomic::{AtomicUsize, Ordering};
use lisle_core::sync::Condition;
use std::ptr::NonNull;

/// The count of the parts of a scope that have not ended: the jobs, and the code that has opened the scope.
#[derive(Debug)]
pub(super) struct Count {
    running: AtomicUsize,
    /// Signalled by the last job, unless the code that has opened the scope was last or has run that job.
    ended: Condition,
}

impl Count {
    /// Creates the count of a scope without jobs.
    #[track_caller]
    pub(super) fn new() -> Self {
        Count { running: AtomicUsize::new(1), ended: Condition::new() }
    }

    /// Counts a job in.
    #[inline]
    pub(super) fn enter(&self) {
        self.running.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a job out that has ended. After the last one this wakes the code that has opened the scope, unless
    /// that code is the runner.
    ///
    /// # Safety
    ///
    /// Called once for each job that was counted in, as its last step.
    pub(super) unsafe fn exit(this: NonNull<Self>, runner: Runner) -> Ended {
        // SAFETY: the scope waits for the count.
        let last = unsafe { this.as_ref() }.running.fetch_sub(1, Ordering::AcqRel) == 1;
        if !last {
            return Ended::Job;
        }
        if runner == Runner::Other {
            // SAFETY: the last job was counted out, so the code that has opened the scope waits for the signal.
            // It may go on as soon as the condition has released its lock, and nothing is touched after that.
            unsafe { this.as_ref() }.ended.signal();
        }
        Ended::Scope
    }

    /// Counts out the code that has opened the scope, and returns when all jobs have ended. Meanwhile `run_own`
    /// may run jobs of the scope, as their [owner](Runner::Owner). It returns `true` if one of them was the last.
    pub(super) fn complete(&self, run_own: impl FnOnce() -> bool) {
        if self.running.fetch_sub(1, Ordering::AcqRel) != 1 && !run_own() {
            // Not even the end of the runtime ends this wait, since jobs borrow from what would be unwound.
            sync_masked(&self.ended.wait_evt());
        }
    }
}
