//! Cooperative cancellation, seen from the fiber that is asked to end.

use super::current;
use crate::event::{Attempt, Description, Label, Step, Unlabelled, awaitable, may_wait_at};
use crate::spawned::fiber_cell::FiberRef;
use lisle_core::Event;
use std::fmt;
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
