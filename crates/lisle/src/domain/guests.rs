//! Hosts that wait for parts of what they do, and what runs on their domain meanwhile.
//!
//! What a worker takes while a host waits is that host's *guest*: it runs on the stack of another host of the domain. The rule
//! of what may be taken (`par/README.md`) sees to it that a guest wants no lock that its host holds. The other half is
//! that the host does not go on, and perhaps want a lock that the guest holds, before the guest has ended: as if the host had
//! called it. Where the guest is a part of what the host waits for, that goes without saying. Where it is another task
//! that the host has spawned, the host waits for it as well, even if its own is done.
//!
//! But not for a guest that waits for something else than parts of what it does: a message, a timer. What it waits for may be
//! what the host does next. Such a guest is a host like any other from then on. It is found when the host has what it has waited
//! for, and whenever the worker visits its inbox or has nothing to run.

use super::worker::Worker;
use crate::event::parker::{self, State};
use crate::fiber::host::Host;
use crate::par::job::Extent;
use crate::shim::atomic::Ordering;
use std::cell::Cell;
use std::ptr::{NonNull, null};

/// A host waits for a part of what it does.
pub(super) struct Joining {
    /// What may be taken meanwhile.
    pub(super) extent: Extent,
    /// The one that waited before.
    before: Cell<*const Joining>,
    /// The last of the guests that have not ended.
    guests: Cell<*const Guest>,
    /// The host, if it waits for no more than its guests.
    waits_for_guests: Cell<Option<NonNull<Host>>>,
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
            extent,
            before: Cell::new(self.joining.get()),
            guests: Cell::new(null()),
            waits_for_guests: Cell::new(None),
        };
        self.joining.set(&raw const joining);
        self.domain.is_joining.store(true, Ordering::Relaxed);
        let linked = Linked(self, &joining);
        let result = wait();
        while joining.has_guests_at_work() {
            joining.waits_for_guests.set(self.current_host());
            parker::running().expect("only hosts wait in a worker").park(false, None);
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

    /// Calls `f`, which runs what was just taken, in a host of this domain: as a guest of that which waited last, if any waits.
    pub(super) fn as_guest(&self, f: impl FnOnce()) {
        let host = self.current_host().expect("what was taken runs in a host");
        let guest = Guest { host, joining: Cell::new(self.joining.get()), before: Cell::new(null()) };
        // SAFETY: what is in the list stays until it is taken out.
        if let Some(joining) = unsafe { guest.joining.get().as_ref() } {
            guest.before.set(joining.guests.replace(&raw const guest));
        }
        f();
        // SAFETY: as above; it is null if that has been taken out.
        if let Some(joining) = unsafe { guest.joining.get().as_ref() } {
            joining.see_off(&guest);
            self.look_after(joining);
        }
    }

    /// Lets those go on that wait for no more than their guests, as far as these are at work no more.
    pub(super) fn look_after_joining(&self) {
        let mut next = self.joining.get();
        // SAFETY: what is in the list stays until it is taken out, which only those do who are woken here, when they run.
        while let Some(joining) = unsafe { next.as_ref() } {
            self.look_after(joining);
            next = joining.before.get();
        }
    }

    fn look_after(&self, joining: &Joining) {
        if let Some(host) = joining.waits_for_guests.get()
            && !joining.has_guests_at_work()
        {
            joining.waits_for_guests.set(None);
            self.wake(host);
        }
    }
}

impl Joining {
    fn guests(&self) -> impl Iterator<Item = &Guest> {
        // SAFETY: a guest is on the stack of its host until it has been seen off.
        let guest = |guest: *const Guest| unsafe { guest.as_ref() };
        std::iter::successors(guest(self.guests.get()), move |this| guest(this.before.get()))
    }

    /// Does a guest run, or wait for its turn, or for a part of what it does?
    fn has_guests_at_work(&self) -> bool {
        // SAFETY: a host does not end before what it runs.
        self.guests().any(|guest| unsafe { guest.host.as_ref() }.parker.state.get() != State::Parked)
    }

    /// Takes a guest out of the list.
    fn see_off(&self, guest: &Guest) {
        let after = self.guests().find(|after| std::ptr::eq(after.before.get(), guest));
        after.map_or(&self.guests, |after| &after.before).set(guest.before.get());
    }
}
