//! A bounded first-in first-out ring of fibers that have not begun, and of tasks, where idle
//! domains may take them.
//!
//! It has one producer, the owner, at the tail, and any number of takers at the head. Slots are
//! atomic words, and a taker owns a slot's entry by its exchange of the head. So no read can be
//! torn and no entry taken twice: a slot is written again only after the head has passed it, and
//! then the exchange of a taker that had read the old entry fails.

use crate::shim::unseen::{AtomicPtr, AtomicU64, Ordering};
use std::ptr::{NonNull, null_mut};

/// A power of two. Entries without room go to the surplus.
pub(crate) const CAPACITY: u64 = if cfg!(lisle_loom) { 4 } else { 256 };

/// How many entries are taken in one step at most.
pub(crate) const BATCH: usize = if cfg!(lisle_loom) { 2 } else { 32 };

/// The bit of an entry's address that says that a thief may take it at once.
const FREE: usize = 1;

pub(crate) struct Ring<T> {
    head: AtomicU64,
    tail: AtomicU64,
    slots: Box<[AtomicPtr<T>]>,
}

impl<T> Ring<T> {
    pub(crate) fn new() -> Self {
        Ring {
            head: AtomicU64::new(0),
            tail: AtomicU64::new(0),
            slots: (0..CAPACITY).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect(),
        }
    }

    fn slot(&self, index: u64) -> &AtomicPtr<T> {
        &self.slots[(index % CAPACITY) as usize]
    }

    /// Returns about how many entries there are.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        let (head, tail) = self.positions();
        tail.wrapping_sub(head).min(CAPACITY)
    }

    /// Returns about the positions of the oldest entry and after the youngest. They only grow.
    pub(crate) fn positions(&self) -> (u64, u64) {
        let head = self.head.load(Ordering::Relaxed);
        (head, self.tail.load(Ordering::Relaxed))
    }

    /// Returns `true` if the oldest entry is most likely one that [may go at once](Ring::push).
    pub(crate) fn is_free(&self) -> bool {
        let head = self.head.load(Ordering::Acquire);
        let oldest = self.slot(head).load(Ordering::Relaxed);
        head != self.tail.load(Ordering::Relaxed) && oldest.addr() & FREE != 0
    }

    /// Adds an entry, which a thief may take at once if it `is_free`. Returns `false` if the ring is
    /// full. Owner only.
    #[inline]
    pub(crate) fn push(&self, entry: NonNull<T>, is_free: bool) -> bool {
        const { assert!(align_of::<T>() > FREE, "the address has a bit to spare") };
        let tail = self.tail.load(Ordering::Relaxed);
        // Acquire: a taker has read a slot before it moved the head past it.
        if tail.wrapping_sub(self.head.load(Ordering::Acquire)) == CAPACITY {
            return false;
        }
        let marked = entry.as_ptr().map_addr(|address| address | if is_free { FREE } else { 0 });
        self.slot(tail).store(marked, Ordering::Relaxed);
        // Release: the entry and its slot are written before the tail shows them.
        self.tail.store(tail.wrapping_add(1), Ordering::Release);
        true
    }

    /// Takes the oldest entry. Any thread.
    #[inline]
    pub(crate) fn take(&self) -> Option<NonNull<T>> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            if head == self.tail.load(Ordering::Acquire) {
                return None;
            }
            let entry = self.slot(head).load(Ordering::Relaxed);
            // Release: the slot has been read before the owner may use it again.
            match self.head.compare_exchange(head, head.wrapping_add(1), Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return NonNull::new(entry.map_addr(|address| address & !FREE)),
                Err(seen) => head = seen,
            }
        }
    }

    /// Takes as many of the oldest entries in one step as `share` says, which is given their number,
    /// and at most [`BATCH`]: they are neighbours. If `only_free`, takes none behind one that may not
    /// go at once. Hands each to `each`, and returns how many there were. Any thread.
    pub(crate) fn take_some(
        &self,
        share: impl Fn(u64) -> u64,
        only_free: bool,
        each: impl FnMut(NonNull<T>),
    ) -> u64 {
        let mut entries = [null_mut::<T>(); BATCH];
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let there = self.tail.load(Ordering::Acquire).wrapping_sub(head).min(CAPACITY);
            let wanted = share(there).min(there).min(BATCH as u64);
            let mut count = 0;
            while count < wanted {
                let entry = self.slot(head + count).load(Ordering::Relaxed);
                if only_free && entry.addr() & FREE == 0 {
                    break;
                }
                entries[count as usize] = entry.map_addr(|address| address & !FREE);
                count += 1;
            }
            if count == 0 {
                return 0;
            }
            // As in `take`: if the head has not moved, no slot behind it has been used again.
            match self.head.compare_exchange(head, head + count, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    entries[..count as usize].iter().copied().filter_map(NonNull::new).for_each(each);
                    return count;
                }
                Err(seen) => head = seen,
            }
        }
    }
}
