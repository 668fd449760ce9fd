//! Waiting for a fiber's result.

use super::payload::Payload;
use crate::event::{Description, Unlabelled, awaitable, sync_masked, turn, waits_at};
#[cfg(feature = "model")]
use crate::sched::worker::with_current;
use crate::spawned::fiber_cell::{self, Fiber};
use crate::spawned::head::Outcome;
use lisle_core::Event;
use std::any::Any;
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::NonNull;

/// A handle that gives the right to a fiber's result. Dropping it detaches the fiber, which goes
/// on.
///
/// The [`PanicPolicy`](crate::PanicPolicy) of the runtime says what happens if a fiber panics after
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

// No result is pinned where it waits to be taken.
impl<T> Unpin for JoinHandle<T> {}

/// The reason why there is no result.
///
/// It may be sent and shared, so that it can be kept as any other error:
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use std::error::Error;
///
/// fn parsed(text: &'static str) -> Result<u32, Box<dyn Error + Send + Sync>> {
///     Ok(lisle::spawn(move || text.parse::<u32>().unwrap()).join()?)
/// }
///
/// lisle::run(|| {
///     assert_eq!(parsed("42").unwrap(), 42);
///     assert!(parsed("x").unwrap_err().to_string().contains("InvalidDigit"));
/// });
/// ```
pub struct JoinError {
    kind: Kind,
    who: String,
}

enum Kind {
    Panicked(Payload),
    /// The runtime has shut down.
    ShutDown,
    /// The holder of the handle has cancelled it.
    Cancelled,
    /// The deadline of its scope has passed.
    Late,
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
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// lisle::run(|| {
    ///     assert_eq!(lisle::spawn(|| 6 * 7).join().unwrap(), 42);
    ///
    ///     let fails = lisle::spawn(|| "x".parse::<u32>().unwrap());
    ///     assert!(fails.join().unwrap_err().is_panic());
    /// });
    /// ```
    #[inline]
    pub fn join(self) -> Result<T, JoinError> {
        #[cfg(feature = "model")]
        self.await_end();
        End(self.fiber()).sync();
        self.take_alone()
    }

    /// Does the same as [`join`](JoinHandle::join), but is not interrupted when the runtime shuts
    /// down.
    pub(crate) fn join_masked(self) -> Result<T, JoinError> {
        sync_masked(&End(self.fiber()));
        self.take_alone()
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
    ///
    /// It also learns of it from operations of I/O: an operation of a socket, pipe or process that
    /// waits, or would have to wait, returns the error [`Cancelled`](super::Cancelled), and has done
    /// nothing. An operation that need not wait is done. The table in `guide::cancellation` lists all
    /// waits.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Event, fiber};
    ///
    /// lisle::run(|| {
    ///     let listens = lisle::spawn(|| fiber::cancelled_evt().sync());
    ///     listens.cancel();
    ///     assert!(listens.join().is_ok());
    ///
    ///     let (tx, rx) = lisle::channel();
    ///     let deaf = lisle::spawn(move || rx.recv()); // never asks
    ///     deaf.cancel();
    ///     tx.send(7).unwrap(); // so it goes on
    ///     assert_eq!(deaf.join().unwrap(), Ok(7));
    /// });
    /// ```
    pub fn cancel(&self) {
        self.fiber().cancelled.update(|cancelled, waiters| {
            *cancelled = true;
            while waiters.grant(()).is_ok() {}
        });
    }

    /// Returns `true` if the fiber has finished.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::Event;
    ///
    /// lisle::run(|| {
    ///     let (tx, rx) = lisle::channel();
    ///     let fiber = lisle::spawn(move || rx.recv());
    ///     assert!(!fiber.is_finished());
    ///     tx.send(7).unwrap();
    ///     assert_eq!(fiber.join_evt().sync().unwrap(), Ok(7)); // waits; do not ask in a loop
    ///     assert!(fiber.is_finished());
    /// });
    /// ```
    pub fn is_finished(&self) -> bool {
        turn::asked_whether(self.fiber().finished.with(|finished| *finished))
    }

    /// Returns the name given by [`Builder::name`](super::Builder::name).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::fiber::Builder;
    ///
    /// assert_eq!(Builder::new().name("adder").spawn(|| 1 + 1).name(), Some("adder"));
    /// assert_eq!(lisle::spawn(|| 1 + 1).name(), None);
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.fiber().name()
    }

    #[cfg(feature = "model")]
    fn await_end(&self) {
        let fiber = self.fiber();
        let has_ended = || fiber.finished.peek(|finished, _| *finished);
        with_current(|worker| {
            worker.into_iter().for_each(|worker| worker.await_end(&fiber.runnable, &has_ended))
        });
    }

    /// Takes the result of a fiber that has finished.
    fn take(&self) -> Result<T, JoinError> {
        let fiber = self.fiber();
        // SAFETY: the fiber was made with this result type.
        let taken = unsafe { fiber.take_result(self.fiber, fiber.contents()) };
        JoinError::or_value(taken, || fiber.describe())
    }
}

impl<T> JoinHandle<T> {
    /// Takes the result of a fiber whose [`End`] has been performed.
    fn take_alone(self) -> Result<T, JoinError> {
        let fiber = self.fiber();
        // SAFETY: the fiber was made with this result type, and has ended. Results are taken
        // through its one handle, and nothing refers to that.
        let taken = unsafe { fiber.take_alone(self.fiber, fiber.contents()) };
        JoinError::or_value(taken, || fiber.describe())
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if self.fiber().scope.get().is_some() {
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

/// The event that a fiber has finished, without its result.
struct End<'a>(&'a Fiber);

fn finished(finished: &mut bool) -> Option<()> {
    finished.then_some(())
}

impl Event for End<'_> {
    type Output = ();
    waits_at!(this: bool, (), Unlabelled; this.0.finished, finished);

    #[inline]
    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) {}

    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        describe(self.0, waits);
    }
}

