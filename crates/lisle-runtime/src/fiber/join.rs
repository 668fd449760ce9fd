//! Waiting for a fiber's result.

use crate::event::{Description, Event, awaitable, sync_masked, turn, waits_at};
use crate::panics;
use crate::spawned::fiber_cell::{self, Fiber, Outcome};
use std::any::Any;
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::ptr::NonNull;

/// The right to a fiber's result. Dropping it detaches the fiber, which goes on.
///
/// A fiber that panics when its handle is gone is dealt with as its runtime's
/// [`PanicPolicy`](super::PanicPolicy) says.
pub struct JoinHandle<T> {
    fiber: NonNull<Fiber>,
    _result: PhantomData<T>,
}

// SAFETY: the handle reads the fiber's synchronized parts, and moves the result out once it has finished.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: sharing the handle shares the right to take the result, one taker at a time: see `take`.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

/// Why there is no result.
pub struct JoinError {
    kind: Kind,
    who: String,
}

enum Kind {
    Panicked(Box<dyn Any + Send>),
    /// By its runtime.
    ShutDown,
    /// By whoever has its handle.
    Cancelled,
    Taken,
}

impl<T> JoinHandle<T> {
    /// # Safety
    ///
    /// `fiber` was made with result type `T`, and the caller hands over a reference to it.
    pub(crate) unsafe fn new(fiber: NonNull<Fiber>) -> Self {
        JoinHandle { fiber, _result: PhantomData }
    }

    pub(super) fn fiber(&self) -> &Fiber {
        // SAFETY: the handle's reference keeps it alive.
        unsafe { self.fiber.as_ref() }
    }

    /// Waits for the fiber to finish and gives its result.
    ///
    /// # Errors
    ///
    /// The fiber panicked (the error holds the payload), or its runtime shut down before it was done.
    ///
    /// # Cancel safety
    ///
    /// Waiting takes nothing; to give up waiting, use [`join_evt`](JoinHandle::join_evt) in a choice.
    #[inline]
    pub fn join(self) -> Result<T, JoinError> {
        self.join_evt().sync()
    }

    /// As [`join`](JoinHandle::join), but not to be interrupted when the runtime shuts down.
    pub(crate) fn join_masked(self) -> Result<T, JoinError> {
        sync_masked(&self.join_evt())
    }

    /// The event of the fiber having finished; it gives the result.
    ///
    /// The result can be had once: a second performance gives an error that says so.
    ///
    /// ```
    /// use lisle::{Event, choose, time::after};
    /// use std::time::Duration;
    ///
    /// lisle::run(|| {
    ///     let fiber = lisle::spawn(|| 6 * 7);
    ///     let answer = choose((
    ///         fiber.join_evt().wrap(Result::ok),
    ///         after(Duration::from_secs(60)).wrap(|()| None),
    ///     ));
    ///     assert_eq!(answer.sync(), Some(42));
    /// });
    /// ```
    pub fn join_evt(&self) -> JoinEvt<'_, T> {
        JoinEvt { handle: self }
    }

    /// Asks the fiber to end. It learns it from [`is_cancelled`](super::is_cancelled) and
    /// [`cancelled_evt`](super::cancelled_evt) and ends when it is ready to; nothing is forced, so
    /// nothing is lost. Wait for it with `join` or `join_evt`.
    pub fn cancel(&self) {
        self.fiber().cancelled.update(|cancelled, waiters| {
            *cancelled = true;
            while waiters.grant(()).is_ok() {}
        });
    }

    /// Has the fiber finished?
    pub fn is_finished(&self) -> bool {
        turn::asked_whether(self.fiber().finished.with(|finished| *finished))
    }

    /// The name given by [`Builder::name`](super::Builder::name).
    pub fn name(&self) -> Option<&str> {
        self.fiber().name.as_deref()
    }

    /// Takes the result of a fiber that has finished.
    fn take(&self) -> Result<T, JoinError> {
        let fiber = self.fiber();
        let error = |kind| JoinError { kind, who: fiber.describe() };
        // One taker at a time: two threads may have shared the handle.
        let mut place = MaybeUninit::<std::thread::Result<T>>::uninit();
        let outcome = fiber.finished.with(|&finished| {
            // Whoever calls `complete` by hand may do so before: what the fiber is writing is not looked at.
            finished.then(|| {
                let outcome = fiber.outcome();
                if outcome == Outcome::Done {
                    // SAFETY: finished, as just seen under the source's lock, which was taken to say so after the result
                    // had been written; of this type; and only moved here, under that lock.
                    unsafe { fiber_cell::take_result(self.fiber, place.as_mut_ptr().cast()) };
                }
                outcome
            })
        });
        let outcome = outcome.expect("`complete` on the event of a fiber that has not finished");
        match outcome {
            // SAFETY: just written.
            Outcome::Done => unsafe { place.assume_init() }.map_err(|panic| error(Kind::Panicked(panic))),
            Outcome::Cancelled => Err(error(Kind::ShutDown)),
            Outcome::Nothing | Outcome::Closure => Err(error(Kind::Taken)),
        }
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if self.fiber().scope.is_some() {
            // SAFETY: the fiber has a scope; the handle's reference is given up.
            unsafe { fiber_cell::part(self.fiber) };
        } else {
            // SAFETY: the handle's reference is given up.
            unsafe { fiber_cell::release(self.fiber) };
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("fiber", &self.fiber().describe()).finish_non_exhaustive()
    }
}

