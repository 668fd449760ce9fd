//! The word by which a plain thread is woken.

use crate::shim::{
    atomic::{AtomicU8, Ordering},
    cell::UnsafeCell,
    thread,
};

/// The thread runs, or looks at the word again and again.
const AWAKE: u8 = 0;
/// The thread sleeps or is about to. Its handle is there.
const ASLEEP: u8 = 1;
/// The wake has come.
const WOKEN: u8 = 2;

/// The word by which a thread is woken. Its thread alone waits for it, and one waker at a time sets
/// it.
pub(in crate::event) struct WakeWord {
    state: AtomicU8,
    /// Written by the thread while it is `AWAKE`; read by its waker once it is `ASLEEP`.
    handle: UnsafeCell<Option<thread::Thread>>,
}

// SAFETY: the handle goes from the thread to its waker with the change to `ASLEEP`, which a waker
// reads with acquire, and back with that to `WOKEN`.
unsafe impl Sync for WakeWord {}

impl WakeWord {
    pub(super) fn new() -> Self {
        WakeWord { state: AtomicU8::new(AWAKE), handle: UnsafeCell::new(None) }
    }

    /// Returns `true` if the wake has come.
    #[inline]
    pub(in crate::event) fn is_set(&self) -> bool {
        self.state.load(Ordering::Acquire) == WOKEN
    }

    /// Says that the calling thread sleeps from now on: a thread that sets the word unparks it. The
    /// thread looks at the word once more before it parks.
    pub(super) fn fall_asleep(&self) {
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
    pub(super) unsafe fn set(word: *const Self) {
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
    pub(super) fn reset(&self) {
        self.state.store(AWAKE, Ordering::Relaxed);
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
