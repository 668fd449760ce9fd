//! The errors of channels, one small type for each operation. The errors of sending return the
//! message.

use std::error::Error;
use std::fmt;

/// An error of sending: the channel is closed. It contains the message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// An error of sending without waiting. It contains the message.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrySendError<T> {
    /// No receiver waits and the buffer has no room.
    Full(T),
    /// The channel is closed.
    Closed(T),
}

/// An error of sending with a timeout. It contains the message.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendTimeoutError<T> {
    /// The time is over, and no receiver has taken the message.
    Timeout(T),
    /// The channel is closed.
    Closed(T),
}

/// An error of sending a message that is made on commit.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendWithError<T> {
    /// The channel is closed. The message is returned if it had been made by then.
    Closed(Option<T>),
    /// The receiver that was to get the message left while it was made (it was cancelled, or its
    /// future was dropped), and no other receiver could take it at once. The message is returned;
    /// the channel is open.
    Left(T),
}

/// An error of receiving: the channel is closed, and everything in it has been received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecvError;

/// An error of receiving without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TryRecvError {
    /// No sender waits and nothing is buffered.
    Empty,
    /// The channel is closed, and everything in it has been received.
    Closed,
}

/// An error of receiving with a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecvTimeoutError {
    /// The time is over, and no message was taken.
    Timeout,
    /// The channel is closed, and everything in it has been received.
    Closed,
}

impl<T> SendError<T> {
    /// Returns the message.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// let (tx, rx) = lisle::channel();
    /// drop(rx);
    /// let refused = tx.send(String::from("message")).unwrap_err();
    /// assert_eq!(refused.to_string(), "sending on a closed channel");
    /// assert_eq!(refused.into_inner(), "message");
    /// ```
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> TrySendError<T> {
    /// Returns the message.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// let (tx, _rx) = lisle::channel();
    /// let refused = tx.try_send(String::from("message")).unwrap_err();
    /// assert_eq!(refused.into_inner(), "message"); // whichever of the errors it was
    /// ```
    pub fn into_inner(self) -> T {
        let (TrySendError::Full(message) | TrySendError::Closed(message)) = self;
        message
    }
}

impl<T> SendTimeoutError<T> {
    /// Returns the message.
    pub fn into_inner(self) -> T {
        let (SendTimeoutError::Timeout(message) | SendTimeoutError::Closed(message)) = self;
        message
    }
}

impl<T> SendWithError<T> {
    /// Returns the message if it was made.
    pub fn into_inner(self) -> Option<T> {
        match self {
            SendWithError::Closed(message) => message,
            SendWithError::Left(message) => Some(message),
        }
    }
}

const CLOSED_TO_SEND: &str = "sending on a closed channel";
const CLOSED_TO_RECEIVE: &str = "receiving on a channel that is closed and empty";

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendError(..)")
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, TrySendError::Full(_)) { "Full(..)" } else { "Closed(..)" })
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, SendTimeoutError::Timeout(_)) { "Timeout(..)" } else { "Closed(..)" })
    }
}

impl<T> fmt::Debug for SendWithError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, SendWithError::Left(_)) { "Left(..)" } else { "Closed(..)" })
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CLOSED_TO_SEND)
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "sending on a full channel",
            TrySendError::Closed(_) => CLOSED_TO_SEND,
        })
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendTimeoutError::Timeout(_) => "sending took too long",
            SendTimeoutError::Closed(_) => CLOSED_TO_SEND,
        })
    }
}

impl<T> fmt::Display for SendWithError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendWithError::Closed(_) => CLOSED_TO_SEND,
            SendWithError::Left(_) => "sending to a receiver that has left",
        })
    }
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CLOSED_TO_RECEIVE)
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryRecvError::Empty => "receiving on an empty channel",
            TryRecvError::Closed => CLOSED_TO_RECEIVE,
        })
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RecvTimeoutError::Timeout => "receiving took too long",
            RecvTimeoutError::Closed => CLOSED_TO_RECEIVE,
        })
    }
}

impl<T> Error for SendError<T> {}
impl<T> Error for TrySendError<T> {}
impl<T> Error for SendTimeoutError<T> {}
impl<T> Error for SendWithError<T> {}
impl Error for RecvError {}
impl Error for TryRecvError {}
impl Error for RecvTimeoutError {}
