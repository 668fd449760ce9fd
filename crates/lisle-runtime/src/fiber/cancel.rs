//! Cooperative cancellation, seen from the fiber that is asked to end.

use super::current;
use crate::event::{Attempt, Description, Label, Step, Unlabelled, awaitable, limit, may_wait_at, parker};
use crate::spawned::fiber_cell::FiberRef;
use lisle_core::Event;
use std::error::Error;
use std::fmt;
use std::io;
use std::pin::Pin;

/// Returns `true` if the current fiber has been asked to end, by
/// [`JoinHandle::cancel`](super::JoinHandle::cancel). Always returns `false` on a plain thread.
///
/// # Examples
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::fiber::{checkpoint, is_cancelled};
///
/// lisle::run(|| {
///     let search = lisle::spawn(|| {
///         while !is_cancelled() {
///             checkpoint(); // lets others run, such as the one that cancels
///         }
///         "given up"
///     });
///     search.cancel();
///     assert_eq!(search.join().unwrap(), "given up");
///     assert!(!is_cancelled()); // this is another fiber
/// });
/// ```
pub fn is_cancelled() -> bool {
    cancelled_evt().poll().is_some()
}

/// Returns the event that the current fiber has been asked to end. Once it is ready, it stays
/// ready.
///
/// It belongs to the fiber that calls this function, also if another one performs it. On a plain
/// thread it is never ready.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::{Event, choose, fiber};
///
/// lisle::run(|| {
///     let (tx, rx) = lisle::channel::<u32>();
///     let fiber = lisle::spawn(move || {
///         let next = choose((
///             rx.recv_evt().wrap(Result::ok),
///             fiber::cancelled_evt().wrap(|()| None),
///         ));
///         let mut sum = 0;
///         while let Some(n) = next.sync() {
///             sum += n;
///         }
///         sum
///     });
///     tx.send(1).unwrap();
///     tx.send(2).unwrap();
///     fiber.cancel();
///     assert_eq!(fiber.join().unwrap(), 3);
/// });
/// ```
pub fn cancelled_evt() -> CancelledEvt {
    // SAFETY: the current fiber runs this code, so it is alive.
    CancelledEvt { fiber: current().map(|fiber| unsafe { FiberRef::new(fiber) }) }
}

/// Returns the event at which an operation of I/O gives up waiting: the current fiber has been asked to
/// end. Returns `None` if there is no fiber that could be asked, or where waits must not end so: in
/// a destructor that runs while the stack unwinds, and in `without_deadline`.
pub fn cancelled_evt_for_io() -> Option<CancelledEvt> {
    // SAFETY: the current fiber runs this code, so it is alive.
    let fiber = current().filter(|fiber| !unsafe { fiber.as_ref() }.is_runner())?;
    let completes = limit::is_masked() || limit::is_shielded() || parker::is_unwinding();
    // SAFETY: as above.
    (!completes).then(|| CancelledEvt { fiber: Some(unsafe { FiberRef::new(fiber) }) })
}

/// An error: the fiber has been [asked](super::JoinHandle::cancel) to end.
///
/// Operations of sockets, pipes and processes that would have to wait return it, as an
/// [`io::Error`] of the kind [`Other`](io::ErrorKind::Other).
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::fiber::Cancelled;
/// use std::io;
///
/// let error = io::Error::from(Cancelled);
/// assert!(Cancelled::is(&error));
/// assert!(!Cancelled::is(&io::ErrorKind::Other.into()));
/// assert_eq!(error.to_string(), "the fiber has been asked to end");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Cancelled;

impl Cancelled {
    /// Returns `true` if `error` says that the fiber has been asked to end.
    #[must_use]
    pub fn is(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|error| error.is::<Cancelled>())
    }
}

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the fiber has been asked to end")
    }
}

impl Error for Cancelled {}

impl From<Cancelled> for io::Error {
    fn from(cancelled: Cancelled) -> Self {
        io::Error::other(cancelled)
    }
}

/// The event that a fiber has been asked to end, see [`cancelled_evt`].
#[must_use = "events do nothing unless performed"]
pub struct CancelledEvt {
    fiber: Option<FiberRef>,
}

fn asked(cancelled: &mut bool) -> Option<()> {
    cancelled.then_some(())
}

/// The attempt of a performance where no fiber was running.
fn nobody_asks(attempt: &Attempt<'_>) -> Step {
    attempt.evidence().never_was();
    Step::Waiting
}

impl Event for CancelledEvt {
    type Output = ();
    may_wait_at!(this: bool, (), Unlabelled; this.fiber.as_ref().map(FiberRef::cancelled), asked, nobody_asks);

    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) {}
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        match &self.fiber {
            Some(fiber) => waits.on("wait for a cancellation of", &fiber.label(), fiber.id()),
            None => waits.on("wait for a cancellation of", &Label::anywhere("thread"), 0),
        }
    }
}

impl fmt::Debug for CancelledEvt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelledEvt").field("in_fiber", &self.fiber.is_some()).finish()
    }
}

awaitable!([] CancelledEvt, single);
