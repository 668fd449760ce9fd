//! Fibers that wait for parts of their own work, and the helpers that run on their domain
//! meanwhile.
//!
//! A job that a domain takes while a fiber waits is that fiber's *helper*: it runs on the stack of
//! another fiber of the domain. The rule about jobs that may be taken (`src/jobs/README.md`)
//! ensures that a helper wants no lock that its fiber holds. Conversely, the fiber might want a
//! lock that the helper holds, so it does not go on before the helper has ended, like a caller of
//! the helper. Where the helper is a part of the awaited job, this holds by itself. Where the
//! helper is another job that the fiber has spawned, the fiber waits for it as well, even if its
//! own part is done.
//!
//! The fiber does not wait for a helper that itself waits for something other than jobs, such as a
//! message or a timer: the fiber may be about to send that message. Such a helper is from then on a
//! fiber like any other. The domain checks this when the job is done for which the fiber waited,
//! and whenever it visits its inbox or has nothing to run.

use super::Worker;
use super::held::joining::{Joining, Taken};
use crate::jobs::job::Descendants;
use crate::sched::within;
use crate::shim::atomic::Ordering;
use crate::spawned::this_stack::this_stack;
use std::cell::Cell;
use std::ptr::null;

impl Worker {
    /// Calls `wait`, in which a fiber of this domain waits for a part of its work. Meanwhile the
    /// domain takes only parts of loops and jobs of scopes that are in `descendants`. Returns when
    /// `wait` has returned and no helper is at work any more.
    pub(crate) fn while_waiting_for<R>(&self, descendants: Descendants, wait: impl FnOnce() -> R) -> R {
        /// Takes the waiting fiber out of the list when dropped.
        struct Linked<'a>(&'a Worker, &'a Joining);
        impl Drop for Linked<'_> {
            fn drop(&mut self) {
                let Linked(worker, joining) = *self;
                worker.joining.remove(joining);
                worker.domain.is_joining.store(worker.joining.last().is_some(), Ordering::Relaxed);
            }
        }
        let joining = Joining {
            fiber: self.current_fiber(),
            descendants,
            before: Cell::new(self.joining.last.get()),
            expected: Cell::new(0),
            helpers: Cell::new(null()),
            helper_ended: Cell::new(None),
        };
        self.joining.last.set(&raw const joining);
        self.domain.is_joining.store(true, Ordering::Relaxed);
        let linked = Linked(self, &joining);
        let result = wait();
        while self.joining.has_helpers_at_work(&joining) {
            // Only this stack can offer its pending work, and the wait may take a while.
            self.give_away(&this_stack().pending, self.shared.most_at_once());
            joining.wait_for_helpers();
        }
        drop(linked);
        result
    }

    /// Runs a taken job, on the stack of the runner that calls this.
    ///
    /// # Safety
    ///
    /// It was taken by this domain, and is not used afterwards.
    pub(super) unsafe fn run_job(&self, taken: Taken) {
        let fiber = self.current_fiber().expect("a taken job runs in a fiber");
        // SAFETY: taken, and not done.
        self.domain.running_code_of(unsafe { taken.job.as_ref() }.site);
        let pending = &this_stack().pending;
        pending.job.set(taken.job.as_ptr());
        let within = within::enter(pending);
        // SAFETY: passed on to the caller.
        unsafe { self.joining.run_helper(taken, fiber) };
        drop(within);
        pending.job.set(null());
    }
}
