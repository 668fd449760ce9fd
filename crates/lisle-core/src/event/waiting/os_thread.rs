//! How a plain thread waits: it spins for a while, and then sleeps.
//!
//! A partner that wakes a spinning thread writes one word, on the thread's own stack, and touches
//! nothing else of it. The handle by which a thread is unparked is shared and counted: to take one
//! is a locked operation on a line that all wakers of the thread write, and would cost each message
//! two transfers of that line between cores. So the thread lays its handle beside the word before it
//! says that it sleeps, and only a waker that finds it asleep uses the handle.

#[cfg(not(lisle_loom))]
use super::adaptive_spin::AdaptiveSpin;
#[cfg(not(lisle_loom))]
use super::sleepers;
use super::wake_word::WakeWord;
use crate::event::ends::{Ends, Interrupted, Unparked};
use crate::event::protocol::context::PerformerContext;
use crate::event::protocol::timer::Timer;
use crate::event::telling::parked::ParkedEvent;
use crate::event::waker::PerformerWaker;
#[cfg(lisle_loom)]
use crate::shim::thread;
#[cfg(not(lisle_loom))]
use crate::{abort, shim::IS_ALONE};
use std::cell::Cell;
use std::panic::resume_unwind;
use std::ptr::NonNull;

#[cfg(not(lisle_loom))]
thread_local! {
    static SPIN: AdaptiveSpin = const { AdaptiveSpin::new() };
}

/// The context of one sync on a plain OS thread.
pub(in crate::event) struct OsThread {
    woken: WakeWord,
    parked: Cell<Option<ParkedEvent>>,
    /// The event spins itself, see [`PerformerContext::leaves_spinning`].
    has_spun: Cell<bool>,
}

impl OsThread {
    pub(in crate::event) fn new() -> Self {
        OsThread { woken: WakeWord::new(), parked: Cell::new(None), has_spun: Cell::new(false) }
    }

    /// Spins for the wake. A partner on another core may be a few hundred nanoseconds away, and a
    /// wake costs microseconds. A thread whose last waits were all long does not: others may want
    /// its core.
    #[cfg(not(lisle_loom))]
    fn look(&self, has_spun: bool) -> bool {
        let is_set = || self.woken.is_set();
        SPIN.with(|spin| if has_spun || IS_ALONE || spin.is_in_vain() { is_set() } else { spin.look(is_set) })
    }

    #[cfg(lisle_loom)]
    fn look(&self, _: bool) -> bool {
        false
    }

    #[cfg(not(lisle_loom))]
    fn sleep(&self, ends: Ends) -> Unparked {
        if IS_ALONE {
            // Queues refer to this thread's offers, so it must not unwind.
            abort::if_it_unwinds("a wait without end", || {
                panic!(
                    "this wait has no end: no other thread is there that could end it (await the event, or try)"
                )
            });
        }
        let asleep = crate::shim::clock::now();
        self.woken.fall_asleep();
        let unparked = sleepers::sleep(self.parked.get(), &self.woken, ends);
        SPIN.with(|spin| spin.slept(crate::shim::clock::now() - asleep));
        unparked
    }

    #[cfg(lisle_loom)]
    fn sleep(&self, ends: Ends) -> Unparked {
        self.woken.fall_asleep();
        while !self.woken.is_set() {
            if super::limit::thread_ends_a_wait(ends) {
                return Unparked::Passed;
            }
            thread::park();
        }
        Unparked::Woken
    }

    /// Wakes the thread that waits on the context at `data`.
    fn wake(data: *const ()) {
        // SAFETY: the waker's data is the context, which stays until the thread has seen that the
        // word is set.
        let word = unsafe { &raw const (*data.cast::<OsThread>()).woken };
        // SAFETY: as above.
        unsafe { WakeWord::set(word) };
    }
}

// SAFETY: `park` returns `Woken` only once `woken` is set, which only `wake` does; the word is
// set with release and loaded with acquire. Timers go to the clock thread, which keeps the
// promises of `arm`.
unsafe impl PerformerContext for OsThread {
    fn waker(&self) -> PerformerWaker {
        // SAFETY: `wake` may be called on any thread, and `self` outlives the sync that uses the
        // waker.
        unsafe { PerformerWaker::new(std::ptr::from_ref(self).cast(), OsThread::wake) }
    }

    fn park(&self, interruptible: bool) -> Unparked {
        self.park_until(if interruptible { Ends::Unwinding } else { Ends::Never })
    }

    fn park_until(&self, ends: Ends) -> Unparked {
        let has_spun = self.has_spun.take();
        let unparked = if self.look(has_spun) { Unparked::Woken } else { self.sleep(ends) };
        if unparked == Unparked::Woken {
            self.woken.reset();
        }
        unparked
    }

    fn parks(&self, parked: Option<&ParkedEvent>) {
        self.parked.set(parked.copied());
    }

    fn is_rooted(&self) -> bool {
        true
    }

    fn leaves_spinning(&self) -> bool {
        self.has_spun.set(true);
        true
    }

    fn unwind(&self) -> ! {
        // This is a foreign call that nothing will wake any more.
        resume_unwind(Box::new(Interrupted))
    }

    unsafe fn arm(&self, timer: NonNull<Timer>, deadline: u64) {
        // SAFETY: passed on to the caller.
        unsafe { crate::time::outside::arm(timer, deadline) }
    }

    unsafe fn disarm(&self, timer: NonNull<Timer>) {
        // SAFETY: passed on to the caller.
        unsafe { crate::time::outside::disarm(timer) }
    }
}
