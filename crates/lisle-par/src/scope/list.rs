//! A list of jobs in the order in which they were spawned.

use std::cell::Cell;
use std::ptr::{NonNull, null};

/// A job, as the list knows it.
pub(super) trait Linked: Sized {
    fn links(&self) -> &Links<Self>;
}

/// A list whose links lie in the jobs.
pub(super) struct List<J> {
    oldest: Cell<*const J>,
    newest: Cell<*const J>,
}

impl<J: Linked> List<J> {
    pub(super) const fn new() -> Self {
        List { oldest: Cell::new(null()), newest: Cell::new(null()) }
    }

    #[inline]
    pub(super) fn oldest(&self) -> Option<NonNull<J>> {
        NonNull::new(self.oldest.get().cast_mut())
    }

    #[inline]
    pub(super) fn newest(&self) -> Option<NonNull<J>> {
        NonNull::new(self.newest.get().cast_mut())
    }

    /// Appends `spawned`.
    ///
    /// # Safety
    ///
    /// The job is in no list, and stays in place until it has been [removed](List::remove) from
    /// this one.
    #[inline]
    pub(super) unsafe fn push(&self, spawned: NonNull<J>) {
        let before = self.newest.replace(spawned.as_ptr());
        // SAFETY: the caller guarantees that the job is in place.
        let links = unsafe { spawned.as_ref() }.links();
        links.older.set(before);
        links.newer.set(null());
        // SAFETY: a job in the list is in place.
        unsafe { before.as_ref() }.map_or(&self.oldest, |before| &before.links().newer).set(spawned.as_ptr());
    }

    /// Removes `spawned` from any position.
    ///
    /// # Safety
    ///
    /// The job is in this list.
    #[inline]
    pub(super) unsafe fn remove(&self, spawned: NonNull<J>) {
        // SAFETY: a job in the list is in place.
        let Links { older, newer } = unsafe { spawned.as_ref() }.links();
        // SAFETY: as above.
        let from_older = unsafe { older.get().as_ref() }.map_or(&self.oldest, |older| &older.links().newer);
        from_older.set(newer.get());
        // SAFETY: as above.
        let from_newer = unsafe { newer.get().as_ref() }.map_or(&self.newest, |newer| &newer.links().older);
        from_newer.set(older.get());
    }
}

/// The neighbours of a job in its list.
pub(super) struct Links<J> {
    pub(super) older: Cell<*const J>,
    pub(super) newer: Cell<*const J>,
}

impl<J> Links<J> {
    pub(super) const fn new() -> Self {
        Links { older: Cell::new(null()), newer: Cell::new(null()) }
    }
}
