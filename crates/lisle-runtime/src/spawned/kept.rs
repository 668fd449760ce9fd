//! The computations that wait on a stack in values that own them, see `lisle_effect::Suspended`.
//!
//! Their frames may refer to the locals of the fiber, task or thread in which they were suspended.
//! A fiber's computations go on only in the fiber. So when the fiber ends, they are unwound before
//! its locals are dropped, wherever the values are that keep them. A thread's or task's
//! computations cannot be unwound at its end. The list shows whether any is left: then the locals
//! stay as they are, too, since code outside of that stack, such as the threads of a scope, may
//! refer to them through the frames.
//!
//! # Invariant
//!
//! An entry is in one list at most: the list of the stack on which it was suspended. It takes
//! itself out without knowing the list, by the place that refers to it, as long as the stack has an
//! owner. All of them belong to one thread.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null};

/// A function that unwinds the computation with this entry. Returns `false` if a frame of the computation
/// cannot be unwound, and the computation is left.
pub(crate) type End = unsafe fn(NonNull<Entry>) -> bool;

/// The identity of a fiber, a task, or a thread's own code among all that have been or will be on
/// the same thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Home {
    /// The number of the fiber or thread. A task that is polled there may use its locals, too.
    pub(crate) stack: u64,
    /// The number of the task, or 0.
    pub(crate) task: u64,
}

/// A computation's place in the list of its stack.
#[derive(Debug)]
pub struct Entry {
    /// The place that refers to this entry; null if it is in no list.
    back: Cell<*const Cell<*const Entry>>,
    /// The next entry, where it was suspended, and the function that unwinds the computation when
    /// the owner of the stack ends, if that may be. Not written before the entry is in a list.
    next: Cell<MaybeUninit<*const Entry>>,
    home: Cell<MaybeUninit<Home>>,
    end: Cell<MaybeUninit<Option<End>>>,
}

impl Entry {
    /// Creates an entry that is in no list.
    #[inline(always)]
    pub const fn new() -> Self {
        let (next, end) = (Cell::new(MaybeUninit::uninit()), Cell::new(MaybeUninit::uninit()));
        Entry { back: Cell::new(null()), next, home: Cell::new(MaybeUninit::uninit()), end }
    }

    /// Returns where it was suspended.
    ///
    /// # Safety
    ///
    /// It has been in a list.
    #[inline(always)]
    pub unsafe fn home(&self) -> Home {
        // SAFETY: by the caller's promise.
        unsafe { self.home.get().assume_init() }
    }

    /// Returns `true` if it is in a list, and is unwound when the owner of the stack ends.
    pub fn is_unwound_at_the_end(&self) -> bool {
        // SAFETY: written when it came into the list.
        !self.back.get().is_null() && unsafe { self.end.get().assume_init() }.is_some()
    }

    /// Takes it out of its list. Returns `false` if it was in none.
    #[inline(always)]
    pub(crate) fn unlink(&self) -> bool {
        // SAFETY: the list stays as long as it has entries, and so does the entry before this one:
        // both belong to this thread.
        let Some(back) = (unsafe { self.back.replace(null()).as_ref() }) else { return false };
        // SAFETY: written when it came into the list.
        let next = unsafe { self.next.get().assume_init() };
        back.set(next);
        // SAFETY: as above.
        if let Some(next) = unsafe { next.as_ref() } {
            next.back.set(back);
        }
        true
    }
}

impl Default for Entry {
    fn default() -> Self {
        Entry::new()
    }
}

/// The computations of a stack that wait, the last first.
#[derive(Debug)]
pub(crate) struct Kept(Cell<*const Entry>);

/// The result of [`Kept::end_one`].
pub(crate) enum Ended {
    /// None is in the list.
    None,
    /// One was unwound.
    One,
    /// One was taken out, and is left as it is.
    Left(Left),
}

/// A computation that is left at the end of a fiber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// One of a task that was polled on the fiber's stack.
    OfTask,
    /// One of the fiber: a frame of it cannot be unwound, or destructors have made too many.
    OfStack,
}

impl Kept {
    pub(crate) const fn new() -> Self {
        Kept(Cell::new(null()))
    }

    /// Puts an entry into the list.
    ///
    /// # Safety
    ///
    /// The entry is in no list, and stays at its place as long as it is in this one. The list
    /// belongs to the stack on which this runs. `end` may be called with the entry when it has been
    /// taken out, where the owner of the stack ends.
    #[inline(always)]
    pub(crate) unsafe fn link(&self, entry: &Entry, home: Home, end: Option<End>) {
        let next = self.0.replace(entry);
        entry.next.set(MaybeUninit::new(next));
        entry.back.set(&raw const self.0);
        entry.home.set(MaybeUninit::new(home));
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

    /// Returns `true` if the last entry was suspended where the number of the stack was `stack`. If
    /// this returns `false`, there is no such entry, as long as the number has not changed since
    /// the first of them.
    pub(crate) fn is_last_of(&self, stack: u64) -> bool {
        // SAFETY: as above, and written when it came into the list.
        unsafe { self.0.get().as_ref() }.is_some_and(|last| unsafe { last.home() }.stack == stack)
    }

    /// Takes out all entries. Their computations stay as they are. Returns `false` if there is none.
    pub(crate) fn let_go(&self) -> bool {
        let is_empty = self.is_empty();
        // SAFETY: as above.
        while let Some(entry) = unsafe { self.0.get().as_ref() } {
            entry.unlink();
        }
        !is_empty
    }

    /// Takes out the last entry, and unwinds its computation, if that may be. The destructors may
    /// put in others. Panics with a panic of theirs.
    pub(crate) fn end_one(&self) -> Ended {
        let last = self.0.get();
        // SAFETY: as above.
        let Some(entry) = (unsafe { last.as_ref() }) else { return Ended::None };
        // SAFETY: written when it came into the list.
        let end = unsafe { entry.end.get().assume_init() };
        entry.unlink();
        let Some(end) = end else { return Ended::Left(Left::OfTask) };
        // SAFETY: it has been taken out, and this is the function that it was put in with.
        if unsafe { end(NonNull::from(entry)) } { Ended::One } else { Ended::Left(Left::OfStack) }
    }
}
