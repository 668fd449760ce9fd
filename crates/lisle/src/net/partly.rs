//! Reading and writing of many bytes within a limit of time.

use super::pollable::is_interrupted;
use std::error::Error;
use std::fmt;
use std::io;
use std::time::Instant;

/// The error of an operation on many bytes that ran out of time, and has done a part.
///
/// It is inside of the [`io::Error`] of the kind [`TimedOut`](io::ErrorKind::TimedOut) that
/// [`write_all_within`](super::TcpStream::write_all_within) and
/// [`read_exact_within`](super::TcpStream::read_exact_within) return.
///
/// ```
/// use lisle::net::{PartlyDone, pipe};
/// use std::{io::Write, time::Duration};
///
/// let (reader, mut writer) = pipe()?;
/// writer.write_all(b"ab")?;
/// let mut buffer = [0; 4];
/// let late = reader.read_exact_within(&mut buffer, Duration::from_millis(1)).unwrap_err();
/// assert_eq!(PartlyDone::of(&late).unwrap().bytes(), 2);
/// assert_eq!(&buffer[..2], b"ab");
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartlyDone {
    bytes: usize,
    of: usize,
}

impl PartlyDone {
    /// Returns the `PartlyDone` in `error`, if there is one.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<PartlyDone> {
        error.get_ref()?.downcast_ref().copied()
    }

    /// Returns how many bytes have been read or written.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl fmt::Display for PartlyDone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the operation ran out of time after {} of {} bytes", self.bytes, self.of)
    }
}

impl Error for PartlyDone {}

/// Does an operation on `of` bytes in pieces. `piece` goes on from a number of bytes, until the
/// deadline at most, and returns how many more bytes it has done. If these are 0, `ended` is the error.
pub(super) fn in_pieces(
    of: usize,
    deadline: Instant,
    ended: io::ErrorKind,
    mut piece: impl FnMut(usize, Instant) -> io::Result<usize>,
) -> io::Result<()> {
    let mut bytes = 0;
    while bytes < of {
        match piece(bytes, deadline) {
            Ok(0) => return Err(ended.into()),
            Ok(more) => bytes += more,
            Err(error) if is_interrupted(&error) => {}
            // A deadline around the call has an error of its own.
            Err(error) if error.kind() == io::ErrorKind::TimedOut && error.get_ref().is_none() => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, PartlyDone { bytes, of }));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
