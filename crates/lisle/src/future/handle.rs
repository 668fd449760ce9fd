//! Futures that run in fibers of their own.

use super::drive;
use crate::Event;
use crate::event::{awaitable, forwarded};
use crate::fiber::{self, JoinError, JoinHandle};
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};

/// Runs `future` in a fiber of its own, on the current runtime, or on the default one if the caller
/// is outside any runtime.
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
/// The future must be `Send`, since its fiber may start on another thread. A future that is not
/// `Send` can be created in the fiber:
///
/// ```
/// let fiber = lisle::spawn(|| {
///     let local = std::rc::Rc::new(1);
///     lisle::future::block_on(async move { *local })
/// });
/// assert_eq!(fiber.join().unwrap(), 1);
/// ```
///
/// ```compile_fail
/// let local = std::rc::Rc::new(1);
/// lisle::future::spawn(async move { drop(local) });
/// ```
///
/// # Panics
///
/// Panics where [`lisle::spawn`](crate::spawn()) does.
#[track_caller]
pub fn spawn<F>(future: F) -> FutureHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let fiber = crate::spawn(move || drive(pin!(future), Some(fiber::cancelled_evt())));
    FutureHandle { fiber: Some(fiber) }
}

/// A handle to a future's result, returned by [`spawn`].
///
/// **Dropping the handle cancels the future**, as [`cancel`](FutureHandle::cancel) does, because no
/// code can want its result any more. [`detach`](FutureHandle::detach) lets the future continue.
/// (Dropping the handle of a fiber detaches the fiber instead: a fiber cannot be ended from outside,
/// and a future can, wherever it waits.)
#[must_use = "dropping the handle cancels the future"]
pub struct FutureHandle<T> {
    /// `None` only after `detach` or `drop` has taken it.
    fiber: Option<JoinHandle<Option<T>>>,
}

impl<T> FutureHandle<T> {
    fn fiber(&self) -> &JoinHandle<Option<T>> {
        self.fiber.as_ref().expect("only `detach` and `drop` take it")
    }

    /// Returns the event of the future's end, which gives the result.
    ///
    /// The result can be taken once. A second performance gives an error that says that it has been
    /// taken.
    ///
    /// # Errors
    ///
    /// The event gives an error if the future has panicked (the error holds the payload), if it has
    /// been cancelled, or if its fiber's runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Waiting takes nothing. The performance that completes takes the result. If a performance
    /// loses, the future continues.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::{Event, future};
    ///
    /// lisle::run(|| {
    ///     let sum = future::spawn(async { 1 + 1 });
    ///     assert_eq!(sum.join_evt().sync().unwrap(), 2);
    ///     assert!(sum.join_evt().sync().is_err()); // the result has been taken
    /// });
    /// ```
    pub fn join_evt(&self) -> FutureEvt<'_, T> {
        FutureEvt { joined: self.fiber().join_evt() }
    }

    /// Waits for the future's result as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`join_evt`](FutureHandle::join_evt).
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::future;
    ///
    /// lisle::run(|| {
    ///     assert_eq!(future::spawn(async { 1 + 1 }).join().unwrap(), 2);
    ///
    ///     let fails = future::spawn(async { "x".parse::<u32>().unwrap() });
    ///     assert!(fails.join().unwrap_err().is_panic());
    /// });
    /// ```
    pub fn join(self) -> Result<T, JoinError> {
        self.join_evt().sync()
    }

    /// Cancels the future. The future is dropped where it waits, or where it next waits or lets
    /// other fibers run. If the future is done before that, its result stays.
    ///
    /// The future is dropped in its fiber, and this function does not wait for the drop. Wait for
    /// [`join_evt`](FutureHandle::join_evt) to know when the future has been dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::future;
    ///
    /// lisle::run(|| {
    ///     let (tx, rx) = lisle::channel::<u32>();
    ///     let waits = future::spawn(async move { rx.recv_evt().await });
    ///     waits.cancel();
    ///     assert!(waits.join().unwrap_err().is_cancelled());
    ///     assert!(tx.send(1).is_err()); // the receiver was dropped with the future
    /// });
    /// ```
    pub fn cancel(&self) {
        self.fiber().cancel();
    }

    /// Lets the future continue without a handle.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::future;
    ///
    /// lisle::run(|| {
    ///     let (tx, rx) = lisle::channel();
    ///     future::spawn(async move { tx.send_evt(7).await }).detach();
    ///     assert_eq!(rx.recv(), Ok(7));
    ///
    ///     let (tx, rx) = lisle::channel::<u32>();
    ///     let idle = future::spawn(async move { (std::future::pending::<()>().await, tx) });
    ///     drop(idle); // cancels it
    ///     assert!(rx.recv().is_err());
    /// });
    /// ```
    pub fn detach(mut self) {
        self.fiber = None;
    }

    /// Returns `true` if the future is done or has been dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::{Event, future};
    ///
    /// lisle::run(|| {
    ///     let (tx, rx) = lisle::channel();
    ///     let answer = future::spawn(async move { rx.recv_evt().await });
    ///     assert!(!answer.is_finished());
    ///     tx.send(7).unwrap();
    ///     assert_eq!(answer.join_evt().sync().unwrap(), Ok(7)); // waits; do not ask in a loop
    ///     assert!(answer.is_finished());
    /// });
    /// ```
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

/// The event of a future's end, returned by [`FutureHandle::join_evt`].
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

awaitable!(['a, T] FutureEvt<'a, T>, single);
