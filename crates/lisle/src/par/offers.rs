//! What a domain offers to others: a few jobs, the oldest first.

use super::job::Job;
use crate::event::lock::Lock;
use crate::shim::atomic::{AtomicUsize, Ordering};
use std::ptr::NonNull;

/// No more are offered at a time: whoever takes one offers parts of it in turn.
const ROOM: usize = 4;

/// The jobs that a domain offers, or that the threads do that are no workers.
pub(crate) struct Offers {
    /// How many there are. Part of how a domain falls asleep, as is the count of the common queue.
    count: AtomicUsize,
    jobs: Lock<Jobs>,
}

struct Jobs {
    /// The oldest first, and then nothing.
    places: [Option<NonNull<Job>>; ROOM],
    /// How many places more are spoken for.
    reserved: usize,
}

impl Jobs {
    fn len(&self) -> usize {
        self.places.iter().flatten().count()
    }
}

// SAFETY: a job that is offered may be taken by any thread; the jobs themselves are touched under the lock only.
unsafe impl Sync for Offers {}
// SAFETY: as above.
unsafe impl Send for Offers {}

impl Offers {
    pub(crate) fn new() -> Self {
        Offers { count: AtomicUsize::new(0), jobs: Lock::new(Jobs { places: [None; ROOM], reserved: 0 }) }
    }

    /// How many there are, more or less.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Offers what `prepare` gives, if there is room. It is called without a lock, and may be a user's.
    ///
    /// # Safety
    ///
    /// The job stays in place until it has been taken back, or taken by another and done.
    pub(crate) unsafe fn offer(&self, prepare: impl FnOnce() -> Option<NonNull<Job>>) -> bool {
        /// Gives the room back if nothing comes of it.
        struct Reserved<'a>(&'a Offers);
        impl Drop for Reserved<'_> {
            fn drop(&mut self) {
                self.0.jobs.lock().reserved -= 1;
            }
        }
        {
            let mut jobs = self.jobs.lock();
            if jobs.len() + jobs.reserved == ROOM {
                return false;
            }
            jobs.reserved += 1;
        }
        let _reserved = Reserved(self);
        let Some(job) = prepare() else { return false };
        let mut jobs = self.jobs.lock();
        let free = jobs.len();
        jobs.places[free] = Some(job);
        self.count.fetch_add(1, Ordering::SeqCst);
        true
    }

    /// Takes the job that has been offered longest of those that `may` be taken.
    pub(crate) fn take(&self, may: impl Fn(&Job) -> bool) -> Option<NonNull<Job>> {
        let mut jobs = self.jobs.lock();
        for index in 0..ROOM {
            let job = jobs.places[index]?;
            // SAFETY: what is offered is in place, and neither taken back nor done while the lock is held.
            if may(unsafe { job.as_ref() }) {
                self.remove(&mut jobs.places, index);
                return Some(job);
            }
        }
        None
    }

    /// Takes `job` back. False if another has taken it.
    pub(crate) fn take_back(&self, job: NonNull<Job>) -> bool {
        let mut jobs = self.jobs.lock();
        let found = jobs.places.iter().position(|&offered| offered == Some(job));
        if let Some(index) = found {
            self.remove(&mut jobs.places, index);
        }
        found.is_some()
    }

    fn remove(&self, jobs: &mut [Option<NonNull<Job>>; ROOM], index: usize) {
        jobs.copy_within(index + 1.., index);
        jobs[ROOM - 1] = None;
        self.count.fetch_sub(1, Ordering::SeqCst);
    }
}
