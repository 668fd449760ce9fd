//! The errors of a world, and the streams that they name.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// The origin of a stream: its name if it has one, the place in the program where it was made, and
/// its position among the streams made there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    pub(crate) name: Option<&'static str>,
    pub(crate) ordinal: usize,
    pub(crate) site: &'static Location<'static>,
}

impl Origin {
    /// Returns the name that the stream was given, if any.
    pub fn name(&self) -> Option<&'static str> {
        self.name
    }
    /// Returns where the stream was made.
    pub fn site(&self) -> &'static Location<'static> {
        self.site
    }
    /// Returns the position of the stream among the streams that are made at its place, from 0.
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => write!(f, "stream '{name}'")?,
            None => write!(f, "a stream")?,
        }
        if self.ordinal > 0 {
            write!(f, " (number {})", self.ordinal)?;
        }
        write!(f, " made at {}", self.site)
    }
}

/// Why a stream has no value to give in this frame.
#[derive(Clone, PartialEq, Eq)]
pub struct StreamError(Arc<Failure>);

/// The kinds of [`StreamError`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The body has panicked, with this message.
    Panicked(Origin, String),
    /// The stream reads a stream that has failed, directly or through other streams.
    Read {
        /// The stream that has read.
        reader: Origin,
        /// The first failure.
        cause: StreamError,
    },
    /// The stream has awaited a foreign call that failed.
    Called(Origin, ForeignCallError),
    /// The streams wait for each other within one frame: each for the next, and the last for the
    /// first.
    Cycle(Vec<Origin>),
    /// The stream was removed, or its owner was.
    Removed {
        /// The stream.
        stream: Origin,
        /// Whether the stream was removed because the body that made it has run again, as some
        /// bodies do in each frame. This is known until another stream takes the same place in
        /// memory; after that it is `false`.
        maker_ran_again: bool,
    },
    /// The stream was made after the last frame, or in it, and has not run yet.
    NotRun(Origin),
    /// The stream has not given a value yet. (Streams that live over frames are made with a
    /// value.)
    NoValue(Origin),
    /// A stream that is not [cosmetic](crate::Here::cosmetic) has read a cosmetic stream.
    Cosmetic {
        /// The stream that has read.
        reader: Origin,
        /// The stream that is left out of snapshots.
        stream: Origin,
    },
    /// The handle belongs to another world.
    OtherWorld,
    /// The stream was read outside of a frame of its world, by polling a future by hand.
    Outside,
}

impl StreamError {
    pub(crate) fn new(failure: Failure) -> StreamError {
        StreamError(Arc::new(failure))
    }

    /// Returns the kind of the error.
    pub fn failure(&self) -> &Failure {
        &self.0
    }

    /// Returns the stream that has read a cosmetic stream, if this is the error.
    pub(crate) fn reader(&self) -> Option<&Origin> {
        match self.failure() {
            Failure::Cosmetic { reader, .. } => Some(reader),
            _ => None,
        }
    }

    /// Returns the first error: the error of the stream that failed by itself.
    pub fn root(&self) -> &StreamError {
        match self.failure() {
            Failure::Read { cause, .. } => cause,
            _ => self,
        }
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.failure() {
            Failure::Panicked(origin, message) => write!(f, "{origin} has panicked: {message}"),
            Failure::Read { reader, .. } => {
                write!(f, "{reader} has read a stream that has failed: {}", self.root())
            }
            Failure::Called(origin, error) => write!(f, "{origin} has failed: {error}"),
            Failure::Cycle(streams) => {
                f.write_str("streams read each other in a circle within one frame: ")?;
                for origin in streams {
                    write!(f, "{origin}, which reads ")?;
                }
                f.write_str(
                    "the first again; have one of them read the last value of another: `previous`, or `delay` \
                     if that stream is made later",
                )
            }
            Failure::Removed { stream, maker_ran_again: false } => write!(f, "{stream} was removed"),
            Failure::Removed { stream, maker_ran_again: true } => {
                write!(f, "{stream} was removed, because the body that made it has run again")
            }
            Failure::NotRun(origin) => write!(f, "{origin} has not run yet; run a frame first"),
            Failure::NoValue(origin) => {
                write!(f, "{origin} has given no value yet; make it by `live`, with a first value")
            }
            Failure::Cosmetic { reader, stream } => write!(
                f,
                "{reader} has read {stream}, which is cosmetic; a stream that is in snapshots cannot depend on a \
                 stream that is not"
            ),
            Failure::OtherWorld => f.write_str("the stream belongs to another world"),
            Failure::Outside => {
                f.write_str("a stream can be awaited only in the body of a stream, in a frame of its world")
            }
        }
    }
}

/// Writes the same text as `Display`: a program whose `main` returns the error prints its `Debug` form.
impl fmt::Debug for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for StreamError {}

/// Why a foreign call has no result.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForeignCallError {
    /// The function has panicked.
    Panicked {
        /// The name of the function.
        function: &'static str,
        /// The panic's message.
        message: String,
    },
    /// The function did not return before the deadline of its class, which is
    /// [`Deadline::Cancel`](crate::Deadline::Cancel).
    Deadline {
        /// The name of the function.
        function: &'static str,
    },
    /// The call was made outside of a frame, by polling its future by hand.
    Outside,
}

impl fmt::Display for ForeignCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ForeignCallError::Panicked { function, message } => {
                write!(f, "the foreign function '{function}' has panicked: {message}")
            }
            ForeignCallError::Deadline { function } => {
                write!(f, "the foreign function '{function}' has not returned before its deadline")
            }
            ForeignCallError::Outside => {
                f.write_str("a foreign call can be awaited only in the body of a stream, in a frame")
            }
        }
    }
}

/// Writes the same text as `Display`: a program whose `main` returns the error prints its `Debug` form.
impl fmt::Debug for ForeignCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ForeignCallError {}
