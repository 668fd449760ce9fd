//! Reads from a socket. Every wait for a client that sends ends, by the client, by a deadline, or
//! by a signal. [`Outflow`](super::outflow::Outflow) is the other direction.

use std::io::ErrorKind;
use std::time::Instant;

use lisle::net::TcpStream;
use lisle::sync::Condition;
use lisle::time::at;
use lisle::{Event, choose};

/// The reason why a wait has ended without success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The deadline has passed.
    Late,
    /// The signal was given.
    Told,
    /// The connection has broken.
    Gone,
}

/// Waits until the socket is readable.
pub(crate) fn wait_readable(stream: &TcpStream, deadline: Instant, signal: &Condition) -> Result<(), Stop> {
    choose((
        stream.readable_evt().wrap(|readable| readable.map_err(|_| Stop::Gone)),
        at(deadline).wrap(|()| Err(Stop::Late)),
        signal.wait_evt().wrap(|()| Err(Stop::Told)),
    ))
    .sync()
}

/// Reads some bytes. Returns 0 if the client has finished sending.
pub(crate) fn read(
    stream: &TcpStream,
    room: &mut [u8],
    deadline: Instant,
    signal: &Condition,
) -> Result<usize, Stop> {
    loop {
        match try_read(stream, room)? {
            Some(count) => return Ok(count),
            None => wait_readable(stream, deadline, signal)?,
        }
    }
}

/// Reads the bytes that are available. Returns `None` if there are none yet.
pub(crate) fn try_read(stream: &TcpStream, room: &mut [u8]) -> Result<Option<usize>, Stop> {
    loop {
        match stream.try_read(room) {
            Ok(count) => return Ok(Some(count)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(Stop::Gone),
        }
    }
}
