//! Futures in fibers of their own.

use super::drive;
use crate::event::{Event, awaitable, forwarded};
use crate::fiber::{self, JoinError, JoinHandle};
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};

/// Runs `future` in a fiber of its own, on the current runtime or, outside any, on the default one.
///
/// ```
/// use lisle::Event;
///
/// lisle::run(|| {
///     let sum = lisle::future::spawn(async { 1 + 1 });
///     assert_eq!(sum.join_evt().sync().unwrap(), 2);
/// });
/// ```
///
/// The future must be `Send`, since its fiber may begin on another thread. One that is not can be made there:
///
/// ```
/// let fiber = lisle::spawn(|| {
///     let local = std::rc::Rc::new(1);
///     lisle::future::block_on(async move { *local })
/// });
/// assert_eq!(fiber.join().unwrap(), 1);
/// ```
///
/// ```compile_fail,E0277
/// let local = std::rc::Rc::new(1);
/// lisle::future::spawn(async move { drop(local) });
/// ```
///
/// # Panics
///
/// As [`lisle::spawn`](crate::spawn()).
#[track_caller]
pub fn spawn<F>(future: F) -> FutureHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let fiber = fiber::spawn(move || drive(pin!(future), Some(fiber::cancelled_evt())));
    FutureHandle { fiber: Some(fiber) }
}

/// The right to a future's result, see [`spawn`].
///
/// **Dropping it cancels the future**, as [`cancel`](FutureHandle::cancel) does: nobody can want its result any more.
/// To let it go on, [`detach`](FutureHandle::detach) it. (The handle of a fiber does the opposite. A fiber cannot be
/// ended from outside, a future can, at any point where it waits.)
#[must_use = "dropping the handle cancels the future"]
pub struct FutureHandle<T> {
    /// Only `detach` and `drop` take it.
    fiber: Option<JoinHandle<Option<T>>>,
}

impl<T> FutureHandle<T> {
    fn fiber(&self) -> &JoinHandle<Option<T>> {
        self.fiber.as_ref().expect("only `detach` and `drop` take it")
    }

    /// The event of the future being done, or dropped; it gives the result.
    ///
    /// The result can be had once: a second performance gives an error that says so.
    ///
    /// # Errors
    ///
    /// The future has panicked (the error holds the payload), it has been cancelled, or its fiber's runtime has
    /// shut down.
    ///
    /// # Cancel safety
    ///
    /// Waiting takes nothing: the result is taken by the performance that completes, and one that loses leaves the
    /// future going on.
    pub fn join_evt(&self) -> FutureEvt<'_, T> {
        FutureEvt { joined: self.fiber().join_evt() }
    }

    /// Waits for the future's result, as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// As [`join_evt`](FutureHandle::join_evt).
    pub fn join(self) -> Result<T, JoinError> {
        self.join_evt().sync()
    }

    /// Has the future dropped, where it waits or when it next does, without waiting for that. If it is done
    /// first, its result stays.
    ///
    /// It is dropped in its fiber. To know when, wait for [`join_evt`](FutureHandle::join_evt).
    pub fn cancel(&self) {
        self.fiber().cancel();
    }

    /// Lets the future go on without a handle.
    pub fn detach(mut self) {
        self.fiber = None;
    }

    /// Is the future done, or dropped?
    pub fn is_finished(&self) -> bool {
        self.fiber().is_finished()
    }
}

impl<T> Drop for FutureHandle<T> {
    fn drop(&mut self) {
        if let Some(fiber) = &self.fiber {
            fiber.cancel();
        }
    }
}

impl<T> fmt::Debug for FutureHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FutureHandle").field("fiber", &self.fiber).finish()
    }
}

/// The event of a future being done, see [`FutureHandle::join_evt`].
#[must_use = "events do nothing unless performed"]
pub struct FutureEvt<'a, T> {
    joined: fiber::JoinEvt<'a, Option<T>>,
}

impl<'a, T> Event for FutureEvt<'a, T> {
    type Output = Result<T, JoinError>;
    forwarded!(joined: fiber::JoinEvt<'a, Option<T>>);
    forwarded!(describe joined);

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Result<T, JoinError> {
        self.joined.complete(branch)?.ok_or_else(|| self.joined.cancelled())
    }
}

impl<T> fmt::Debug for FutureEvt<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FutureEvt").field(&self.joined).finish()
    }
}

awaitable!(['a, T] FutureEvt<'a, T>);
