//! A part of a scope that runs on one stack: the function of the scope, or a job that was taken
//! from elsewhere.
//!
//! The jobs that are spawned in a frame lie in its list, which belongs to its thread. The frame has
//! an entry in the list of the pending work of its stack, and this entry offers the jobs. Jobs that
//! the stack itself begins, because it waits for them or has no other work, run in the same frame.
//! A frame ends when all jobs that were spawned in it have ended. Hence a job that was taken is not
//! done before the jobs that it has spawned, which are its descendants.
//!
//! While code waits for a job, its domain may run jobs that the same code has spawned. Each job
//! that runs therefore has a number, its level, and the jobs that it spawns are marked with that
//! level.
//!
//! The jobs that are left at the end are run newest first. For a tree of jobs, the list then holds
//! no more jobs than there are siblings along one path.

use super::Core;
use super::jobs::Jobs;
use super::spawned::{self, Header};
use crate::domains::domains;
use crate::event::is_modelled;
use crate::job::{Ancestor, Descendants, Job};
use crate::pending::{Entry, Offer, Pending};
use crate::shim::{hint, ticks};
use crate::{heartbeat, modelled, owner};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::thread;

#[repr(C)]
pub(super) struct Frame {
    entry: Entry,
    core: *const Core,
    /// The entry of the frame around this one on this stack.
    outer: *const Entry,
    /// Whether this is the frame of the scope's own function, which also runs strays.
    is_root: bool,
    /// All jobs that were spawned here and have not been settled.
    jobs: Jobs,
    /// The ancestor of the jobs that are offered.
    ancestor: Ancestor,
    /// When the next job may be offered, in ticks.
    due: Cell<u64>,
}

/// Handing over jobs that are shorter than this does not pay. Averaged over `BURST`, jobs are not
/// offered more often.
const SHORT: u64 = 2 * ticks::A_MICROSECOND;
const BURST: u64 = 100 * ticks::A_MICROSECOND;

impl Frame {
    /// Calls `f` in a frame of its own, and returns when all jobs that were spawned in it have
    /// ended.
    pub(super) fn within<R>(core: &Core, is_root: bool, f: impl FnOnce() -> R) -> thread::Result<R> {
        let pending = owner::pending();
        let frame = Frame {
            entry: if owner::may_wait() { Entry::open(offer) } else { Entry::new(offer) },
            core,
            outer: pending.scope.get(),
            is_root,
            jobs: Jobs::new(),
            ancestor: Ancestor::new(pending.ancestor(), 0),
            due: Cell::new(0),
        };
        let entry = NonNull::from(&frame).cast::<Entry>();
        #[cfg(feature = "model")]
        if is_root {
            core.has_root(&frame);
        }
        // SAFETY: the frame stays in place until it has been popped, below. All entries that `f`
        // pushes are popped before.
        let older = unsafe { pending.push(entry) };
        pending.scope.set(entry.as_ptr());
        let result = catch_unwind(AssertUnwindSafe(f));
        frame.finish(pending);
        pending.scope.set(frame.outer);
        let was_there = pending.pop(&frame.entry, older);
        debug_assert!(was_there, "a frame never leaves the list by itself");
        result
    }

