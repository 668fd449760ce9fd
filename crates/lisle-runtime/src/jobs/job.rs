//! Jobs, which are offered to other domains. A job is on the stack of the code that has put it off,
//! which waits there until the job is done.

use crate::event::{Description, Label, Source, Waiters, described, sync_masked};
use std::panic::Location;
use std::ptr::{NonNull, null};

/// A link to a job that something is a part of. It stays in place until that part is done.
pub struct Ancestor {
    /// The larger whole that this is a part of, or null. It is not done before this is.
    within: *const Ancestor,
    /// The code that has put this off, see [`Pending::level`](super::pending::Pending::level), or 0
    /// if that does not matter.
    level: u64,
}

impl Ancestor {
    /// Creates a part of `within`, which may be null.
    #[inline]
    pub const fn new(within: *const Ancestor, level: u64) -> Self {
        Ancestor { within, level }
    }
}

/// All parts of an ancestor, or the parts of one level.
#[derive(Clone, Copy)]
pub struct Descendants {
    ancestor: *const Ancestor,
    level: Option<u64>,
    /// All parts of this are included, too.
    job: *const Ancestor,
}

impl Descendants {
    /// The set that has no parts.
    pub(crate) const NOTHING: Descendants =
        Descendants { ancestor: null(), level: Some(u64::MAX), job: null() };

    #[inline]
    pub fn all(ancestor: *const Ancestor) -> Self {
        Descendants { ancestor, level: None, job: null() }
    }

    #[inline]
    pub fn of_level(ancestor: *const Ancestor, level: u64) -> Self {
        Descendants { ancestor, level: Some(level), job: null() }
    }

    /// Returns this set and all that is done as a part of `job`.
    #[inline]
    pub fn and(self, job: &Job) -> Self {
        Descendants { job: &job.ancestor, ..self }
    }
}

/// Work that is done once, by the thread that has it: its owner, which has taken it back, or
/// another thread, which has taken it.
pub struct Job {
    run: unsafe fn(NonNull<Job>),
    ancestor: Ancestor,
    pub(crate) site: &'static Location<'static>,
    done: Source<bool, ()>,
    /// The process that runs it in a model.
    #[cfg(feature = "model")]
    pub(crate) process: std::cell::Cell<u32>,
}

impl Job {
    /// Creates a job. `run` does the work, on any thread, and does not unwind.
    #[inline]
    pub fn new(run: unsafe fn(NonNull<Job>), ancestor: Ancestor, site: &'static Location<'static>) -> Self {
        let done = Source::labelled(Label::anywhere("part of a loop").made_at(site), false);
        Job {
            run,
            ancestor,
            site,
            done,
            #[cfg(feature = "model")]
            process: std::cell::Cell::new(0),
        }
    }

    /// Returns the set of all that is done as a part of this job.
    #[inline]
    pub fn descendants(&self) -> Descendants {
        Descendants::all(&self.ancestor)
    }

    /// Returns the ancestor of the parts of `job`. It is null if `job` is.
    pub(crate) fn ancestor_of(job: *const Job) -> *const Ancestor {
        // SAFETY: a job is in place while something is put off as a part of it.
        unsafe { job.as_ref() }.map_or(null(), |job| &raw const job.ancestor)
    }

    /// Returns `true` if the job is one of several of a level, of which there may be more.
    pub(crate) fn has_siblings(&self) -> bool {
        self.ancestor.level > 0
    }

    /// Returns `true` if the job is part of `descendants`.
    ///
    /// # Safety
    ///
    /// The job has been offered, and neither taken back nor done.
    pub(crate) unsafe fn is_part_of(&self, descendants: Descendants) -> bool {
        let mut ancestor = Some(&self.ancestor);
        while let Some(this) = ancestor {
            if std::ptr::eq(this, descendants.job) {
                return true;
            }
            if std::ptr::eq(this.within, descendants.ancestor) {
                return descendants.level.is_none_or(|level| level == this.level);
            }
            // SAFETY: a part of a job ends before that job does, and this part has not ended.
            ancestor = unsafe { this.within.as_ref() };
        }
        false
    }

    /// Runs the job, and wakes the threads that wait for it.
    ///
    /// # Safety
    ///
    /// The caller has taken the job, and does not use it afterwards.
    pub unsafe fn run(job: NonNull<Job>) {
        // SAFETY: the job's owner waits until it is done.
        let run = unsafe { job.as_ref() }.run;
        // SAFETY: the caller has taken the job, which is run once.
        unsafe { run(job) };
        // SAFETY: the job is not done yet.
        unsafe { Job::finish(job) };
    }

    /// Marks the job as done, and wakes all that wait for it.
    ///
    /// # Safety
    ///
    /// The job is in place, and this is called once, by the thread that has done the work.
    #[inline]
    pub unsafe fn finish(job: NonNull<Job>) {
        // SAFETY: the job is in place. Its owner may go as soon as this code has released the
        // source's lock. The wake that follows touches only the waiting performer, which waits for
        // it.
        let done = unsafe { &(*job.as_ptr()).done };
        let finish = |done: &mut bool, waiters: &mut Waiters<'_, ()>| {
            *done = true;
            while waiters.grant(()).is_ok() {}
        };
        // In a model the owner follows the process that has run the job, and not the flag.
        #[cfg(feature = "model")]
        if crate::event::is_modelled() {
            return crate::shim::unreported(|| done.update_undeclared(finish));
        }
        done.update_plain(finish);
    }

    /// Returns `true` if the job is done, which no model notices.
    #[cfg(feature = "model")]
    pub(crate) fn has_ended(&self) -> bool {
        self.done.peek(|done, _| *done)
    }

    /// Returns `true` if the job is done. Its owner must still [wait](Job::wait) before it goes.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.done.with(|done| *done)
    }

    /// Waits until the job is done. Its owner calls this if another thread has taken it, and so
    /// does the code that the owner keeps it in place for.
    #[inline]
    pub fn wait(&self) {
        let done = self.done.event(|done| done.then_some(()));
        sync_masked(&described(done, |waits: &mut Description| {
            waits.on("wait for another domain to end", self.done.label(), std::ptr::from_ref(self).addr());
        }));
    }
}