impl<T> Event for JoinEvt<'_, T> {
    type Output = Result<T, JoinError>;
    waits_at!(this: bool, (), Unlabelled; this.handle.fiber().finished, finished);

    #[inline]
    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        self.handle.take()
    }

    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        describe(self.handle.fiber(), waits);
    }
}

fn describe(fiber: &Fiber, waits: &mut Description) {
    waits.on_held("join", &fiber.label(), std::ptr::from_ref(fiber).addr(), [fiber.performer_id()]);
}

impl<T> fmt::Debug for JoinEvt<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JoinEvt").field(self.handle).finish()
    }
}

awaitable!(['a, T] JoinEvt<'a, T>, single);

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
        JoinError { kind: Kind::Panicked(Payload::new(panic)), who }
    }

    /// Returns the value that was `taken` from `who`, or the error that says why there is none.
    pub(crate) fn or_value<T>(
        taken: Result<std::thread::Result<T>, Outcome>,
        who: impl FnOnce() -> String,
    ) -> Result<T, JoinError> {
        let kind = match taken {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(panic)) => Kind::Panicked(Payload::new(panic)),
            Err(Outcome::Cancelled) => Kind::Cancelled,
            Err(Outcome::ShutDown) => Kind::ShutDown,
            Err(Outcome::Late) => Kind::Late,
            Err(Outcome::Start | Outcome::Done | Outcome::Taken) => Kind::Taken,
        };
        Err(JoinError { kind, who: who() })
    }

    /// Returns the error for the result of `who`, which is not a fiber, having been taken.
    #[doc(hidden)]
    pub fn taken(who: String) -> Self {
        JoinError { kind: Kind::Taken, who }
    }

    /// Returns `true` if the joined fiber, task, future or thread has panicked.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// lisle::run(|| {
    ///     let fails = lisle::spawn(|| "x".parse::<u32>().unwrap());
    ///     let error = fails.join().unwrap_err();
    ///     assert!(error.is_panic());
    ///     assert!(error.to_string().contains("InvalidDigit")); // names the fiber, with the panic's message
    /// });
    /// ```
    pub fn is_panic(&self) -> bool {
        matches!(self.kind, Kind::Panicked(_))
    }

    /// Returns `true` if it was ended before it was done: because its runtime shut down, or, if it
    /// is a task or a future, because its handle cancelled it. A fiber that is asked to end ends by
    /// itself, and has a result.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use std::time::Duration;
    ///
    /// let runtime = lisle::Runtime::builder().domains(1).start()?;
    /// let (_tx, rx) = lisle::channel::<u32>();
    /// let waits = runtime.spawn(move || rx.recv());
    /// assert!(runtime.shutdown(Duration::MAX).is_clean());
    /// assert!(waits.join().unwrap_err().is_cancelled());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn is_cancelled(&self) -> bool {
        matches!(self.kind, Kind::ShutDown | Kind::Cancelled)
    }

    /// Returns `true` if it is a fiber or task that the [deadline](lisle_core::time::with_deadline) of its
    /// scope has ended before it was done.
    ///
    /// Code that the same deadline is for does not see this error: its own wait for the fiber or task ends,
    /// also if it would not have to wait any more.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{fiber, time::{sleep, with_deadline, without_deadline}};
    /// use std::time::Duration;
    ///
    /// lisle::run(|| {
    ///     let in_time = with_deadline(Duration::from_millis(1), || {
    ///         fiber::scope(|scope| {
    ///             let sleeps = scope.spawn(|| sleep(Duration::MAX));
    ///             without_deadline(|| sleeps.join()).unwrap_err().is_deadline_passed()
    ///         })
    ///     });
    ///     assert_eq!(in_time, Ok(true));
    /// });
    /// ```
    pub fn is_deadline_passed(&self) -> bool {
        matches!(self.kind, Kind::Late)
    }

    /// Returns the payload of the panic, for [`std::panic::resume_unwind`].
    ///
    /// # Errors
    ///
    /// Returns the error itself if there was no panic.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// lisle::run(|| {
    ///     let fails = lisle::spawn(|| -> u32 { panic!("no disk") });
    ///     let panic = fails.join().unwrap_err().into_panic().unwrap();
    ///     assert_eq!(panic.downcast_ref(), Some(&"no disk"));
    ///
    ///     let waits = lisle::spawn_task(std::future::pending::<u32>());
    ///     waits.cancel();
    ///     let error = waits.join().unwrap_err().into_panic().unwrap_err(); // there was none
    ///     assert!(error.is_cancelled());
    /// });
    /// ```
    pub fn into_panic(self) -> Result<Box<dyn Any + Send>, JoinError> {
        match self.kind {
            Kind::Panicked(panic) => Ok(panic.into_inner()),
            kind => Err(JoinError { kind, who: self.who }),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Panicked(panic) => write!(f, "{} panicked: {}", self.who, panic.message()),
            Kind::ShutDown => write!(f, "{} was ended when its runtime shut down", self.who),
            Kind::Cancelled => write!(f, "the future of {} was cancelled", self.who),
            Kind::Late => write!(f, "{} was ended by the deadline of its scope", self.who),
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
