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

/// A handle that gives the right to a fiber's result. Dropping it detaches the fiber, which goes
/// on.
///
/// The [`PanicPolicy`](super::PanicPolicy) of the runtime says what happens if a fiber panics after
/// its handle has been dropped.
pub struct JoinHandle<T> {
    fiber: NonNull<Fiber>,
    _result: PhantomData<T>,
}

// SAFETY: the handle reads only the synchronized parts of the fiber, and it moves the result out
// once the fiber has finished.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: sharing the handle shares the right to take the result. `take` admits one taker at a
// time.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

/// The reason why there is no result.
pub struct JoinError {
    kind: Kind,
    who: String,
}

enum Kind {
    Panicked(Box<dyn Any + Send>),
    /// The runtime has shut down.
    ShutDown,
    /// The holder of the handle has cancelled it.
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
        // SAFETY: the handle's reference keeps the fiber alive.
        unsafe { self.fiber.as_ref() }
    }

    /// Waits for the fiber to finish and returns its result.
    ///
    /// # Errors
    ///
    /// If the fiber panicked (the error holds the payload), or if its runtime shut down before it
    /// was done.
    ///
    /// # Cancel safety
    ///
    /// Waiting takes nothing. To give up waiting, use [`join_evt`](JoinHandle::join_evt) in a
    /// choice.
    #[inline]
    pub fn join(self) -> Result<T, JoinError> {
        self.join_evt().sync()
    }

    /// Does the same as [`join`](JoinHandle::join), but is not interrupted when the runtime shuts
    /// down.
    pub(crate) fn join_masked(self) -> Result<T, JoinError> {
        sync_masked(&self.join_evt())
    }

    /// Returns the event that the fiber has finished. Its value is the fiber's result.
    ///
    /// The result can be taken once: a second performance yields an error that says so.
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
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

    /// Asks the fiber to end. The fiber learns of it from [`is_cancelled`](super::is_cancelled) and
    /// [`cancelled_evt`](super::cancelled_evt), and ends when it is ready to. Nothing is forced, so
    /// nothing is lost. Use `join` or `join_evt` to wait for the end.
    pub fn cancel(&self) {
        self.fiber().cancelled.update(|cancelled, waiters| {
            *cancelled = true;
            while waiters.grant(()).is_ok() {}
        });
    }

    /// Returns `true` if the fiber has finished.
    pub fn is_finished(&self) -> bool {
        turn::asked_whether(self.fiber().finished.with(|finished| *finished))
    }

    /// Returns the name given by [`Builder::name`](super::Builder::name).
    pub fn name(&self) -> Option<&str> {
        self.fiber().name.as_deref()
    }

    /// Takes the result of a fiber that has finished.
    fn take(&self) -> Result<T, JoinError> {
        let fiber = self.fiber();
        let error = |kind| JoinError { kind, who: fiber.describe() };
        // Two threads may share the handle. The source's lock admits one taker at a time.
        let mut place = MaybeUninit::<std::thread::Result<T>>::uninit();
        let outcome = fiber.finished.with(|&finished| {
            // A direct call of `complete` may come too early. Then what the fiber is writing is not
            // read.
            finished.then(|| {
                let outcome = fiber.outcome();
                if outcome == Outcome::Done {
                    // SAFETY: the fiber has finished, as seen just now under the source's lock. The
                    // fiber wrote the result before it took that lock to set `finished`, so the
                    // write happens before this read. The result is of this type, and is moved only
                    // here, under that lock.
                    unsafe { fiber_cell::take_result(self.fiber, place.as_mut_ptr().cast()) };
                }
                outcome
            })
        });
        let outcome = outcome.expect("`complete` on the event of a fiber that has not finished");
        match outcome {
            // SAFETY: `take_result` has just written it.
            Outcome::Done => unsafe { place.assume_init() }.map_err(|panic| error(Kind::Panicked(panic))),
            Outcome::Cancelled => Err(error(Kind::ShutDown)),
            Outcome::Nothing | Outcome::Closure => Err(error(Kind::Taken)),
        }
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if self.fiber().scope.is_some() {
            // SAFETY: the fiber has a scope, and the handle's reference is given up here.
            unsafe { fiber_cell::part(self.fiber) };
        } else {
            // SAFETY: the handle's reference is given up here.
            unsafe { fiber_cell::release(self.fiber) };
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("fiber", &self.fiber().describe()).finish_non_exhaustive()
    }
}

/// The event that a fiber has finished, see [`JoinHandle::join_evt`].
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
    /// Returns the error for a future that was cancelled in this fiber, which drives it.
    #[doc(hidden)]
    pub fn cancelled(&self) -> JoinError {
        JoinError { kind: Kind::Cancelled, who: self.handle.fiber().describe() }
    }
}

impl JoinError {
    /// Returns the error for the panic of `who`, which is not a fiber.
    #[doc(hidden)]
    pub fn panicked(who: String, panic: Box<dyn Any + Send>) -> Self {
        JoinError { kind: Kind::Panicked(panic), who }
    }

    /// Returns the error for the cancellation of `who`, which is not a fiber.
    pub(crate) fn cancelled(who: String) -> Self {
        JoinError { kind: Kind::Cancelled, who }
    }

    /// Returns the error for the end of the runtime of `who`, which is not a fiber.
    pub(crate) fn shut_down(who: String) -> Self {
        JoinError { kind: Kind::ShutDown, who }
    }

    /// Returns the error for the result of `who`, which is not a fiber, having been taken.
    #[doc(hidden)]
    pub fn taken(who: String) -> Self {
        JoinError { kind: Kind::Taken, who }
    }

    /// Returns `true` if the fiber panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self.kind, Kind::Panicked(_))
    }

    /// Returns `true` if it was ended before it was done: a fiber because its runtime shut down, a
    /// future because its handle cancelled it.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.kind, Kind::ShutDown | Kind::Cancelled)
    }

    /// Returns the payload of the panic, for [`std::panic::resume_unwind`].
    ///
    /// # Errors
    ///
    /// Returns the error itself if there was no panic.
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
