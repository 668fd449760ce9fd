//! Running a command to its end.

use super::spawn;
use crate::net::{PipeReader, waiting};
use crate::{Event, choose};
use std::io;
use std::process::{Command, ExitStatus, Output, Stdio};

/// The number of bytes of one read.
const PIECE: usize = 16 * 1024;

/// Runs `command` to its end and collects its output. Its standard input is empty. This is
/// [`Command::output`], except that in a fiber only the fiber waits.
///
/// ```
/// use std::process::Command;
///
/// # fn main() -> std::io::Result<()> {
/// let output = lisle::process::output(Command::new("echo").arg("hello"))?;
/// assert_eq!(output.stdout, b"hello\n");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`spawn`] and of
/// [`Child::wait_with_output`](super::Child::wait_with_output).
///
/// If the caller is unwound while it waits, the child continues.
#[track_caller]
pub fn output(command: &mut Command) -> io::Result<Output> {
    spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()))?.wait_with_output()
}

/// Runs `command` to its end. This is [`Command::status`], except that in a fiber only the fiber
/// waits.
///
/// # Errors
///
/// Returns the errors of [`spawn`] and of [`Child::wait`](super::Child::wait).
///
/// # Examples
///
/// ```
/// use lisle::process::status;
/// use std::io::ErrorKind;
/// use std::process::Command;
///
/// let failed = status(Command::new("sh").args(["-c", "exit 3"]))?; // no error, but a status
/// assert_eq!(failed.code(), Some(3));
/// let missing = status(&mut Command::new("there-is-no-such-program")).unwrap_err();
/// assert_eq!(missing.kind(), ErrorKind::NotFound);
/// # std::io::Result::Ok(())
/// ```
#[track_caller]
pub fn status(command: &mut Command) -> io::Result<ExitStatus> {
    spawn(command)?.wait()
}

/// Reads both pipes to their ends, always the one that is ready. If one of them were read first, a
/// child that fills the other would wait forever.
pub(super) fn read_both(
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (mut stdout, mut stderr) = (Stream::new(stdout), Stream::new(stderr));
    while stdout.pipe.is_some() || stderr.pipe.is_some() {
        let (one, other) = (stdout.pipe.as_ref(), stderr.pipe.as_ref());
        let next = waiting::wait(choose((
            one.map(PipeReader::readable_evt).wrap(|ready| ready.map(|()| true)),
            other.map(PipeReader::readable_evt).wrap(|ready| ready.map(|()| false)),
        )))??;
        if next { stdout.read()? } else { stderr.read()? }
    }
    Ok((stdout.bytes, stderr.bytes))
}

/// A pipe, until its end has been found, and the bytes that have come through it.
struct Stream {
    pipe: Option<PipeReader>,
    bytes: Vec<u8>,
}

impl Stream {
    fn new(pipe: Option<PipeReader>) -> Self {
        Stream { pipe, bytes: Vec::new() }
    }

    /// Reads a piece from a pipe that looks ready.
    fn read(&mut self) -> io::Result<()> {
        let Some(pipe) = &self.pipe else { return Ok(()) };
        let length = self.bytes.len();
        self.bytes.resize(length + PIECE, 0);
        let outcome = pipe.try_read(&mut self.bytes[length..]);
        self.bytes.truncate(length + outcome.as_ref().map_or(0, |&read| read));
        match outcome {
            Ok(0) => self.pipe = None,
            Ok(_) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
