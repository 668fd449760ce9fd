//! What can go wrong on a channel, one small type for each operation. Those of sending give the message
//! back.

use std::error::Error;
use std::fmt;

/// The channel is closed. Gives the message back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// A message that could not be sent at once.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrySendError<T> {
    /// No receiver waits and no room is free.
    Full(T),
    /// The channel is closed.
    Closed(T),
}

/// A message that could not be sent in time.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendTimeoutError<T> {
    /// The time is over; nobody has taken the message.
    Timeout(T),
    /// The channel is closed.
    Closed(T),
}

/// A message made on commit that was not sent.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendWithError<T> {
    /// The channel is closed. The message, if it had been made by then, comes back.
    Closed(Option<T>),
    /// The receiver that was to get the message left while it was made (it was cancelled, its future was dropped), and
    /// nobody else could take it at once. The message comes back; the channel is open.
    Left(T),
}

/// The channel is closed, and everything in it has been received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecvError;

/// Nothing could be received at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TryRecvError {
    /// No sender waits and nothing is buffered.
    Empty,
    /// The channel is closed, and everything in it has been received.
    Closed,
}

/// Nothing could be received in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecvTimeoutError {
    /// The time is over; nothing was taken.
    Timeout,
    /// The channel is closed, and everything in it has been received.
    Closed,
}

impl<T> SendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> TrySendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        let (TrySendError::Full(message) | TrySendError::Closed(message)) = self;
        message
    }
}

impl<T> SendTimeoutError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        let (SendTimeoutError::Timeout(message) | SendTimeoutError::Closed(message)) = self;
        message
    }
}

impl<T> SendWithError<T> {
    /// The message, if it was made.
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
