//! How a plain thread waits: it spins for a while, and then sleeps.
//!
//! A partner that wakes a thread which spins writes one word, on the thread's own stack, and touches
//! nothing else of it. The handle by which a thread is unparked is shared and counted: to take one
//! is a locked operation on a line that all who wake the thread have written, and would cost each
//! message two transfers of that line between cores. So the thread lays its handle beside the word
//! before it says that it sleeps, and only who finds it asleep uses the handle.

#[cfg(not(lisle_loom))]
use super::adaptive_spin::AdaptiveSpin;
use super::context::Context;
use super::ends::{Ends, Interrupted, Unparked};
use super::record::Waker;
#[cfg(not(lisle_loom))]
use super::sleepers;
use super::timer::Timer;
use super::waits::ParkedEvent;
use crate::shim::{
    atomic::{AtomicU8, Ordering},
    cell::UnsafeCell,
    thread,
};
#[cfg(not(lisle_loom))]
use crate::{abort, shim::IS_ALONE};
use std::cell::Cell;
use std::panic::resume_unwind;
use std::ptr::NonNull;

/// The thread runs, or looks at the word again and again.
const AWAKE: u8 = 0;
/// The thread sleeps or is about to. Its handle is there.
const ASLEEP: u8 = 1;
/// The wake has come.
const WOKEN: u8 = 2;

/// The word by which a thread is woken. Its thread alone waits for it, and one waker at a time sets
/// it.
pub(super) struct WakeWord {
    state: AtomicU8,
    /// Written by the thread while it is `AWAKE`; read by its waker once it is `ASLEEP`.
    handle: UnsafeCell<Option<thread::Thread>>,
}

// SAFETY: the handle goes from the thread to its waker with the change to `ASLEEP`, which a waker
// reads with acquire, and back with that to `WOKEN`.
unsafe impl Sync for WakeWord {}

impl WakeWord {
    fn new() -> Self {
        WakeWord { state: AtomicU8::new(AWAKE), handle: UnsafeCell::new(None) }
    }

    /// Returns `true` if the wake has come.
    #[inline]
    pub(super) fn is_set(&self) -> bool {
        self.state.load(Ordering::Acquire) == WOKEN
    }

    /// Says that the thread, which is the caller's, sleeps from now on: who sets the word unparks
    /// it. The thread looks at the word once more before it parks.
    fn fall_asleep(&self) {
        // It also still sleeps if it was interrupted before and waits again for the same wake.
        if self.state.load(Ordering::Relaxed) == AWAKE {
            // SAFETY: no waker reads it before the state is `ASLEEP`.
            self.handle.with_mut(|handle| unsafe { *handle = Some(thread::current()) });
            // It fails if the wake comes first.
            let _ = self.state.compare_exchange(AWAKE, ASLEEP, Ordering::Release, Ordering::Relaxed);
        }
    }

    /// Sets the word and wakes its thread. The word may be gone as soon as it is set. Therefore the
    /// word is given by its address: an argument that is a reference would claim that the word
    /// stays until the call returns.
    ///
    /// # Safety
    ///
    /// The word is there until it is set.
    unsafe fn set(word: *const Self) {
        // SAFETY: the word is there, and nothing refers to all of it beyond the exchange.
        let state = unsafe { &raw const (*word).state };
        // SAFETY: as above. An atomic may go while a call on it ends.
        if unsafe { &*state }.compare_exchange(AWAKE, WOKEN, Ordering::Release, Ordering::Acquire).is_ok() {
            return;
        }
        // SAFETY: the word is not set yet, so it is there.
        let handle = unsafe { &(*word).handle };
        // SAFETY: the thread is asleep, and leaves the handle alone until the word is set.
        let handle = handle.with(|handle| unsafe { (*handle).clone() });
        // SAFETY: as for the exchange.
        unsafe { &*state }.store(WOKEN, Ordering::Release);
        handle.expect("who sleeps has laid down its handle").unpark();
    }

    /// Makes the word, which is set, fit for another wait.
    fn reset(&self) {
        self.state.store(AWAKE, Ordering::Relaxed);
    }
}

#[cfg(not(lisle_loom))]
thread_local! {
    static SPIN: AdaptiveSpin = const { AdaptiveSpin::new() };
}

/// The context of one sync on a plain OS thread.
pub(super) struct OsThread {
    woken: WakeWord,
    parked: Cell<Option<ParkedEvent>>,
    /// The event spins itself, see [`Context::leaves_spinning`].
    has_spun: Cell<bool>,
}

impl OsThread {
    pub(super) fn new() -> Self {
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
            // Others have places of this thread, which stay: it does not unwind.
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
unsafe impl Context for OsThread {
    fn waker(&self) -> Waker {
        // SAFETY: `wake` may be called on any thread, and `self` outlives the sync that uses the
        // waker.
        unsafe { Waker::new(std::ptr::from_ref(self).cast(), OsThread::wake) }
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

#[cfg(all(test, not(lisle_loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_that_is_awake_is_woken_without_its_handle() {
        let word = WakeWord::new();
        // SAFETY: the word stays.
        unsafe { WakeWord::set(&raw const word) };
        assert!(word.is_set());
        word.handle.with(|handle| {
            // SAFETY: nobody else knows the word.
            assert!(unsafe { &*handle }.is_none());
        });
        // A wake that has come keeps it awake.
        word.fall_asleep();
        assert!(word.is_set());
    }
}

#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;

    /// The thread sleeps twice for its wakes, and the first time says so twice, as one does that was
    /// interrupted.
    #[test]
    fn loom_a_wake_finds_its_thread_awake_or_asleep() {
        loom::model(|| {
            let word = Arc::new(WakeWord::new());
            for sayings in [2, 1] {
                let waker = {
                    let word = word.clone();
                    // SAFETY: the word stays until its last owner has gone.
                    loom::thread::spawn(move || unsafe { WakeWord::set(&raw const *word) })
                };
                for _ in 0..sayings {
                    word.fall_asleep();
                }
                while !word.is_set() {
                    thread::park();
                }
                waker.join().unwrap();
                word.reset();
            }
        });
    }
}
