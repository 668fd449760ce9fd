//! A timer wheel that threads share, for the timers of futures and of plain threads.
//!
//! Each domain has one, in which the tasks that it polls are armed; the clock thread has one for
//! everybody else (`outside.rs`). A future may be polled next, or dropped, on any thread.
//!
//! **Protocol.** A timer that is in a wheel names that wheel. It is linked, fired, handed over and
//! unlinked under the lock of that wheel, and under the same lock its name for it changes. A thread
//! that disarms a timer
//!
//! 1. reads the name. If there is none, the timer is in no wheel, and nobody else uses it.
//! 2. takes the lock of that wheel, and reads the name again. If it has changed, the timer has fired,
//!    or has been handed over meanwhile: it goes back to 1.
//! 3. unlinks the timer, and removes the name.
//!
//! The thread that fires a timer removes the name as its last access to the timer, as a release that
//! step 1 acquires: so most timers that have fired cost their owner no lock. Only the clock thread's
//! wheel gets timers from others, so the two locks for this are taken in one order.
//!
//! **Memory.** In step 2 the timer may have left the wheel whose lock is taken, and the thread to
//! which the wheel was lent may have ended. So wheels are not freed, but lent again
//! (`lent_wheel.rs`).
//!
//! **Forks.** A forked child inherits the wheels of its parent's threads, which it does not have, with
//! timers on their stacks, which it may use for others, and perhaps with a lock that is held for ever.
//! It has wheels of its own, and to disarm an inherited timer there only removes the timer's name.
//!
//! **User code.** The wakers of futures are user code, which may arm and disarm. They are called when
//! the lock is free. Only a few timers fire, or are handed over, while the lock is held, so that
//! other threads do not wait long for it.

use super::wheel::Wheel;
use crate::event::Timer;
use crate::event::lock::Lock;
use crate::event::protocol::woken::Woken;
use crate::fork;
use crate::shim::unseen::{AtomicU64, Ordering};
use std::ptr::NonNull;

/// How many timers fire at most while the lock is held.
const BATCH: usize = 64;
/// The deadline that is told of a wheel in which nothing is armed.
const NEVER: u64 = u64::MAX;

/// A timer wheel under a lock.
#[derive(Debug)]
pub struct SharedWheel {
    /// When to fire next, or `NEVER`. Written under the lock, read by anybody.
    next: AtomicU64,
    state: Lock<State>,
    /// The process that uses it, see `fork.rs`.
    generation: u32,
}

/// The wheel while it is lent.
struct State(Option<Wheel<*const Timer>>);

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("is_open", &self.0.is_some()).finish()
    }
}

// SAFETY: the wheel is a table of pointers to timers, which are accessed under the lock only.
unsafe impl Send for State {}

impl SharedWheel {
    /// Creates a wheel that is closed.
    pub(super) fn new() -> Self {
        SharedWheel { next: AtomicU64::new(NEVER), state: Lock::new(State(None)), generation: fork::watch() }
    }

    /// Opens the wheel: from now on timers can be armed in it.
    pub(super) fn open(&self, now: u64) {
        self.state.lock().0 = Some(Wheel::new(now));
    }

    /// Returns `true` if the wheel belongs to another process, from which this one was forked.
    pub(super) fn is_inherited(&self) -> bool {
        self.generation != fork::generation()
    }

    /// Returns `true` if nothing is armed.
    pub fn is_empty(&self) -> bool {
        self.next() == NEVER
    }

    /// Returns when to call [`fire`](SharedWheel::fire) next, or `u64::MAX` if nothing is armed. It may
    /// be earlier than the first deadline.
    #[inline]
    pub fn next(&self) -> u64 {
        // Acquire: timers that were taken out of the wheel before that count as on their way.
        self.next.load(Ordering::Acquire)
    }

    /// Notes when to fire next. The caller holds the lock.
    fn tell(&self, wheel: &Wheel<*const Timer>) {
        let next = wheel.next_deadline().map_or(NEVER, |next| next.min(NEVER - 1));
        self.next.store(next, Ordering::Release);
    }

    /// Arms `timer` for `deadline`. Returns whether this is when to fire next, or `None` if the wheel is
    /// closed.
    ///
    /// # Safety
    ///
    /// The timer is not armed, and stays pinned until it has fired or [`disarm`] has returned. The wheel
    /// is not freed before that.
    pub(super) unsafe fn arm(&self, timer: NonNull<Timer>, deadline: u64) -> Option<bool> {
        let mut state = self.state.lock();
        let wheel = state.0.as_mut()?;
        // SAFETY: alive and pinned, by the caller's promise.
        let entry = unsafe { Timer::entry(timer) };
        // SAFETY: alive, as above.
        unsafe { timer.as_ref() }.name(self);
        // SAFETY: not linked, and pinned until it is unlinked, by the caller's promise.
        unsafe { wheel.insert(entry, deadline) };
        let is_first = deadline.min(NEVER - 1) < self.next();
        if is_first {
            self.tell(wheel);
        }
        Some(is_first)
    }

