//! The current context: the place where a performer runs, and its way of waiting.
//!
//! Every visible operation of this crate (parking, waking, timers, spawning, randomness, the clock)
//! goes to the context of the code that performs it. There are four kinds: a domain of a runtime, a
//! plain OS thread, a future on a foreign executor, and a model, which replaces the domains and
//! runs the same program through schedules of its choice. A domain and a model are *installed* for
//! a thread; the other two are made for one sync at a time.

use super::timer::Timer;
use crate::event::ends::{Ends, Unparked};
use crate::event::telling::parked::ParkedEvent;
use crate::event::telling::waits::{BlockedOn, Label};
use crate::event::waker::PerformerWaker;
use crate::shim::{clock, random};
use crate::time::shared_wheel::SharedWheel;
use std::cell::Cell;
use std::panic::Location;
use std::ptr::NonNull;

/// The next operation of a performer.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub enum Doing<'a> {
    /// This operation on an object, of which the label and the address are given. If the operation
    /// is empty, nobody knows its name, and the label's kind is a type's.
    One(&'static str, &'a Label, usize),
    /// The first of these that can be done.
    First(&'a [BlockedOn]),
}

/// A place where performers run, with its way of waiting.
///
/// It is not a [`std::task::Context`]: that one is passed to a future at each poll, and this one
/// parks fibers, tasks and threads, arms their timers, and has their clock.
///
/// # Safety
///
/// `park` may return [`Unparked::Woken`] only after `wake` has been called on the waker that the
/// last `waker` returned; everything that happened before the wake happens before the return. `arm`
/// must keep the timer's address, and may fire it at most once and not after `disarm` has returned.
pub unsafe trait PerformerContext {
    /// Returns the waker of the performer that runs now.
    fn waker(&self) -> PerformerWaker;

    /// Suspends the performer that runs now until it is woken, or, if `interruptible`, until its
    /// runtime wants it to unwind.
    fn park(&self, interruptible: bool) -> Unparked;

    /// Does the same as [`park`](PerformerContext::park), for a wait that ends in this way.
    #[doc(hidden)]
    fn park_until(&self, ends: Ends) -> Unparked {
        self.park(ends != Ends::Never)
    }

    /// Resumes the fiber with this parker, so that it looks whether a limit has passed.
    ///
    /// # Safety
    ///
    /// The fiber is parked, and the pointer may be used for all of it. The calling thread is the
    /// fiber's domain, between the turns of fibers or in one.
    #[doc(hidden)]
    unsafe fn disturb(&self, parker: *const ()) {
        let _ = parker;
    }

    /// Waits like an uninterruptible [`park`](PerformerContext::park) for a wake that is on its way,
    /// where the performer must not be suspended (see `no_suspend`). The performer keeps its thread
    /// until the wake has come.
    fn stay(&self) {
        let _ = self.park(false);
    }

    /// Unwinds the performer, after `park` has returned [`Unparked::Interrupted`].
    fn unwind(&self) -> !;

    /// Reports the wait of the running performer: called with `Some` before it parks and with
    /// `None` when its park has returned. It is for contexts that report waiting performers; the
    /// library's own runtimes learn it in another way.
    fn parks(&self, parked: Option<&ParkedEvent>) {
        let _ = parked;
    }

    /// Returns `true` if this context can suspend the code that runs now. If `false`, the code
    /// waits as on a plain thread.
    fn can_wait(&self) -> bool {
        true
    }

    /// Returns `true` if the performer cannot be forgotten while it waits: it is on the stack of a
    /// thread or of a fiber, or in the memory of a task. A future that others hold can be.
    fn is_rooted(&self) -> bool {
        false
    }

    /// Returns `true` if the performer is a plain thread. It then does not spin before it next
    /// sleeps: it is asked by an event that spins itself, in its own way.
    fn leaves_spinning(&self) -> bool {
        false
    }

    /// Returns `true` if nothing else needs the performer's place, and others may run at the same
    /// time. The performer may then spin for a moment before it waits for one of them.
    fn may_spin(&self) -> bool {
        false
    }

    /// Arms `timer` for `deadline`, in nanoseconds of [`PerformerContext::now`].
    ///
    /// # Safety
    ///
    /// The timer is not armed. It stays pinned until it has fired or this context has disarmed it.
    unsafe fn arm(&self, timer: NonNull<Timer>, deadline: u64);

    /// Disarms `timer` if it is armed.
    ///
    /// # Safety
    ///
    /// If the timer was armed, it was armed by this context. It is alive.
    unsafe fn disarm(&self, timer: NonNull<Timer>);

