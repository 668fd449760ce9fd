//! A timer wheel. It knows which timer fires when, at a cost that does not depend
//! on the number of timers.
//!
//! Most timeouts are cancelled, because the awaited event happens first. Inserting and removing
//! must therefore be cheap, and a heap, which pays a logarithm for both, is the wrong structure. A
//! hierarchical wheel pays a few instructions for each, and sorts an entry further only if time
//! really comes near it.
//!
//! **Shape.** Time is counted in ticks of 2^16 ns (65.5 µs). A tick number is read as digits of eight
//! bits. An entry is in the level of the highest digit in which its tick differs from the wheel's
//! present tick, and in the slot which that digit names. Six levels reach every tick that a `u64` of
//! nanoseconds can name, so no deadline is out of range. A seventh level holds the one tick after
//! these, to which a deadline in the very last tick is rounded up. Where there are many entries, to
//! sort one further costs a cache miss; with digits of eight bits most deadlines of up to 4.3 s are
//! sorted once, where digits of six bits took two times from 0.3 s on.
//!
//! **Invariant.** With `elapsed` the present tick, every entry of level *l* agrees with `elapsed`
//! in all digits above *l*, and its digit *l* is greater than the digit of `elapsed` (in level 0 it
//! may be equal: then the entry is overdue). Hence all of a lower level comes before all of a
//! higher one, and the earliest slot is the first bit set in the first level that has any. Moving
//! `elapsed` forward to any tick before that slot keeps the invariant, so empty time is skipped and
//! never walked. When `elapsed` reaches a slot of a higher level, its entries are spread over the
//! levels below. Entries of one tick are always in one slot, and lists keep their order, so entries
//! of one tick fire in the order of their insertion.
//!
//! **Memory.** The wheel allocates its table, and nothing later. An [`Entry`] is part of its owner, pinned, and linked
//! by raw pointers into the circular list of its slot; the slot points to the list's first entry.
//! The wheel contains no sentinels, so it may move.
//!
//! One thread at a time uses a wheel and the entries in it. Neither type is `Send` or `Sync`; an
//! owner that moves them must argue why it may.

use core::cell::Cell;
use core::marker::PhantomPinned;
use core::ptr::NonNull;

/// Nanoseconds in a tick.
const TICK_NS: u64 = 1 << 16;
/// Bits of a tick number by which one level sorts.
const DIGIT_BITS: u32 = 8;
/// Slots in a level.
const SLOTS: usize = 1 << DIGIT_BITS;
/// Words of bits for the slots of a level.
const WORDS: usize = SLOTS / 64;
/// The number of levels: six for the 48 bits of a tick, and one for the tick after the last.
const LEVELS: usize = 7;
/// The slot of an entry that is in no wheel.
const UNLINKED: u16 = u16::MAX;

/// A timer: the part of a waiting operation that the wheel links.
///
/// It is `!Unpin`, and all its fields are cells, because the wheel reaches it through a pointer
/// while its owner may hold a reference to it.
pub struct Entry<T> {
    /// The value that the owner gets when the entry fires, typically a pointer to the operation to
    /// which it belongs. An owner that learns its address only once it is pinned sets this then.
    pub(crate) payload: Cell<T>,
    /// The neighbours in the circular list of the slot. They dangle unless the entry is linked.
    next: Cell<NonNull<Entry<T>>>,
    prev: Cell<NonNull<Entry<T>>>,
    deadline_ns: Cell<u64>,
    /// Level times `SLOTS` plus slot, or `UNLINKED`.
    slot: Cell<u16>,
    _pinned: PhantomPinned,
}

impl<T: Copy> Entry<T> {
    /// Creates an entry that is in no wheel.
    pub(crate) const fn new(payload: T) -> Entry<T> {
        Entry {
            payload: Cell::new(payload),
            next: Cell::new(NonNull::dangling()),
            prev: Cell::new(NonNull::dangling()),
            deadline_ns: Cell::new(0),
            slot: Cell::new(UNLINKED),
            _pinned: PhantomPinned,
        }
    }

    /// Returns `true` if a wheel holds this entry: it was inserted, and since then neither removed
    /// nor handed out.
    #[inline]
    pub fn is_linked(&self) -> bool {
        self.slot.get() != UNLINKED
    }

    /// Says that the entry is in no wheel, since its wheel is not used any more.
    pub(crate) fn forget(&self) {
        self.slot.set(UNLINKED);
    }

    /// Returns the deadline of the latest insertion, as it was given, or 0 before the first.
    #[inline]
    pub fn deadline(&self) -> u64 {
        self.deadline_ns.get()
    }
}

/// A hierarchical timer wheel over entries with payload `T`.
///
/// Dropping a wheel leaves the entries in it as they are. The owner must not pass them to it
/// afterwards, and must not conclude from their being linked that they will fire.
pub struct Wheel<T> {
    /// The tick up to which time has been seen. Every entry of an earlier tick has been handed out.
    elapsed: u64,
    len: usize,
    /// A bit for each slot, level by level, which is set if the slot has entries.
    occupied: [u64; LEVELS * WORDS],
    /// The first entry of each slot. It dangles, and is not read, unless the slot's bit is set.
    heads: Box<[NonNull<Entry<T>>]>,
}

