//! The lines of a reader that blocks.

use super::line_buffer::LineBuffer;
use crate::channel::{self, Receiver};
use crate::event::cannot_be_checked;
use crate::threads;
use std::io::{self, Read};

/// The length of the longest line.
const LIMIT: usize = 1024 * 1024;

/// Starts a thread, `lisle-lines`, that reads `reader` and sends its lines on a channel with room for
/// `capacity` lines. When the channel is full, the thread waits, so no line is lost and memory is
/// bounded.
///
/// This is for readers without an event: standard input, files, foreign readers. Lines are
/// as for [`Lines`](super::Lines): up to 1 MiB, without their endings. A line that is too long or
/// not UTF-8 becomes an error of the kind `InvalidData`, and is skipped. Any other error is the
/// last message. At the end the channel is closed.
///
/// **When all receivers are gone**, the thread ends with the next line that it reads. Until then it
/// is blocked in `read` and keeps the reader, because a blocking read cannot be interrupted. The
/// end of the process does not wait for this thread.
///
/// ```
/// use lisle::{Event, choose, time::after};
/// use std::time::Duration;
///
/// # fn main() -> std::io::Result<()> {
/// let lines = lisle::io::lines_of(std::fs::File::open("LICENSE-MIT")?, 16)?;
/// let first = choose((
///     lines.recv_evt().wrap(Result::ok),
///     after(Duration::from_secs(60)).wrap(|()| None),
/// ));
/// assert_eq!(first.sync().unwrap()?, "MIT License");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns an error if the system cannot start a thread.
#[track_caller]
pub fn lines_of(
    mut reader: impl Read + Send + 'static,
    capacity: usize,
) -> io::Result<Receiver<io::Result<String>>> {
    let why = "a thread of its own reads it";
    cannot_be_checked("a reader of lines", why, "Put a fiber that sends lines in its place");
    let (sender, receiver) = channel::bounded(capacity);
    let serve = move || {
        let mut buffer = LineBuffer::new(LIMIT);
        loop {
            let sent = match buffer.take() {
                Some(Ok(None)) => return,
                Some(Ok(Some(line))) => sender.send(Ok(line)),
                Some(Err(error)) => sender.send(Err(error)),
                None => match buffer.fill(|room| reader.read(room)) {
                    Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                        // If no receiver is left, the error is dropped.
                        let _ = sender.send(Err(error));
                        return;
                    }
                    _ => Ok(()),
                },
            };
            if sent.is_err() {
                return;
            }
        }
    };
    threads::start("lisle-lines", "a reader that blocks", serve)?;
    Ok(receiver)
}
