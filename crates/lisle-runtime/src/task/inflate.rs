//! Leaving the spawner's stack.

use super::current;
use crate::event::recycled::Recycled;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Makes of the task that awaits this a thread that is scheduled by itself: it goes on on whichever domain comes
/// first, and its spawner goes on at once.
///
/// For a task that finds out that it has much to do. It need not know: a task whose turn has lasted for about
/// 10 ms does the same at its next await of an event, and whoever has spawned it is charged: the next
/// ten tasks that it spawns are queued like this from the start. To find that out costs two loads a turn: the turn is
/// compared with a clock that moves on every 10 ms. So a shorter turn is taken for a long one now and then, in proportion
/// to how long it was; that is of no harm.
///
/// From Multi-MLton's `inflate`, and its *penalty count*.
///
/// # Cancel safety
///
/// Nothing is lost if it is dropped.
///
/// ```
/// let sum = lisle::spawn_task(async {
///     lisle::task::inflate().await;
///     (0..1_000_000_u64).sum::<u64>() // beside the spawner
/// });
/// assert_eq!(sum.join().unwrap(), 499_999_500_000);
/// ```
pub fn inflate() -> Inflate {
    Inflate { step: Step { taken: false } }
}

/// Lets others run before the task that awaits this goes on. In any other future it lets its executor have a turn.
///
/// ```
/// let task = lisle::spawn_task(async {
///     lisle::task::yield_now().await;
///     "later"
/// });
/// assert_eq!(task.join().unwrap(), "later");
/// ```
pub fn yield_now() -> YieldNow {
    YieldNow { step: Step { taken: false } }
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
}

/// One coming back to who polls, having been woken.
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
            // SAFETY: it is running this.
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
        self.step.poll(context, |_| ())
    }
}
