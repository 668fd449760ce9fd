//! Hosts that wait for parts of what they do, and what runs on their domain meanwhile.
//!
//! What a worker takes while a host waits is that host's *guest*: it runs on the stack of another host of the domain. The rule
//! of what may be taken (`par/README.md`) sees to it that a guest wants no lock that its host holds. The other half is
//! that the host does not go on, and perhaps want a lock that the guest holds, before the guest has ended: as if the host had
//! called it. Where the guest is a part of what the host waits for, that goes without saying. Where it is another task
//! that the host has spawned, the host waits for it as well, even if its own is done.
//!
//! But not for a guest that waits for something else than jobs: a message, a timer. What it waits for may be what the host does
//! next. Such a guest is a host like any other from then on. It is found when the host has what it has waited for, and
//! whenever the worker visits its inbox or has nothing to run.

use super::worker::Worker;
use crate::event::parker::{State, bearing};
use crate::event::{Label, Waits, described, sync_masked};
use crate::fiber::host::Host;
use crate::par::job::{Extent, Job};
use crate::shim::atomic::Ordering;
use crate::sync::Condition;
use std::cell::Cell;
use std::panic::Location;
use std::ptr::{NonNull, null};

/// A host waits for a part of what it does.
pub(super) struct Joining {
    host: Option<NonNull<Host>>,
    /// What may be taken meanwhile.
    pub(super) extent: Extent,
    /// The one that waited before.
    before: Cell<*const Joining>,
    /// How many jobs have been taken meanwhile that have not begun.
    expected: Cell<usize>,
    /// The last of the guests that have not ended.
    guests: Cell<*const Guest>,
    /// That they have been seen off, if no more is waited for than that.
    seen_off: Cell<Option<NonNull<Condition>>>,
}

/// A job that was taken, while the host waited last that this tells of.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    pub(super) job: NonNull<Job>,
    joining: *const Joining,
}

/// Something runs that was taken while a host waited.
struct Guest {
    /// Who runs it.
    host: NonNull<Host>,
    /// Who waited; null if he has gone on.
    joining: Cell<*const Joining>,
    /// The guest before.
    before: Cell<*const Guest>,
}

