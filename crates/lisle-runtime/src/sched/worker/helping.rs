//! Fibers that wait for parts of their own work, and what runs on their domain meanwhile.
//!
//! What a worker takes while a fiber waits is that fiber's *helper*: it runs on the stack of
//! another fiber of the domain. The rule of what may be taken (`src/jobs/README.md`) ensures that a
//! helper wants no lock that its fiber holds. Conversely, the fiber might want a lock that the
//! helper holds, so it does not go on before the helper has ended, like a caller of the helper.
//! Where the helper is a part of what the fiber waits for, this holds by itself. Where the helper
//! is another job that the fiber has spawned, the fiber waits for it as well, even if its own part
//! is done.
//!
//! The fiber does not wait for a helper that itself waits for something other than jobs, such as a
//! message or a timer: the fiber may be about to send that message. Such a helper is from then on a
//! fiber like any other. This is checked when the fiber has what it waited for, and whenever the
//! worker visits its inbox or has nothing to run.

use super::Worker;
use crate::event::{Description, Label, described, sync_masked};
use crate::jobs::job::{Descendants, Job};
use crate::sched::within;
use crate::shim::atomic::Ordering;
use crate::spawned::fiber_cell::Fiber;
use crate::spawned::this_stack::this_stack;
use crate::sync::Condition;
use std::cell::Cell;
use std::panic::Location;
use std::ptr::{NonNull, null};

/// A job that was taken, and the fiber that waited last at that time.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    job: NonNull<Job>,
    joining: *const Joining,
}

/// A job that runs and was taken while a fiber waited.
struct Helper {
    /// The fiber that runs it.
    fiber: NonNull<Fiber>,
    /// The fiber that waited; null once that has gone on.
    joining: Cell<*const Joining>,
    /// The helper before.
    before: Cell<*const Helper>,
}

/// A fiber that waits for a part of its work.
struct Joining {
    fiber: Option<NonNull<Fiber>>,
    /// What the domain may take meanwhile.
    descendants: Descendants,
    /// The fiber that waited before.
    before: Cell<*const Joining>,
    /// The number of jobs that were taken meanwhile and have not begun.
    expected: Cell<usize>,
    /// The last of the helpers that have not ended.
    helpers: Cell<*const Helper>,
    /// Signalled when no helper is at work, while the fiber waits for nothing else.
    helper_ended: Cell<Option<NonNull<Condition>>>,
}

impl Joining {
    fn helpers(&self) -> impl Iterator<Item = &Helper> {
        // SAFETY: a helper is on the stack of its fiber until it is taken out of the list.
        let helper = |helper: *const Helper| unsafe { helper.as_ref() };
        std::iter::successors(helper(self.helpers.get()), move |this| helper(this.before.get()))
    }

