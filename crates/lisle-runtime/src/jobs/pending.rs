//! What has been put off on a stack: the second halves of joins, the rests of loops, the jobs of scopes.
//!
//! Whoever puts something off goes on with something else, and comes back to it. So the entries lie where they were
//! made, on the stack, in a list that grows and shrinks at its young end, and belongs to one thread: noting one down
//! is four stores, crossing it out a comparison and a store. Only what is *offered* is ever seen by another thread. The
//! oldest is offered first, since it is most likely the largest.
//!
//! An entry that has been offered is no longer in the list. When it would be its turn to be crossed out, all
//! younger ones have gone; so it is the youngest if and only if it has not been offered.
//!
//! Its owner may be in a long call and look at nothing. So others may offer what is in the list, too, if it is such as they
//! can: `outside.rs` says how, and what that asks of the owner.

#[path = "pending/outside.rs"]
mod outside;

use super::job::{Ancestor, Job};
use crate::shim::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use crate::shim::{asymmetric, const_fn};
use std::cell::Cell;
use std::panic::Location;
use std::ptr::{NonNull, null, null_mut};

/// What has been put off, first field of what knows more of it.
#[repr(C)]
pub struct Entry {
    older: Cell<*const Entry>,
    /// Of use if this is not the youngest.
    newer: AtomicPtr<Entry>,
    offer: unsafe fn(NonNull<Entry>, *const Ancestor) -> Offer,
    reach: Cell<Reach>,
}

/// Who may offer what an entry has. Of its owner's thread, and of who looks at the list from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Its owner, since that runs code of the user's.
    Owner,
    /// Anybody.
    All,
    /// Somebody else has offered it, and it is still in the list.
    Gone,
}

/// What an entry has to offer.
pub enum Offer {
    /// Nothing now.
    Nothing,
    /// This, and the entry is to leave the list.
    Last(NonNull<Job>),
    /// This, and there may be more.
    More(NonNull<Job>),
}

impl Entry {
    const_fn! {
        /// `offer` prepares something for others, in the ancestor of this, or if null, of nothing. It is called while the entry is
        /// in a list, by the thread of that.
        #[inline(always)]
        pub fn new(offer: unsafe fn(NonNull<Entry>, *const Ancestor) -> Offer) -> Self {
            Entry::with(offer, Reach::Owner)
        }
    }

    const_fn! {
        /// The same, but `offer` may also be called by another thread, if the one of the list [holds](Pending::hold) nothing
        /// meanwhile, nor crosses anything out.
        #[inline(always)]
        pub fn open(offer: unsafe fn(NonNull<Entry>, *const Ancestor) -> Offer) -> Self {
            Entry::with(offer, Reach::All)
        }
    }

    const_fn! {
        #[inline(always)]
        fn with(offer: unsafe fn(NonNull<Entry>, *const Ancestor) -> Offer, reach: Reach) -> Self {
            Entry {
                older: Cell::new(null()),
                newer: AtomicPtr::new(null_mut()),
                offer,
                reach: Cell::new(reach),
            }
        }
    }
}

/// What was the youngest before.
#[derive(Clone, Copy)]
pub struct Older(*const Entry);

/// Where code is, as joins and loops see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    /// In none.
    Nothing,
    /// In one, and so many levels of the joins in it are to be noted down in any case.
    One(u8),
    /// Where nothing may wait, and so nothing is put off for others.
    Fenced,
}

/// So many levels of joins in a join, a loop or a scope that is part of no other are noted down though nobody could take
/// anything as they begin: they may be long, and others may come to look for work meanwhile. What is put off below is what
/// the code of the first levels comes back to soon, or so one hopes.
pub(crate) const FIRST_LEVELS: u8 = 3;

/// How many joins there are between two looks at the clock.
const JOINS_A_LOOK: u32 = 64;

/// The list of one stack, and what else a stack keeps for its loops.
pub struct Pending {
    /// These two are written by the owner.
    youngest: AtomicPtr<Entry>,
    /// Of use if there is any.
    oldest: AtomicPtr<Entry>,
    /// How many of the entries others have offered, and whether somebody looks at them now: see `outside.rs`.
    disturbed: AtomicU32,
    /// The owner changes what nobody is to look at meanwhile.
    held: AtomicBool,
    /// How many joins are left until the next look at the clock.
    until_look: Cell<u32>,
    /// What was taken from elsewhere and runs on this stack; null for the stack's own code.
    pub(crate) job: Cell<*const Job>,
    /// Is this within a join or a loop?
    pub inside: Cell<Inside>,
    /// On behalf of what call the library runs loops of its own here, see `origin.rs`.
    pub origin: Cell<Option<&'static Location<'static>>>,
    /// By which code it is that jobs are spawned here: each job that runs on this stack has a number of its own, and so has
    /// what has called the first.
    pub level: Cell<u64>,
    /// How many numbers have been given.
    levels: Cell<u64>,
    /// The entry of the innermost scope that runs here, or that a job running here belongs to; null for none.
    pub scope: Cell<*const Entry>,
}

