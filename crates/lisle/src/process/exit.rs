//! The exit of a process as an event.

use crate::event::{Description, Label, awaitable, forwarded};
use crate::net::{Pollable, ReadyEvt};
use crate::shim::sync::{Arc, Mutex, MutexGuard};
use crate::time::sleep;
use crate::{Event, threads};
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::process::ExitStatus;
use std::time::Duration;

/// A child process and the descriptor that reports its exit.
pub(super) struct Process {
    /// Only this handle collects the status.
    child: Mutex<std::process::Child>,
    watch: Watch,
    pub(super) id: u32,
    pub(super) label: Label,
}

impl Process {
    /// Watches `child` with the watch that `watch` creates from its number.
    ///
    /// # Errors
    ///
    /// Returns the child with the error.
    #[track_caller]
    pub(super) fn new(
        child: std::process::Child,
        watch: impl FnOnce(u32) -> io::Result<Watch>,
    ) -> Result<Process, (std::process::Child, io::Error)> {
        let (id, label) = (child.id(), Label::new("child process"));
        match watch(id) {
            Ok(watch) => Ok(Process { child: Mutex::new(child), watch, id, label }),
            Err(error) => Err((child, error)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, std::process::Child> {
        self.child.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Collects the status if the child has exited.
    pub(super) fn reap(&self) -> io::Result<Option<ExitStatus>> {
        let outcome = self.lock().try_wait();
        if !matches!(outcome, Ok(None)) {
            self.watch.close();
        }
        outcome
    }

    /// Kills the child, unless its status has been collected: by then another process may have its
    /// number.
    pub(super) fn kill(&self) -> io::Result<()> {
        self.lock().kill()
    }

    pub(super) fn exit_evt(&self) -> ExitEvt<'_> {
        ExitEvt { process: self, ready: self.watch.exited.readable_evt() }
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A descriptor that becomes readable when a process has exited, and stays readable.
pub(super) struct Watch {
    exited: Pollable<OwnedFd>,
    /// The writing end of a pipe, if the kernel does not help. The thread that waits for the exit
    /// closes it, or another caller that learns of the exit first.
    open: Option<Arc<Mutex<Option<io::PipeWriter>>>>,
}

impl Watch {
    /// Watches a process with the kernel's help or, if the kernel cannot help, with a thread.
    pub(super) fn new(id: u32) -> io::Result<Watch> {
        match open_pidfd(id).and_then(Pollable::new) {
            Ok(exited) => Ok(Watch { exited, open: None }),
            Err(_) => Watch::by_thread(id),
        }
    }

    /// Watches a process with a thread that waits for the exit and does not collect the status.
    pub(super) fn by_thread(id: u32) -> io::Result<Watch> {
        let (reader, writer) = io::pipe()?;
        let exited = Pollable::new(OwnedFd::from(reader))?;
        let open = Arc::new(Mutex::new(Some(writer)));
        let watch = Watch { exited, open: Some(open.clone()) };
        let wait = move || {
            wait_for_exit(id);
            close(&open);
        };
        threads::start("lisle-wait", "the exit of a process", wait)?;
        Ok(watch)
    }

    /// Records that the process is known to have exited.
    fn close(&self) {
        if let Some(open) = &self.open {
            close(open);
        }
    }
}

fn close(open: &Mutex<Option<io::PipeWriter>>) {
    drop(open.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take());
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_pidfd(id: u32) -> io::Result<OwnedFd> {
    use std::os::fd::FromRawFd;
    let id = libc::pid_t::try_from(id).map_err(io::Error::other)?;
    let flags: libc::c_uint = 0;
    // SAFETY: the call takes a number and flags, and no memory.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, id, flags) };
    match libc::c_int::try_from(fd) {
        // SAFETY: the system has just opened the descriptor, with close-on-exec, and nothing else
        // owns it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn open_pidfd(_: u32) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Blocks until the child has exited or is not a child of this process any more. Does not collect
/// its status.
fn wait_for_exit(id: u32) {
    loop {
        // SAFETY: `siginfo_t` is plain data, for which zeroes are valid.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // Systems differ in the type of a process's number.
        let id = id as libc::id_t;
        // SAFETY: `info` is valid for writes during the call.
        let outcome = unsafe { libc::waitid(libc::P_PID, id, &raw mut info, libc::WEXITED | libc::WNOWAIT) };
        if outcome == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}

/// The event that a child process has exited, returned by
/// [`Child::exit_evt`](super::Child::exit_evt).
#[must_use = "events do nothing unless performed"]
pub struct ExitEvt<'a> {
    process: &'a Process,
    ready: ReadyEvt<'a, OwnedFd>,
}

impl<'a> Event for ExitEvt<'a> {
    type Output = io::Result<ExitStatus>;
    forwarded!(ready: ReadyEvt<'a, OwnedFd>);

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> io::Result<ExitStatus> {
        self.ready.complete(branch)?;
        loop {
            if let Some(status) = self.process.reap()? {
                return Ok(status);
            }
            // The child has exited, but a debugger traces it. The system reports the exit to the
            // debugger first.
            sleep(Duration::from_millis(1));
        }
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        waits.on("wait for the exit of", &self.process.label, std::ptr::from_ref(self.process) as usize);
    }
}

impl Clone for ExitEvt<'_> {
    fn clone(&self) -> Self {
        *self
    }
}

impl Copy for ExitEvt<'_> {}

impl fmt::Debug for ExitEvt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExitEvt").field(self.process).finish()
    }
}

awaitable!(['a] ExitEvt<'a>, single);

#[cfg(test)]
mod tests {
    use super::{Process, Watch};
    use crate::Event;
    use std::process::Command;

    fn process(script: &str, watch: impl FnOnce(u32) -> std::io::Result<Watch>) -> Process {
        Process::new(Command::new("sh").args(["-c", script]).spawn().unwrap(), watch).unwrap()
    }

    #[test]
    fn a_thread_watches_where_the_kernel_does_not() {
        let process = process("read line; exit 7", Watch::by_thread);
        for _ in 0..2 {
            assert_eq!(process.exit_evt().sync().unwrap().code(), Some(7));
        }
    }

    #[test]
    fn an_exit_that_was_seen_first_closes_the_watch() {
        // This watches the current process. It does not exit during the test, so the thread never
        // closes the pipe.
        let process = process("exit 3", |_| Watch::by_thread(std::process::id()));
        while process.reap().unwrap().is_none() {
            std::thread::yield_now();
        }
        assert_eq!(process.exit_evt().sync().unwrap().code(), Some(3));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_kernel_watches() {
        assert!(Watch::new(std::process::id()).unwrap().open.is_none());
    }
}
