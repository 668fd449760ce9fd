//! The handle of a child process.

use super::exit::{ExitEvt, Process, Watch};
use super::{output, reaper};
use crate::event::{Event, turn};
use crate::net::{PipeReader, PipeWriter};
use std::io;
use std::os::fd::OwnedFd;
use std::process::{ExitStatus, Output};

/// A child process.
///
/// Its standard streams, where they are piped, are [pipes](crate::net::pipe) that fibers, plain threads and
/// futures can wait for. Take them out, or use them in place.
///
/// **Dropping** it does not end the child, as with the standard library; unlike there, no zombie is left. See
/// [`kill_on_drop`](Child::kill_on_drop).
///
/// ```
/// use lisle::{Event, process};
/// use std::process::Command;
///
/// # fn main() -> std::io::Result<()> {
/// lisle::run(|| {
///     let child = process::spawn(Command::new("sh").args(["-c", "exit 3"]))?;
///     assert_eq!(child.exit_evt().sync()?.code(), Some(3));
///     Ok(())
/// })
/// # }
/// ```
#[derive(Debug)]
pub struct Child {
    /// What the child reads as its standard input, if that is piped.
    pub stdin: Option<PipeWriter>,
    /// What the child writes to its standard output, if that is piped.
    pub stdout: Option<PipeReader>,
    /// What the child writes to its standard error, if that is piped.
    pub stderr: Option<PipeReader>,
    kill_on_drop: bool,
    /// Only `drop` takes it.
    process: Option<Process>,
}

impl Child {
    /// Takes over a child of the standard library.
    ///
    /// # Errors
    ///
    /// The system is out of descriptors or threads. The child goes on, as one that is dropped.
    #[track_caller]
    pub fn from_std(child: std::process::Child) -> io::Result<Child> {
        Child::adopt(child).map_err(|(_, error)| error)
    }

    #[track_caller]
    pub(super) fn adopt(mut child: std::process::Child) -> Result<Child, (std::process::Child, io::Error)> {
        let pipes = (|| {
            let reader = |fd: OwnedFd| PipeReader::try_from(fd);
            Ok((
                child.stdin.take().map(|pipe| PipeWriter::try_from(OwnedFd::from(pipe))).transpose()?,
                child.stdout.take().map(|pipe| reader(pipe.into())).transpose()?,
                child.stderr.take().map(|pipe| reader(pipe.into())).transpose()?,
            ))
        })();
        let (stdin, stdout, stderr) = match pipes {
            Ok(pipes) => pipes,
            Err(error) => return Err((child, error)),
        };
        let process = Process::new(child, Watch::new)?;
        Ok(Child { stdin, stdout, stderr, kill_on_drop: false, process: Some(process) })
    }

    fn process(&self) -> &Process {
        self.process.as_ref().expect("only `drop` takes it")
    }

    /// Has the child killed when the handle is dropped, if `kill`. It is not, by itself.
    ///
    /// A fiber that is unwound when its runtime shuts down drops its handles too.
    #[must_use]
    pub fn kill_on_drop(mut self, kill: bool) -> Self {
        self.kill_on_drop = kill;
        self
    }

    /// The same child, with a name, for those who ask who waits.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        if let Some(process) = &mut self.process {
            process.label = process.label.clone().named(name);
        }
        self
    }

    /// The number of the process. Once its status has been collected the system may give it to another.
    pub fn id(&self) -> u32 {
        self.process().id
    }

    /// The event of the child having exited; it gives the status. Once ready it is ready for good, for all who
    /// wait and as often as one likes.
    ///
    /// Unlike [`wait`](Child::wait) it leaves the standard input open: drop `stdin` first if the child reads it to
    /// the end.
    ///
    /// # Errors
    ///
    /// The event gives an error if the status cannot be had: somebody else has collected it.
    ///
    /// # Cancel safety
    ///
    /// Waiting takes nothing, nor does a performance that has lost.
    pub fn exit_evt(&self) -> ExitEvt<'_> {
        self.process().exit_evt()
    }

    /// Closes the child's standard input, if it is still here, and waits for the exit as
    /// [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// As [`exit_evt`](Child::exit_evt).
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        self.exit_evt().sync()
    }

    /// The status, if the child has exited.
    ///
    /// # Errors
    ///
    /// As [`exit_evt`](Child::exit_evt).
    pub fn try_wait(&self) -> io::Result<Option<ExitStatus>> {
        let status = self.process().reap()?;
        Ok(turn::asked(status))
    }

    /// Has the system end the child, by `SIGKILL`. Does nothing if its status has been collected. Wait for the
    /// exit, it comes a little later.
    ///
    /// # Errors
    ///
    /// The system refuses: the child has changed its user.
    pub fn kill(&self) -> io::Result<()> {
        self.process().kill()
    }

    /// Closes the child's standard input, reads its standard output and error to their ends, at once, and waits
    /// for the exit. What is not piped comes out empty.
    ///
    /// # Errors
    ///
    /// Those of reading, and those of [`exit_evt`](Child::exit_evt).
    ///
    /// # Blocking
    ///
    /// Waits as [`Event::sync`] does. Children of the child that have inherited the pipes are waited for, too.
    pub fn wait_with_output(mut self) -> io::Result<Output> {
        drop(self.stdin.take());
        let (stdout, stderr) = output::read_both(self.stdout.take(), self.stderr.take())?;
        Ok(Output { status: self.wait()?, stdout, stderr })
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let Some(process) = self.process.take() else { return };
        if self.kill_on_drop {
            // It may have exited; else it is not ours to kill any more.
            let _ = process.kill();
        }
        reaper::leave(process);
    }
}

impl TryFrom<std::process::Child> for Child {
    type Error = io::Error;
    #[track_caller]
    fn try_from(child: std::process::Child) -> io::Result<Child> {
        Child::from_std(child)
    }
}