impl<T: Copy> Wheel<T> {
    /// Creates an empty wheel whose present is `now_ns`.
    #[inline]
    pub fn new(now_ns: u64) -> Wheel<T> {
        Wheel {
            elapsed: reached_tick(now_ns),
            len: 0,
            occupied: [0; LEVELS * WORDS],
            // Not by way of the stack: the caller may be a fiber with a small one.
            heads: vec![NonNull::dangling(); LEVELS * SLOTS].into_boxed_slice(),
        }
    }

    /// Returns how many entries are linked.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if no entry is linked.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Links `entry`. The first [`advance`](Wheel::advance) that reaches the first tick not before
    /// `deadline_ns` hands it out: never early, and late by less than a tick plus the time to that
    /// call. A deadline that has passed counts as one of the present tick. Takes constant time.
    ///
    /// # Safety
    ///
    /// `entry` points to a live entry that is in no wheel. Until it is removed from this wheel or
    /// handed out by `advance`, it stays valid and in place, and no exclusive reference to it is
    /// used.
    pub unsafe fn insert(&mut self, entry: NonNull<Entry<T>>, deadline_ns: u64) {
        // SAFETY: the caller promises that the entry is live and not exclusively borrowed.
        let node = unsafe { entry.as_ref() };
        debug_assert!(!node.is_linked(), "an entry can be in one wheel once");
        node.deadline_ns.set(deadline_ns);
        self.len += 1;
        // SAFETY: the caller promises exactly the conditions of `link`.
        unsafe { self.link(entry) };
    }

    /// Does the same for an entry that has been in another wheel, for its last deadline. That is not
    /// written: its owner may read it at the same time.
    ///
    /// # Safety
    ///
    /// As for [`insert`](Wheel::insert).
    pub(crate) unsafe fn insert_again(&mut self, entry: NonNull<Entry<T>>) {
        self.len += 1;
        // SAFETY: the caller promises exactly the conditions of `link`.
        unsafe { self.link(entry) };
    }

    /// Unlinks `entry`, or does nothing if it is not linked. Takes constant time.
    ///
    /// # Safety
    ///
    /// `entry` points to a live entry that is not exclusively borrowed and that is in this wheel or
    /// in none.
    pub unsafe fn remove(&mut self, entry: NonNull<Entry<T>>) {
        // SAFETY: the caller promises that the entry is live and not exclusively borrowed.
        if unsafe { entry.as_ref() }.is_linked() {
            // SAFETY: the entry is linked, and the caller promises that it is then in this wheel.
            unsafe { self.unlink(entry) };
        }
    }

    /// Moves the present to `now_ns` and hands out every entry whose tick has been reached, in the
    /// order of ticks, and within one tick in the order of insertion. A clock that goes backwards
    /// is taken to stand still.
    ///
    /// An entry is unlinked before `fire` gets it and is not touched afterwards: `fire` may free
    /// it, or let its owner free it. `fire` cannot access the wheel; insertions and removals must
    /// wait until this returns. If `fire` panics, the entries not yet handed out stay linked, and
    /// the next call continues with them.
    ///
    /// Takes time proportional to the entries handed out and moved to a lower level (each at most
    /// once a level), however much time has passed.
    pub fn advance(&mut self, now_ns: u64, mut fire: impl FnMut(NonNull<Entry<T>>)) {
        self.advance_while(now_ns, |entry| {
            fire(entry);
            true
        });
    }

    /// Does the same until `fire` returns `false`. The next call continues with the entries that are
    /// left.
    pub(crate) fn advance_while(&mut self, now_ns: u64, mut fire: impl FnMut(NonNull<Entry<T>>) -> bool) {
        let now = reached_tick(now_ns).max(self.elapsed);
        while let Some((level, slot, start)) = self.first_slot() {
            if start > now {
                break;
            }
            self.elapsed = start;
            if level > 0 {
                self.cascade(level, slot);
                continue;
            }
            while self.is_occupied(slot) {
                let entry = self.heads[slot];
                // SAFETY: the slot is occupied, so its head is an entry linked in this wheel.
                unsafe { self.unlink(entry) };
                if !fire(entry) {
                    return;
                }
            }
        }
        self.elapsed = now;
    }

    /// Returns when to call [`advance`](Wheel::advance) next, in nanoseconds, or `None` if the
    /// wheel is empty.
    ///
    /// The answer is never later than the start of the tick in which the earliest entry will fire.
    /// It is exactly that if the entry's tick shares all but its last digit with the present (level
    /// 0, which is within 16.8 ms). Otherwise it is the start of the slot of the entry, and
    /// advancing to it moves the entry at least one level down. A thread that parks until this time
    /// and advances, again and again, is therefore woken at most five times too often for one entry.
    #[inline]
    pub fn next_deadline(&self) -> Option<u64> {
        self.first_slot().map(|(_, _, start)| start.saturating_mul(TICK_NS))
    }

