//! The nursery, in which objects are born, and what the heap has to know of stores.
//!
//! Objects are allocated one after the other. A minor collection moves those that are still reachable to
//! the old space, and begins the nursery anew. It finds them from the roots and from the *log*: the
//! slots of old objects into which a young object was stored.
//!
//! A slot is logged when a young word replaces one that is not young. While its word is young it
//! need not be logged again, since it is in the log already: the log is emptied only by the collection
//! after which no word is young. So the log has an entry for each change from old to young. When it
//! has become long, the same slots are taken out of it.

use crate::object::{Cell, WORD};
use crate::raw::{Raw, is_pointer};
use crate::space::pages::Pages;
use std::cell::{Cell as Variable, UnsafeCell};
use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering;

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

pub(crate) struct Place {
    /// The next free byte of the nursery.
    top: Variable<Raw>,
    /// Where allocation stops without a look at `end`: `top` or before, if each allocation collects.
    limit: Variable<usize>,
    pages: Pages,
    log: UnsafeCell<Vec<Logged>>,
    long: Variable<usize>,
    /// The payloads of young objects with destructors.
    droppable: UnsafeCell<Vec<NonNull<u8>>>,
    /// The number of logged stores since the heap was made.
    logged: Variable<u64>,
    stress: bool,
}

impl Place {
    pub(crate) fn new(size: usize, stress: bool) -> io::Result<Self> {
        let pages = Pages::map(size)?;
        let place = Self {
            top: Variable::new(pages.begin()),
            limit: Variable::new(0),
            pages,
            log: UnsafeCell::default(),
            long: Variable::new(LONG),
            droppable: UnsafeCell::default(),
            logged: Variable::new(0),
            stress,
        };
        place.open();
        Ok(place)
    }

    /// Takes `words` words, the header included, and returns the payload, or `None` if a collection is
    /// due first.
    #[inline]
    pub(crate) fn take(&self, words: usize) -> Option<Raw> {
        self.take_before(words, self.limit.get())
    }

    /// Does the same as `take`, directly after a collection.
    pub(crate) fn take_after_collection(&self, words: usize) -> Option<Raw> {
        self.take_before(words, self.end())
    }

    #[inline]
    fn take_before(&self, words: usize, limit: usize) -> Option<Raw> {
        let top = self.top.get();
        if top.addr() + words * WORD > limit {
            return None;
        }
        // SAFETY: the range ends before the limit, so within the nursery.
        unsafe {
            self.top.set(top.add(words * WORD));
            Some(top.add(WORD))
        }
    }

    #[inline]
    pub(crate) fn is_young(&self, address: Raw) -> bool {
        address.addr().wrapping_sub(self.pages.begin().addr()) < self.pages.len()
    }

    /// The write barrier. Called before a word is stored into a slot.
    #[inline]
    pub(crate) fn before_store(&self, slot: &Cell, new: Raw) {
        if self.is_young(new) && is_pointer(new) && !self.is_young(ptr::from_ref(slot).cast_mut().cast()) {
            let old = slot.load(Ordering::Relaxed);
            if !(self.is_young(old) && is_pointer(old)) {
                self.log(Logged::Slot(NonNull::from(slot)));
            }
        }
    }

    #[cold]
    pub(crate) fn log(&self, entry: Logged) {
        self.logged.set(self.logged.get() + 1);
        // SAFETY: only the thread inside comes here, and no reference to the log is kept.
        let log = unsafe { &mut *self.log.get() };
        log.push(entry);
        if log.len() >= self.long.get() {
            log.sort_unstable();
            log.dedup();
            self.long.set((2 * log.len()).max(LONG));
        }
    }

    /// Notes that the young object has a destructor.
    #[cold]
    pub(crate) fn note_droppable(&self, payload: Raw) {
        // SAFETY: as in `log`.
        let droppable = unsafe { &mut *self.droppable.get() };
        droppable.push(NonNull::new(payload).expect("a payload is not at address 0"));
    }

    /// Lets objects be allocated until the nursery is full.
    pub(crate) fn open(&self) {
        if !self.stress {
            self.limit.set(self.end());
        }
    }

    /// Makes the next allocation ask for a collection.
    pub(crate) fn close(&self) {
        self.limit.set(0);
    }

    /// Returns the number of bytes of young objects.
    pub(crate) fn used(&self) -> usize {
        self.top.get().addr() - self.pages.begin().addr()
    }

    pub(crate) fn size(&self) -> usize {
        self.pages.len()
    }

    fn end(&self) -> usize {
        self.pages.begin().addr() + self.pages.len()
    }

    /// Returns `true` if each allocation collects.
    pub(crate) fn is_stressed(&self) -> bool {
        self.stress
    }

    pub(crate) fn logged(&self) -> u64 {
        self.logged.get()
    }

    /// Returns the address of the nursery.
    pub(crate) fn begin(&self) -> Raw {
        self.pages.begin()
    }

    /// Returns the log. For the collector.
    ///
    /// # Safety
    ///
    /// No other reference to the log is alive, and nobody stores into slots meanwhile.
    #[expect(clippy::mut_from_ref, reason = "the caller promises that there is no other")]
    pub(crate) unsafe fn log_entries(&self) -> &mut Vec<Logged> {
        // SAFETY: passed on to the caller.
        unsafe { &mut *self.log.get() }
    }

    /// Takes the list of young objects with destructors. For the collector.
    ///
    /// # Safety
    ///
    /// The thread inside is this one, or has stopped.
    pub(crate) unsafe fn take_droppable(&self) -> Vec<NonNull<u8>> {
        // SAFETY: passed on to the caller.
        unsafe { std::mem::take(&mut *self.droppable.get()) }
    }

    /// Begins the nursery anew, after all its objects have moved or died.
    ///
    /// # Safety
    ///
    /// No word of a root or an object points into the nursery.
    pub(crate) unsafe fn restart(&self) {
        if self.stress || cfg!(debug_assertions) {
            // SAFETY: the caller promises that nobody uses these objects.
            unsafe { self.pages.begin().write_bytes(0xDB, self.used()) };
        }
        self.top.set(self.pages.begin());
        self.long.set(LONG);
    }
}