impl Pending {
    const_fn! {
        pub fn new() -> Self {
            Pending {
                youngest: AtomicPtr::new(null_mut()),
                oldest: AtomicPtr::new(null_mut()),
                disturbed: AtomicU32::new(0),
                held: AtomicBool::new(false),
                until_look: Cell::new(0),
                job: Cell::new(null()),
                inside: Cell::new(Inside::Nothing),
                origin: Cell::new(None),
                level: Cell::new(1),
                levels: Cell::new(1),
                scope: Cell::new(null()),
            }
        }
    }

    /// Notes `entry` down as the youngest.
    ///
    /// # Safety
    ///
    /// It is in no list, the pointer may be used for all that it is the first field of, and it stays in place until [`pop`](Pending::pop) has been called for it, before which all that is
    /// noted down after it has been popped.
    #[inline(always)]
    pub unsafe fn push(&self, entry: NonNull<Entry>) -> Older {
        let older = self.youngest.load(Ordering::Relaxed);
        // SAFETY: in place, by the caller's promise.
        unsafe { entry.as_ref() }.older.set(older);
        // SAFETY: what is in the list is in place.
        let place = unsafe { older.as_ref() }.map_or(&self.oldest, |older| &older.newer);
        place.store(entry.as_ptr(), Ordering::Relaxed);
        // Release: who finds it here, finds it complete.
        self.youngest.store(entry.as_ptr(), Ordering::Release);
        Older(older)
    }

    /// Crosses `entry` out, whose push gave `older`. False if it is no longer in the list, since it has been offered.
    #[inline(always)]
    pub fn pop(&self, entry: &Entry, Older(older): Older) -> bool {
        let is_youngest = self.is_youngest(entry);
        if is_youngest {
            // The same, most often. But to compare and to store what one has is not to wait for what is read: a join is
            // so short that what one join writes and the next reads would be most of its time.
            if std::ptr::eq(entry.older.get(), older) {
                self.youngest.store(older.cast_mut(), Ordering::Release);
            } else {
                self.restore(entry);
            }
            asymmetric::light();
            if self.disturbed.load(Ordering::Acquire) != 0 {
                return self.was_left(entry);
            }
        }
        is_youngest
    }

    /// The end of a pop, if the one before it has been offered.
    #[cold]
    #[inline(never)]
    fn restore(&self, entry: &Entry) {
        self.youngest.store(entry.older.get().cast_mut(), Ordering::Release);
    }

    /// Is `entry`, of which all younger ones have been popped, still in the list?
    #[inline(always)]
    pub fn is_youngest(&self, entry: &Entry) -> bool {
        std::ptr::eq(self.youngest.load(Ordering::Relaxed), entry)
    }

    /// Counts a join. True if it is time to look at the clock.
    #[inline(always)]
    pub fn count(&self) -> bool {
        let left = self.until_look.get();
        self.until_look.set(left.wrapping_sub(1));
        left == 0
    }

    /// The clock has been looked at.
    pub(crate) fn looked(&self) {
        self.until_look.set(JOINS_A_LOOK);
    }

