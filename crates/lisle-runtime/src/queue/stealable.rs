//! The entries of a domain that others may take: fibers that have not begun, the youngest in a slot
//! of its own and the others in a ring, and ready tasks, in the ring.
//!
//! The youngest begins as soon as the fiber that spawned it waits, because that fiber most likely
//! waits for it: they follow each other while their data is in the cache, and stay on one domain.
//! The others begin in the order in which they were spawned, which is also the order in which
//! thieves take them. So a thief first takes the fiber that has waited longest. It is the least
//! likely to exchange messages with a fiber that has begun here.
//!
//! Only the owner puts anything into the slot, so an empty slot stays empty until it does: no
//! exchange is needed to fill it. A thread that empties the slot exchanges its content for null,
//! and so it alone has the fiber.

use super::ring::Ring;
use crate::shim::unseen::{AtomicPtr, AtomicUsize, Ordering};
use std::ptr::{NonNull, null_mut};

pub(crate) struct Stealable<T> {
    youngest: AtomicPtr<T>,
    /// How many have been the youngest. Written by the owner.
    pushed: AtomicUsize,
    ring: Ring<T>,
}

/// The waiting entries at some moment, to be compared with a later moment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sight {
    /// The number of the youngest. Its address would not do: a fiber that ends makes room for the
    /// next one.
    youngest: Option<usize>,
    /// The position after the last entry of the ring.
    end: u64,
}

impl<T> Stealable<T> {
    pub(crate) fn new() -> Self {
        Stealable { youngest: AtomicPtr::new(null_mut()), pushed: AtomicUsize::new(0), ring: Ring::new() }
    }

    /// Returns about how many there are.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        self.ring.len() + u64::from(!self.youngest.load(Ordering::Relaxed).is_null())
    }

    /// Makes `entry` the youngest. Returns the previous youngest as an error if there is no room
    /// for it in the ring. Owner only.
    #[inline]
    pub(crate) fn push(&self, entry: NonNull<T>) -> Result<(), NonNull<T>> {
        self.pushed.store(self.pushed.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        // An exchange comes directly after the write whose value it has read. So no exchange that
        // has found the slot empty comes after this store. Loom does not order a store and an
        // exchange in this way, and is given an exchange instead.
        if cfg!(not(lisle_loom)) && self.youngest.load(Ordering::Relaxed).is_null() {
            // Release: the owner's accesses to the entry happen before another thread takes it.
            self.youngest.store(entry.as_ptr(), Ordering::Release);
            return Ok(());
        }
        match NonNull::new(self.youngest.swap(entry.as_ptr(), Ordering::AcqRel)) {
            Some(older) if !self.ring.push(older, false) => Err(older),
            _ => Ok(()),
        }
    }

    /// Puts `entry` behind the others, because it is no younger than they are. A thief may take it
    /// at once if it `is_free`. Returns `false` if there is no room. Owner only.
    pub(crate) fn append(&self, entry: NonNull<T>, is_free: bool) -> bool {
        self.ring.push(entry, is_free)
    }

    /// Returns `true` if several wait in the ring, and the oldest of them may be taken at once.
    pub(crate) fn has_free(&self) -> bool {
        self.ring.len() > 1 && self.ring.is_free()
    }

    /// Takes the youngest. Any thread.
    #[inline]
    pub(crate) fn take_youngest(&self) -> Option<NonNull<T>> {
        if self.youngest.load(Ordering::Relaxed).is_null() {
            return None;
        }
        NonNull::new(self.youngest.swap(null_mut(), Ordering::AcqRel))
    }

    /// Takes the oldest. Any thread.
    #[inline]
    pub(crate) fn take_oldest(&self) -> Option<NonNull<T>> {
        self.ring.take().or_else(|| self.take_youngest())
    }

    /// Takes some of the oldest entries, at most 32 and in one step, so that neighbours stay together.
    /// `share` gets the number of entries in the ring, and returns the number to take. If `only_free`,
    /// takes only entries that may be taken at once. Hands each to `each`, and returns their number.
    /// Any thread.
    pub(crate) fn take_some(
        &self,
        share: impl Fn(u64) -> u64,
        only_free: bool,
        mut each: impl FnMut(NonNull<T>),
    ) -> u64 {
        match self.ring.take_some(share, only_free, &mut each) {
            0 if !only_free => self.take_youngest().map_or(0, |youngest| {
                each(youngest);
                1
            }),
            taken => taken,
        }
    }

    /// Returns the waiting entries of this moment; `None` if there are none.
    pub(crate) fn sight(&self) -> Option<Sight> {
        let (begun, end) = self.ring.positions();
        let youngest = self.number_of_youngest();
        (begun < end || youngest.is_some()).then_some(Sight { youngest, end })
    }

    /// Returns `true` if any of the seen entries still waits, where the last entry of the ring
    /// stands for all of them.
    pub(crate) fn still_waits(&self, seen: Sight) -> bool {
        let (begun, _) = self.ring.positions();
        seen.end > begun || (seen.youngest.is_some() && seen.youngest == self.number_of_youngest())
    }

    /// Returns the number of the youngest, or of a younger one, if there is a youngest.
    fn number_of_youngest(&self) -> Option<usize> {
        // Acquire: it has been counted before.
        let is_there = !self.youngest.load(Ordering::Acquire).is_null();
        is_there.then(|| self.pushed.load(Ordering::Relaxed))
    }
}

