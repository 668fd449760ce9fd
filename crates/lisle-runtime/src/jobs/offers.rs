//! What a domain offers to others: a few jobs, the oldest first.

use super::job::Job;
use crate::event::lock::Lock;
use crate::shim::atomic::{AtomicUsize, Ordering};
use std::ptr::NonNull;

/// No more are offered at a time. Whoever takes a half offers parts of it in turn; but the jobs of a scope may be
/// such as cannot be divided, and for them it bounds how many domains are served at once.
pub(super) const ROOM: usize = if cfg!(lisle_loom) { 3 } else { 16 };

/// The jobs that a domain offers, or that the threads do that are no workers.
pub struct Offers {
    /// How many there are. Part of how a domain falls asleep, as is the count of the common queue.
    count: AtomicUsize,
    /// How many have taken one of several, and will be back for another.
    returning: AtomicUsize,
    jobs: Lock<Jobs>,
}

struct Jobs {
    /// The oldest first, and then nothing.
    places: [Option<NonNull<Job>>; ROOM],
    offered: usize,
    /// How many places more are spoken for.
    reserved: usize,
}

// SAFETY: a job that is offered may be taken by any thread; the jobs themselves are touched under the lock only.
unsafe impl Sync for Offers {}
// SAFETY: as above.
unsafe impl Send for Offers {}

impl Offers {
    pub fn new() -> Self {
        let jobs = Jobs { places: [None; ROOM], offered: 0, reserved: 0 };
        Offers { count: AtomicUsize::new(0), returning: AtomicUsize::new(0), jobs: Lock::new(jobs) }
    }

    /// How many there are, more or less.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Takes the number of those that have taken one of several since this was asked last.
    pub(crate) fn returning(&self) -> usize {
        self.returning.swap(0, Ordering::Relaxed)
    }

    /// Somebody has taken one of several.
    pub(crate) fn will_return(&self) {
        self.returning.fetch_add(1, Ordering::Relaxed);
    }

    /// Offers what `prepare` gives, if there is room. It is called without a lock, and may be a user's.
    ///
    /// # Safety
    ///
    /// The job stays in place until it has been taken back, or taken by another and done.
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

    /// Takes the job that has been offered longest of those that `may` be taken.
    pub fn take(&self, may: impl Fn(&Job) -> bool) -> Option<NonNull<Job>> {
        // SAFETY: what is offered is in place, and neither taken back nor done while the lock is held.
        self.remove(|job| may(unsafe { job.as_ref() }))
    }

    /// Takes `job` back. False if another has taken it.
    pub fn take_back(&self, job: NonNull<Job>) -> bool {
        self.remove(|offered| offered == job).is_some()
    }

    fn remove(&self, which: impl Fn(NonNull<Job>) -> bool) -> Option<NonNull<Job>> {
        let mut jobs = self.jobs.lock();
        let job = jobs.remove(which)?;
        self.count.fetch_sub(1, Ordering::SeqCst);
        Some(job)
    }
}

impl Jobs {
    /// Speaks for a place, if there is one.
    fn reserve(&mut self) -> bool {
        let has_room = self.offered + self.reserved < ROOM;
        self.reserved += usize::from(has_room);
        has_room
    }

    /// Uses a place that was spoken for.
    fn fill(&mut self, job: NonNull<Job>) {
        self.reserved -= 1;
        self.places[self.offered] = Some(job);
        self.offered += 1;
    }

    /// Removes the oldest of those that are wanted.
    fn remove(&mut self, which: impl Fn(NonNull<Job>) -> bool) -> Option<NonNull<Job>> {
        let offered = &mut self.places[..self.offered];
        let index = offered.iter().position(|job| job.is_some_and(&which))?;
        offered[index..].rotate_left(1);
        self.offered -= 1;
        self.places[self.offered].take()
    }
}

/// Gives a place back that was spoken for, as nothing has come of it.
struct Reserved<'a>(&'a Offers);

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.0.jobs.lock().reserved -= 1;
    }
}
