//! What is offered to other domains: it lies on the stack of who has put it off, who waits there until it is done.

use crate::event::{Description, Label, Source, described, sync_masked};
use std::panic::Location;
use std::ptr::{NonNull, null};

/// In the ancestor of what something is done. It is in place until that is done.
pub struct Ancestor {
    /// The larger whole, if there is any. It is not done before this is.
    within: *const Ancestor,
    /// By which code it was put off, see [`Pending::level`](super::pending::Pending::level); 0 if that does not matter.
    level: u64,
}

impl Ancestor {
    /// A part of `within`, which may be null.
    #[inline]
    pub const fn new(within: *const Ancestor, level: u64) -> Self {
        Ancestor { within, level }
    }
}

/// All parts of a ancestor, or those of one level.
#[derive(Clone, Copy)]
pub struct Descendants {
    ancestor: *const Ancestor,
    level: Option<u64>,
    /// And all parts of this.
    job: *const Ancestor,
}

impl Descendants {
    /// Of which nothing is a part.
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

    /// This, and all that is done in the ancestor of `job`.
    #[inline]
    pub fn and(self, job: &Job) -> Self {
        Descendants { job: &job.ancestor, ..self }
    }
}

/// Something to be run once, by whoever has it: its owner, who takes it back, or who has taken it.
pub struct Job {
    run: unsafe fn(NonNull<Job>),
    ancestor: Ancestor,
    pub(crate) site: &'static Location<'static>,
    done: Source<bool, ()>,
}

impl Job {
    /// `run` does what there is to do, from any thread, and does not unwind.
    #[inline]
    pub fn new(run: unsafe fn(NonNull<Job>), ancestor: Ancestor, site: &'static Location<'static>) -> Self {
        let done = Source::labelled(Label::anywhere("part of a loop").made_at(site), false);
        Job { run, ancestor, site, done }
    }

    /// All that is done in the ancestor of it.
    #[inline]
    pub fn descendants(&self) -> Descendants {
        Descendants::all(&self.ancestor)
    }

    /// In the ancestor of this job: what to say of what is put off there. Null for none.
    pub(crate) fn ancestor_of(job: *const Job) -> *const Ancestor {
        // SAFETY: a job in whose ancestor something is put off is in place.
        unsafe { job.as_ref() }.map_or(null(), |job| &raw const job.ancestor)
    }

    /// Is it one of several of a level, of which there may be more?
    pub(crate) fn has_siblings(&self) -> bool {
        self.ancestor.level > 0
    }

    /// Is it part of `descendants`?
    ///
    /// # Safety
    ///
    /// It has been offered, and neither taken back nor done.
    pub(crate) unsafe fn is_part_of(&self, descendants: Descendants) -> bool {
        let mut ancestor = Some(&self.ancestor);
        while let Some(this) = ancestor {
            if std::ptr::eq(this, descendants.job) {
                return true;
            }
            if std::ptr::eq(this.within, descendants.ancestor) {
                return descendants.level.is_none_or(|level| level == this.level);
            }
            // SAFETY: what is done in the ancestor of something ends before that does, and this has not.
            ancestor = unsafe { this.within.as_ref() };
        }
        false
    }

    /// Runs it, and tells its owner.
    ///
    /// # Safety
    ///
    /// The caller has taken it, and does not use it afterwards.
    pub unsafe fn run(job: NonNull<Job>) {
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
    #[inline]
    pub unsafe fn finish(job: NonNull<Job>) {
        // SAFETY: in place. Its owner may go as soon as we have let go of the source's lock; the wake that follows touches
        // only his job, which waits for it.
        let done = unsafe { &(*job.as_ptr()).done };
        done.update_plain(|done, waiters| {
            *done = true;
            while waiters.grant(()).is_ok() {}
        });
    }

    /// Is it done? Its owner may not go before it has [waited](Job::wait), all the same.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.done.with(|done| *done)
    }

    /// Waits until it is done. For its owner, if somebody else has taken it, and for those for whom he keeps it in place.
    #[inline]
    pub fn wait(&self) {
        let done = self.done.event(|done| done.then_some(()));
        sync_masked(&described(done, |waits: &mut Description| {
            waits.on("wait for another domain to end", self.done.label(), std::ptr::from_ref(self).addr());
        }));
    }
}
