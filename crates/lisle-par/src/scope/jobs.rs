//! The jobs of a frame: which there are, and which of them have not been offered.

use super::list::List;
use super::spawned::Header;
use std::cell::Cell;
use std::ptr::{NonNull, null};

/// So many are passed over in search of one that has not been offered, at most.
const PATIENCE: usize = 16;

/// All that were spawned and have not been settled, in their order.
pub(super) struct Jobs {
    all: List,
    /// Those that are older have been offered.
    oldest: Cell<*const Header>,
    /// Those that are newer have been offered.
    newest: Cell<*const Header>,
    /// Was the last one that its owner has come to the oldest of several?
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

    /// # Safety
    ///
    /// It is in no list, not offered, and stays in place until it is [removed](Jobs::remove).
    #[inline]
    pub(super) unsafe fn push(&self, spawned: NonNull<Header>) {
        // SAFETY: passed on to the caller.
        unsafe { self.all.push(spawned) };
        self.newest.set(spawned.as_ptr());
        if self.oldest.get().is_null() {
            self.oldest.set(spawned.as_ptr());
        }
    }

    /// # Safety
    ///
    /// It is one of them.
    #[inline]
    pub(super) unsafe fn remove(&self, spawned: NonNull<Header>) {
        // SAFETY: in place.
        let links = unsafe { &spawned.as_ref().links };
        let (older, newer) = (links.older.get(), links.newer.get());
        if std::ptr::eq(self.oldest.get(), spawned.as_ptr()) {
            self.oldest.set(newer);
        }
        if std::ptr::eq(self.newest.get(), spawned.as_ptr()) {
            self.newest.set(older);
        }
        self.in_order.set(older.is_null() && !newer.is_null());
        // SAFETY: passed on to the caller.
        unsafe { self.all.remove(spawned) };
    }

    /// The newest of all.
    #[inline]
    pub(super) fn newest(&self) -> Option<NonNull<Header>> {
        self.all.newest()
    }

    /// Is there perhaps one to be offered?
    #[inline]
    pub(super) fn may_offer(&self) -> bool {
        !self.oldest.get().is_null()
    }

    /// The next to be offered, as offered: the oldest, which is likely to be the largest; but the newest if their owner comes
    /// to them in the order of their spawning, lest he and whoever takes them meet at each.
    pub(super) fn offer(&self) -> Option<NonNull<Header>> {
        let newest = if self.in_order.get() { self.offer_newest() } else { None };
        newest.or_else(|| self.offer_oldest())
    }

    fn offer_oldest(&self) -> Option<NonNull<Header>> {
        while let Some(spawned) = NonNull::new(self.oldest.get().cast_mut()) {
            // SAFETY: what is in the list is in place.
            let this = unsafe { spawned.as_ref() };
            self.oldest.set(this.links.newer.get());
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
            self.newest.set(this.links.older.get());
            if this.is_to_be_offered() {
                return Some(spawned);
            }
        }
        None
    }
}
