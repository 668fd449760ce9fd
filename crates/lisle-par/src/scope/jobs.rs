//! The list of the jobs of a frame, and which of them have not been offered.

use super::list::{Linked, List};
use super::spawned::Header;
use std::cell::Cell;
use std::ptr::{NonNull, null};

/// The search for a job that has not been offered passes over at most this many jobs.
const PATIENCE: usize = 16;

/// All jobs that were spawned and have not been settled, in their order.
pub(super) struct Jobs {
    all: List<Header>,
    /// All jobs older than this have been offered.
    oldest: Cell<*const Header>,
    /// All jobs newer than this have been offered.
    newest: Cell<*const Header>,
    /// Whether the last job that the owner took was the oldest of several.
    in_order: Cell<bool>,
}

impl Jobs {
    pub(super) const fn new() -> Self {
        Jobs {
            all: List::new(),
            oldest: Cell::new(null()),
            newest: Cell::new(null()),
            in_order: Cell::new(false),
        }
    }

    /// Appends a job.
    ///
    /// # Safety
    ///
    /// The job is in no list, not offered, and stays in place until it is [removed](Jobs::remove).
    #[inline]
    pub(super) unsafe fn push(&self, spawned: NonNull<Header>) {
        // SAFETY: the caller's contract is passed on.
        unsafe { self.all.push(spawned) };
        self.newest.set(spawned.as_ptr());
        if self.oldest.get().is_null() {
            self.oldest.set(spawned.as_ptr());
        }
    }

    /// Removes a job.
    ///
    /// # Safety
    ///
    /// The job is in this list.
    #[inline]
    pub(super) unsafe fn remove(&self, spawned: NonNull<Header>) {
        // SAFETY: the job is in place.
        let links = unsafe { spawned.as_ref() }.links();
        let (older, newer) = (links.older.get(), links.newer.get());
        if std::ptr::eq(self.oldest.get(), spawned.as_ptr()) {
            self.oldest.set(newer);
        }
        if std::ptr::eq(self.newest.get(), spawned.as_ptr()) {
            self.newest.set(older);
        }
        self.in_order.set(older.is_null() && !newer.is_null());
        // SAFETY: the caller's contract is passed on.
        unsafe { self.all.remove(spawned) };
    }

    /// Returns the newest job of all.
    #[inline]
    pub(super) fn newest(&self) -> Option<NonNull<Header>> {
        self.all.newest()
    }

    /// Returns `true` if there may be a job to offer.
    #[inline]
    pub(super) fn may_offer(&self) -> bool {
        !self.oldest.get().is_null()
    }

    /// Marks the next job as offered and returns it. This is the oldest job, which is likely to be
    /// the largest. If the owner takes jobs in the order in which they were spawned, it is the
    /// newest job: otherwise the owner and the threads that take jobs would meet at each job.
    pub(super) fn offer(&self) -> Option<NonNull<Header>> {
        let newest = if self.in_order.get() { self.offer_newest() } else { None };
        newest.or_else(|| self.offer_oldest())
    }

    fn offer_oldest(&self) -> Option<NonNull<Header>> {
        while let Some(spawned) = NonNull::new(self.oldest.get().cast_mut()) {
            // SAFETY: a job in the list is in place.
            let this = unsafe { spawned.as_ref() };
            self.oldest.set(this.links().newer.get());
            if this.is_to_be_offered() {
                return Some(spawned);
            }
        }
        None
    }

    fn offer_newest(&self) -> Option<NonNull<Header>> {
        for _ in 0..PATIENCE {
            let spawned = NonNull::new(self.newest.get().cast_mut())?;
            // SAFETY: as above.
            let this = unsafe { spawned.as_ref() };
            self.newest.set(this.links().older.get());
            if this.is_to_be_offered() {
                return Some(spawned);
            }
        }
        None
    }
}
