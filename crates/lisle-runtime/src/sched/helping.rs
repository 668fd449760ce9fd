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

use super::joining::{Helper, Joining, Taken};
use super::worker::Worker;
use crate::event::parker::State;
use crate::event::{Description, Label, described, sync_masked};
use crate::jobs::job::{Descendants, Job};
use crate::shim::atomic::Ordering;
use crate::spawned::this_stack::this_stack;
use crate::sync::Condition;
use std::cell::Cell;
use std::panic::Location;
use std::ptr::{NonNull, null};

impl Worker {
    /// Calls `wait`, in which a fiber of this domain waits for a part of its work. Meanwhile the
    /// domain takes only those parts of loops and jobs of scopes that are in `descendants`. Returns
    /// when `wait` has returned and no helper is at work any more.
    pub(crate) fn while_waiting_for<R>(&self, descendants: Descendants, wait: impl FnOnce() -> R) -> R {
        /// Takes the waiting fiber out of the list when dropped.
        struct Linked<'a>(&'a Worker, &'a Joining);
        impl Drop for Linked<'_> {
            fn drop(&mut self) {
                self.0.unlink(self.1);
            }
        }
        let joining = Joining {
            fiber: self.current_fiber(),
            descendants,
            before: Cell::new(self.joining.get()),
            expected: Cell::new(0),
            helpers: Cell::new(null()),
            helper_ended: Cell::new(None),
        };
        self.joining.set(&raw const joining);
        self.domain.is_joining.store(true, Ordering::Relaxed);
        let linked = Linked(self, &joining);
        let result = wait();
        while self.has_helpers_at_work(&joining) {
            // Only this stack can offer what it has put off, and the wait may take a while.
            self.give_away(&this_stack().pending, self.shared.most_at_once());
            joining.wait_for_helpers();
        }
        drop(linked);
        result
    }

    fn unlink(&self, joining: &Joining) {
        let mut place = &self.joining;
        while !std::ptr::eq(place.get(), joining) {
            // SAFETY: what is in the list stays until it is taken out, and `joining` is in it.
            place = unsafe { &(*place.get()).before };
        }
        place.set(joining.before.get());
        self.domain.is_joining.store(!self.joining.get().is_null(), Ordering::Relaxed);
        joining.helpers().for_each(|helper| helper.joining.set(null()));
    }

    /// Notes that `job` was just taken.
    pub(super) fn expect_helper(&self, job: NonNull<Job>) -> Taken {
        let joining = self.joining.get();
        // SAFETY: what is in the list stays until it is taken out.
        if let Some(joining) = unsafe { joining.as_ref() } {
            joining.expected.update(|expected| expected + 1);
        }
        Taken { job, joining }
    }

    /// Runs what was taken, in a fiber of this domain: as a helper of the fiber that waited last
    /// when it was taken, if any did.
    ///
    /// # Safety
    ///
    /// It was taken by this worker, and is not used afterwards.
    pub(super) unsafe fn run_as_helper(&self, Taken { job, joining }: Taken) {
        let fiber = self.current_fiber().expect("what was taken runs in a fiber");
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

    /// Wakes the fibers that wait only for their helpers, if none of these is at work any more.
    pub fn look_after_joining(&self) {
        // A fiber that is woken here takes itself out of the list only when it runs.
        self.all_joining().for_each(|joining| self.look_after(joining));
    }

    /// Returns the fibers that wait, the last one first.
    fn all_joining(&self) -> impl Iterator<Item = &Joining> {
        // SAFETY: what is in the list stays until it is taken out.
        let joining = |joining: *const Joining| unsafe { joining.as_ref() };
        std::iter::successors(joining(self.joining.get()), move |this| joining(this.before.get()))
    }

    /// Returns `true` if a helper is about to begin, runs, waits for its turn, or waits for jobs.
    fn has_helpers_at_work(&self, joining: &Joining) -> bool {
        let is_at_work = |helper: &Helper| {
            // SAFETY: a fiber does not end before the job that it runs.
            let state = unsafe { helper.fiber.as_ref() }.parker.state.get();
            let waits = matches!(state, State::Parked | State::ParkedMasked);
            !waits || self.all_joining().any(|joining| joining.fiber == Some(helper.fiber))
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
