//! What is offered to other domains: it lies on the stack of who has put it off, who waits there until it is done.

use crate::event::{Label, Source, Waits, described, sync_masked};
use std::panic::Location;
use std::ptr::NonNull;

/// Something to be run once, by whoever has it: its owner, who takes it back, or who has taken it.
pub(crate) struct Job {
    run: unsafe fn(NonNull<Job>),
    /// The job in whose course it was put off, if in that of any. That one is not done before this is.
    parent: *const Job,
    pub(crate) site: &'static Location<'static>,
    done: Source<bool, ()>,
}

impl Job {
    /// `run` does what there is to do, from any thread, and does not unwind.
    pub(crate) fn new(
        run: unsafe fn(NonNull<Job>),
        parent: *const Job,
        site: &'static Location<'static>,
    ) -> Self {
        let done = Source::labelled(Label::anywhere("part of a loop").made_at(site), false);
        Job { run, parent, site, done }
    }

    /// Is it part of what `ancestor` has to do?
    ///
    /// # Safety
    ///
    /// It has been offered, and neither taken back nor done.
    pub(crate) unsafe fn is_part_of(&self, ancestor: *const Job) -> bool {
        let mut job = Some(self);
        while let Some(this) = job {
            if std::ptr::eq(this, ancestor) {
                return true;
            }
            // SAFETY: a job is done only when all are that were put off in its course, so the ancestors of one that is
            // not done are in place.
            job = unsafe { this.parent.as_ref() };
        }
        false
    }

    /// Runs it, and tells its owner.
    ///
    /// # Safety
    ///
    /// The caller has taken it, and does not use it afterwards.
    pub(crate) unsafe fn run(job: NonNull<Job>) {
        // SAFETY: its owner waits until it is done.
        let run = unsafe { job.as_ref() }.run;
        // SAFETY: taken by the caller, and run once.
        unsafe { run(job) };
        // SAFETY: still not done.
        unsafe { Job::finish(job) };
    }

    /// Tells all who wait for it that it is done.
    ///
    /// # Safety
    ///
    /// It is in place, and this is called once, by whoever has done what there was to do.
    pub(crate) unsafe fn finish(job: NonNull<Job>) {
        // SAFETY: in place. Its owner may go as soon as we have let go of the source's lock; the wake that follows touches
        // only his task, which waits for it.
        let done = unsafe { &(*job.as_ptr()).done };
        done.update(|done, waiters| {
            *done = true;
            while waiters.grant(()).is_ok() {}
        });
    }

    /// Waits until it is done. For its owner, if somebody else has taken it, and for those for whom he keeps it in place.
    pub(crate) fn wait(&self) {
        let done = self.done.event(|done| done.then_some(()));
        sync_masked(&described(done, |waits: &mut Waits| {
            waits.on("wait for another domain to end", self.done.label(), std::ptr::from_ref(self).addr());
        }));
    }
}
