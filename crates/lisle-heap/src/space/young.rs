//! What a thread has of the nursery, and what the heap has to know of its stores.
//!
//! Objects are allocated one after the other in a block of the nursery. A minor collection moves those that are still
//! reachable to the old space, and begins the nursery anew. It finds them from the roots and from the *log*: the
//! slots of old objects into which a young object was stored.
//!
//! A slot is logged when a young word replaces one that is not young. While its word is young it
//! need not be logged again, since it is in a log already: the logs are emptied only by the collection
//! after which no word is young. So the logs have an entry for each change from old to young. When a log
//! has become long, the same slots are taken out of it.
//!
//! While a mark goes on, a store also marks the object whose reference it overwrites. A slot has the reference of the begin of the
//! mark until the first store into it. The thread of that store has read this reference, since what it reads is older than what it
//! stores. So it is marked, whatever other threads store at the same time.

use crate::object::{Cell, Colour, Colours, WORD, header_of, set_header};
use crate::raw::{Raw, is_pointer, untagged};
use crate::space::nursery::{BLOCK, Nursery, Range};
use std::cell::{Cell as Variable, UnsafeCell};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// An entry of the log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Logged {
    Slot(NonNull<Cell>),
    /// The payload of an object whose words were all stored at once.
    Object(NonNull<u8>),
}

/// The log is looked through for repeated slots when it has so many entries, and later each time it has
/// twice as many as were left.
const LONG: usize = 1 << 14;

/// The number that says that there is no block.
const NO_BLOCK: usize = usize::MAX;

/// The allocator of a thread, and its log. Only the thread uses it while it is inside, and only the collector while that
/// one has stopped; but the numbers that are atomic may be read, and `limit` written, at each time.
pub(crate) struct Young {
    /// The next free byte of the block.
    top: AtomicPtr<u8>,
    /// Where allocation stops without a look at `end`: the end of the block, or before, if a safe point is wanted.
    limit: AtomicUsize,
    /// The end of the block.
    end: AtomicUsize,
    /// The number of the block, or `NO_BLOCK`.
    block: AtomicUsize,
    nursery: Range,
    log: UnsafeCell<Vec<Logged>>,
    long: Variable<usize>,
    /// The system had no memory for the log to grow, so a slot is missing: all old objects may refer to young ones.
    log_incomplete: Variable<bool>,
    /// The payloads of young objects with destructors, or with memory elsewhere.
    droppable: UnsafeCell<Vec<NonNull<u8>>>,
    /// The bytes that the young objects of the thread own elsewhere.
    external: Variable<usize>,
    /// The number of logged stores since the heap was made.
    logged: AtomicU64,
    /// The colours between which a store changes an object whose reference it overwrites, or `NO_SHADE` while no mark goes
    /// on. Written while the thread is stopped.
    shade: AtomicUsize,
    /// The objects that stores have marked since the last slice.
    shaded: UnsafeCell<Vec<NonNull<u8>>>,
    /// The system had no memory for this list to grow, so a marked object is missing from it.
    shaded_incomplete: Variable<bool>,
    /// The payloads of young weak objects.
    weak: UnsafeCell<Vec<NonNull<u8>>>,
}

/// Says that no mark goes on.
pub(crate) const NO_SHADE: usize = 0;

/// Returns the value of `shade` for these colours.
pub(crate) fn shade_of(colours: Colours) -> usize {
    colours.unmarked.number() | colours.marked.number() << 8
}

impl Young {
    pub(crate) fn new(nursery: Range) -> Self {
        Self {
            top: AtomicPtr::new(ptr::null_mut()),
            limit: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            block: AtomicUsize::new(NO_BLOCK),
            nursery,
            log: UnsafeCell::default(),
            long: Variable::new(LONG),
            log_incomplete: Variable::new(false),
            droppable: UnsafeCell::default(),
            external: Variable::new(0),
            logged: AtomicU64::new(0),
            shade: AtomicUsize::new(NO_SHADE),
            shaded: UnsafeCell::default(),
            shaded_incomplete: Variable::new(false),
            weak: UnsafeCell::default(),
        }
    }

    /// Takes `words` words, the header included, and returns the payload, or `None` if the thread has to come to a safe
    /// point first, or needs a new block.
    #[inline]
    pub(crate) fn take(&self, words: usize) -> Option<Raw> {
        self.take_before(words, self.limit.load(Ordering::Relaxed))
    }

    /// Does the same as `take` at a safe point.
    pub(crate) fn take_at_safe_point(&self, words: usize) -> Option<Raw> {
        self.take_before(words, self.end.load(Ordering::Relaxed))
    }

