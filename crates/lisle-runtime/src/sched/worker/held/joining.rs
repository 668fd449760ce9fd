//! Fibers that wait for parts of their own work, and the helpers that run meanwhile.

use crate::event::{Description, Label, described, sync_masked};
use crate::jobs::job::{Descendants, Job};
use crate::spawned::fiber_cell::Fiber;
use crate::sync::Condition;
use std::cell::Cell;
use std::panic::Location;
use std::ptr::{NonNull, null};

/// A job that was taken, and the fiber that waited last at that time.
#[derive(Clone, Copy)]
pub(in crate::sched::worker) struct Taken {
    pub(in crate::sched::worker) job: NonNull<Job>,
    joining: *const Joining,
}

/// A job that runs and was taken while a fiber waited.
pub(in crate::sched::worker) struct Helper {
    /// The fiber that runs it.
    fiber: NonNull<Fiber>,
    /// The fiber that waited; null once that has gone on.
    joining: Cell<*const Joining>,
    /// The helper before.
    before: Cell<*const Helper>,
}

/// A fiber that waits for a part of its work.
pub(in crate::sched::worker) struct Joining {
    pub(in crate::sched::worker) fiber: Option<NonNull<Fiber>>,
    /// The jobs that the domain may take meanwhile.
    pub(in crate::sched::worker) descendants: Descendants,
    /// The fiber that waited before.
    pub(in crate::sched::worker) before: Cell<*const Joining>,
    /// The number of jobs that were taken meanwhile and have not begun.
    pub(in crate::sched::worker) expected: Cell<usize>,
    /// The last of the helpers that have not ended.
    pub(in crate::sched::worker) helpers: Cell<*const Helper>,
    /// Signalled when no helper is at work, while the fiber waits for nothing else.
    pub(in crate::sched::worker) helper_ended: Cell<Option<NonNull<Condition>>>,
}

impl Joining {
    fn helpers(&self) -> impl Iterator<Item = &Helper> {
        // SAFETY: a helper is on the stack of its fiber until it is taken out of the list.
        let helper = |helper: *const Helper| unsafe { helper.as_ref() };
        std::iter::successors(helper(self.helpers.get()), move |this| helper(this.before.get()))
    }

    /// Waits until no helper is at work, or until a helper is found that waits for something else.
    pub(in crate::sched::worker) fn wait_for_helpers(&self) {
        // SAFETY: a fiber does not end before the job that it runs.
        let site = self.helpers().next().map(|helper| unsafe { helper.fiber.as_ref() }.code_site());
        let label = Label::anywhere("job").made_at(site.unwrap_or(Location::caller()));
        let helper_ended = Condition::new();
        self.helper_ended.set(Some(NonNull::from(&helper_ended)));
        sync_masked(&described(helper_ended.wait_evt(), |waits: &mut Description| {
            waits.on("wait for what runs here meanwhile to end", &label, std::ptr::from_ref(self).addr());
        }));
    }

    /// Takes a helper out of the list.
    fn note_helper_end(&self, helper: &Helper) {
        let after = self.helpers().find(|after| std::ptr::eq(after.before.get(), helper));
        after.map_or(&self.helpers, |after| &after.before).set(helper.before.get());
    }
}

/// The fibers of a domain that wait for parts of their work.
pub(in crate::sched::worker) struct AllJoining {
    pub(in crate::sched::worker) last: Cell<*const Joining>,
}

impl AllJoining {
    pub(in crate::sched::worker) fn new() -> Self {
        AllJoining { last: Cell::new(null()) }
    }

    pub(in crate::sched::worker) fn last(&self) -> Option<&Joining> {
        // SAFETY: an entry stays in the list until it is taken out.
        unsafe { self.last.get().as_ref() }
    }

    /// Returns the fibers that wait, the last one first.
    fn iter(&self) -> impl Iterator<Item = &Joining> {
        // SAFETY: as above.
        std::iter::successors(self.last(), |this| unsafe { this.before.get().as_ref() })
    }

    /// Takes a fiber out of the list.
    pub(in crate::sched::worker) fn remove(&self, joining: &Joining) {
        let mut place = &self.last;
        while !std::ptr::eq(place.get(), joining) {
            // SAFETY: an entry stays in the list until it is taken out, and `joining` is in it.
            place = unsafe { &(*place.get()).before };
        }
        place.set(joining.before.get());
        joining.helpers().for_each(|helper| helper.joining.set(null()));
    }

    /// Returns the only jobs that the domain may take; `None` if no fiber waits.
    pub(in crate::sched::worker) fn descendants(&self) -> Option<Descendants> {
        self.last().map(|joining| joining.descendants)
    }

    /// Notes that `job` was just taken.
    pub(in crate::sched::worker) fn expect_helper(&self, job: NonNull<Job>) -> Taken {
        if let Some(joining) = self.last() {
            joining.expected.update(|expected| expected + 1);
        }
        Taken { job, joining: self.last.get() }
    }

    /// Runs a taken job in `fiber`: as a helper of the fiber that waited last when the job was
    /// taken, if any did.
    ///
    /// # Safety
    ///
    /// It was taken by this domain, whose current fiber is `fiber`, and is not used afterwards.
    pub(in crate::sched::worker) unsafe fn run_helper(
        &self,
        Taken { job, joining }: Taken,
        fiber: NonNull<Fiber>,
    ) {
        let helper = Helper { fiber, joining: Cell::new(joining), before: Cell::new(null()) };
        // SAFETY: a fiber that expects a helper does not go on before the helper has begun.
        if let Some(joining) = unsafe { joining.as_ref() } {
            joining.expected.update(|expected| expected - 1);
            helper.before.set(joining.helpers.replace(&raw const helper));
        }
        // SAFETY: passed on to the caller.
        unsafe { Job::run(job) };
        // SAFETY: an entry stays in the list until it is taken out, which sets this to null.
        if let Some(joining) = unsafe { helper.joining.get().as_ref() } {
            joining.note_helper_end(&helper);
            self.look_after(joining);
        }
    }

    /// Returns `true` if a helper is about to begin, runs, waits for its turn, or waits for jobs.
    pub(in crate::sched::worker) fn has_helpers_at_work(&self, joining: &Joining) -> bool {
        let is_at_work = |helper: &Helper| {
            // SAFETY: a fiber does not end before the job that it runs.
            let waits = unsafe { helper.fiber.as_ref() }.parker.is_parked();
            !waits || self.iter().any(|joining| joining.fiber == Some(helper.fiber))
        };
        joining.expected.get() > 0 || joining.helpers().any(is_at_work)
    }

    fn look_after(&self, joining: &Joining) {
        if let Some(helper_ended) = joining.helper_ended.get()
            && !self.has_helpers_at_work(joining)
        {
            joining.helper_ended.set(None);
            // SAFETY: it is on the stack of the fiber, which does not go on before this and is
            // woken on this thread.
            unsafe { helper_ended.as_ref() }.signal();
        }
    }

    /// Wakes the fibers that wait only for their helpers, if no helper is at work any more.
    pub(in crate::sched::worker) fn look_after_all(&self) {
        // A fiber that is woken here takes itself out of the list only when it runs.
        self.iter().for_each(|joining| self.look_after(joining));
    }
}