    /// Waits until no helper is at work, or until a helper is found that waits for something else.
    fn wait_for_helpers(&self) {
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
pub(super) struct AllJoining {
    last: Cell<*const Joining>,
}

impl AllJoining {
    pub(super) fn new() -> Self {
        AllJoining { last: Cell::new(null()) }
    }

    fn last(&self) -> Option<&Joining> {
        // SAFETY: what is in the list stays until it is taken out.
        unsafe { self.last.get().as_ref() }
    }

    /// Returns the fibers that wait, the last one first.
    fn iter(&self) -> impl Iterator<Item = &Joining> {
        // SAFETY: as above.
        std::iter::successors(self.last(), |this| unsafe { this.before.get().as_ref() })
    }

    /// Takes a fiber out of the list.
    fn remove(&self, joining: &Joining) {
        let mut place = &self.last;
        while !std::ptr::eq(place.get(), joining) {
            // SAFETY: what is in the list stays until it is taken out, and `joining` is in it.
            place = unsafe { &(*place.get()).before };
        }
        place.set(joining.before.get());
        joining.helpers().for_each(|helper| helper.joining.set(null()));
    }

    /// Returns what alone the domain may take; `None` if no fiber waits.
    pub(super) fn descendants(&self) -> Option<Descendants> {
        self.last().map(|joining| joining.descendants)
    }

    /// Notes that `job` was just taken.
    pub(super) fn expect_helper(&self, job: NonNull<Job>) -> Taken {
        if let Some(joining) = self.last() {
            joining.expected.update(|expected| expected + 1);
        }
        Taken { job, joining: self.last.get() }
    }

    /// Runs what was taken, in `fiber`: as a helper of the fiber that waited last when it was
    /// taken, if any did.
    ///
    /// # Safety
    ///
    /// It was taken by this worker, whose current fiber is `fiber`, and is not used afterwards.
    unsafe fn run_helper(&self, Taken { job, joining }: Taken, fiber: NonNull<Fiber>) {
        let helper = Helper { fiber, joining: Cell::new(joining), before: Cell::new(null()) };
        // SAFETY: a fiber that expects a helper does not go on before the helper has begun.
        if let Some(joining) = unsafe { joining.as_ref() } {
            joining.expected.update(|expected| expected - 1);
            helper.before.set(joining.helpers.replace(&raw const helper));
        }
        // SAFETY: passed on to the caller.
        unsafe { Job::run(job) };
        // SAFETY: what is in the list stays until it is taken out, which sets this to null.
        if let Some(joining) = unsafe { helper.joining.get().as_ref() } {
            joining.note_helper_end(&helper);
            self.look_after(joining);
        }
    }

    /// Returns `true` if a helper is about to begin, runs, waits for its turn, or waits for jobs.
    fn has_helpers_at_work(&self, joining: &Joining) -> bool {
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

    /// Wakes the fibers that wait only for their helpers, if none of these is at work any more.
    pub(super) fn look_after_all(&self) {
        // A fiber that is woken here takes itself out of the list only when it runs.
        self.iter().for_each(|joining| self.look_after(joining));
    }
}

impl Worker {
    /// Calls `wait`, in which a fiber of this domain waits for a part of its work. Meanwhile the
    /// domain takes only those parts of loops and jobs of scopes that are in `descendants`. Returns
    /// when `wait` has returned and no helper is at work any more.
    pub(crate) fn while_waiting_for<R>(&self, descendants: Descendants, wait: impl FnOnce() -> R) -> R {
        /// Takes the waiting fiber out of the list when dropped.
        struct Linked<'a>(&'a Worker, &'a Joining);
        impl Drop for Linked<'_> {
            fn drop(&mut self) {
                let Linked(worker, joining) = *self;
                worker.joining.remove(joining);
                worker.domain.is_joining.store(worker.joining.last().is_some(), Ordering::Relaxed);
            }
        }
        let joining = Joining {
            fiber: self.current_fiber(),
            descendants,
            before: Cell::new(self.joining.last.get()),
            expected: Cell::new(0),
            helpers: Cell::new(null()),
            helper_ended: Cell::new(None),
        };
        self.joining.last.set(&raw const joining);
        self.domain.is_joining.store(true, Ordering::Relaxed);
        let linked = Linked(self, &joining);
        let result = wait();
        while self.joining.has_helpers_at_work(&joining) {
            // Only this stack can offer what it has put off, and the wait may take a while.
            self.give_away(&this_stack().pending, self.shared.most_at_once());
            joining.wait_for_helpers();
        }
        drop(linked);
        result
    }

    /// Runs what was taken, on the stack of the runner that calls this.
    ///
    /// # Safety
    ///
    /// It was taken by this worker, and is not used afterwards.
    pub(super) unsafe fn run_job(&self, taken: Taken) {
        let fiber = self.current_fiber().expect("what was taken runs in a fiber");
        // SAFETY: taken, and not done.
        self.domain.running_code_of(unsafe { taken.job.as_ref() }.site);
        let pending = &this_stack().pending;
        pending.job.set(taken.job.as_ptr());
        let within = within::enter(pending);
        // SAFETY: passed on to the caller.
        unsafe { self.joining.run_helper(taken, fiber) };
        drop(within);
        pending.job.set(null());
    }
}