    #[inline]
    fn take_before(&self, words: usize, limit: usize) -> Option<Raw> {
        let top = self.top.load(Ordering::Relaxed);
        if top.addr() + words * WORD > limit {
            return None;
        }
        // SAFETY: the range ends before the limit, so within the block.
        unsafe {
            self.top.store(top.add(words * WORD), Ordering::Relaxed);
            Some(top.add(WORD))
        }
    }

    /// Goes on in the next block of the nursery. Returns `false` if there is none. Allocations come to a safe point
    /// until `open` is called.
    pub(crate) fn next_block(&self, nursery: &Nursery) -> bool {
        let Some((index, begin)) = nursery.take() else { return false };
        self.let_go(nursery);
        self.top.store(begin, Ordering::Relaxed);
        self.end.store(begin.addr() + BLOCK, Ordering::Relaxed);
        self.block.store(index, Ordering::Relaxed);
        true
    }

    /// Makes room for one more young weak object. Returns `false` if the system has no memory for it.
    pub(crate) fn reserve_weak(&self) -> bool {
        // SAFETY: as in `log`.
        unsafe { &mut *self.weak.get() }.try_reserve(1).is_ok()
    }

    /// Notes a young weak object, for which there is room.
    pub(crate) fn note_weak(&self, payload: Raw) {
        // SAFETY: as in `log`.
        let weak = unsafe { &mut *self.weak.get() };
        weak.push(NonNull::new(payload).expect("a payload is not at address 0"));
    }

    /// Takes the young weak objects. For the collector.
    ///
    /// # Safety
    ///
    /// The thread has stopped, or is this one.
    pub(crate) unsafe fn take_weak(&self, mut take: impl FnMut(Raw)) {
        // SAFETY: passed on to the caller.
        unsafe { &mut *self.weak.get() }.drain(..).for_each(|payload| take(payload.as_ptr()));
    }

    /// Lets objects be allocated up to the end of the block without a safe point.
    pub(crate) fn open(&self) {
        self.limit.store(self.end.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Makes the next allocation come to a safe point.
    pub(crate) fn close(&self) {
        self.limit.store(0, Ordering::Relaxed);
    }

    /// Returns `true` if the next allocation comes to a safe point.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.limit.load(Ordering::Relaxed) == 0
    }

    /// Returns the number of bytes of objects in the block. Another thread gets an estimate.
    pub(crate) fn used(&self) -> usize {
        let left = self.end.load(Ordering::Relaxed).saturating_sub(self.top.load(Ordering::Relaxed).addr());
        self.block().map_or(0, |_| BLOCK.saturating_sub(left))
    }

    fn block(&self) -> Option<usize> {
        Some(self.block.load(Ordering::Relaxed)).filter(|block| *block != NO_BLOCK)
    }

    /// Returns the begin of the block and the number of bytes of objects in it.
    pub(crate) fn block_in_use(&self) -> Option<(Raw, usize)> {
        let (top, used) = (self.top.load(Ordering::Relaxed), self.used());
        // SAFETY: the objects of the block end at `top`.
        self.block().map(|_| unsafe { (top.sub(used), used) })
    }

    /// Lets go of the block, and tells the nursery how much of it is used.
    pub(crate) fn let_go(&self, nursery: &Nursery) {
        if let Some(block) = self.block() {
            nursery.note_used(block, self.used());
        }
        self.top.store(ptr::null_mut(), Ordering::Relaxed);
        self.end.store(0, Ordering::Relaxed);
        self.block.store(NO_BLOCK, Ordering::Relaxed);
        self.close();
    }

    /// Begins anew after a collection.
    pub(crate) fn restart(&self, nursery: &Nursery) {
        self.let_go(nursery);
        self.long.set(LONG);
        self.external.set(0);
    }

    #[inline]
    pub(crate) fn is_young(&self, address: Raw) -> bool {
        self.nursery.contains(address)
    }

    /// The write barrier. Called before a word is stored into a slot.
    #[inline]
    pub(crate) fn before_store(&self, slot: &Cell, new: Raw) {
        if self.is_young(ptr::from_ref(slot).cast_mut().cast()) {
            return;
        }
        if self.is_young(new) && is_pointer(new) {
            let old = slot.load(Ordering::Relaxed);
            if !(self.is_young(old) && is_pointer(old)) {
                self.log(Logged::Slot(NonNull::from(slot)));
            }
        }
        if self.is_marking() {
            self.mark_now(slot.load(Ordering::Acquire));
        }
    }

    #[inline]
    fn is_marking(&self) -> bool {
        self.shade.load(Ordering::Relaxed) != NO_SHADE
    }

    /// Marks the old object to which a word points, if a mark goes on: a slot is about to lose it, or a weak object has
    /// given it to the program.
    #[inline]
    pub(crate) fn mark(&self, raw: Raw) {
        if self.is_marking() {
            self.mark_now(raw);
        }
    }

    #[cold]
    fn mark_now(&self, raw: Raw) {
        let shade = self.shade.load(Ordering::Relaxed);
        if !is_pointer(raw) || self.is_young(raw) {
            return;
        }
        let payload = untagged(raw);
        // SAFETY: the word points to an object. Only this thread uses the list meanwhile.
        unsafe {
            let header = header_of(payload);
            if header.colour() == Colour::of_number(shade & 0xff) {
                set_header(payload, header.with_colour(Colour::of_number(shade >> 8)));
                let shaded = &mut *self.shaded.get();
                if shaded.try_reserve(1).is_ok() {
                    shaded.push(NonNull::new_unchecked(payload));
                } else {
                    self.shaded_incomplete.set(true);
                }
            }
        }
    }

    /// Begins or ends the marking of overwritten references.
    pub(crate) fn set_shade(&self, shade: usize) {
        self.shade.store(shade, Ordering::Relaxed);
    }

    /// Takes the objects that stores have marked. Returns `false` if some are missing.
    ///
    /// # Safety
    ///
    /// The thread has stopped, or is this one.
    pub(crate) unsafe fn take_shaded(&self, mut take: impl FnMut(Raw)) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { &mut *self.shaded.get() }.drain(..).for_each(|payload| take(payload.as_ptr()));
        !self.shaded_incomplete.take()
    }