    /// Returns the deadline of a linked entry: of the earliest, or of one that is later by less
    /// than the span of the slot in which both are. Returns `None` if the wheel is empty. Takes
    /// constant time.
    #[inline]
    pub fn early_deadline(&self) -> Option<u64> {
        let (level, slot, _) = self.first_slot()?;
        // SAFETY: the slot is occupied, so its head is a live entry of this wheel.
        Some(unsafe { self.heads[level * SLOTS + slot].as_ref() }.deadline())
    }

    /// Returns the earliest occupied slot, as its level, its place in the level, and its first
    /// tick.
    fn first_slot(&self) -> Option<(usize, usize, u64)> {
        let word = self.occupied.iter().position(|&word| word != 0)?;
        let level = word / WORDS;
        let slot = (word % WORDS) as u32 * u64::BITS + self.occupied[word].trailing_zeros();
        let shift = level as u32 * DIGIT_BITS;
        let above = self.elapsed >> (shift + DIGIT_BITS) << (shift + DIGIT_BITS);
        Some((level, slot as usize, above | (u64::from(slot) << shift)))
    }

    /// Returns `true` if the slot, counted from the first of all levels, has entries.
    fn is_occupied(&self, index: usize) -> bool {
        self.occupied[index / 64] & (1 << (index % 64)) != 0
    }

    fn vacate(&mut self, index: usize) {
        self.occupied[index / 64] &= !(1 << (index % 64));
    }

    /// Spreads the entries of a slot whose first tick is now `elapsed` over the levels below.
    ///
    /// They agree with `elapsed` in this level's digit too, so none returns to the same slot.
    fn cascade(&mut self, level: usize, slot: usize) {
        self.vacate(level * SLOTS + slot);
        let mut entry = self.heads[level * SLOTS + slot];
        // SAFETY: the slot was occupied, so its head is a live entry of this wheel.
        let last = unsafe { entry.as_ref() }.prev.get();
        loop {
            // SAFETY: the entry was reached through the list of an occupied slot, so it is live.
            let next = unsafe { entry.as_ref() }.next.get();
            // SAFETY: the entry's old slot is marked empty, so no list of this wheel holds it. That
            // it stays valid was promised on insertion.
            unsafe { self.link(entry) };
            if entry == last {
                break;
            }
            entry = next;
        }
    }

    /// Appends `entry` to the slot of its deadline.
    ///
    /// # Safety
    ///
    /// As for [`insert`](Wheel::insert), and the entry is in no list of an occupied slot.
    unsafe fn link(&mut self, entry: NonNull<Entry<T>>) {
        // SAFETY: the caller promises that the entry is live and not exclusively borrowed.
        let node = unsafe { entry.as_ref() };
        let tick = node.deadline_ns.get().div_ceil(TICK_NS).max(self.elapsed);
        // The lowest bit is set, so two equal ticks have level 0, as have two that differ in that
        // bit.
        let highest_difference = ((tick ^ self.elapsed) | 1).ilog2();
        let level = highest_difference / DIGIT_BITS;
        let slot = (tick >> (level * DIGIT_BITS)) as usize % SLOTS;
        let level = level as usize;
        let index = level * SLOTS + slot;

        node.slot.set(index as u16);
        if !self.is_occupied(index) {
            self.occupied[index / 64] |= 1 << (index % 64);
            self.heads[index] = entry;
            node.next.set(entry);
            node.prev.set(entry);
        } else {
            let first = self.heads[index];
            // SAFETY: the slot is occupied, so its head is a live entry of this wheel.
            let last = unsafe { first.as_ref() }.prev.replace(entry);
            // SAFETY: neighbours of a linked entry are linked, hence live.
            unsafe { last.as_ref() }.next.set(entry);
            node.next.set(first);
            node.prev.set(last);
        }
    }

    /// Takes `entry` out of its slot, and marks the slot empty if it was the last.
    ///
    /// # Safety
    ///
    /// The entry is linked in this wheel.
    unsafe fn unlink(&mut self, entry: NonNull<Entry<T>>) {
        // SAFETY: the entry is linked, so it is live, as was promised on insertion.
        let node = unsafe { entry.as_ref() };
        let index = usize::from(node.slot.replace(UNLINKED));
        let next = node.next.get();
        if next == entry {
            self.vacate(index);
        } else {
            let prev = node.prev.get();
            // SAFETY: neighbours of a linked entry are linked, hence live.
            unsafe { next.as_ref() }.prev.set(prev);
            // SAFETY: as above.
            unsafe { prev.as_ref() }.next.set(next);
            if self.heads[index] == entry {
                self.heads[index] = next;
            }
        }
        self.len -= 1;
    }
}

/// Returns the tick that a clock showing `now_ns` has reached.
///
/// At the end of time the tick after the last counts as reached: only then has every deadline
/// passed.
fn reached_tick(now_ns: u64) -> u64 {
    now_ns / TICK_NS + u64::from(now_ns == u64::MAX)
}

#[cfg(test)]
#[path = "wheel_tests.rs"]
mod tests;
