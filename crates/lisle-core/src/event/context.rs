//! The current context: where a performer runs, and how it waits.
//!
//! Every visible operation of this crate (parking, waking, timers, spawning, randomness, the clock)
//! goes to the context of the code that performs it. There are four kinds: a worker of a runtime, a
//! plain OS thread, a future on a foreign executor, and a model, which takes the workers' place and
//! runs the same program through schedules of its choice. The first and the last are *installed* for
//! a thread; the other two are made for one sync at a time.

use super::record::Waker;
use super::timer::Timer;
use super::waits::ParkedEvent;
use crate::shim::{clock, random};
use std::cell::Cell;
use std::ptr::NonNull;

/// Why [`Context::park`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unparked {
    /// By the one wake that belongs to this park.
    Woken,
    /// The performer is to withdraw and unwind: its runtime is shutting down.
    Interrupted,
}

/// The payload that unwinds a fiber at shutdown. It is nobody's panic: no hook runs, nothing is printed.
#[derive(Debug)]
#[doc(hidden)]
pub struct Interrupted;

/// A place where performers run.
///
/// # Safety
///
/// `park` may return [`Unparked::Woken`] only after the waker given out by the last `waker` has been
/// woken; everything that happened before the wake happens before the return. `arm` must keep the
/// timer's address and fire it at most once, and not after `disarm` has returned.
pub unsafe trait Context {
    /// The handle by which the performer now running can be woken.
    fn waker(&self) -> Waker;

    /// Suspends the performer now running until its waker is woken, or, if `interruptible`, until
    /// its runtime wants it to unwind.
    fn park(&self, interruptible: bool) -> Unparked;

    /// As an uninterruptible [`park`](Context::park), for a wake that is on its way, where the performer must not be
    /// suspended (see `no_suspend`): it keeps its thread until that has come.
    fn stay(&self) {
        let _ = self.park(false);
    }

    /// Unwinds the performer, after `park` returned [`Unparked::Interrupted`].
    fn unwind(&self) -> !;

    /// The performer now running is about to park, and this is what it waits for; or, with `None`, its park has
    /// returned. For contexts that tell who waits. The library's own runtimes learn it in another way.
    fn parks(&self, parked: Option<&ParkedEvent>) {
        let _ = parked;
    }

    /// Can the code now running be suspended by this context? If not, it waits as on a plain thread.
    fn can_wait(&self) -> bool {
        true
    }

    /// Arms `timer` for `deadline`, in nanoseconds of [`Context::now`].
    ///
    /// # Safety
    ///
    /// The timer is not armed; it stays pinned until it has fired or been disarmed by this context.
    unsafe fn arm(&self, timer: NonNull<Timer>, deadline: u64);

    /// Disarms `timer` if it is armed.
    ///
    /// # Safety
    ///
    /// The timer was armed by this context, if by any, and is alive.
    unsafe fn disarm(&self, timer: NonNull<Timer>);

    /// The performer is about to do something that others can see: perform an event, signal, fill a cell.
    /// A model may let others go first. Not called for fibers of the library's own workers.
    fn visible(&self) {}

    /// Runs `fiber` as a fiber of its own. A context that leaves fibers to the library's runtimes, as all but
    /// models do, gives it back.
    fn spawn(&self, fiber: Box<dyn FnOnce() + Send>) -> Result<(), Box<dyn FnOnce() + Send>> {
        Err(fiber)
    }

    /// Lets others run before the performer goes on.
    fn yield_now(&self) {
        crate::shim::thread::yield_now();
    }

    /// Monotonic nanoseconds.
    fn now(&self) -> u64 {
        clock::now()
    }

    /// A random number, for fair choices.
    fn random(&self) -> u64 {
        random::of_thread()
    }
}

thread_local! {
    static INSTALLED: Cell<Option<NonNull<dyn Context>>> = const { Cell::new(None) };
}

/// The context installed for this thread, if there is one. To be used within the current call: the
/// context stays until its guard is dropped, which only code outside of all fibers does.
#[inline(always)]
#[doc(hidden)]
pub fn installed<'a>() -> Option<&'a dyn Context> {
    // SAFETY: `install` keeps the context in place for as long as its pointer is here.
    INSTALLED.with(Cell::get).map(|context| unsafe { context.as_ref() })
}

/// Monotonic nanoseconds, as the code that runs here sees them: in a model time is another one.
#[doc(hidden)]
#[inline]
pub fn now() -> u64 {
    installed().map_or_else(clock::now, Context::now)
}

/// Keeps a context installed for this thread until dropped.
#[derive(Debug)]
#[doc(hidden)]
pub struct Installed {
    previous: Option<NonNull<dyn Context>>,
}

/// Installs `context` for this thread.
///
/// # Safety
///
/// The guard must be dropped on this thread, before the context goes, and guards in reverse order.
#[doc(hidden)]
#[inline]
pub unsafe fn install(context: &(dyn Context + 'static)) -> Installed {
    Installed { previous: INSTALLED.with(|installed| installed.replace(Some(NonNull::from(context)))) }
}

impl Drop for Installed {
    fn drop(&mut self) {
        INSTALLED.with(|installed| installed.set(self.previous));
    }
}
