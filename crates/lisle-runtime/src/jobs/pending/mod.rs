//! The work that has been put off on a stack: the second halves of joins, the rests of loops, the
//! jobs of scopes.
//!
//! Code that puts something off goes on with something else, and comes back to it. So the entries
//! stay where they were made, on the stack, in a list that grows and shrinks at its young end and
//! belongs to one thread. Noting one down is four stores; crossing it out is a comparison and a
//! store. Other threads see only *offered* entries. The oldest entry is offered first, since it is
//! most likely the largest.
//!
//! An offered entry is no longer in the list. When the owner comes back to an entry, all younger
//! ones have gone. So the entry is the youngest if and only if it has not been offered.
//!
//! The owner may be in a long call, in which it does not look at the list. So other threads may
//! also offer entries, if these allow it. `outside.rs` has this protocol, with the owner's duties.

mod outside;

use super::job::{Ancestor, Job};
use crate::shim::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use crate::shim::{asymmetric, const_fn};
use std::cell::Cell;
use std::panic::Location;
use std::ptr::{NonNull, null, null_mut};

/// An entry of the list, the first field of a larger value that holds the work.
#[repr(C)]
pub struct Entry {
    older: Cell<*const Entry>,
    /// Valid if this is not the youngest.
    newer: AtomicPtr<Entry>,
    offer: unsafe fn(NonNull<Entry>, *const Ancestor) -> Offer,
    reach: Cell<Reach>,
}

/// Which threads may offer an entry. Touched by its owner's thread, and by the thread that looks
/// from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Only the owner, since offering it runs the user's code.
    Owner,
    /// Any thread.
    All,
    /// Another thread has offered the entry, which is still in the list.
    Gone,
}

/// The offer of an entry.
pub enum Offer {
    /// Nothing now.
    Nothing,
    /// This job. The entry leaves the list.
    Last(NonNull<Job>),
    /// This job, and there may be more.
    More(NonNull<Job>),
}

impl Entry {
    const_fn! {
        /// Creates an entry. `offer` prepares a job for others, as a part of the given ancestor, or
        /// of nothing if that is null. The thread of the list calls it while the entry is in the
        /// list.
        #[inline(always)]
        pub fn new(offer: unsafe fn(NonNull<Entry>, *const Ancestor) -> Offer) -> Self {
            Entry::with(offer, Reach::Owner)
        }
    }

    const_fn! {
        /// Creates an entry whose `offer` may also be called by another thread. Meanwhile the
        /// thread of the list neither [holds](Pending::hold) the list nor crosses anything out.
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

/// The entry that was the youngest before.
#[derive(Clone, Copy)]
pub struct Older(*const Entry);

/// The surroundings of the running code, as joins and loops see them. The numbers are of one type,
/// so that `bits` is computed without a jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Inside {
    /// Neither a join nor a loop.
    Nothing,
    /// A join or a loop. This many levels of the joins in it are noted down in any case.
    One(u32),
    /// A handled computation that is a part of a join or a loop. For the joins and loops in it this
    /// is as `Nothing`. The number distinguishes it from the computations of which it is a part.
    Handled(u32),
    /// Code that must not wait, and so puts nothing off for others. The number belongs to the
    /// handled computation of which the code is a part; it is 0 if there is none, or `IN_PART`.
    Fenced(u32),
}

/// A number of no handled computation: a join or loop is in between.
const IN_PART: u32 = u32::MAX;

impl Inside {
    /// Returns the surroundings of code that must not wait and is called from here.
    fn fenced(self) -> Self {
        Inside::Fenced(match self {
            Inside::Nothing => 0,
            Inside::One(_) => IN_PART,
            Inside::Handled(number) | Inside::Fenced(number) => number,
        })
    }

    /// Returns a number that only this has, without a jump.
    #[must_use]
    #[inline(always)]
    pub fn bits(self) -> u64 {
        // SAFETY: a `repr(u32)` enum begins with the number of its variant.
        let kind = unsafe { *(&raw const self).cast::<u32>() };
        let number = match self {
            Inside::Nothing => 0,
            Inside::One(number) | Inside::Handled(number) | Inside::Fenced(number) => number,
        };
        (u64::from(kind) << 32) | u64::from(number)
    }

