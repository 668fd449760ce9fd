//! A part of a scope that runs on one stack: the function of the scope, or a job that was taken from elsewhere.
//!
//! What is spawned in its ancestor lies in its list, which belongs to its thread, and is offered by its entry among what the
//! stack has put off. Jobs that the stack itself begins, since it waits for them or has nothing else to do, run in the same
//! frame. A frame ends when all that was spawned in it has ended. So a job that was taken is not done before what it has
//! spawned is, and what it spawned is a part of it.
//!
//! Code that waits for a job may be helped with what it has spawned itself. So each job that runs has a number, its level, and
//! those that it spawns are marked with that.
//!
//! What is left at the end is run newest first: of a tree of jobs no more are in the list than there are
//! siblings along one path.

use super::Core;
use super::jobs::Jobs;
use super::spawned::{self, Header};
use crate::job::{Ancestor, Descendants, Job};
use crate::pending::{Entry, Offer, Pending};
use crate::shim::{hint, ticks};
use crate::workers::workers;
use crate::{heartbeat, owner};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::thread;

#[repr(C)]
pub(super) struct Frame {
    entry: Entry,
    core: *const Core,
    /// That of the scope around this, on this stack.
    outer: *const Entry,
    /// That of the scope's own function, which looks after strays.
    is_root: bool,
    /// All jobs that were spawned here and have not been settled.
    jobs: Jobs,
    /// In the ancestor of which they are run if they are taken.
    ancestor: Ancestor,
    /// When the next may be offered, in ticks.
    due: Cell<u64>,
}

/// To hand over jobs that take no longer is not worth the while: none are offered more often, on an average over so long.
const SHORT: u64 = 2 * ticks::A_MICROSECOND;
const BURST: u64 = 100 * ticks::A_MICROSECOND;

impl Frame {
    /// Calls `f` in a frame of its own, and returns when all that was spawned in it has ended.
    pub(super) fn within<R>(core: &Core, is_root: bool, f: impl FnOnce() -> R) -> thread::Result<R> {
        let pending = owner::pending();
        let frame = Frame {
            entry: if owner::may_be_helped(pending) { Entry::open(offer) } else { Entry::new(offer) },
            core,
            outer: pending.scope.get(),
            is_root,
            jobs: Jobs::new(),
            ancestor: Ancestor::new(pending.ancestor(), 0),
            due: Cell::new(0),
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

    /// Puts a new job off, which the code that runs on this stack has spawned.
    ///
    /// # Safety
    ///
    /// It is in no list, and not offered; the frame has an interest in it from now on.
    #[inline]
    pub(super) unsafe fn spawn(&self, pending: &Pending, spawned: NonNull<Header>) {
        // SAFETY: it stays until it has been settled.
        unsafe { spawned.as_ref() }.level.set(pending.level.get());
        let _held = pending.hold();
        // SAFETY: passed on to the caller.
        unsafe { self.push(spawned) };
    }

    /// Puts a job off. For who holds the list.
    ///
    /// # Safety
    ///
    /// It is in no list, and not offered; the frame has an interest in it from now on.
    #[inline]
    unsafe fn push(&self, spawned: NonNull<Header>) {
        // SAFETY: it stays until it has been settled.
        unsafe { self.jobs.push(spawned) };
    }

    /// Crosses a job out. For who holds the list.
    ///
    /// # Safety
    ///
    /// It is in the list.
    #[inline]
    pub(super) unsafe fn remove(&self, spawned: NonNull<Header>) {
        // SAFETY: passed on to the caller.
        unsafe { self.jobs.remove(spawned) };
    }

    /// What may run on this domain while the code that runs on this stack waits for a job: what it has spawned itself, and
    /// what the job has to do.
    pub(super) fn descendants(&self, pending: &Pending, job: &Job) -> Descendants {
        Descendants::of_level(&self.ancestor, pending.level.get()).and(job)
    }

    /// Sees to a job of this frame that has been offered: true if the caller has it back, false if another has done it.
    /// Meanwhile parts of `descendants` may run on this domain.
    #[cold]
    pub(super) fn settle_offered(&self, pending: &Pending, job: &Job, descendants: Descendants) -> bool {
        let is_ours = owner::take_back(job);
        if is_ours {
            // Whoever it was meant for may still be on the way.
            owner::give_away(pending, 1);
        } else {
            let start = ticks::now();
            while !job.is_done() && ticks::now().wrapping_sub(start) < ticks::A_MICROSECOND {
                hint::spin_loop();
            }
            if !job.is_done() {
                // This domain would like one as well, and others may have nothing to do until then.
                owner::give_away(pending, workers());
            }
            owner::wait_for(job, descendants);
        }
        is_ours
    }

    /// Looks, now and then, whether somebody wants a job.
    #[inline]
    pub(super) fn look(pending: &Pending) {
        let word = heartbeat::here();
        if !word.is_quiet() && (word.is_wanted() || pending.count()) {
            owner::heartbeat(pending);
        }
    }

    /// Sees to it that all has ended that was spawned here.
    fn finish(&self, pending: &Pending) {
        let all = Descendants::all(&self.ancestor);
        loop {
            while let Some((newest, may_offer)) = self.take_newest(pending) {
                if may_offer && !heartbeat::here().is_quiet() && owner::is_due(ticks::now()) {
                    owner::heartbeat(pending);
                }
                let _level = pending.descend();
                // SAFETY: just taken out, and settled once.
                unsafe { spawned::settle(newest, |job| self.settle_offered(pending, job, all)) };
            }
            let _held = pending.hold();
            if !self.adopt() {
                return;
            }
        }
    }

    /// Crosses the newest job out, to settle it. Is there perhaps another that could be offered?
    fn take_newest(&self, pending: &Pending) -> Option<(NonNull<Header>, bool)> {
        let _held = pending.hold();
        let newest = self.jobs.newest()?;
        // SAFETY: it is in the list.
        unsafe { self.remove(newest) };
        // SAFETY: the frame has an interest in it until it has settled it.
        unsafe { newest.as_ref() }.leave_home();
        Some((newest, self.jobs.may_offer()))
    }

    /// The next job to be offered, if it is time for one. For who holds the list, or looks at it from outside.
    fn next_to_offer(&self) -> Option<NonNull<Header>> {
        let now = ticks::now();
        let due = self.due.get().max(now.saturating_sub(BURST));
        if due > now {
            return None;
        }
        let spawned = self.jobs.offer().or_else(|| if self.adopt() { self.jobs.offer() } else { None })?;
        self.due.set(due + SHORT);
        Some(spawned)
    }

    /// Takes over a stray. As above.
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

/// Offers a job that has not been offered.
///
/// # Safety
///
/// The entry is that of a frame, and pending; this is its thread, or has disturbed the list.
unsafe fn offer(entry: NonNull<Entry>, _: *const Ancestor) -> Offer {
    // SAFETY: the entry is its first field.
    let frame = unsafe { entry.cast::<Frame>().as_ref() };
    let Some(spawned) = frame.next_to_offer() else { return Offer::Nothing };
    // SAFETY: it has no job, since it was not offered, and nobody looks before it is.
    Offer::More(unsafe { spawned::make_job(spawned, &frame.ancestor) })
}