#[cfg(all(test, not(lisle_loom)))]
mod tests {
    use super::*;

    fn entry(n: &mut u32) -> NonNull<u32> {
        NonNull::from(n)
    }

    #[test]
    fn the_youngest_goes_first_and_the_others_in_order() {
        let stealable = Stealable::new();
        let mut numbers: Vec<u32> = (0..4).collect();
        let entries: Vec<_> = numbers.iter_mut().map(entry).collect();
        for &entry in &entries {
            assert_eq!(stealable.push(entry), Ok(()));
        }
        assert_eq!(stealable.len(), 4);
        assert_eq!(stealable.take_youngest(), Some(entries[3]));
        assert_eq!(stealable.take_youngest(), None);
        assert_eq!(stealable.take_oldest(), Some(entries[0]));
        assert_eq!(stealable.push(entries[3]), Ok(()));
        assert_eq!(stealable.take_oldest(), Some(entries[1]));
        assert_eq!(stealable.take_oldest(), Some(entries[2]));
        assert_eq!(stealable.take_oldest(), Some(entries[3]), "the slot comes last");
        assert_eq!(stealable.take_oldest(), None);
        assert_eq!(stealable.len(), 0);
    }

    #[test]
    fn what_has_no_room_is_given_back() {
        let stealable = Stealable::new();
        let room = usize::try_from(super::super::ring::CAPACITY).unwrap();
        let mut numbers: Vec<u32> = (0..).take(room + 2).collect();
        let entries: Vec<_> = numbers.iter_mut().map(entry).collect();
        for &entry in &entries[..=room] {
            assert_eq!(stealable.push(entry), Ok(()));
        }
        assert_eq!(stealable.push(entries[room + 1]), Err(entries[room]));
        assert!(!stealable.append(entries[room], true));
        assert_eq!(stealable.take_youngest(), Some(entries[room + 1]));
    }

    #[test]
    fn only_the_oldest_is_taken_at_once_and_only_if_it_may_be() {
        let stealable = Stealable::new();
        let mut numbers: Vec<u32> = (0..4).collect();
        let entries: Vec<_> = numbers.iter_mut().map(entry).collect();
        assert!(!stealable.has_free());
        assert!(stealable.append(entries[0], true));
        assert!(!stealable.has_free(), "there is only one");
        assert!(stealable.append(entries[1], false));
        assert!(stealable.has_free());
        let free = || {
            let mut taken = Vec::new();
            stealable.take_some(|there| there, true, |entry| taken.push(entry));
            taken
        };
        assert_eq!(free(), [entries[0]], "the next one must wait");
        assert_eq!(free(), []);
        assert!(stealable.append(entries[2], true));
        assert!(!stealable.has_free());
        assert_eq!(stealable.take_oldest(), Some(entries[1]));
        assert_eq!(stealable.take_oldest(), Some(entries[2]), "without its mark");
        stealable.push(entries[3]).unwrap();
        assert_eq!(free(), [], "the slot is no part of the ring");
    }

    #[test]
    fn a_share_is_of_neighbours_and_no_more_than_there_are() {
        let stealable = Stealable::new();
        let mut numbers: Vec<u32> = (0..=100).collect();
        let entries: Vec<_> = numbers.iter_mut().map(entry).collect();
        for &entry in &entries {
            assert_eq!(stealable.push(entry), Ok(()));
        }
        let share = |share: fn(u64) -> u64| {
            let mut taken = Vec::new();
            let count = stealable.take_some(share, false, |entry| taken.push(entry));
            assert_eq!(taken.len() as u64, count);
            taken
        };
        assert_eq!(share(|there| there / 10), entries[..10]);
        assert_eq!(share(|there| there), entries[10..42], "at most 32 at once");
        assert_eq!(share(|_| 32), entries[42..74]);
        assert_eq!(share(|_| 32), entries[74..100]);
        assert_eq!(share(|_| 32), entries[100..], "the slot comes last");
        assert_eq!(share(|_| 32), []);
    }

    #[test]
    fn what_was_seen_waits_until_it_is_taken() {
        let stealable = Stealable::new();
        assert_eq!(stealable.sight().map(|_| ()), None);
        let (mut one, mut two) = (1, 2);
        stealable.push(entry(&mut one)).unwrap();
        let seen = stealable.sight().expect("one waits");
        assert!(stealable.still_waits(seen));
        stealable.push(entry(&mut two)).unwrap();
        let both = stealable.sight().expect("two wait");
        stealable.take_youngest();
        assert!(stealable.still_waits(both), "the other one waits in the ring");
        stealable.take_oldest();
        assert!(!stealable.still_waits(both));
        assert!(!stealable.still_waits(seen));
    }

    #[test]
    fn another_one_at_the_same_place_was_not_seen() {
        let stealable = Stealable::new();
        let mut place = 1;
        stealable.push(entry(&mut place)).unwrap();
        let seen = stealable.sight().expect("one waits");
        stealable.take_youngest();
        stealable.push(entry(&mut place)).unwrap();
        assert!(!stealable.still_waits(seen));
    }
}