impl Worker {
    /// Calls `wait`, in which a host of this domain waits for a part of what it does. Meanwhile the domain takes no other
    /// parts of loops and tasks of scopes than those of `extent`, and this returns when what was taken has ended.
    pub(crate) fn while_waiting_for<R>(&self, extent: Extent, wait: impl FnOnce() -> R) -> R {
        /// Takes it out of the list.
        struct Linked<'a>(&'a Worker, &'a Joining);
        impl Drop for Linked<'_> {
            fn drop(&mut self) {
                self.0.unlink(self.1);
            }
        }
        let joining = Joining {
            host: self.current_host(),
            extent,
            before: Cell::new(self.joining.get()),
            expected: Cell::new(0),
            guests: Cell::new(null()),
            seen_off: Cell::new(None),
        };
        self.joining.set(&raw const joining);
        self.domain.is_joining.store(true, Ordering::Relaxed);
        let linked = Linked(self, &joining);
        let result = wait();
        while self.has_guests_at_work(&joining) {
            // Only this stack can offer what it has put off, and it may take a while.
            self.give_away(&bearing().pending, self.shared.most_at_once());
            joining.wait_for_guests();
        }
        drop(linked);
        result
    }

    fn unlink(&self, joining: &Joining) {
        let mut place = &self.joining;
        while !std::ptr::eq(place.get(), joining) {
            // SAFETY: what is in the list stays until it is taken out, and this one is in it.
            place = unsafe { &(*place.get()).before };
        }
        place.set(joining.before.get());
        self.domain.is_joining.store(!self.joining.get().is_null(), Ordering::Relaxed);
        joining.guests().for_each(|guest| guest.joining.set(null()));
    }

    /// `job` was just taken.
    pub(super) fn expect_guest(&self, job: NonNull<Job>) -> Taken {
        let joining = self.joining.get();
        // SAFETY: what is in the list stays until it is taken out.
        if let Some(joining) = unsafe { joining.as_ref() } {
            joining.expected.update(|expected| expected + 1);
        }
        Taken { job, joining }
    }

    /// Runs what was taken, in a host of this domain: as a guest of that which waited last then, if any waited.
    ///
    /// # Safety
    ///
    /// It was taken by this worker, and is not used afterwards.
    pub(super) unsafe fn run_as_guest(&self, Taken { job, joining }: Taken) {
        let host = self.current_host().expect("what was taken runs in a host");
        let guest = Guest { host, joining: Cell::new(joining), before: Cell::new(null()) };
        // SAFETY: who expects a guest does not go on before it has come.
        if let Some(joining) = unsafe { joining.as_ref() } {
            joining.expected.update(|expected| expected - 1);
            guest.before.set(joining.guests.replace(&raw const guest));
        }
        // SAFETY: passed on to the caller.
        unsafe { Job::run(job) };
        // SAFETY: what is in the list stays until it is taken out, which sets this to null.
        if let Some(joining) = unsafe { guest.joining.get().as_ref() } {
            joining.see_off(&guest);
            self.look_after(joining);
        }
    }

    /// Lets those go on that wait for no more than their guests, as far as these are at work no more.
    pub(super) fn look_after_joining(&self) {
        // Those who are woken here take themselves out of the list only when they run.
        self.all_joining().for_each(|joining| self.look_after(joining));
    }

    /// Those that wait, the last one first.
    fn all_joining(&self) -> impl Iterator<Item = &Joining> {
        // SAFETY: what is in the list stays until it is taken out.
        let joining = |joining: *const Joining| unsafe { joining.as_ref() };
        std::iter::successors(joining(self.joining.get()), move |this| joining(this.before.get()))
    }

    /// Is a guest about to come, or does one run, or wait for its turn, or for jobs?
    fn has_guests_at_work(&self, joining: &Joining) -> bool {
        let is_at_work = |guest: &Guest| {
            // SAFETY: a host does not end before what it runs.
            let state = unsafe { guest.host.as_ref() }.parker.state.get();
            let waits = matches!(state, State::Parked | State::ParkedMasked);
            !waits || self.all_joining().any(|joining| joining.host == Some(guest.host))
        };
        joining.expected.get() > 0 || joining.guests().any(is_at_work)
    }

    fn look_after(&self, joining: &Joining) {
        if let Some(seen_off) = joining.seen_off.get()
            && !self.has_guests_at_work(joining)
        {
            joining.seen_off.set(None);
            // SAFETY: on the stack of the host, which does not go on before this, and wakes on this thread.
            unsafe { seen_off.as_ref() }.signal();
        }
    }
}

impl Joining {
    fn guests(&self) -> impl Iterator<Item = &Guest> {
        // SAFETY: a guest is on the stack of its host until it has been seen off.
        let guest = |guest: *const Guest| unsafe { guest.as_ref() };
        std::iter::successors(guest(self.guests.get()), move |this| guest(this.before.get()))
    }

    /// Waits until none is at work, or one was found that is not.
    fn wait_for_guests(&self) {
        // SAFETY: a host does not end before what it runs.
        let site = self.guests().next().map(|guest| unsafe { guest.host.as_ref() }.code_site());
        let label = Label::anywhere("task").made_at(site.unwrap_or(Location::caller()));
        let seen_off = Condition::new();
        self.seen_off.set(Some(NonNull::from(&seen_off)));
        sync_masked(&described(seen_off.wait_evt(), |waits: &mut Waits| {
            waits.on("wait for what runs here meanwhile to end", &label, std::ptr::from_ref(self).addr());
        }));
    }

    /// Takes a guest out of the list.
    fn see_off(&self, guest: &Guest) {
        let after = self.guests().find(|after| std::ptr::eq(after.before.get(), guest));
        after.map_or(&self.guests, |after| &after.before).set(guest.before.get());
    }
}
