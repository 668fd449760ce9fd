//! How the future of an event is woken: by the waker of whoever polls it, or, if that is a resident task, by its
//! address.
//!
//! A waker has to be cloned to be kept, and taken out by whoever wakes; both sides hold a lock for that. Of a
//! [`Resident`] the address is enough, and one exchange wakes: it says that the wake has come, and finds out for whom.
//! After the exchange the future may be gone, but the resident's memory is not.
//!
//! The way is chosen for each publishing, by who polls then. If the future is given to somebody else while it waits,
//! the address is exchanged for another, or for the mark that says that it is by a waker after all: then whoever wakes
//! goes on to do that. A future that began with a waker stays with wakers.

use super::super::lock::Lock;
use super::super::record::Task;
use super::super::resident::Resident;
use crate::shim::Backoff;
use crate::shim::atomic::{AtomicPtr, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null_mut, without_provenance_mut};
use std::task::Waker;

pub(super) struct Wake {
    /// Null: it is to be woken by a waker, and nobody looks here. Else whom to wake, or one of the marks.
    resident: AtomicPtr<Resident>,
    waking: Lock<Waking>,
}

#[derive(Default)]
struct Waking {
    waker: Option<Waker>,
    woken: bool,
}

/// The wake has come.
fn woken() -> *mut Resident {
    without_provenance_mut(1)
}

/// The future has been given to somebody who is woken by a waker.
fn by_waker() -> *mut Resident {
    without_provenance_mut(2)
}

impl Wake {
    pub(super) fn new() -> Self {
        Wake { resident: AtomicPtr::new(null_mut()), waking: Lock::new(Waking::default()) }
    }

    /// Makes ready to be woken by `waker`: nobody can, yet. The task wakes by `self`.
    ///
    /// # Safety
    ///
    /// `self` stays where it is until the task has been woken, and that wake has been seen, or until nobody has the
    /// task any more.
    pub(super) unsafe fn prepare(&self, waker: &Waker) -> Task {
        let resident = Resident::of(waker).map_or(null_mut(), NonNull::as_ptr);
        self.resident.store(resident, Ordering::Relaxed);
        let wake = if resident.is_null() {
            self.take_wake(waker);
            by_its_waker
        } else {
            by_exchange
        };
        // SAFETY: by the caller's promise.
        unsafe { Task::new(std::ptr::from_ref(self).cast(), wake) }
    }

    /// Has the wake come? If not, it will wake `waker`.
    pub(super) fn has_come(&self, waker: &Waker) -> bool {
        let current = self.resident.load(Ordering::Acquire);
        if current == woken() {
            return true;
        }
        if current.is_null() || current == by_waker() {
            return self.take_wake(waker);
        }
        let resident = Resident::of(waker).map(NonNull::as_ptr);
        if resident == Some(current) {
            return false;
        }
        // Release: who wakes sees what was done to the new one.
        let next = resident.unwrap_or(by_waker());
        match self.resident.compare_exchange(current, next, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => resident.is_none() && self.take_wake(waker),
            Err(_) => true,
        }
    }

    /// Waits for the wake, which is a few instructions away.
    pub(super) fn wait(&self) {
        let mut backoff = Backoff::new();
        loop {
            let current = self.resident.load(Ordering::Acquire);
            let by_waker = current.is_null() || current == by_waker();
            if current == woken() || (by_waker && std::mem::take(&mut self.waking.lock().woken)) {
                return;
            }
            backoff.wait();
        }
    }

    /// Consumes the wake if it has come, else leaves `waker` for it. Cloning and dropping a waker may run
    /// anybody's code, which may lead to this future's wake, so neither is done under the lock.
    fn take_wake(&self, waker: &Waker) -> bool {
        {
            let mut waking = self.waking.lock();
            if waking.woken || waking.waker.as_ref().is_some_and(|left| left.will_wake(waker)) {
                return std::mem::take(&mut waking.woken);
            }
        }
        let fresh = waker.clone();
        let mut waking = self.waking.lock();
        let unused = if waking.woken { Some(fresh) } else { waking.waker.replace(fresh) };
        let woken = std::mem::take(&mut waking.woken);
        drop(waking);
        drop(unused);
        woken
    }
}

/// Wakes the future whose `Wake` lies at `data`, and which began with a resident.
fn by_exchange(data: *const ()) {
    // SAFETY: the future neither returns nor goes away before it has seen the mark.
    let wake = unsafe { &*data.cast::<Wake>() };
    // Acquire: pairs with the release of who has given the future to another resident.
    let mut whom = wake.resident.load(Ordering::Acquire);
    // Once given to somebody with a waker it waits for what is done under the lock, and no mark is to be left.
    while whom != by_waker() {
        // Release: what the event was given is there before the future is seen to be woken.
        match wake.resident.compare_exchange(whom, woken(), Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                let resident = NonNull::new(whom).expect("the future began with a resident");
                // SAFETY: only residents and the other mark are ever there before this one.
                return unsafe { Resident::wake(resident) };
            }
            Err(seen) => whom = seen,
        }
    }
    by_its_waker(data);
}

/// Wakes the future whose `Wake` lies at `data`, by the waker left there.
fn by_its_waker(data: *const ()) {
    // SAFETY: the future neither returns nor goes away before it has seen `woken` under the lock.
    let wake = unsafe { &*data.cast::<Wake>() };
    let waker = {
        let mut waking = wake.waking.lock();
        waking.woken = true;
        waking.waker.take()
    };
    // A waker is foreign code, and this may be a worker or the clock thread, which others rely on.
    let wake = || waker.into_iter().for_each(Waker::wake);
    if catch_unwind(AssertUnwindSafe(wake)).is_err() {
        eprintln!("lisle: a waker given to an event's future has panicked");
    }
}
