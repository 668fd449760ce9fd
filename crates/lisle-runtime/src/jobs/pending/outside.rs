//! How others offer what a stack has put off, while its owner is in a long call and looks at nothing.
//!
//! The owner pushes and pops at any time, with plain stores. So who looks from outside first *disturbs* the list: he sets a flag
//! in it, has all processors pass a fence ([`asymmetric`]), and looks. The owner looks at the flag *after* it has crossed an
//! entry out, before it goes on and the entry's memory with it. So either its store comes before that fence, and the entry is
//! not seen any more, or it sees the flag, and waits until the other has done. What is found in the list
//! therefore stays in place; what is pushed meanwhile is seen or not.
//!
//! He who looks from outside changes no link, for these are the owner's. He offers the job of an entry and marks the entry as
//! *gone*, and counts it. The owner finds the count not to be 0 the next time that it crosses anything out or offers something,
//! and then takes all out of the list that are gone. From then on they are as if it had offered them itself.
//!
//! What an entry has to offer may change without a pop: a scope's jobs come and go. Who changes that *holds* the list
//! for the few instructions that it takes. That is the same the other way round: the owner sets a flag and looks whether the
//! list is disturbed; who disturbs it waits until it is not held.
//!
//! Where the fence is not to be had, which is on old kernels and in narrow sandboxes, nobody looks from outside.

use super::{Entry, Offer, Pending, Reach};
use crate::jobs::offers::Offers;
use crate::shim::Backoff;
use crate::shim::asymmetric;
use crate::shim::atomic::Ordering;
use std::ptr::NonNull;

/// Somebody looks at the list from outside.
const LOOKED_AT: u32 = 1 << 31;

/// The owner changes what nobody is to look at meanwhile, until this is dropped.
pub struct Held<'p>(&'p Pending);

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        // Release: who looks afterwards sees what was changed.
        self.0.held.store(false, Ordering::Release);
    }
}

impl Pending {
    /// Keeps others from looking. For the owner, for a few instructions in which no code of a user runs; not within itself.
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

    /// The end of a pop of a list that was disturbed: was `entry` still there, and not gone?
    #[cold]
    #[inline(never)]
    pub(super) fn was_left(&self, entry: &Entry) -> bool {
        let _held = self.hold();
        self.unlink_gone();
        entry.reach.get() != Reach::Gone
    }

    /// Takes all out of the list that others have offered. For the owner, who holds it.
    pub(super) fn unlink_gone(&self) {
        // One of them may have been crossed out already.
        if self.disturbed.load(Ordering::Relaxed) & !LOOKED_AT == 0 {
            return;
        }
        self.disturbed.fetch_and(LOOKED_AT, Ordering::Relaxed);
        let mut next = self.first();
        while let Some(entry) = next {
            // SAFETY: what is in the list is in place.
            let this = unsafe { entry.as_ref() };
            let is_youngest = self.is_youngest(this);
            next = NonNull::new(this.newer.load(Ordering::Relaxed)).filter(|_| !is_youngest);
            if this.reach.get() == Reach::Gone {
                self.unlink(this);
            }
        }
    }

    /// Announces that this thread, which is not the owner, is about to look. It does so after [`asymmetric::heavy`], by
    /// [`offer_from_outside`](Pending::offer_from_outside), and then [leaves](Pending::leave).
    ///
    /// One thread at a time.
    pub(crate) fn disturb(&self) {
        self.disturbed.fetch_or(LOOKED_AT, Ordering::Relaxed);
    }

    /// Has looked.
    pub(crate) fn leave(&self) {
        // Release: the owner, going on, sees what was marked.
        self.disturbed.fetch_and(!LOOKED_AT, Ordering::Release);
    }

    /// Offers what is the oldest of what anybody may offer. False if there is nothing, or no room.
    ///
    /// # Safety
    ///
    /// The list has been [disturbed](Pending::disturb) by this thread, before a call of [`asymmetric::heavy`] that has come to
    /// true, and the list stays in place until this returns.
    pub(crate) unsafe fn offer_from_outside(&self, offers: &Offers) -> bool {
        // Nobody holds it for longer than a few instructions, nor again.
        let mut backoff = Backoff::new();
        while self.held.load(Ordering::Acquire) {
            backoff.wait();
        }
        let prepare = || {
            // What is pushed later than this is not looked at.
            let youngest = self.youngest.load(Ordering::Acquire);
            let mut next = self.first().filter(|_| !youngest.is_null());
            while let Some(entry) = next {
                // SAFETY: it is in the list, and as argued above it stays in place.
                let this = unsafe { entry.as_ref() };
                if this.reach.get() == Reach::All {
                    // SAFETY: it is in the list; its owner neither holds that nor crosses it out.
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
        // SAFETY: its owner goes on only when it has taken back what was offered, or when that is done.
        unsafe { offers.offer(prepare) }
    }
}