    #[cold]
    pub(crate) fn log(&self, entry: Logged) {
        self.logged.store(self.logged() + 1, Ordering::Relaxed);
        // SAFETY: only the thread comes here, inside, and no reference to the log is kept.
        let log = unsafe { &mut *self.log.get() };
        if log.len() == log.capacity() && log.try_reserve(1).is_err() {
            self.log_incomplete.set(true);
            return;
        }
        log.push(entry);
        if log.len() >= self.long.get() {
            log.sort_unstable();
            log.dedup();
            self.long.set((2 * log.len()).max(LONG));
        }
    }

    /// Returns `true` if a slot is missing from the log, for which the system had no memory, and begins anew.
    pub(crate) fn take_log_incomplete(&self) -> bool {
        self.log_incomplete.take()
    }

    /// Notes that a young object owns so many bytes elsewhere. The next allocation comes to a safe point if it is time to collect
    /// them.
    pub(crate) fn note_external(&self, bytes: usize) {
        self.external.set(self.external.get().saturating_add(bytes));
        if self.is_external_due() {
            self.close();
        }
    }

    /// Returns `true` if the young objects of the thread own as much elsewhere as a nursery has bytes.
    pub(crate) fn is_external_due(&self) -> bool {
        self.external.get() >= self.nursery.len()
    }

    /// Makes room for one more young object with a destructor. Returns `false` if the system has no memory for it.
    #[inline]
    pub(crate) fn reserve_droppable(&self) -> bool {
        // SAFETY: as in `log`.
        unsafe { &mut *self.droppable.get() }.try_reserve(1).is_ok()
    }

    /// Notes that the young object, for which there is room, has a destructor, or memory elsewhere.
    #[cold]
    pub(crate) fn note_droppable(&self, payload: Raw) {
        // SAFETY: as in `log`.
        let droppable = unsafe { &mut *self.droppable.get() };
        droppable.push(NonNull::new(payload).expect("a payload is not at address 0"));
    }

    pub(crate) fn logged(&self) -> u64 {
        self.logged.load(Ordering::Relaxed)
    }

    /// Returns the log. For the collector.
    ///
    /// # Safety
    ///
    /// The thread has stopped, or is this one, and no other reference to the log is alive.
    #[expect(clippy::mut_from_ref, reason = "the caller promises that there is no other")]
    pub(crate) unsafe fn log_entries(&self) -> &mut Vec<Logged> {
        // SAFETY: passed on to the caller.
        unsafe { &mut *self.log.get() }
    }

    /// Takes the young objects that `note_droppable` has noted. For the collector.
    ///
    /// # Safety
    ///
    /// The thread has stopped, or is this one.
    pub(crate) unsafe fn take_droppable(&self, mut take: impl FnMut(Raw)) {
        // The list keeps its memory.
        // SAFETY: passed on to the caller.
        unsafe { &mut *self.droppable.get() }.drain(..).for_each(|payload| take(payload.as_ptr()));
    }
}
