//! Futures with a time limit.

use super::race::{Race, race};
use crate::event::{awaitable, forwarded, now};
use crate::fiber::JoinError;
use crate::time::after;
use lisle_core::Event;
use std::error::Error;
use std::fmt;
use std::future::IntoFuture;
use std::pin::Pin;
use std::time::Duration;

/// Runs a future, and cancels it after `limit`.
///
/// The future is a task, which begins before this returns. Dropping the returned handle cancels it,
/// too. To wait for a single event, a [`choose`](lisle_core::choose) with an [`after`] costs less,
/// and loses nothing.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::{channel, task::{TimeoutError, timeout}};
/// use std::time::Duration;
///
/// lisle::run(|| {
///     let (_tx, rx) = channel::<u32>();
///     let sum = async move { rx.recv_evt().await.unwrap() + rx.recv_evt().await.unwrap() };
///     assert!(matches!(timeout(Duration::from_millis(1), sum).join(), Err(TimeoutError::Elapsed)));
///     assert_eq!(timeout(Duration::from_secs(3_600), async { 1 + 1 }).join().unwrap(), 2);
/// });
/// ```
#[track_caller]
pub fn timeout<F>(limit: Duration, future: F) -> Timeout<F::Output>
where
    F: IntoFuture<Output: Send + 'static, IntoFuture: Send + 'static>,
{
    let began = now();
    let future = future.into_future();
    let elapsed = async move {
        after(limit.saturating_sub(Duration::from_nanos(now().saturating_sub(began)))).await;
        None
    };
    Timeout { race: race((async move { Some(future.await) }, elapsed)) }
}

/// The result of a future within a time, see [`timeout`], and the event of that result.
///
/// # Errors
///
/// [`TimeoutError::Elapsed`] if the time is over, [`TimeoutError::Ended`] if the future has
/// panicked or its runtime has ended.
#[must_use = "a future whose handle is dropped is cancelled"]
pub struct Timeout<T> {
    race: Race<Option<T>>,
}

impl<T: Send + 'static> Timeout<T> {
    /// Waits for the future, or the time, as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// As the [event](Timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::task::{TimeoutError, timeout};
    /// use std::time::Duration;
    ///
    /// let hour = Duration::from_secs(3_600);
    /// assert_eq!(timeout(hour, async { 1 + 1 }).join().unwrap(), 2);
    ///
    /// let fails = timeout(hour, async { "x".parse::<u32>().unwrap() });
    /// assert!(matches!(fails.join(), Err(TimeoutError::Ended(error)) if error.is_panic()));
    ///
    /// let slow = timeout(Duration::from_millis(1), std::future::pending::<u32>());
    /// assert!(matches!(slow.join(), Err(TimeoutError::Elapsed)));
    /// ```
    pub fn join(self) -> Result<T, TimeoutError> {
        self.sync()
    }

    /// Returns the event of the end, which is the handle itself.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Event, choose, sync::Condition, task::timeout};
    /// use std::time::Duration;
    ///
    /// let stop = Condition::new();
    /// let slow = timeout(Duration::from_secs(3_600), std::future::pending::<u32>());
    /// stop.signal();
    /// let outcome = choose((slow.join_evt().wrap(Result::ok), stop.wait_evt().wrap(|()| None)));
    /// assert_eq!(outcome.sync(), None); // stopped; dropping `slow` cancels the future
    /// ```
    pub fn join_evt(&self) -> &Self {
        self
    }
}

impl<T: Send + 'static> Event for Timeout<T> {
    type Output = Result<T, TimeoutError>;
    forwarded!(race: Race<Option<T>>);
    forwarded!(describe race);

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        self.race.complete(branch).map_err(TimeoutError::Ended)?.ok_or(TimeoutError::Elapsed)
    }
}

awaitable!([T: Send + 'static] Timeout<T>);
awaitable!(['a, T: Send + 'static] &'a Timeout<T>);

/// The reason why a future has no result within its time.
#[derive(Debug)]
#[non_exhaustive]
pub enum TimeoutError {
    /// The time is over.
    Elapsed,
    /// The future has panicked, its runtime has ended, or the answer has been taken already.
    Ended(JoinError),
}

impl fmt::Display for TimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeoutError::Elapsed => f.write_str("the time is over"),
            TimeoutError::Ended(error) => error.fmt(f),
        }
    }
}

impl Error for TimeoutError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            TimeoutError::Elapsed => None,
            TimeoutError::Ended(error) => Some(error),
        }
    }
}

impl<T> fmt::Debug for Timeout<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Timeout").field(&self.race).finish()
    }
}
