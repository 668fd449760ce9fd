//! A timer as the branch of a sync: an entry of a wheel that commits a record when it fires.

use super::record::{Record, misuse};
use crate::event::waker::PerformerWaker;
use crate::shim::cell::UnsafeCell;
use crate::shim::const_fn;
use crate::shim::unseen::{AtomicPtr, Ordering};
use crate::time::shared_wheel::SharedWheel;
use crate::time::wheel::Entry;
use std::cell::Cell;
use std::marker::PhantomPinned;
use std::ptr::NonNull;

/// One armed or idle timer. It lies in the pinned branch of a sync; contexts keep its entry in
/// their wheel.
pub struct Timer {
    entry: Entry<*const Timer>,
    /// The record that it decides, while it is published.
    pub(super) record: Cell<*const Record>,
    /// The shared wheel in which it is armed; null if it is in none.
    wheel: AtomicPtr<SharedWheel>,
    /// Whether it only tells the performer to start over when it fires.
    alarm: bool,
    /// Accessed with everything else here, so that models find two threads that do so at once.
    uses: UnsafeCell<()>,
    _pinned: PhantomPinned,
}

// SAFETY: only its performer and the context that armed it use a timer. A future that moves between
// threads arms it only once pinned, and with a context that locks its wheel.
unsafe impl Send for Timer {}

impl std::fmt::Debug for Timer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timer").field("published", &self.is_published()).finish_non_exhaustive()
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.uses.with_mut(|_| ());
        if self.is_published() {
            misuse("it drops a timer that it has not withdrawn");
        }
    }
}

impl Timer {
    const_fn! {
        /// Creates a timer that commits its performer.
        pub(crate) fn new() -> Self {
            Timer::make(false)
        }
    }

    const_fn! {
        /// Creates a timer that tells its performer to start over, for a performer whose event does
        /// not happen by the passing of time alone.
        pub(crate) fn alarm() -> Self {
            Timer::make(true)
        }
    }

    const_fn! {
        fn make(alarm: bool) -> Self {
            Timer {
                entry: Entry::new(std::ptr::null()),
                record: Cell::new(std::ptr::null()),
                wheel: AtomicPtr::new(std::ptr::null_mut()),
                alarm,
                uses: UnsafeCell::new(()),
                _pinned: PhantomPinned,
            }
        }
    }

