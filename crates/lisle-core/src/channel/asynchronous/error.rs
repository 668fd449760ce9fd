//! The errors of asynchronous sends and receives.

use super::begun::Outcome;
use std::error::Error;
use std::fmt;

/// An error of an asynchronous send. It contains the message that was not sent.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AsyncSendError<T> {
    /// The channel is closed.
    Closed(T),
    /// The send was taken back.
    Cancelled(T),
    /// The message was not sent and was already returned to an earlier caller.
    Taken,
}

impl<T> AsyncSendError<T> {
    /// Returns the message, unless it was already returned.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// let (tx, _rx) = lisle::channel();
    /// let send = tx.send_async(String::from("message"));
    /// send.cancel();
    /// let error = send.join().unwrap_err();
    /// assert_eq!(error.into_inner().as_deref(), Some("message"));
    /// ```
    pub fn into_inner(self) -> Option<T> {
        match self {
            AsyncSendError::Closed(message) | AsyncSendError::Cancelled(message) => Some(message),
            AsyncSendError::Taken => None,
        }
    }
}

impl<T> fmt::Debug for AsyncSendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AsyncSendError::Closed(_) => "Closed(..)",
            AsyncSendError::Cancelled(_) => "Cancelled(..)",
            AsyncSendError::Taken => "Taken",
        })
    }
}

impl<T> fmt::Display for AsyncSendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AsyncSendError::Closed(_) => "sending on a closed channel",
            AsyncSendError::Cancelled(_) => "the send was cancelled before a receiver had taken the message",
            AsyncSendError::Taken => "the message that was not sent has been given back already",
        })
    }
}

impl<T> Error for AsyncSendError<T> {}

/// An error of an asynchronous receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AsyncRecvError {
    /// The channel is closed, and everything in it has been received.
    Closed,
    /// The receive was cancelled, or its runtime has ended.
    Cancelled,
    /// The message has been taken already.
    Taken,
}

impl fmt::Display for AsyncRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AsyncRecvError::Closed => "receiving on a channel that is closed and empty",
            AsyncRecvError::Cancelled => "the receive was cancelled before there was a message",
            AsyncRecvError::Taken => "the message has been taken already",
        })
    }
}

impl Error for AsyncRecvError {}

impl<T: Send + 'static> Outcome for Result<T, AsyncRecvError> {
    fn again(&self) -> Self {
        Err(self.as_ref().err().copied().unwrap_or(AsyncRecvError::Taken))
    }
}