    /// Returns the innermost frame of `core` on the stack of `pending`, which is the stack that
    /// runs.
    #[inline]
    pub(super) fn here<'a>(core: &Core, pending: &'a Pending) -> Option<&'a Frame> {
        let mut next = pending.scope.get();
        loop {
            // SAFETY: a non-null entry is the first field of a frame, which stays in place until
            // all code on top of it has returned.
            let frame = unsafe { next.cast::<Frame>().as_ref() }?;
            if std::ptr::eq(frame.core, core) {
                return Some(frame);
            }
            next = frame.outer;
        }
    }

    /// Puts off a new job, which the code that runs on this stack has spawned.
    ///
    /// # Safety
    ///
    /// The job is in no list, and not offered; the frame has an interest in it from now on.
    #[inline]
    pub(super) unsafe fn spawn(&self, pending: &Pending, spawned: NonNull<Header>) {
        // SAFETY: the job stays in place until it has been settled.
        unsafe { spawned.as_ref() }.level.set(pending.level.get());
        let _held = pending.hold();
        // SAFETY: the caller's contract is passed on.
        unsafe { self.push(spawned) };
    }

    /// Puts off a job. The caller holds the list.
    ///
    /// # Safety
    ///
    /// The job is in no list, and not offered; the frame has an interest in it from now on.
    #[inline]
    unsafe fn push(&self, spawned: NonNull<Header>) {
        // SAFETY: the job stays in place until it has been settled.
        unsafe { self.jobs.push(spawned) };
    }

    /// Removes a job. The caller holds the list.
    ///
    /// # Safety
    ///
    /// The job is in the list.
    #[inline]
    pub(super) unsafe fn remove(&self, spawned: NonNull<Header>) {
        // SAFETY: the caller's contract is passed on.
        unsafe { self.jobs.remove(spawned) };
    }

    /// Returns the work that may run on this domain while the code on this stack waits for `job`:
    /// the jobs that the code has spawned itself, and the descendants of `job`.
    pub(super) fn descendants(&self, pending: &Pending, job: &Job) -> Descendants {
        Descendants::of_level(&self.ancestor, pending.level.get()).and(job)
    }

    /// Settles a job of this frame that has been offered. Returns `true` if it was taken back, and
    /// `false` if another thread has run it. Meanwhile parts of `descendants` may run on this
    /// domain.
    #[cold]
    pub(super) fn settle_offered(&self, pending: &Pending, job: &Job, descendants: Descendants) -> bool {
        let is_ours = owner::take_back(job);
        if is_modelled() {
            // This does not look at the clock.
            if !is_ours {
                owner::wait_for(job, descendants);
            }
        } else if is_ours {
            // The domain for which the job was offered may still be on the way.
            owner::give_away(pending, 1);
        } else {
            let start = ticks::now();
            while !job.is_done() && ticks::now().wrapping_sub(start) < ticks::A_MICROSECOND {
                hint::spin_loop();
            }
            if !job.is_done() {
                // This domain wants a job as well, and others may be idle until then.
                owner::give_away(pending, domains());
            }
            owner::wait_for(job, descendants);
        }
        is_ours
    }

    /// Checks from time to time whether another domain wants a job.
    #[inline]
    pub(super) fn look(pending: &Pending) {
        if is_modelled() {
            return modelled::take_all(pending);
        }
        let word = heartbeat::here();
        if !word.is_quiet() && (word.is_wanted() || pending.count()) {
            owner::heartbeat(pending);
        }
    }

    /// Makes sure that all jobs that were spawned here have ended.
    fn finish(&self, pending: &Pending) {
        let all = Descendants::all(&self.ancestor);
        loop {
            while let Some((newest, may_offer)) = self.take_newest(pending) {
                let is_due = || {
                    heartbeat::here().is_wanted()
                        || pending.count()
                        || (may_offer && owner::is_due(ticks::now()))
                };
                if !is_modelled() && !heartbeat::here().is_quiet() && is_due() {
                    owner::heartbeat(pending);
                }
                let _level = pending.descend();
                // SAFETY: the job was taken out just now, and is settled once.
                unsafe { spawned::settle(newest, |job| self.settle_offered(pending, job, all)) };
            }
            let _held = pending.hold();
            if !self.adopt() {
                return;
            }
        }
    }

    /// Removes the newest job, to settle it. Also returns whether there may be another job to
    /// offer.
    fn take_newest(&self, pending: &Pending) -> Option<(NonNull<Header>, bool)> {
        let _held = pending.hold();
        let newest = self.jobs.newest()?;
        // SAFETY: the job is in the list.
        unsafe { self.remove(newest) };
        // SAFETY: the frame has an interest in the job until it has settled it.
        unsafe { newest.as_ref() }.leave_home();
        Some((newest, self.jobs.may_offer()))
    }

    /// Returns the next job to be offered, if one is due. The caller holds the list, or looks at it
    /// from outside.
    fn next_to_offer(&self) -> Option<NonNull<Header>> {
        let next = || self.jobs.offer().or_else(|| if self.adopt() { self.jobs.offer() } else { None });
        if is_modelled() {
            return next();
        }
        let now = ticks::now();
        let due = self.due.get().max(now.saturating_sub(BURST));
        if due > now {
            return None;
        }
        let spawned = next()?;
        self.due.set(due + SHORT);
        Some(spawned)
    }

    /// Has the strays of the scope taken, in a model. Without this they would not begin before the
    /// scope's own function looks for them.
    #[cfg(feature = "model")]
    pub(super) fn take_strays(&self) {
        while let Some(spawned) = self.next_to_offer() {
            // SAFETY: it was not offered before, and the domain of a model is alone.
            let job = unsafe { spawned::make_job(spawned, &self.ancestor) };
            // SAFETY: the frame waits until it is done.
            unsafe { modelled::take(job) };
        }
    }

    /// Takes over a stray. Returns `false` if there are no strays. The caller holds the list, or
    /// looks at it from outside.
    fn adopt(&self) -> bool {
        // SAFETY: the scope stays in place until its frames have ended.
        let stray = self.is_root.then(|| unsafe { &*self.core }.take_stray()).flatten();
        if let Some(stray) = stray {
            // SAFETY: the stray is in no list any more, and no other frame takes it.
            unsafe { self.push(stray) };
        }
        stray.is_some()
    }
}

/// Offers a job that has not been offered.
///
/// # Safety
///
/// `entry` is the entry of a frame and is pending. The caller runs on the thread of its list, or
/// has disturbed the list.
unsafe fn offer(entry: NonNull<Entry>, _: *const Ancestor) -> Offer {
    // SAFETY: the entry is the first field of the frame.
    let frame = unsafe { entry.cast::<Frame>().as_ref() };
    let Some(spawned) = frame.next_to_offer() else { return Offer::Nothing };
    // SAFETY: the job was not offered before, so its `Job` is not initialized, and no other thread
    // looks for it before it is offered.
    Offer::More(unsafe { spawned::make_job(spawned, &frame.ancestor) })
}
