//! Futures that make a task leave its spawner's stack.

use super::current;
use crate::event::recycled::Recycled;
#[cfg(feature = "model")]
use crate::sched::worker::with_current;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Makes the awaiting task a thread that is scheduled by itself: it goes on on the first domain
/// that takes it, and its spawner goes on at once.
///
/// This is for a task that finds out that it has much to do. A task need not call it: if a turn has
/// lasted for about 10 ms, the task does the same at its next await of an event. Its spawner is
/// then charged: the next ten tasks that it spawns are queued like this from the start. That check
/// costs two loads a turn: the turn is compared with a clock that advances every 10 ms. So a
/// shorter turn is now and then taken for a long one, with a probability in proportion to its
/// length. That does no harm.
///
/// From Multi-MLton's `inflate`, and its *penalty count*.
///
/// # Cancel safety
///
/// Nothing is lost if the future is dropped.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// let sum = lisle::spawn_task(async {
///     lisle::task::inflate().await;
///     (0..1_000_000_u64).sum::<u64>() // beside the spawner
/// });
/// assert_eq!(sum.join().unwrap(), 499_999_500_000);
/// ```
pub fn inflate() -> Inflate {
    Inflate { step: Step { taken: false } }
}

/// Lets others run before the awaiting task goes on. In any other future it lets the executor have
/// a turn.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// let task = lisle::spawn_task(async {
///     lisle::task::yield_now().await;
///     "later"
/// });
/// assert_eq!(task.join().unwrap(), "later");
/// ```
#[track_caller]
pub fn yield_now() -> YieldNow {
    YieldNow {
        step: Step { taken: false },
        #[cfg(feature = "model")]
        site: std::panic::Location::caller(),
    }
}

/// The future of [`inflate`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Inflate {
    step: Step,
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct YieldNow {
    step: Step,
    #[cfg(feature = "model")]
    site: &'static std::panic::Location<'static>,
}

/// A future that is pending once, and wakes itself.
#[derive(Debug)]
struct Step {
    taken: bool,
}

impl Step {
    fn poll(&mut self, context: &Context<'_>, leave: impl FnOnce(&Recycled)) -> Poll<()> {
        if std::mem::replace(&mut self.taken, true) {
            return Poll::Ready(());
        }
        if let Some(task) = current() {
            // SAFETY: the task runs this code.
            leave(unsafe { &task.as_ref().recycled });
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Future for Inflate {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.step.poll(context, Recycled::leave)
    }
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        #[cfg(feature = "model")]
        if let Some(task) = current().filter(|_| !self.step.taken) {
            with_current(|worker| {
                worker.into_iter().for_each(|worker| worker.task_asks_again(task, self.site))
            });
        }
        self.step.poll(context, |_| ())
    }
}
