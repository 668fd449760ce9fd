//! A socket whose every wait ends: by the client, by a deadline, or by being told to.

use std::io::{self, ErrorKind, IoSlice};
use std::time::{Duration, Instant};

use lisle::net::TcpStream;
use lisle::sync::Condition;
use lisle::time::at;
use lisle::{Event, choose};

/// How much of a response a client must take within the write timeout. It keeps a slow line alive and ends the wait for
/// a client that takes a byte now and then to hold its connection.
const PROGRESS: usize = 64 * 1024;

/// Why there is nothing more to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The deadline has passed.
    Late,
    /// The signal that was waited for beside has been given.
    Told,
    /// The connection has broken.
    Gone,
}

/// Waits until there is something to read.
pub(crate) fn wait_readable(stream: &TcpStream, deadline: Instant, signal: &Condition) -> Result<(), Stop> {
    choose((
        stream.readable_evt().wrap(|readable| readable.map_err(|_| Stop::Gone)),
        at(deadline).wrap(|()| Err(Stop::Late)),
        signal.wait_evt().wrap(|()| Err(Stop::Told)),
    ))
    .sync()
}

/// Reads some bytes; 0 means that the client has finished sending.
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

/// Reads what is there; `None` if that is nothing yet.
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

/// Writes both parts, one after the other, in one system call if the socket takes them. Says how many bytes went out,
/// whether or not that was all.
pub(crate) fn write(
    stream: &TcpStream,
    parts: [&[u8]; 2],
    patience: Duration,
    signal: &Condition,
) -> (usize, Result<(), Stop>) {
    let total = parts[0].len() + parts[1].len();
    let mut written = 0;
    // The clock is read only once there is something to wait for.
    let mut deadline = None;
    let mut progress = 0;
    while written < total {
        match write_some(stream, parts, written) {
            Ok(0) => return (written, Err(Stop::Gone)),
            Ok(count) => {
                written += count;
                progress += count;
                if progress >= PROGRESS {
                    progress = 0;
                    deadline = None;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let deadline = *deadline.get_or_insert_with(|| Instant::now() + patience);
                let outcome = choose((
                    stream.writable_evt().wrap(|writable| writable.map_err(|_| Stop::Gone)),
                    at(deadline).wrap(|()| Err(Stop::Late)),
                    signal.wait_evt().wrap(|()| Err(Stop::Told)),
                ))
                .sync();
                if let Err(stop) = outcome {
                    return (written, Err(stop));
                }
            }
            Err(_) => return (written, Err(Stop::Gone)),
        }
    }
    (written, Ok(()))
}

/// Writes once, from position `from` of the two parts together.
fn write_some(stream: &TcpStream, [first, second]: [&[u8]; 2], from: usize) -> io::Result<usize> {
    if from >= first.len() {
        stream.try_write(&second[from - first.len()..])
    } else if second.is_empty() {
        stream.try_write(&first[from..])
    } else {
        stream.try_write_vectored(&[IoSlice::new(&first[from..]), IoSlice::new(second)])
    }
}
