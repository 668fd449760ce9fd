//! Timers of performers that have no wheel of their own: plain OS threads, and futures that no task of
//! a domain polls with its own waker.
//!
//! The process has one thread for them, the *clock thread*. The first such timer starts it, and it
//! sleeps until the next deadline. Domains also hand timers over to it: those that are due while one
//! turn keeps the domain, and all when the domain ends.

use super::shared_wheel::{self, SharedWheel};
use crate::affinity;
use crate::event::recycled::Recycled;
use crate::event::{Timer, installed};
use crate::own_threads;
use crate::shim::{
    atomic::{AtomicU64, Ordering},
    clock,
    sync::{Mutex, OnceLock},
    thread::Thread,
};
use std::io;
use std::ptr::NonNull;
use std::sync::PoisonError;
use std::time::Duration;

struct ClockThread {
    wheel: &'static SharedWheel,
    thread: Thread,
}

static CLOCK: OnceLock<ClockThread> = OnceLock::new();

/// Counts each time that the clock thread begins, and ends, to fire timers and to wake their
/// performers.
static STEPS: AtomicU64 = AtomicU64::new(0);

/// Arms `timer` for `deadline` with the clock thread.
///
/// # Safety
///
/// The timer is not armed, and stays pinned until it has fired or [`disarm`] has returned.
pub(crate) unsafe fn arm(timer: NonNull<Timer>, deadline: u64) {
    let clock = clock_thread().expect("the system gives a thread for timers outside a runtime");
    // SAFETY: passed on to the caller. The wheel is not freed.
    if unsafe { clock.wheel.arm(timer, deadline) } == Some(true) {
        clock.thread.unpark();
    }
}

/// Arms `timer` for `deadline` where a future is polled that is to wake `task`, or something else: with
/// the domain, if that task runs here. Whatever else polls, below a task or not, may keep its thread while it waits,
/// and its waker may be code that does; so that is armed with the clock thread.
///
/// # Safety
///
/// As for [`arm`].
#[inline]
pub(crate) unsafe fn arm_polled(timer: NonNull<Timer>, deadline: u64, task: Option<NonNull<Recycled>>) {
    if task.is_some_and(|task| Recycled::is_running(task.as_ptr()))
        && let Some(wheel) = installed().and_then(|context| context.tasks_wheel())
        // SAFETY: passed on to the caller. The wheel is not freed.
        && unsafe { wheel.arm(timer, deadline) }.is_some()
    {
        return;
    }
    // SAFETY: passed on to the caller; it has not been armed.
    unsafe { arm(timer, deadline) };
}

/// Disarms `timer` if it is armed by this module. After this returns no other thread uses it.
///
/// # Safety
///
/// The timer is alive.
#[inline]
pub(crate) unsafe fn disarm(timer: NonNull<Timer>) {
    // SAFETY: passed on to the caller.
    unsafe { shared_wheel::disarm(timer) };
}

/// Calls `give` with the wheel of the clock thread, which it may give timers. It returns whether that
/// thread is to fire earlier than before. Returns `false` if there can be no such thread.
pub(super) fn hand_over(give: impl FnOnce(&'static SharedWheel) -> bool) -> bool {
    let Ok(clock) = clock_thread() else { return false };
    if give(clock.wheel) {
        clock.thread.unpark();
    }
    true
}

/// Returns how much the clock thread has done; `None` while it does something, or if a timer is armed
/// there.
pub fn stillness() -> Option<u64> {
    let is_empty = CLOCK.get().is_none_or(|clock| clock.wheel.is_empty());
    let steps = STEPS.load(Ordering::SeqCst);
    (is_empty && steps.is_multiple_of(2)).then_some(steps)
}

/// Returns the clock thread, and starts it if this is the first time.
fn clock_thread() -> io::Result<&'static ClockThread> {
    static STARTING: Mutex<()> = Mutex::new(());
    if let Some(clock) = CLOCK.get() {
        return Ok(clock);
    }
    let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(clock) = CLOCK.get() {
        return Ok(clock);
    }
    let wheel: &'static SharedWheel = Box::leak(Box::new(SharedWheel::new()));
    wheel.open(clock::now());
    let thread = std::thread::Builder::new()
        .name("lisle-clock".into())
        .stack_size(64 * 1024)
        .spawn(affinity::elsewhere(move || keep_time(wheel)))?;
    Ok(CLOCK.get_or_init(|| ClockThread { wheel, thread: thread.thread().clone() }))
}

fn keep_time(wheel: &SharedWheel) {
    let _enlisted = own_threads::enlist(own_threads::Owner::Everybody);
    loop {
        STEPS.fetch_add(1, Ordering::SeqCst);
        wheel.fire(clock::now());
        STEPS.fetch_add(1, Ordering::SeqCst);
        // Who arms for an earlier time, or has done so since, unparks this thread.
        match wheel.next() {
            u64::MAX => std::thread::park(),
            next => std::thread::park_timeout(Duration::from_nanos(next.saturating_sub(clock::now()).max(1))),
        }
    }
}