    /// Returns the number by which a record names this timer as its winner.
    pub(crate) fn id(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Returns the deadline for which it was armed last.
    pub(crate) fn deadline(&self) -> u64 {
        self.entry.deadline()
    }

    /// Returns `true` if the timer has been published and not taken back.
    pub(crate) fn is_published(&self) -> bool {
        !self.record.get().is_null()
    }

    /// Returns the address of the record's state that the timer decides when it fires.
    ///
    /// # Safety
    ///
    /// The timer is alive, and is being armed.
    #[doc(hidden)]
    pub unsafe fn decides(timer: NonNull<Timer>) -> usize {
        // SAFETY: alive, by the caller's promise.
        let record = unsafe { timer.as_ref() }.record.get();
        // SAFETY: the record of a timer that is armed is alive.
        unsafe { record.as_ref() }.map_or(0, Record::state_address)
    }

    /// Returns `true` if only the timer may decide its record.
    ///
    /// # Safety
    ///
    /// As for [`decides`](Timer::decides).
    #[doc(hidden)]
    pub unsafe fn is_sleep(timer: NonNull<Timer>) -> bool {
        // SAFETY: alive, by the caller's promise.
        let timer = unsafe { timer.as_ref() };
        // SAFETY: the record of a timer that is armed is alive.
        !timer.alarm && unsafe { timer.record.get().as_ref() }.is_some_and(Record::is_single)
    }

    /// Returns the entry, to be linked into a wheel.
    ///
    /// # Safety
    ///
    /// The timer is alive and pinned.
    #[doc(hidden)]
    pub unsafe fn entry(timer: NonNull<Timer>) -> NonNull<Entry<*const Timer>> {
        // SAFETY: alive, by the caller's promise.
        let this = unsafe { timer.as_ref() };
        this.uses.with_mut(|_| ());
        this.entry.payload.set(timer.as_ptr());
        NonNull::from(&this.entry)
    }

    /// Takes the timer out of a wheel that this process has inherited, and in which nobody else
    /// looks any more. Its neighbours there may be gone.
    pub(crate) fn leave_inherited(&self) {
        self.uses.with_mut(|_| ());
        self.entry.forget();
        self.wheel.store(std::ptr::null_mut(), Ordering::Relaxed);
    }

    /// Returns the timer of an entry that is linked or has been.
    ///
    /// # Safety
    ///
    /// `entry` is part of a timer that is alive.
    pub(crate) unsafe fn of(entry: NonNull<Entry<*const Timer>>) -> NonNull<Timer> {
        // SAFETY: the entry is alive as part of the timer.
        let timer = unsafe { entry.as_ref() }.payload.get();
        NonNull::new(timer.cast_mut()).expect("`Timer::entry` has set the payload")
    }

    /// Returns the shared wheel in which the timer is armed. If it is in none, nobody else uses it.
    pub(crate) fn named(&self) -> Option<NonNull<SharedWheel>> {
        // Acquire: the thread that fires a timer has done with it before the timer names no wheel.
        NonNull::new(self.wheel.load(Ordering::Acquire))
    }

    /// Notes that the timer is armed in `wheel`, whose lock the caller holds.
    pub(crate) fn name(&self, wheel: &SharedWheel) {
        // Release: a thread that disarms it takes the lock in the wheel.
        self.wheel.store(std::ptr::from_ref(wheel).cast_mut(), Ordering::Release);
    }

    /// Notes that the timer is in no shared wheel. Its owner may free it from then on.
    ///
    /// # Safety
    ///
    /// The timer is alive. The caller holds the lock of the wheel in which it was.
    pub(crate) unsafe fn name_none(timer: NonNull<Timer>) {
        // There is no reference to the timer by the time that it may be freed. SAFETY: alive, by the
        // caller's promise.
        unsafe { (*timer.as_ptr()).wheel.store(std::ptr::null_mut(), Ordering::Release) };
    }

    /// Does the same as [`expire`](Timer::expire) for a timer that was armed in a shared wheel. Its
    /// owner may free it from then on.
    ///
    /// # Safety
    ///
    /// As for [`expire`](Timer::expire). The caller holds the lock of the wheel.
    pub(crate) unsafe fn expire_shared(entry: NonNull<Entry<*const Timer>>) -> Option<PerformerWaker> {
        // SAFETY: alive, by the caller's promise.
        let timer = unsafe { Timer::of(entry) };
        // SAFETY: passed on to the caller.
        let waker = unsafe { Timer::expire(entry) };
        // SAFETY: its owner does not free it while it names the wheel.
        unsafe { Timer::name_none(timer) };
        waker
    }

    /// Commits the performer of a timer whose entry a wheel has just returned as expired, or tells
    /// it to start over. The caller calls `wake` on the returned waker. Returns `None` if another
    /// branch had won.
    ///
    /// # Safety
    ///
    /// `entry` is part of a timer that is alive, was armed, and has been unlinked by this expiry.
    #[doc(hidden)]
    pub unsafe fn expire(entry: NonNull<Entry<*const Timer>>) -> Option<PerformerWaker> {
        // SAFETY: passed on to the caller.
        let timer = unsafe { Timer::of(entry) };
        // SAFETY: alive, by the caller's promise.
        let timer = unsafe { timer.as_ref() };
        timer.uses.with_mut(|_| ());
        // SAFETY: the record outlives the time for which its timer is armed, because its performer
        // disarms the timer first.
        let record = unsafe { &*timer.record.get() };
        let decided = if timer.alarm { record.decide_alarm() } else { record.decide_timer(timer.id()) };
        decided.then(|| record.waker())
    }
}
