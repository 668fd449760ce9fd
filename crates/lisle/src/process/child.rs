//! The handle of a child process.

use super::exit::{ExitEvt, Process, Watch};
use super::{output, reaper};
use crate::event::{cannot_be_checked, turn};
use crate::net::{PipeReader, PipeWriter, waiting};
use std::io;
use std::os::fd::OwnedFd;
use std::process::{ExitStatus, Output};

/// A child process.
///
/// Standard streams that are piped are Lisle's [pipes](crate::net::pipe): fibers, plain threads and
/// futures can wait for them. The pipes can be taken out or used in place.
///
/// **Dropping** the handle does not end the child, as in the standard library. Unlike the standard
/// library, it leaves no zombie. See [`kill_on_drop`](Child::kill_on_drop).
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
    /// The child's standard input, if it is piped.
    pub stdin: Option<PipeWriter>,
    /// The child's standard output, if it is piped.
    pub stdout: Option<PipeReader>,
    /// The child's standard error, if it is piped.
    pub stderr: Option<PipeReader>,
    kill_on_drop: bool,
    /// `None` only after `drop` has taken it.
    process: Option<Process>,
}

impl Child {
    /// Takes over a child of the standard library.
    ///
    /// # Errors
    ///
    /// Returns an error if the system is out of descriptors or threads. The child continues, as after
    /// the drop of its handle.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::{Event, process::Child};
    /// use std::process::{Command, Stdio};
    ///
    /// let std = Command::new("cat").stdin(Stdio::piped()).spawn()?;
    /// let mut child = Child::from_std(std)?;
    /// drop(child.stdin.take()); // the handle has the pipes of the child
    /// assert!(child.exit_evt().sync()?.success());
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn from_std(child: std::process::Child) -> io::Result<Child> {
        cannot_be_checked("a child process", "it runs outside of the program", "Put a fiber in its place");
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

    /// Sets whether the child is killed when the handle is dropped. The default is `false`.
    ///
    /// A fiber that is unwound when its runtime shuts down drops its handles, too.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::Read;
    /// use std::process::{Command, Stdio};
    ///
    /// let mut command = Command::new("sleep");
    /// let child = lisle::process::spawn(command.arg("600").stdout(Stdio::piped()))?;
    /// let mut child = child.kill_on_drop(true);
    /// let mut output = child.stdout.take().unwrap();
    /// drop(child);
    /// assert_eq!(output.read(&mut [0; 8])?, 0); // the end: the child has been killed
    /// # std::io::Result::Ok(())
    /// ```
    #[must_use]
    pub fn kill_on_drop(mut self, kill: bool) -> Self {
        self.kill_on_drop = kill;
        self
    }

    /// Sets the name of the child in descriptions of waits.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::{Event, Runtime, fiber, process};
    /// use std::process::Command;
    ///
    /// let child = process::spawn(Command::new("sleep").arg("600"))?.named("sleeper");
    /// Runtime::builder().domains(1).run(|| {
    ///     fiber::scope(|scope| {
    ///         scope.spawn(|| child.exit_evt().sync());
    ///         fiber::yield_now(); // the other fiber begins to wait
    ///         let waits = &lisle::waiting().fibers[0].waits[0];
    ///         assert_eq!(waits.object.name(), Some("sleeper"));
    ///         child.kill()
    ///     })
    /// })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        if let Some(process) = &mut self.process {
            process.label = process.label.clone().named(name);
        }
        self
    }

    /// Returns the number of the process. After the status of the process has been collected, the
    /// system may give the number to another process.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::process::{Command, Stdio};
    ///
    /// let mut command = Command::new("sh");
    /// let child = lisle::process::spawn(command.args(["-c", "echo $$"]).stdout(Stdio::piped()))?;
    /// let id = child.id();
    /// let output = child.wait_with_output()?;
    /// assert_eq!(output.stdout, format!("{id}\n").into_bytes());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn id(&self) -> u32 {
        self.process().id
    }

    /// Returns the event of the child's exit, which gives the status. Once the event is ready, it stays
    /// ready, for all performers and for any number of performances.
    ///
    /// Unlike [`wait`](Child::wait), the event leaves the standard input open. If the child reads its
    /// standard input to the end, drop `stdin` first.
    ///
    /// # Errors
    ///
    /// The event gives an error if the status cannot be read because other code has collected it.
    ///
    /// # Cancel safety
    ///
    /// Waiting takes nothing, and neither does a performance that loses.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::{Event, process};
    /// use std::process::{Command, Stdio};
    ///
    /// let mut child = process::spawn(Command::new("cat").stdin(Stdio::piped()))?;
    /// assert!(child.exit_evt().poll().is_none()); // the child reads its standard input
    /// drop(child.stdin.take());
    /// assert!(child.exit_evt().sync()?.success());
    /// assert!(child.exit_evt().sync()?.success()); // any number of times
    /// # std::io::Result::Ok(())
    /// ```
    pub fn exit_evt(&self) -> ExitEvt<'_> {
        self.process().exit_evt()
    }

    /// Closes the child's standard input, if it is still here, and waits for the exit as
    /// [`Event::sync`](crate::Event::sync) does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`exit_evt`](Child::exit_evt).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::process::{Command, Stdio};
    ///
    /// let mut child = lisle::process::spawn(Command::new("cat").stdin(Stdio::piped()))?;
    /// assert!(child.wait()?.success()); // the child has found the end of its standard input
    /// assert!(child.stdin.is_none());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        waiting::wait(self.exit_evt())?
    }

    /// Returns the status, or `None` if the child has not exited.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`exit_evt`](Child::exit_evt).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::process::{Command, Stdio};
    ///
    /// let mut child = lisle::process::spawn(Command::new("cat").stdin(Stdio::piped()))?;
    /// assert!(child.try_wait()?.is_none()); // the child reads its standard input, which is open
    /// child.wait()?;
    /// assert!(child.try_wait()?.unwrap().success());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_wait(&self) -> io::Result<Option<ExitStatus>> {
        let status = self.process().reap()?;
        Ok(turn::asked(status))
    }

    /// Ends the child with `SIGKILL`. Does nothing if its status has been collected. The exit comes
    /// a little later and can be waited for.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses: the child has changed its user.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::{Event, process};
    /// use std::os::unix::process::ExitStatusExt;
    /// use std::process::Command;
    ///
    /// let child = process::spawn(Command::new("sleep").arg("600"))?;
    /// child.kill()?;
    /// assert_eq!(child.exit_evt().sync()?.signal(), Some(9)); // SIGKILL
    /// child.kill()?; // does nothing
    /// # std::io::Result::Ok(())
    /// ```
    pub fn kill(&self) -> io::Result<()> {
        self.process().kill()
    }

    /// Closes the child's standard input, reads its standard output and error to their ends, both
    /// at once, and waits for the exit. A stream that is not piped gives no bytes.
    ///
    /// # Errors
    ///
    /// Returns the errors of reading and the errors of [`exit_evt`](Child::exit_evt).
    ///
    /// # Blocking
    ///
    /// Waits as [`Event::sync`](crate::Event::sync) does. The wait includes children of the child that have inherited
    /// the pipes.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::process::{Command, Stdio};
    ///
    /// let mut command = Command::new("sh");
    /// command.args(["-c", "echo out; echo err >&2"]).stdout(Stdio::piped());
    /// let child = lisle::process::spawn(command.stderr(Stdio::piped()))?;
    /// let output = child.wait_with_output()?;
    /// assert_eq!((&*output.stdout, &*output.stderr), (&b"out\n"[..], &b"err\n"[..]));
    /// # std::io::Result::Ok(())
    /// ```
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
            // A failure means that the child has exited or may not be killed by us any more.
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