/// The event of a fiber having finished, see [`JoinHandle::join_evt`].
#[must_use = "events do nothing unless performed"]
pub struct JoinEvt<'a, T> {
    handle: &'a JoinHandle<T>,
}

fn finished(finished: &mut bool) -> Option<()> {
    finished.then_some(())
}

impl<T> Event for JoinEvt<'_, T> {
    type Output = Result<T, JoinError>;
    waits_at!(this: bool, (); this.handle.fiber().finished, finished);

    #[inline]
    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        self.handle.take()
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        let fiber = self.handle.fiber();
        waits.on_held("join", &fiber.label(), std::ptr::from_ref(fiber).addr(), [fiber.performer_id()]);
    }
}

impl<T> fmt::Debug for JoinEvt<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JoinEvt").field(self.handle).finish()
    }
}

awaitable!(['a, T] JoinEvt<'a, T>);

impl<T> JoinEvt<'_, T> {
    /// The error for a future that was cancelled in this fiber, which drives it.
    #[doc(hidden)]
    pub fn cancelled(&self) -> JoinError {
        JoinError { kind: Kind::Cancelled, who: self.handle.fiber().describe() }
    }
}

impl JoinError {
    /// Of `who`, which is no fiber.
    #[doc(hidden)]
    pub fn panicked(who: String, panic: Box<dyn Any + Send>) -> Self {
        JoinError { kind: Kind::Panicked(panic), who }
    }

    /// Of `who`, which is no fiber.
    pub(crate) fn cancelled(who: String) -> Self {
        JoinError { kind: Kind::Cancelled, who }
    }

    /// Of `who`, which is no fiber.
    pub(crate) fn shut_down(who: String) -> Self {
        JoinError { kind: Kind::ShutDown, who }
    }

    /// Of `who`, which is no fiber.
    #[doc(hidden)]
    pub fn taken(who: String) -> Self {
        JoinError { kind: Kind::Taken, who }
    }

    /// Did the fiber panic?
    pub fn is_panic(&self) -> bool {
        matches!(self.kind, Kind::Panicked(_))
    }

    /// Was it ended before it was done: a fiber because its runtime shut down, a future because its
    /// handle was asked to?
    pub fn is_cancelled(&self) -> bool {
        matches!(self.kind, Kind::ShutDown | Kind::Cancelled)
    }

    /// The payload of the panic, for [`std::panic::resume_unwind`].
    ///
    /// # Errors
    ///
    /// The error itself, if there was no panic.
    pub fn into_panic(self) -> Result<Box<dyn Any + Send>, JoinError> {
        match self.kind {
            Kind::Panicked(panic) => Ok(panic),
            kind => Err(JoinError { kind, who: self.who }),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Panicked(panic) => write!(f, "{} panicked: {}", self.who, panics::message(&**panic)),
            Kind::ShutDown => write!(f, "{} was ended when its runtime shut down", self.who),
            Kind::Cancelled => write!(f, "the future of {} was cancelled", self.who),
            Kind::Taken => write!(f, "the result of {} has been taken already", self.who),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError({self})")
    }
}

impl Error for JoinError {}
