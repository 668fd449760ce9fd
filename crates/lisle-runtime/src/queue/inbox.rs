//! A domain's inbox: the entries that other threads hand over, and whether the domain sleeps.
//!
//! Both are in one word, so "is there work?" and "may I sleep?" cannot disagree. The word is the
//! head of a list that any thread pushes to and that only the owner takes, as a whole; or a mark
//! that the owner sleeps. The push that replaces the mark is the one that has to wake the owner, so
//! a wake is made only for a sleeping owner, and only once. The README of `sched` explains the
//! rest.

use crate::shim::unseen::{AtomicPtr, Ordering};
use std::ptr::NonNull;

/// An item of an inbox, which has a link of its own.
///
/// # Safety
///
/// `link` returns the value that `set_link` has stored; neither touches anything else.
pub(crate) unsafe trait Linked {
    fn link(&self) -> *mut Self;
    fn set_link(&self, next: *mut Self);
}

pub(crate) struct Inbox<T> {
    /// Null if empty, `asleep()` if empty while the owner sleeps, and otherwise the item pushed
    /// last.
    head: AtomicPtr<T>,
}

impl<T: Linked> Inbox<T> {
    pub(crate) fn new() -> Self {
        Inbox { head: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Returns the mark of a sleeping owner: an address at which nothing lies.
    fn asleep() -> *mut T {
        std::ptr::without_provenance_mut(1)
    }

    /// Hands `item` over. Returns `true` if the owner sleeps and the caller has to wake it.
    ///
    /// # Safety
    ///
    /// The item is in no list and stays alive until the owner has taken it.
    #[must_use]
    pub(crate) unsafe fn push(&self, item: NonNull<T>) -> bool {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            let next = if head == Self::asleep() { std::ptr::null_mut() } else { head };
            // SAFETY: the item is alive and belongs to this call alone until the exchange succeeds.
            unsafe { item.as_ref() }.set_link(next);
            // Release: the caller's accesses to the item happen before the owner takes it.
            match self.head.compare_exchange_weak(head, item.as_ptr(), Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return head == Self::asleep(),
                Err(seen) => head = seen,
            }
        }
    }

    /// Returns `true` if something may have been handed over. Owner only.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        !self.head.load(Ordering::Relaxed).is_null()
    }

    /// Takes everything, in the order in which it was pushed, and ends a sleep. Owner only.
    pub(crate) fn take_all(&self, mut each: impl FnMut(NonNull<T>)) {
        // Acquire: pairs with the release of the pushes.
        let head = self.head.swap(std::ptr::null_mut(), Ordering::AcqRel);
        if head == Self::asleep() {
            return;
        }
        let mut reversed: *mut T = std::ptr::null_mut();
        let mut next = NonNull::new(head);
        while let Some(item) = next {
            // SAFETY: a pushed entry is alive, and belongs to the owner since the swap.
            let item_ref = unsafe { item.as_ref() };
            next = NonNull::new(item_ref.link());
            item_ref.set_link(reversed);
            reversed = item.as_ptr();
        }
        while let Some(item) = NonNull::new(reversed) {
            // SAFETY: as above; the link is read before the item is handed out.
            reversed = unsafe { item.as_ref() }.link();
            each(item);
        }
    }

    /// Marks the owner as asleep. Returns `false` if something has been handed over: then the owner
    /// stays awake.
    pub(crate) fn fall_asleep(&self) -> bool {
        self.head
            .compare_exchange(std::ptr::null_mut(), Self::asleep(), Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// Ends a sleep from outside and hands nothing over. Returns `true` if the owner slept and the
    /// caller has to wake it.
    pub(crate) fn rouse(&self) -> bool {
        self.is_asleep()
            && self
                .head
                .compare_exchange(Self::asleep(), std::ptr::null_mut(), Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
    }

    pub(crate) fn is_asleep(&self) -> bool {
        self.head.load(Ordering::Relaxed) == Self::asleep()
    }

    /// Returns `true` if the owner sleeps. Its steps before it fell asleep happen before this
    /// returns.
    pub(crate) fn is_still_asleep(&self) -> bool {
        self.head.load(Ordering::Acquire) == Self::asleep()
    }
}
