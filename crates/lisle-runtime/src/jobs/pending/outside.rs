//! Lets other threads offer the pending work of a stack whose owner is in a long call.
//!
//! The owner pushes and pops at any time, with plain stores. So a thread that looks from outside
//! first *disturbs* the list: it sets a flag in the list, makes all processors pass a fence
//! ([`asymmetric`]), and looks. The owner looks at the flag *after* it has crossed an entry out,
//! before it goes on and the entry's memory is gone. Either the owner's store comes before that
//! fence, and the other thread does not see the entry any more; or the owner sees the flag, and
//! waits until the other thread has looked. So the entries that the other thread finds stay in
//! place. It may or may not see entries that are pushed meanwhile.
//!
//! The thread that looks from outside changes no link, since the links are the owner's. It offers
//! the job of an entry, marks the entry as *gone*, and counts it. The next time that the owner
//! crosses anything out or offers something, it finds that the count is not 0, and takes all gone
//! entries out of the list. From then on they are like entries that the owner has offered itself.
//!
//! The offer of an entry may change without a pop: the jobs of a scope come and go. Code that
//! changes it *holds* the list, for a few instructions. That is the same protocol with the two
//! sides exchanged: the owner sets a flag and looks whether the list is disturbed; the thread that
//! disturbs the list waits until it is not held.
//!
//! Where the fence is not available, on old kernels and in narrow sandboxes, no thread looks from
//! outside.

use super::{Entry, Offer, Pending, Reach};
use crate::jobs::offers::Offers;
use crate::shim::Backoff;
use crate::shim::asymmetric;
use crate::shim::atomic::Ordering;
use std::ptr::NonNull;

/// The flag which says that a thread looks at the list from outside.
const LOOKED_AT: u32 = 1 << 31;

/// A guard: until it is dropped, the owner changes fields at which no other thread may look.
pub struct Held<'p>(&'p Pending);

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        // Release: a thread that looks afterwards sees the change.
        self.0.held.store(false, Ordering::Release);
    }
}

impl Pending {
    /// Keeps others from looking. The owner calls this for a few instructions that do not run the
    /// user's code. Calls must not be nested.
    #[inline]
    pub fn hold(&self) -> Held<'_> {
        self.held.store(true, Ordering::Relaxed);
        asymmetric::light();
        if self.disturbed.load(Ordering::Acquire) & LOOKED_AT != 0 {
            self.hold_later();
        }
        Held(self)
    }

    #[cold]
    #[inline(never)]
    fn hold_later(&self) {
        let mut backoff = Backoff::new();
        loop {
            self.held.store(false, Ordering::Release);
            while self.disturbed.load(Ordering::Acquire) & LOOKED_AT != 0 {
                backoff.wait();
            }
            self.held.store(true, Ordering::Relaxed);
            asymmetric::light();
            if self.disturbed.load(Ordering::Acquire) & LOOKED_AT == 0 {
                return;
            }
        }
    }

    /// Finishes a pop of a list that was disturbed. Returns `true` if `entry` was still in the
    /// list, and not gone.
    #[cold]
    #[inline(never)]
    pub(super) fn was_left(&self, entry: &Entry) -> bool {
        let _held = self.hold();
        self.unlink_gone();
        entry.reach.get() != Reach::Gone
    }

    /// Takes all gone entries out of the list. Only the owner calls this, while it holds the list.
    pub(super) fn unlink_gone(&self) {
        // The count may include an entry that has been crossed out already.
        if self.disturbed.load(Ordering::Relaxed) & !LOOKED_AT == 0 {
            return;
        }
        self.disturbed.fetch_and(LOOKED_AT, Ordering::Relaxed);
        let mut next = self.first();
        while let Some(entry) = next {
            // SAFETY: entries of the list are in place.
            let this = unsafe { entry.as_ref() };
            let is_youngest = self.is_youngest(this);
            next = NonNull::new(this.newer.load(Ordering::Relaxed)).filter(|_| !is_youngest);
            if this.reach.get() == Reach::Gone {
                self.unlink(this);
            }
        }
    }

    /// Says that this thread, which is not the owner, is about to look. After [`asymmetric::heavy`]
    /// it looks with [`offer_from_outside`](Pending::offer_from_outside), and then it
    /// [leaves](Pending::leave).
    ///
    /// Only one thread at a time does this.
    pub(crate) fn disturb(&self) {
        self.disturbed.fetch_or(LOOKED_AT, Ordering::Relaxed);
    }

    /// Says that this thread has looked.
    pub(crate) fn leave(&self) {
        // Release: the owner, as it goes on, sees the marks.
        self.disturbed.fetch_and(!LOOKED_AT, Ordering::Release);
    }

    /// Offers the oldest of the entries that any thread may offer. Returns `false` if there is
    /// none, or no room.
    ///
    /// # Safety
    ///
    /// This thread has [disturbed](Pending::disturb) the list and then called
    /// [`asymmetric::heavy`], which returned `true`. The list stays in place until this returns.
    pub(crate) unsafe fn offer_from_outside(&self, offers: &Offers) -> bool {
        // The owner holds the list for a few instructions, and not again while it is disturbed.
        let mut backoff = Backoff::new();
        while self.held.load(Ordering::Acquire) {
            backoff.wait();
        }
        let prepare = || {
            // Entries that are pushed later are not looked at.
            let youngest = self.youngest.load(Ordering::Acquire);
            let mut next = self.first().filter(|_| !youngest.is_null());
            while let Some(entry) = next {
                // SAFETY: the entry is in the list, and stays in place, as argued at the top of
                // this file.
                let this = unsafe { entry.as_ref() };
                if this.reach.get() == Reach::All {
                    // SAFETY: the entry is in the list. The owner neither holds the list nor
                    // crosses the entry out.
                    match unsafe { (this.offer)(entry, self.ancestor()) } {
                        Offer::Last(job) => {
                            this.reach.set(Reach::Gone);
                            self.disturbed.fetch_add(1, Ordering::Relaxed);
                            return Some(job);
                        }
                        Offer::More(job) => return Some(job),
                        Offer::Nothing => {}
                    }
                }
                let is_last = std::ptr::eq(youngest, entry.as_ptr());
                next = NonNull::new(this.newer.load(Ordering::Relaxed)).filter(|_| !is_last);
            }
            None
        };
        // SAFETY: the owner goes on only when it has taken the offered job back, or when the job is
        // done.
        unsafe { offers.offer(prepare) }
    }
}
