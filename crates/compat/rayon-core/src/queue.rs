//! The jobs that wait on a domain, or for any domain of a pool.

use crate::runner::{Ended, Runner};
use crossbeam_deque::{Injector, Steal, Stealer, Worker};

/// A job in a box.
///
/// If it is dropped, it tells the code that waits for it that it will not run.
pub(crate) type Job = Box<dyn Run + Send>;

pub(crate) trait Run {
    /// Runs the job. Returns whether the code that waits for it need not wait any more.
    fn run(self: Box<Self>, runner: Runner) -> Ended;

    /// Returns the scope that waits for the job.
    fn owner(&self) -> Owner;
}

/// The scope that waits for a job, by its address, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner(usize);

impl Owner {
    pub(crate) const NONE: Owner = Owner(0);

    pub(crate) fn of<T>(scope: *const T) -> Self {
        Owner(scope.addr())
    }
}

/// Where a domain takes the next job of its own queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Newest,
    Oldest,
}

/// The jobs that wait on a domain.
///
/// The `unsafe` functions are for the domain alone, which must run the caller: [`Home`](crate::home::Home) calls them.
#[repr(align(128))] // Each is written by a domain of its own.
pub(crate) struct DomainQueue {
    own: Worker<Job>,
    others: Stealer<Job>,
    first: End,
}

// SAFETY: only the domain uses `own`, by the functions that say so, and its code runs on one thread at a time. The
// stealer is made to be shared.
unsafe impl Sync for DomainQueue {}

impl DomainQueue {
    pub(crate) fn new(first: End) -> Self {
        let own = match first {
            End::Newest => Worker::new_lifo(),
            End::Oldest => Worker::new_fifo(),
        };
        DomainQueue { others: own.stealer(), own, first }
    }

    /// Adds a job.
    ///
    /// # Safety
    ///
    /// The domain runs the caller.
    #[inline]
    pub(crate) unsafe fn push(&self, job: Job) {
        self.own.push(job);
    }

    /// Takes the job that comes next.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    #[inline]
    pub(crate) unsafe fn take(&self) -> Option<Job> {
        self.own.pop()
    }

    /// Takes the newest job if it is one of `owner`. A job of another owner is the error: it is out of
    /// the queue, and must be put back.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    #[inline]
    pub(crate) unsafe fn take_own(&self, owner: Owner) -> Result<Option<Job>, Job> {
        if self.first == End::Oldest {
            return Ok(None);
        }
        match self.own.pop() {
            Some(job) if job.owner() != owner => Err(job),
            own => Ok(own),
        }
    }

    /// Takes the oldest job, on any thread. It is likely the largest, and the domain comes to it last.
    pub(crate) fn steal(&self) -> Option<Job> {
        until_decided(|| self.others.steal())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.others.is_empty()
    }
}

/// The jobs of threads that are not in the pool. The oldest comes first.
#[derive(Default)]
pub(crate) struct InjectedQueue(Injector<Job>);

impl InjectedQueue {
    pub(crate) fn push(&self, job: Job) {
        self.0.push(job);
    }

    pub(crate) fn steal(&self) -> Option<Job> {
        until_decided(|| self.0.steal())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Repeats `steal` until no other thread has been faster.
fn until_decided(steal: impl Fn() -> Steal<Job>) -> Option<Job> {
    loop {
        match steal() {
            Steal::Success(job) => return Some(job),
            Steal::Empty => return None,
            Steal::Retry => std::hint::spin_loop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread;

    /// Counts how often it is run, and how often it is dropped.
    struct Counts(Arc<[AtomicUsize; 2]>);

    impl Run for Counts {
        fn run(self: Box<Self>, _: Runner) -> Ended {
            self.0[0].fetch_add(1, Ordering::Relaxed);
            Ended::Job
        }

        fn owner(&self) -> Owner {
            Owner::NONE
        }
    }

    impl Drop for Counts {
        fn drop(&mut self) {
            self.0[1].fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "crossbeam-epoch makes pointers of integers")]
    fn the_domain_and_thieves_take_each_job_once() {
        const JOBS: usize = 10_000;
        for first in [End::Newest, End::Oldest] {
            let counts = Arc::new([const { AtomicUsize::new(0) }; 2]);
            let (queue, is_over) = (DomainQueue::new(first), AtomicBool::new(false));
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        while !(is_over.load(Ordering::Acquire) && queue.is_empty()) {
                            queue.steal().map(|job| job.run(Runner::Other));
                        }
                    });
                }
                for n in 0..JOBS {
                    // SAFETY: no other thread uses this end of the queue.
                    unsafe { queue.push(Box::new(Counts(counts.clone()))) };
                    if n % 3 == 0 {
                        // SAFETY: as above.
                        unsafe { queue.take() }.map(|job| job.run(Runner::Other));
                    }
                }
                // Dropped, and not run.
                // SAFETY: as above.
                drop(unsafe { queue.take() });
                is_over.store(true, Ordering::Release);
            });
            let [runs, drops] = [0, 1].map(|of| counts[of].load(Ordering::Relaxed));
            assert!(drops == JOBS && (runs == JOBS || runs == JOBS - 1), "{runs} runs, {drops} drops");
        }
    }
}