    /// Returns the wheel for the timers of the futures that tasks poll here, if they are not for
    /// the clock thread.
    fn tasks_wheel(&self) -> Option<&'static SharedWheel> {
        None
    }

    /// Called before the performer does something that others can see: performs an event, signals,
    /// fills a cell. A model may let others run first. Fibers of the library's own domains call it
    /// only where there can be models (feature `model`).
    fn visible(&self) {}

    /// Returns `true` if a model schedules this thread.
    fn is_model(&self) -> bool {
        false
    }

    /// Called before [`visible`](PerformerContext::visible), with the performer's next operation, for
    /// models that report to people.
    fn about_to(&self, doing: Doing<'_>) {
        let _ = doing;
    }

    /// Called before [`visible`](PerformerContext::visible), with memory that the operation may touch, and
    /// where the object was made that is there, if it keeps that. Each operation on an object tells
    /// the same.
    fn about_to_touch(&self, address: usize, size: usize, made: Option<&'static Location<'static>>) {
        let _ = (address, size, made);
    }

    /// Called before an operation that would wait until `is_so` returns `true`. A model may let
    /// others run until then; if it never is so, the performer waits as it would without a model.
    fn wait_until(&self, awaited: crate::event::telling::awaited::Awaited, is_so: &dyn Fn() -> bool) {
        let _ = (awaited, is_so);
        self.visible();
    }

    /// Returns which of `ways` ways the performer goes, or `None` if no model decides.
    fn way(&self, ways: usize) -> Option<usize> {
        let _ = ways;
        None
    }

    /// Runs `fiber` as a fiber of its own. A context that leaves fibers to the library's runtimes
    /// returns it as an error; all contexts but models do.
    fn spawn(&self, fiber: Box<dyn FnOnce() + Send>) -> Result<(), Box<dyn FnOnce() + Send>> {
        Err(fiber)
    }

    /// Lets others run before the performer continues.
    fn yield_now(&self) {
        crate::shim::thread::yield_now();
    }

    /// Returns the monotonic time in nanoseconds.
    fn now(&self) -> u64 {
        clock::now()
    }

    /// Returns the same, for a deadline that is counted from now. No other code learns this time.
    fn now_to_arm(&self) -> u64 {
        self.now()
    }

    /// Returns the same, for a report. The program does not learn of it.
    fn now_to_tell(&self) -> u64 {
        self.now()
    }

    /// Returns a random number, for fair choices.
    fn random(&self) -> u64 {
        random::of_thread()
    }
}

thread_local! {
    static INSTALLED: Cell<Option<NonNull<dyn PerformerContext>>> = const { Cell::new(None) };
}

/// Returns the context installed for this thread, if there is one. It may be used within the
/// current call only: the context stays until its guard is dropped, and only code outside of all
/// fibers drops it.
#[inline(always)]
#[doc(hidden)]
pub fn installed<'a>() -> Option<&'a dyn PerformerContext> {
    // SAFETY: `install` keeps the context in place for as long as its pointer is here.
    INSTALLED.with(Cell::get).map(|context| unsafe { context.as_ref() })
}

/// Returns the context installed for this thread if it may belong to a model.
#[inline(always)]
pub(crate) fn in_model<'a>() -> Option<&'a dyn PerformerContext> {
    if crate::shim::model::is_running() { installed() } else { None }
}

/// Returns the monotonic time in nanoseconds, as the code that runs here sees it. A model has its
/// own time.
#[doc(hidden)]
#[inline]
pub fn now() -> u64 {
    installed().map_or_else(clock::now, PerformerContext::now)
}

/// Returns the same, for a deadline that is counted from now. No other code learns this time.
pub(in crate::event) fn now_to_arm() -> u64 {
    installed().map_or_else(clock::now, PerformerContext::now_to_arm)
}

/// Returns the same, for a report. The program does not learn of it.
pub(crate) fn now_to_tell() -> u64 {
    installed().map_or_else(clock::now, PerformerContext::now_to_tell)
}

/// A guard that keeps a context installed for this thread until it is dropped.
#[derive(Debug)]
#[doc(hidden)]
pub struct Installed {
    previous: Option<NonNull<dyn PerformerContext>>,
}

/// Installs `context` for this thread.
///
/// # Safety
///
/// The guard must be dropped on this thread and before the context. Guards must be dropped in
/// reverse order.
#[doc(hidden)]
#[inline]
pub unsafe fn install(context: &(dyn PerformerContext + 'static)) -> Installed {
    Installed { previous: INSTALLED.with(|installed| installed.replace(Some(NonNull::from(context)))) }
}

impl Drop for Installed {
    fn drop(&mut self) {
        INSTALLED.with(|installed| installed.set(self.previous));
    }
}
