//! The timers of the fibers of a domain, in a wheel that only its thread touches.
//!
//! The domain's `NextTimer` has one early deadline, for other threads.

use crate::event::Timer;
use crate::sched::counts::NextTimer;
use crate::shim::clock;
use crate::time::wheel::Wheel;
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

pub(in crate::sched::worker) struct Timers {
    wheel: RefCell<Wheel<*const Timer>>,
    /// Set while timers fire: then a timer causes each wake.
    firing: Cell<bool>,
}

impl Timers {
    pub(in crate::sched::worker) fn new() -> Self {
        Timers { wheel: RefCell::new(Wheel::new(clock::now())), firing: Cell::new(false) }
    }

    pub(in crate::sched::worker) fn is_empty(&self) -> bool {
        self.wheel.borrow().is_empty()
    }

    /// Returns `true` while timers fire: then a timer causes each wake.
    #[inline]
    pub(in crate::sched::worker) fn are_firing(&self) -> bool {
        self.firing.get()
    }

    /// Calls `fire`, which fires timers.
    pub(in crate::sched::worker) fn while_firing(&self, fire: impl FnOnce()) {
        let before = self.firing.replace(true);
        fire();
        self.firing.set(before);
    }

    /// Returns when the domain has to look at its fibers' timers again.
    pub(in crate::sched::worker) fn next_deadline(&self) -> Option<u64> {
        self.wheel.borrow().next_deadline()
    }

    /// Fires the timers that are due.
    pub(in crate::sched::worker) fn fire(&self, next_timer: &NextTimer) {
        let mut wheel = self.wheel.borrow_mut();
        if wheel.is_empty() {
            return;
        }
        let now = clock::now();
        self.while_firing(|| {
            wheel.advance(now, |entry| {
                // SAFETY: the wheel has just handed the entry out; its fiber is parked on this thread.
                if let Some(waker) = unsafe { Timer::expire(entry) } {
                    // This only queues the fiber, so nothing borrowed here is in its way.
                    waker.wake();
                }
            });
        });
        if next_timer.get() <= now {
            next_timer.set(wheel.early_deadline().unwrap_or(u64::MAX));
        }
    }

    /// Arms a timer.
    ///
    /// # Safety
    ///
    /// As for [`PerformerContext::arm`](crate::event::PerformerContext::arm).
    #[inline]
    pub(in crate::sched::worker) unsafe fn arm(
        &self,
        timer: NonNull<Timer>,
        deadline: u64,
        next_timer: &NextTimer,
    ) {
        // SAFETY: alive and pinned, by the caller's promise.
        let entry = unsafe { Timer::entry(timer) };
        // SAFETY: not linked, and pinned until it has fired or been removed.
        unsafe { self.wheel.borrow_mut().insert(entry, deadline) };
        next_timer.armed(deadline);
    }

    /// Disarms a timer that was armed here and may have fired.
    ///
    /// # Safety
    ///
    /// As for [`PerformerContext::disarm`](crate::event::PerformerContext::disarm).
    #[inline]
    pub(in crate::sched::worker) unsafe fn disarm(&self, timer: NonNull<Timer>, next_timer: &NextTimer) {
        // SAFETY: alive, by the caller's promise.
        let entry = unsafe { Timer::entry(timer) };
        // SAFETY: alive, by the caller's promise.
        let timer = unsafe { entry.as_ref() };
        let was_told = timer.is_linked() && timer.deadline() <= next_timer.get();
        let mut wheel = self.wheel.borrow_mut();
        // SAFETY: if it is linked, then into this wheel.
        unsafe { wheel.remove(entry) };
        if was_told {
            next_timer.set(wheel.early_deadline().unwrap_or(u64::MAX));
        }
    }
}
