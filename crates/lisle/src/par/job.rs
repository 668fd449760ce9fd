//! What is offered to other domains: it lies on the stack of who has put it off, who waits there until it is done.

use crate::event::{Label, Source, Waits, described, sync_masked};
use std::panic::Location;
use std::ptr::{NonNull, null};

/// In the course of what something is done. It is in place until that is done.
pub(crate) struct Course {
    /// The larger whole, if there is any. It is not done before this is.
    within: *const Course,
    /// By which code it was put off, see [`Pending::level`](super::pending::Pending::level); 0 if that does not matter.
    level: u64,
}

impl Course {
    /// A part of `within`, which may be null.
    pub(crate) const fn new(within: *const Course, level: u64) -> Self {
        Course { within, level }
    }
}

/// All parts of a course, or those of one level.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    course: *const Course,
    level: Option<u64>,
    /// And all parts of this.
    job: *const Course,
}

impl Extent {
    /// Of which nothing is a part.
    pub(crate) const NOTHING: Extent = Extent { course: null(), level: Some(u64::MAX), job: null() };

    pub(crate) fn all(course: *const Course) -> Self {
        Extent { course, level: None, job: null() }
    }

    pub(crate) fn of_level(course: *const Course, level: u64) -> Self {
        Extent { course, level: Some(level), job: null() }
    }

    /// This, and all that is done in the course of `job`.
    pub(crate) fn and(self, job: &Job) -> Self {
        Extent { job: &job.course, ..self }
    }
}

/// Something to be run once, by whoever has it: its owner, who takes it back, or who has taken it.
pub(crate) struct Job {
    run: unsafe fn(NonNull<Job>),
    course: Course,
    pub(crate) site: &'static Location<'static>,
    done: Source<bool, ()>,
}

impl Job {
    /// `run` does what there is to do, from any thread, and does not unwind.
    pub(crate) fn new(
        run: unsafe fn(NonNull<Job>),
        course: Course,
        site: &'static Location<'static>,
    ) -> Self {
        let done = Source::labelled(Label::anywhere("part of a loop").made_at(site), false);
        Job { run, course, site, done }
    }

    /// All that is done in the course of it.
    pub(crate) fn extent(&self) -> Extent {
        Extent::all(&self.course)
    }

    /// In the course of this job: what to say of what is put off there. Null for none.
    pub(crate) fn course_of(job: *const Job) -> *const Course {
        // SAFETY: a job in whose course something is put off is in place.
        unsafe { job.as_ref() }.map_or(null(), |job| &raw const job.course)
    }

    /// Is it one of several of a level, of which there may be more?
    pub(crate) fn has_siblings(&self) -> bool {
        self.course.level > 0
    }

    /// Is it part of `extent`?
    ///
    /// # Safety
    ///
    /// It has been offered, and neither taken back nor done.
    pub(crate) unsafe fn is_part_of(&self, extent: Extent) -> bool {
        let mut course = Some(&self.course);
        while let Some(this) = course {
            if std::ptr::eq(this, extent.job) {
                return true;
            }
            if std::ptr::eq(this.within, extent.course) {
                return extent.level.is_none_or(|level| level == this.level);
            }
            // SAFETY: what is done in the course of something ends before that does, and this has not.
            course = unsafe { this.within.as_ref() };
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
        done.update_plain(|done, waiters| {
            *done = true;
            while waiters.grant(()).is_ok() {}
        });
    }

    /// Is it done? Its owner may not go before it has [waited](Job::wait), all the same.
    pub(crate) fn is_done(&self) -> bool {
        self.done.with(|done| *done)
    }

    /// Waits until it is done. For its owner, if somebody else has taken it, and for those for whom he keeps it in place.
    pub(crate) fn wait(&self) {
        let done = self.done.event(|done| done.then_some(()));
        sync_masked(&described(done, |waits: &mut Waits| {
            waits.on("wait for another domain to end", self.done.label(), std::ptr::from_ref(self).addr());
        }));
    }
}
