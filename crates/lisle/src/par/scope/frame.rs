//! A part of a scope that runs on one stack: the function of the scope, or a task that was taken from elsewhere.
//!
//! What is spawned in its course lies in its list, which belongs to its thread, and is offered oldest first by
//! its entry among what the stack has put off. Tasks that the stack itself begins, since it waits for them or has
//! nothing else to do, run in the same frame. A frame ends when all that was spawned in it has ended. So a task
//! that was taken is not done before what it has spawned is, and what it spawned is a part of it: those who wait for it may help
//! with that, and with nothing else.
//!
//! What is left at the end is run newest first: of a tree of tasks no more are in the list than there are
//! siblings along one path.

use super::Core;
use super::list::List;
use super::task::{self, Header};
use crate::par::job::Job;
use crate::par::pending::{Entry, Offer, Pending};
use crate::par::{beat, owner};
use crate::shim::ticks;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null};
use std::thread;

#[repr(C)]
pub(super) struct Frame {
    entry: Entry,
    core: *const Core,
    /// That of the scope around this, on this stack.
    outer: *const Entry,
    /// That of the scope's own function, which looks after strays.
    is_root: bool,
    /// All tasks that were spawned here and have not been settled.
    tasks: List,
    /// The oldest of them that has not been offered; those that are newer have not been, either.
    unoffered: Cell<*const Header>,
}

impl Frame {
    /// Calls `f` in a frame of its own, and returns when all that was spawned in it has ended.
    pub(super) fn within<R>(core: &Core, is_root: bool, f: impl FnOnce() -> R) -> thread::Result<R> {
        let pending = owner::pending();
        let frame = Frame {
            entry: Entry::new(offer),
            core,
            outer: pending.scope.get(),
            is_root,
            tasks: List::new(),
            unoffered: Cell::new(null()),
        };
        let entry = NonNull::from(&frame).cast::<Entry>();
        // SAFETY: it stays until it has been popped, below; what is put off in it is popped before.
        let older = unsafe { pending.push(entry) };
        pending.scope.set(entry.as_ptr());
        let result = catch_unwind(AssertUnwindSafe(f));
        frame.finish(pending);
        pending.scope.set(frame.outer);
        let was_there = pending.pop(&frame.entry, older);
        debug_assert!(was_there, "a frame never leaves the list by itself");
        result
    }

    /// The innermost frame of a scope on the stack of `pending`, which is the one that runs.
    #[inline]
    pub(super) fn here<'a>(core: &Core, pending: &'a Pending) -> Option<&'a Frame> {
        let mut next = pending.scope.get();
        loop {
            // SAFETY: an entry that is there is that of a frame, its first field, and stays until all that runs on top
            // of it has returned.
            let frame = unsafe { next.cast::<Frame>().as_ref() }?;
            if std::ptr::eq(frame.core, core) {
                return Some(frame);
            }
            next = frame.outer;
        }
    }

    /// Puts a task off.
    ///
    /// # Safety
    ///
    /// It is in no list, and not offered; the frame has an interest in it from now on.
    #[inline]
    pub(super) unsafe fn push(&self, task: NonNull<Header>) {
        // SAFETY: it stays until it has been settled.
        unsafe { self.tasks.push(task) };
        if self.unoffered.get().is_null() {
            self.unoffered.set(task.as_ptr());
        }
    }

    /// Crosses a task out.
    ///
    /// # Safety
    ///
    /// It is in the list.
    #[inline]
    pub(super) unsafe fn remove(&self, task: NonNull<Header>) {
        if std::ptr::eq(self.unoffered.get(), task.as_ptr()) {
            // SAFETY: in place.
            self.unoffered.set(unsafe { task.as_ref() }.links.newer.get());
        }
        // SAFETY: it is in the list.
        unsafe { self.tasks.remove(task) };
    }

    /// Looks, now and then, whether somebody wants a task.
    #[inline]
    pub(super) fn look(pending: &Pending) {
        let word = beat::here();
        if !word.is_off() && (word.is_wanted() || pending.count()) {
            owner::beat(pending);
        }
    }

    /// Sees to it that all has ended that was spawned here.
    fn finish(&self, pending: &Pending) {
        loop {
            while let Some(newest) = self.tasks.newest() {
                // SAFETY: it is in the list.
                unsafe { self.remove(newest) };
                // SAFETY: the frame has an interest in it until it has settled it.
                unsafe { newest.as_ref() }.leave_home();
                if !self.unoffered.get().is_null() && !beat::here().is_off() && owner::is_due(ticks::now()) {
                    owner::beat(pending);
                }
                // SAFETY: just taken out, and settled once.
                unsafe { task::settle(newest, owner::settle) };
            }
            if !self.adopt() {
                return;
            }
        }
    }

    /// Takes over a stray.
    fn adopt(&self) -> bool {
        // SAFETY: the scope stays until its frames have ended.
        let stray = self.is_root.then(|| unsafe { &*self.core }.take_stray()).flatten();
        if let Some(stray) = stray {
            // SAFETY: it is in no list any more, and nobody else takes it.
            unsafe { self.push(stray) };
        }
        stray.is_some()
    }
}

/// Offers the oldest task that has not been offered.
///
/// # Safety
///
/// The entry is that of a frame, and pending on this thread.
unsafe fn offer(entry: NonNull<Entry>, parent: *const Job) -> Offer {
    // SAFETY: the entry is its first field.
    let frame = unsafe { entry.cast::<Frame>().as_ref() };
    loop {
        let Some(task) = NonNull::new(frame.unoffered.get().cast_mut()) else {
            if frame.adopt() {
                continue;
            }
            return Offer::Nothing;
        };
        // SAFETY: what is in the list is in place.
        let this = unsafe { task.as_ref() };
        frame.unoffered.set(this.links.newer.get());
        if !this.is_claimed() {
            this.is_offered.set(true);
            // SAFETY: it has none, since it was not offered, and nobody looks before it is.
            return Offer::More(unsafe { task::make_job(task, parent) });
        }
    }
}
