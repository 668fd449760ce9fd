//! Running a command to its end.

use super::spawn;
use crate::event::{Event, choose};
use crate::net::PipeReader;
use std::io;
use std::process::{Command, ExitStatus, Output, Stdio};

/// How much is read at once.
const PIECE: usize = 16 * 1024;

/// Runs `command` to its end and collects what it writes. It reads nothing, unless the command says otherwise.
/// As [`Command::output`], but in a fiber only the fiber waits.
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
/// Those of [`spawn`] and of [`Child::wait_with_output`](super::Child::wait_with_output).
///
/// If the performer is unwound while it waits, the child goes on.
#[track_caller]
pub fn output(command: &mut Command) -> io::Result<Output> {
    spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()))?.wait_with_output()
}

/// Runs `command` to its end. As [`Command::status`], but in a fiber only the fiber waits.
///
/// # Errors
///
/// Those of [`spawn`] and of [`Child::wait`](super::Child::wait).
#[track_caller]
pub fn status(command: &mut Command) -> io::Result<ExitStatus> {
    spawn(command)?.wait()
}

/// Reads both to their ends, whichever has something: a child that fills one pipe while the other is
/// read would wait for ever.
pub(super) fn read_both(
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (mut stdout, mut stderr) = (Stream::new(stdout), Stream::new(stderr));
    while stdout.pipe.is_some() || stderr.pipe.is_some() {
        let (one, other) = (stdout.pipe.as_ref(), stderr.pipe.as_ref());
        let next = choose((
            one.map(PipeReader::readable_evt).wrap(|ready| ready.map(|()| true)),
            other.map(PipeReader::readable_evt).wrap(|ready| ready.map(|()| false)),
        ))
        .sync()?;
        if next { stdout.read()? } else { stderr.read()? }
    }
    Ok((stdout.bytes, stderr.bytes))
}

/// A pipe, until its end has been found, and what has come through it.
struct Stream {
    pipe: Option<PipeReader>,
    bytes: Vec<u8>,
}

impl Stream {
    fn new(pipe: Option<PipeReader>) -> Self {
        Stream { pipe, bytes: Vec::new() }
    }

    /// Reads a piece, of a pipe that looks ready.
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
