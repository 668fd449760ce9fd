//! Timers of performers that have no wheel of their own: plain OS threads and futures.
//!
//! The process has one thread for them. The first such timer starts it, and it sleeps until the
//! next deadline.

use super::wheel::Wheel;
use crate::affinity;
use crate::event::Timer;
use crate::event::woken::Woken;
use crate::own_threads;
use crate::shim::{
    clock,
    sync::{Condvar, Mutex, MutexGuard, OnceLock},
};
use std::ptr::NonNull;
use std::time::Duration;

struct ClockThread {
    state: Mutex<State>,
    earlier: Condvar,
}

struct State {
    wheel: Wheel<*const Timer>,
    /// The time at which the thread will look next, or `u64::MAX` while nothing is armed.
    wakes_at: u64,
    /// How often due timers have been committed, and how often their performers have been woken.
    committed: u64,
    woken: u64,
}

// SAFETY: the wheel is a table of pointers to timers, which are accessed under the mutex only.
unsafe impl Send for State {}

/// Arms `timer` for `deadline`.
///
/// # Safety
///
/// The timer is not armed, and stays pinned until it has fired or [`disarm`] has returned.
pub(crate) unsafe fn arm(timer: NonNull<Timer>, deadline: u64) {
    let clock = clock_thread();
    let mut state = lock(&clock.state);
    // SAFETY: the timer is alive and pinned, by the caller's promise.
    let entry = unsafe { Timer::entry(timer) };
    // SAFETY: the entry is not linked, and it is pinned until it is removed or has fired, by the
    // caller's promise.
    unsafe { state.wheel.insert(entry, deadline) };
    if deadline < state.wakes_at {
        state.wakes_at = deadline;
        clock.earlier.notify_one();
    }
}

/// Disarms `timer` if it is armed. After this returns the clock thread does not touch it.
///
/// # Safety
///
/// The timer is alive, and if it was armed, then by [`arm`].
pub(crate) unsafe fn disarm(timer: NonNull<Timer>) {
    let mut state = lock(&clock_thread().state);
    // SAFETY: the timer is alive, by the caller's promise.
    let entry = unsafe { Timer::entry(timer) };
    // SAFETY: the entry is linked into this wheel or into none.
    unsafe { state.wheel.remove(entry) };
}

static CLOCK: OnceLock<&'static ClockThread> = OnceLock::new();

/// Returns how often the clock thread has woken performers, or `None` if a timer is armed or a wake
/// is in progress.
pub fn stillness() -> Option<u64> {
    let Some(clock) = CLOCK.get() else { return Some(0) };
    let state = lock(&clock.state);
    (state.wheel.is_empty() && state.committed == state.woken).then_some(state.woken)
}

fn clock_thread() -> &'static ClockThread {
    CLOCK.get_or_init(|| {
        let clock: &'static ClockThread = Box::leak(Box::new(ClockThread {
            state: Mutex::new(State {
                wheel: Wheel::new(clock::now()),
                wakes_at: u64::MAX,
                committed: 0,
                woken: 0,
            }),
            earlier: Condvar::new(),
        }));
        std::thread::Builder::new()
            .name("lisle-clock".into())
            .stack_size(64 * 1024)
            .spawn(affinity::elsewhere(move || keep_time(clock)))
            .expect("the system gives a thread for timers outside a runtime");
        clock
    })
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn keep_time(clock: &ClockThread) {
    let _enlisted = own_threads::enlist(own_threads::Owner::Everybody);
    let mut state = lock(&clock.state);
    loop {
        let now = clock::now();
        let woken = Woken::default();
        state.wheel.advance(now, |entry| {
            // SAFETY: the wheel has just handed the entry out. Its owner cannot disarm and drop it
            // while this thread holds the mutex.
            if let Some(waker) = unsafe { Timer::expire(entry) } {
                woken.push(waker);
            }
        });
        let next = state.wheel.next_deadline();
        state.wakes_at = next.unwrap_or(u64::MAX);
        if !woken.is_empty() {
            state.committed += 1;
            drop(state);
            drop(woken);
            state = lock(&clock.state);
            state.woken += 1;
            continue;
        }
        state = match next {
            None => clock.earlier.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner()),
            Some(next) => {
                let pause = Duration::from_nanos(next.saturating_sub(now).max(1));
                clock.earlier.wait_timeout(state, pause).unwrap_or_else(|poisoned| poisoned.into_inner()).0
            }
        };
    }
}