    /// Returns `true` if code in this, which is called in `outer`, is in the same part of the same
    /// join or loop, or in none.
    #[must_use]
    pub fn is_in_same(self, outer: Inside) -> bool {
        self == outer
            || (matches!(self, Inside::Fenced(_))
                && self == outer.fenced()
                && self != Inside::Fenced(IN_PART))
    }
}

/// In a join, a loop or a scope that is part of no other, this many levels of joins are noted down
/// even if no domain could take anything as they begin. They may be long, and domains may look for
/// work meanwhile. Deeper joins are left out, since the code of the first levels most likely comes
/// back soon.
pub(crate) const FIRST_LEVELS: u32 = 3;

/// The most joins between two looks at the clock.
const MOST_JOINS_A_LOOK: u8 = 64;

/// The list of one stack, with the stack's other state for its loops.
pub struct Pending {
    /// The owner writes this field and the next one.
    youngest: AtomicPtr<Entry>,
    /// Valid if the list is not empty.
    oldest: AtomicPtr<Entry>,
    /// The number of entries that others have offered, and a flag that says that a thread looks at
    /// the list now: see `outside.rs`.
    disturbed: AtomicU32,
    /// `true` while the owner changes fields at which no other thread may look.
    held: AtomicBool,
    /// The number of joins until the next look at the clock.
    until_look: Cell<u8>,
    /// The number of joins between two looks at the clock.
    joins_a_look: Cell<u8>,
    /// When the last look at the clock ended.
    last_look: Cell<u64>,
    /// The job taken from elsewhere that runs on this stack, or null for the stack's own code.
    pub(crate) job: Cell<*const Job>,
    /// Whether the code that runs here is part of a join or a loop.
    pub inside: Cell<Inside>,
    /// The call for which the library runs loops of its own here, see `origin.rs` of `lisle-par`.
    pub origin: Cell<Option<&'static Location<'static>>>,
    /// The number of the code that spawns jobs here. Each job that runs on this stack has a number
    /// of its own, and so has the code that has called the first.
    pub level: Cell<u64>,
    /// The last number that was given.
    levels: Cell<u64>,
    /// The entry of the innermost scope that runs here, or that a job running here belongs to, or
    /// null.
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
                joins_a_look: Cell::new(1),
                last_look: Cell::new(0),
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
    /// The entry is in no list. The pointer may be used for all of the value that it is the first
    /// field of. The value stays in place until [`pop`](Pending::pop) has been called for it, and
    /// all entries noted down after it are popped before.
    #[inline(always)]
    pub unsafe fn push(&self, entry: NonNull<Entry>) -> Older {
        let older = self.youngest.load(Ordering::Relaxed);
        // SAFETY: in place, by the caller's promise.
        unsafe { entry.as_ref() }.older.set(older);
        // SAFETY: entries of the list are in place.
        let place = unsafe { older.as_ref() }.map_or(&self.oldest, |older| &older.newer);
        place.store(entry.as_ptr(), Ordering::Relaxed);
        // Release: a thread that finds the entry here sees it complete.
        self.youngest.store(entry.as_ptr(), Ordering::Release);
        Older(older)
    }

    /// Returns `true` if nothing is noted down.
    pub fn is_empty(&self) -> bool {
        self.youngest.load(Ordering::Relaxed).is_null()
    }