    /// Until what this gives is dropped, nothing is put off here for others.
    pub(crate) fn fence(&self) -> Fence<'_> {
        Fence { pending: self, around: self.inside.replace(Inside::Fenced) }
    }

    /// The next look at the clock is to be soon.
    #[inline]
    pub fn hurry(&self) {
        self.until_look.set(0);
    }

    /// In the ancestor of what is done what runs on this stack? Null if that is its own code.
    #[inline]
    pub fn ancestor(&self) -> *const Ancestor {
        Job::ancestor_of(self.job.get())
    }

    /// Until what this gives is dropped, a job runs on this stack.
    #[inline]
    pub fn descend(&self) -> Level<'_> {
        let level = self.levels.get() + 1;
        self.levels.set(level);
        Level { pending: self, around: self.level.replace(level) }
    }

    /// Prepares what the oldest entry that has anything has to offer.
    pub(crate) fn offer(&self) -> Option<NonNull<Job>> {
        let mut held = self.hold();
        self.unlink_gone();
        let mut next = self.first();
        while let Some(entry) = next {
            // SAFETY: what is in the list is in place.
            let this = unsafe { entry.as_ref() };
            let offer = match this.reach.get() {
                Reach::Gone => Offer::Nothing,
                // SAFETY: it is in the list, and this is its thread.
                Reach::All => unsafe { (this.offer)(entry, self.ancestor()) },
                Reach::Owner => {
                    // Code of the user's, which may do anything.
                    drop(held);
                    // SAFETY: as above.
                    let offer = unsafe { (this.offer)(entry, self.ancestor()) };
                    held = self.hold();
                    offer
                }
            };
            match offer {
                Offer::Last(job) => {
                    self.unlink(this);
                    return Some(job);
                }
                Offer::More(job) => return Some(job),
                Offer::Nothing if self.is_youngest(this) => return None,
                Offer::Nothing => next = NonNull::new(this.newer.load(Ordering::Relaxed)),
            }
        }
        None
    }

    /// The oldest entry.
    fn first(&self) -> Option<NonNull<Entry>> {
        // Acquire: who finds an entry here finds which is the oldest.
        let youngest = self.youngest.load(Ordering::Acquire);
        NonNull::new(self.oldest.load(Ordering::Relaxed)).filter(|_| !youngest.is_null())
    }

    fn unlink(&self, entry: &Entry) {
        let (older, newer) = (entry.older.get(), entry.newer.load(Ordering::Relaxed));
        if self.is_youngest(entry) {
            self.youngest.store(older.cast_mut(), Ordering::Release);
        } else {
            // SAFETY: what is in the list is in place, and an entry that is not the youngest has a newer one.
            unsafe { &*newer }.older.set(older);
            // SAFETY: as above.
            let place = unsafe { older.as_ref() }.map_or(&self.oldest, |older| &older.newer);
            place.store(newer, Ordering::Relaxed);
        }
    }
}

/// See [`Pending::fence`].
pub(crate) struct Fence<'p> {
    pending: &'p Pending,
    around: Inside,
}

impl Drop for Fence<'_> {
    fn drop(&mut self) {
        self.pending.inside.set(self.around);
    }
}

/// See [`Pending::descend`].
pub struct Level<'p> {
    pending: &'p Pending,
    /// That of the code around.
    around: u64,
}

impl Drop for Level<'_> {
    #[inline]
    fn drop(&mut self) {
        self.pending.level.set(self.around);
    }
}

#[cfg(all(test, not(lisle_loom)))]
mod tests {
    use super::*;

    /// An entry that has so many things to offer.
    #[repr(C)]
    struct Chest {
        entry: Entry,
        left: Cell<usize>,
    }

    impl Chest {
        fn new(left: usize) -> Self {
            unsafe fn offer(entry: NonNull<Entry>, _: *const Ancestor) -> Offer {
                // SAFETY: made below, as the first field of this.
                let this = unsafe { entry.cast::<Chest>().as_ref() };
                let job = entry.cast();
                match this.left.get() {
                    0 => Offer::Nothing,
                    1 => Offer::Last(job),
                    _ => {
                        this.left.update(|left| left - 1);
                        Offer::More(job)
                    }
                }
            }
            Chest { entry: Entry::new(offer), left: Cell::new(left) }
        }

        fn entry(&self) -> NonNull<Entry> {
            NonNull::from(self).cast()
        }

        fn is(&self, offered: Option<NonNull<Job>>) -> bool {
            offered.is_some_and(|offered| std::ptr::eq(offered.as_ptr().cast(), &raw const self.entry))
        }
    }

    #[test]
    fn the_oldest_that_has_something_is_offered_first() {
        let pending = Pending::new();
        let boxes = [0, 1, 2, 0, 1].map(Chest::new);
        // SAFETY: they stay until the end of the test, and are popped in turn.
        let older = boxes.each_ref().map(|each| unsafe { pending.push(each.entry()) });
        for expected in [1, 2, 2, 4] {
            assert!(boxes[expected].is(pending.offer()), "number {expected}");
        }
        assert!(pending.offer().is_none());
        let pop = |(each, older): (&Chest, Older)| pending.pop(&each.entry, older);
        let in_list = boxes.iter().zip(older).rev().map(pop).collect::<Vec<_>>();
        assert_eq!(in_list, [false, true, false, false, true]);
        assert!(pending.offer().is_none());
    }

    #[test]
    fn the_list_can_be_emptied_from_either_end_and_used_again() {
        let pending = Pending::new();
        let (one, two, three) = (Chest::new(1), Chest::new(1), Chest::new(1));
        // SAFETY: as above.
        let before_one = unsafe { pending.push(one.entry()) };
        assert!(one.is(pending.offer()));
        // SAFETY: as above.
        let before_two = unsafe { pending.push(two.entry()) };
        // SAFETY: as above.
        let before_three = unsafe { pending.push(three.entry()) };
        assert!(two.is(pending.offer()));
        assert!(pending.pop(&three.entry, before_three));
        assert!(!pending.pop(&two.entry, before_two));
        assert!(!pending.pop(&one.entry, before_one));
        assert!(pending.offer().is_none());
    }
}
