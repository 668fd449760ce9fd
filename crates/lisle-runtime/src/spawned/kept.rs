//! The computations that wait in values of a fiber's, see `lisle_effect::Suspended`.
//!
//! They go on in that fiber only, and their frames may refer to its locals. So when it ends, they
//! are unwound before its locals are dropped, wherever the values are that keep them.
//!
//! # Invariant
//!
//! An entry is in one list at most: in that of the fiber in which it was suspended. It takes itself
//! out without knowing the list, by the place that refers to it, as long as the fiber lives.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null};

/// A function that unwinds the computation with this entry.
type End = unsafe fn(NonNull<Entry>);

/// A computation's place in the list of its fiber.
#[derive(Debug)]
pub struct Entry {
    /// The place that refers to this entry; null if it is in no list.
    back: Cell<*const Cell<*const Entry>>,
    /// The next entry, and the function that unwinds the computation. Not written before the entry
    /// is in a list.
    next: Cell<MaybeUninit<*const Entry>>,
    end: Cell<MaybeUninit<End>>,
}

impl Entry {
    /// Creates an entry that is in no list.
    #[inline(always)]
    pub const fn new() -> Self {
        let (next, end) = (Cell::new(MaybeUninit::uninit()), Cell::new(MaybeUninit::uninit()));
        Entry { back: Cell::new(null()), next, end }
    }

    /// Returns `true` if it is in a list.
    #[inline(always)]
    pub fn is_linked(&self) -> bool {
        !self.back.get().is_null()
    }

    /// Takes it out of its list, if it is in one.
    #[inline(always)]
    pub fn unlink(&self) {
        // SAFETY: the list stays as long as it has entries, and so does the entry before this one:
        // both belong to this thread.
        let Some(back) = (unsafe { self.back.replace(null()).as_ref() }) else { return };
        // SAFETY: written when it came into the list.
        let next = unsafe { self.next.get().assume_init() };
        back.set(next);
        // SAFETY: as above.
        if let Some(next) = unsafe { next.as_ref() } {
            next.back.set(back);
        }
    }
}

impl Default for Entry {
    fn default() -> Self {
        Entry::new()
    }
}

/// The computations of a fiber that wait, the last first.
#[derive(Debug)]
pub struct Kept(Cell<*const Entry>);

impl Kept {
    pub(crate) const fn new() -> Self {
        Kept(Cell::new(null()))
    }

    /// Puts an entry into the list.
    ///
    /// # Safety
    ///
    /// The entry is in no list, and stays at its place as long as it is in this one. The list
    /// belongs to the fiber that runs this. `end` may be called with the entry when it has been
    /// taken out.
    #[inline(always)]
    pub unsafe fn link(&self, entry: &Entry, end: End) {
        let next = self.0.replace(entry);
        entry.next.set(MaybeUninit::new(next));
        entry.back.set(&raw const self.0);
        entry.end.set(MaybeUninit::new(end));
        // SAFETY: entries stay as long as they are in the list.
        if let Some(next) = unsafe { next.as_ref() } {
            next.back.set((&raw const entry.next).cast());
        }
    }

    /// Returns `true` if nothing waits.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.get().is_null()
    }

    /// Takes out all entries. Their computations stay as they are.
    pub(crate) fn let_go(&self) {
        // SAFETY: as above.
        while let Some(entry) = unsafe { self.0.get().as_ref() } {
            entry.unlink();
        }
    }

    /// Takes out the last entry, and unwinds its computation. Returns `false` if there is none. The
    /// destructors may put in others. Panics with a panic of theirs.
    pub(crate) fn end_one(&self) -> bool {
        let last = self.0.get();
        // SAFETY: as above.
        let Some(entry) = (unsafe { last.as_ref() }) else { return false };
        // SAFETY: written when it came into the list.
        let end = unsafe { entry.end.get().assume_init() };
        entry.unlink();
        // SAFETY: it has been taken out, and this is the function that it was put in with.
        unsafe { end(NonNull::from(entry)) };
        true
    }
}
