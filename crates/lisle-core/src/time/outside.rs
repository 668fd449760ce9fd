//! Timers of performers that have no wheel of their own: plain OS threads, and futures that no task of
//! a domain polls with its own waker.
//!
//! The process has one thread for them, the *clock thread*. The first such timer starts it, also in a forked
//! child, and it sleeps until the next deadline. Domains also hand timers over to it: timers that are due
//! while one turn keeps the domain, and all timers when the domain ends.

use super::lent_wheel;
use super::shared_wheel::{self, SharedWheel};
use crate::affinity;
use crate::event::performer::recycled::Recycled;
use crate::event::{Timer, installed};
use crate::fork::PerProcess;
use crate::own_threads;
use crate::shim::{
    atomic::{AtomicU64, Ordering},
    clock,
    sync::{Mutex, OnceLock},
    thread::Thread,
};
use crate::threads;
use std::io;
use std::ptr::NonNull;
use std::sync::PoisonError;
use std::thread::Builder;
use std::time::Duration;

/// The clock thread of the process.
struct Clock {
    starting: Mutex<()>,
    thread: OnceLock<ClockThread>,
    /// Counts each time that the clock thread begins, and ends, to fire timers and to wake their
    /// performers.
    steps: AtomicU64,
    /// The time at which the clock thread calls `called`, or the end of time.
    call: AtomicU64,
    called: OnceLock<fn()>,
}

impl Clock {
    fn new() -> Self {
        Clock {
            starting: Mutex::default(),
            thread: OnceLock::new(),
            steps: AtomicU64::new(0),
            call: AtomicU64::new(u64::MAX),
            called: OnceLock::new(),
        }
    }
}

struct ClockThread {
    wheel: &'static SharedWheel,
    thread: Thread,
}

static CLOCK: PerProcess<Clock> = PerProcess::new(Clock::new);

/// Arms `timer` for `deadline` with the clock thread.
///
/// # Safety
///
/// The timer is not armed, and stays pinned until it has fired or [`disarm`] has returned.
pub(crate) unsafe fn arm(timer: NonNull<Timer>, deadline: u64) {
    // The performer withdraws its published event when this panics.
    let clock = clock_thread().unwrap_or_else(|error| panic!("{error}"));
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
/// thread is to fire earlier than before.
///
/// # Errors
///
/// Returns an error if the system refuses such a thread.
pub(super) fn hand_over(give: impl FnOnce(&'static SharedWheel) -> bool) -> io::Result<()> {
    let clock = clock_thread()?;
    if give(clock.wheel) {
        clock.thread.unpark();
    }
    Ok(())
}

/// Has the clock thread call `look` at `deadline`. There is one such function, for the late turns of
/// mutexes, with one deadline at a time: the caller calls this again only after `look` was called.
/// Returns `false` if there is no such thread; then the function is not called.
pub(crate) fn call_at(deadline: u64, look: fn()) -> bool {
    let Ok(thread) = clock_thread() else { return false };
    let clock = CLOCK.get();
    clock.called.get_or_init(|| look);
    // SeqCst: `stillness` sees it before it sees later steps.
    clock.call.store(deadline, Ordering::SeqCst);
    thread.thread.unpark();
    true
}

/// Returns how much the clock thread has done; `None` while it does something, or if a timer is armed
/// there.
pub fn stillness() -> Option<u64> {
    let Some(clock) = CLOCK.made() else { return Some(0) };
    let is_empty = clock.thread.get().is_none_or(|clock| clock.wheel.is_empty())
        && clock.call.load(Ordering::SeqCst) == u64::MAX;
    let steps = clock.steps.load(Ordering::SeqCst);
    (is_empty && steps.is_multiple_of(2)).then_some(steps)
}

/// Returns the clock thread, and starts it if this is the first time.
fn clock_thread() -> io::Result<&'static ClockThread> {
    let clock = CLOCK.get();
    if let Some(thread) = clock.thread.get() {
        return Ok(thread);
    }
    let _starting = clock.starting.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(thread) = clock.thread.get() {
        return Ok(thread);
    }
    let wheel: &'static SharedWheel = Box::leak(Box::new(SharedWheel::new()));
    wheel.open(clock::now());
    let builder = Builder::new().name("lisle-clock".into()).stack_size(64 * 1024);
    let keep_time = affinity::elsewhere(move || keep_time(wheel, clock));
    let thread = threads::start_as(builder, "timers outside a runtime", keep_time)?;
    let thread = clock.thread.get_or_init(|| ClockThread { wheel, thread: thread.thread().clone() });
    // After the others can see the thread, see `LentWheel::drop`.
    take_over(thread);
    Ok(thread)
}

/// Hands over timers that could not be handed over before there was a clock thread.
fn take_over(clock: &ClockThread) {
    if lent_wheel::take_over(clock.wheel) {
        clock.thread.unpark();
    }
}

/// Does the same if there is a clock thread by now.
pub(super) fn take_over_if_started() {
    if let Some(clock) = CLOCK.made().and_then(|clock| clock.thread.get()) {
        take_over(clock);
    }
}

fn keep_time(wheel: &SharedWheel, clock: &Clock) {
    let _enlisted = own_threads::enlist(own_threads::Owner::Everybody);
    loop {
        clock.steps.fetch_add(1, Ordering::SeqCst);
        let now = clock::now();
        wheel.fire(now);
        if clock.call.load(Ordering::Acquire) <= now {
            clock.call.store(u64::MAX, Ordering::SeqCst);
            clock.called.get().into_iter().for_each(|look| look());
        }
        clock.steps.fetch_add(1, Ordering::SeqCst);
        // A thread that arms for an earlier time, or has done so since, unparks this thread.
        match wheel.next().min(clock.call.load(Ordering::Acquire)) {
            u64::MAX => std::thread::park(),
            next => std::thread::park_timeout(Duration::from_nanos(next.saturating_sub(clock::now()).max(1))),
        }
    }
}