    /// Crosses `entry` out, whose push returned `older`. Returns `false` if the entry is no longer
    /// in the list, since it has been offered.
    #[inline(always)]
    pub fn pop(&self, entry: &Entry, Older(older): Older) -> bool {
        let is_youngest = self.is_youngest(entry);
        if is_youngest {
            // Most often both are the same. To compare first and then store the value at hand
            // avoids waiting for the load: a join is so short that loading the last join's store
            // would take most of its time.
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

    /// Finishes a pop if the entry before it has been offered.
    #[cold]
    #[inline(never)]
    fn restore(&self, entry: &Entry) {
        self.youngest.store(entry.older.get().cast_mut(), Ordering::Release);
    }

    /// Returns `true` if `entry`, whose younger ones have all been popped, is still in the list.
    #[inline(always)]
    pub fn is_youngest(&self, entry: &Entry) -> bool {
        std::ptr::eq(self.youngest.load(Ordering::Relaxed), entry)
    }

    /// Counts a join. Returns `true` if it is time to look at the clock.
    #[inline(always)]
    pub fn count(&self) -> bool {
        let left = self.until_look.get();
        self.until_look.set(left.wrapping_sub(1));
        left == 0
    }

    /// Says that the clock is looked at, and reads `now`. The next look should come about `period`
    /// later: after fewer joins, if the joins since the last look have taken longer.
    pub(crate) fn looked(&self, now: u64, period: u64) {
        let took = now.wrapping_sub(self.last_look.replace(now)).max(1);
        let joins = u64::from(self.joins_a_look.get());
        let joins = joins.saturating_mul(period) / took;
        // More only by one: on the way down a tree of joins they follow each other at once, and long
        // calls may come at the bottom.
        let most = MOST_JOINS_A_LOOK.min(self.joins_a_look.get() + 1);
        let joins = joins.clamp(1, u64::from(most)) as u8;
        self.joins_a_look.set(joins);
        self.until_look.set(joins - 1);
    }

    /// Says that no join of this stack ran between the last look and `now`.
    pub(crate) fn was_away(&self, now: u64) {
        self.last_look.set(now);
    }

    /// Puts nothing off here for others until the returned guard is dropped.
    pub(crate) fn fence(&self) -> Fence<'_> {
        Fence { pending: self, around: self.inside.replace(self.inside.get().fenced()) }
    }

    /// Makes the next look at the clock come soon.
    #[inline]
    pub fn hurry(&self) {
        self.until_look.set(0);
    }

    /// Returns the ancestor of the code that runs on this stack, or null if that is the stack's own
    /// code.
    #[inline]
    pub fn ancestor(&self) -> *const Ancestor {
        Job::ancestor_of(self.job.get())
    }

    /// Gives the code that runs on this stack the level of a new job until the returned guard is
    /// dropped.
    #[inline]
    pub fn descend(&self) -> Level<'_> {
        let level = self.levels.get() + 1;
        self.levels.set(level);
        Level { pending: self, around: self.level.replace(level) }
    }

    /// Prepares the offer of the oldest entry that has any.
    pub(crate) fn offer(&self) -> Option<NonNull<Job>> {
        let mut held = self.hold();
        self.unlink_gone();
        let mut next = self.first();
        while let Some(entry) = next {
            // SAFETY: entries of the list are in place.
            let this = unsafe { entry.as_ref() };
            let offer = match this.reach.get() {
                Reach::Gone => Offer::Nothing,
                // SAFETY: the entry is in the list, and this is the list's thread.
                Reach::All => unsafe { (this.offer)(entry, self.ancestor()) },
                Reach::Owner => {
                    // The user's code, which may do anything.
                    drop(held);
                    // SAFETY: the entry is in the list, and this is the list's thread.
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

    /// Returns the oldest entry.
    fn first(&self) -> Option<NonNull<Entry>> {
        // Acquire: a thread that finds an entry here sees which one is the oldest.
        let youngest = self.youngest.load(Ordering::Acquire);
        NonNull::new(self.oldest.load(Ordering::Relaxed)).filter(|_| !youngest.is_null())
    }

    fn unlink(&self, entry: &Entry) {
        let (older, newer) = (entry.older.get(), entry.newer.load(Ordering::Relaxed));
        if self.is_youngest(entry) {
            self.youngest.store(older.cast_mut(), Ordering::Release);
        } else {
            // SAFETY: entries of the list are in place, and an entry that is not the youngest has a
            // newer one.
            unsafe { &*newer }.older.set(older);
            // SAFETY: entries of the list are in place.
            let place = unsafe { older.as_ref() }.map_or(&self.oldest, |older| &older.newer);
            place.store(newer, Ordering::Relaxed);
        }
    }
}

/// A guard, see [`Pending::fence`].
pub(crate) struct Fence<'p> {
    pending: &'p Pending,
    around: Inside,
}

impl Drop for Fence<'_> {
    fn drop(&mut self) {
        self.pending.inside.set(self.around);
    }
}

/// A guard, see [`Pending::descend`].
pub struct Level<'p> {
    pending: &'p Pending,
    /// The level of the surrounding code.
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

    /// An entry that has this many things to offer.
    #[repr(C)]
    struct Chest {
        entry: Entry,
        left: Cell<usize>,
    }

    impl Chest {
        fn new(left: usize) -> Self {
            unsafe fn offer(entry: NonNull<Entry>, _: *const Ancestor) -> Offer {
                // SAFETY: the entry was made below, as the first field of this.
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
        // SAFETY: the entries stay in place until the end of the test, and are popped in turn.
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
