//! The offers of a domain to others: a few jobs, the oldest first.

use super::job::Job;
use crate::event::lock::{Guard, Lock};
use crate::shim::unseen::{AtomicUsize, Ordering};
use std::ptr::NonNull;

/// The number of jobs that are offered at a time. A thread that takes a half offers parts of it in
/// turn. The jobs of a scope may be indivisible, and for them this limits how many domains they
/// serve at once.
pub(super) const ROOM: usize = if cfg!(lisle_loom) { 3 } else { 16 };

/// The jobs that a domain offers, or that the threads offer that run no domain.
pub struct Offers {
    /// The number of jobs. A domain looks at it as it falls asleep, as at the count of the common
    /// queue.
    count: AtomicUsize,
    /// The number of threads that have taken one of several jobs, and will come back for another.
    returning: AtomicUsize,
    jobs: Lock<Jobs>,
}

struct Jobs {
    /// The jobs, the oldest first, followed by empty places.
    places: [Option<NonNull<Job>>; ROOM],
    offered: usize,
    /// The number of places that are reserved besides.
    reserved: usize,
}

// SAFETY: any thread may take a job that is offered. The jobs themselves are touched only under the
// lock.
unsafe impl Sync for Offers {}
// SAFETY: as above.
unsafe impl Send for Offers {}

impl Offers {
    pub fn new() -> Self {
        let jobs = Jobs { places: [None; ROOM], offered: 0, reserved: 0 };
        Offers { count: AtomicUsize::new(0), returning: AtomicUsize::new(0), jobs: Lock::new(jobs) }
    }

    /// Returns the number of jobs, which may change at once.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Takes the number of threads that have taken one of several jobs since the last call.
    pub(crate) fn returning(&self) -> usize {
        self.returning.swap(0, Ordering::Relaxed)
    }

    /// Counts a thread that has taken one of several jobs.
    pub(crate) fn will_return(&self) {
        self.returning.fetch_add(1, Ordering::Relaxed);
    }

    /// Offers the job that `prepare` returns, if there is room. Returns `false` if there is no room
    /// or no job. `prepare` is called without a lock, and may run the user's code.
    ///
    /// # Safety
    ///
    /// The job stays in place until it has been taken back, or taken by another thread and done.
    pub unsafe fn offer(&self, prepare: impl FnOnce() -> Option<NonNull<Job>>) -> bool {
        if !self.jobs.lock().reserve() {
            return false;
        }
        let reserved = Reserved(self);
        let Some(job) = prepare() else { return false };
        std::mem::forget(reserved);
        let mut jobs = self.jobs.lock();
        jobs.fill(job);
        self.count.fetch_add(1, Ordering::SeqCst);
        true
    }

    /// Takes the oldest offered job that `may` accepts.
    pub fn take(&self, may: impl Fn(&Job) -> bool) -> Option<NonNull<Job>> {
        // SAFETY: an offered job is in place, and is neither taken back nor done while the lock is
        // held.
        self.remove(|job| may(unsafe { job.as_ref() }))
    }

    /// Does the same, unless another thread is at the jobs right now: a caller that looks again soon
    /// leaves the owner in peace meanwhile.
    pub(crate) fn try_take(&self, may: impl Fn(&Job) -> bool) -> Option<NonNull<Job>> {
        // SAFETY: as in `take`.
        self.remove_from(self.jobs.try_lock()?, |job| may(unsafe { job.as_ref() }))
    }

    /// Takes `job` back. Returns `false` if another thread has taken it.
    pub fn take_back(&self, job: NonNull<Job>) -> bool {
        self.remove(|offered| offered == job).is_some()
    }

    fn remove(&self, which: impl Fn(NonNull<Job>) -> bool) -> Option<NonNull<Job>> {
        self.remove_from(self.jobs.lock(), which)
    }

    fn remove_from(
        &self,
        mut jobs: Guard<'_, Jobs>,
        which: impl Fn(NonNull<Job>) -> bool,
    ) -> Option<NonNull<Job>> {
        let job = jobs.remove(which)?;
        self.count.fetch_sub(1, Ordering::SeqCst);
        Some(job)
    }
}

impl Jobs {
    /// Reserves a place. Returns `false` if there is none.
    fn reserve(&mut self) -> bool {
        let has_room = self.offered + self.reserved < ROOM;
        self.reserved += usize::from(has_room);
        has_room
    }

    /// Fills a place that was reserved.
    fn fill(&mut self, job: NonNull<Job>) {
        self.reserved -= 1;
        self.places[self.offered] = Some(job);
        self.offered += 1;
    }

    /// Removes the oldest of the jobs that `which` accepts.
    fn remove(&mut self, which: impl Fn(NonNull<Job>) -> bool) -> Option<NonNull<Job>> {
        let offered = &mut self.places[..self.offered];
        let index = offered.iter().position(|job| job.is_some_and(&which))?;
        offered[index..].rotate_left(1);
        self.offered -= 1;
        self.places[self.offered].take()
    }
}

/// A guard that gives a reserved place back, unless it is forgotten.
struct Reserved<'a>(&'a Offers);

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.0.jobs.lock().reserved -= 1;
    }
}