    /// Fires the timers that are due at `now`, and wakes their performers.
    pub fn fire(&self, now: u64) {
        while self.next() <= now {
            let woken = Woken::default();
            let mut left = BATCH;
            let mut state = self.state.lock();
            let Some(wheel) = &mut state.0 else { return };
            wheel.advance_while(now, |entry| {
                // SAFETY: the wheel has just handed the entry out. Its owner cannot disarm and drop it
                // before it names no wheel any more, or while this thread holds the lock.
                let fired = unsafe { Timer::expire_shared(entry) };
                fired.into_iter().for_each(|waker| woken.push(waker));
                left -= 1;
                left > 0
            });
            self.tell(wheel);
            // The wakers are called when the lock is free.
            drop(state);
            drop(woken);
        }
    }

    /// Hands timers that are due at `until`, not many at a time, over to `clock`, which is the wheel of
    /// the clock thread, and open. Returns `true` if the clock thread has to fire earlier than before.
    /// The caller holds the lock of `wheel`, which is the wheel of `self`.
    fn hand_over(&self, wheel: &mut Wheel<*const Timer>, until: u64, clock: &SharedWheel) -> bool {
        let mut state = clock.state.lock();
        let others = state.0.as_mut().expect("the clock thread's wheel is open");
        let mut left = BATCH;
        wheel.advance_while(until, |entry| {
            // SAFETY: the wheel has just handed the entry out, and a thread that wants to disarm it
            // waits for the lock.
            unsafe { Timer::of(entry).as_ref() }.name(clock);
            // SAFETY: unlinked just now, and pinned until it is unlinked again.
            unsafe { others.insert_again(entry) };
            left -= 1;
            left > 0
        });
        // First where they are now: at no time they seem to be in neither wheel.
        let before = clock.next();
        clock.tell(others);
        self.tell(wheel);
        clock.next() < before
    }

    /// Hands the timers that are due at `now` over to `clock` in the same way.
    pub(super) fn hand_over_due(&self, now: u64, clock: &SharedWheel) -> bool {
        let mut is_earlier = false;
        while self.next() <= now {
            let mut state = self.state.lock();
            let Some(wheel) = &mut state.0 else { break };
            is_earlier |= self.hand_over(wheel, now, clock);
        }
        is_earlier
    }

    /// Closes the wheel if nothing is armed in it. Returns `true` if it is closed.
    pub(super) fn close_if_empty(&self) -> bool {
        let mut state = self.state.lock();
        if state.0.as_ref().is_some_and(Wheel::is_empty) {
            state.0 = None;
        }
        state.0.is_none()
    }

    /// Closes the wheel, and hands its timers over to `clock` in the same way.
    pub(super) fn close(&self, clock: &SharedWheel) -> bool {
        let mut is_earlier = false;
        while !self.close_if_empty() {
            let mut state = self.state.lock();
            let Some(wheel) = &mut state.0 else { break };
            is_earlier |= self.hand_over(wheel, u64::MAX, clock);
        }
        is_earlier
    }
}

/// Disarms `timer` if it is armed in a shared wheel. After this returns no other thread uses it.
///
/// # Safety
///
/// The timer is alive.
pub(crate) unsafe fn disarm(timer: NonNull<Timer>) {
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { timer.as_ref() };
    while let Some(named) = this.named() {
        // SAFETY: wheels are not freed.
        let shared = unsafe { named.as_ref() };
        if shared.is_inherited() {
            return this.leave_inherited();
        }
        let mut state = shared.state.lock();
        if this.named() != Some(named) {
            continue;
        }
        let wheel = state.0.as_mut().expect("a wheel is open while timers are armed in it");
        // SAFETY: alive, by the caller's promise.
        let entry = unsafe { Timer::entry(timer) };
        // SAFETY: it names this wheel, so it is linked there.
        unsafe { wheel.remove(entry) };
        // SAFETY: alive, by the caller's promise, and this holds the lock.
        unsafe { Timer::name_none(timer) };
        if wheel.is_empty() {
            shared.next.store(NEVER, Ordering::Release);
        }
        return;
    }
}

#[cfg(all(test, lisle_loom))]
#[path = "limits_loom.rs"]
mod limits_loom_tests;
#[cfg(all(test, lisle_loom))]
#[path = "shared_wheel_loom.rs"]
mod loom_tests;
