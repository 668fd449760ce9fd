//! Child processes, whose end is an event.
//!
//! A [`Child`] is made from the standard library's [`Command`]. It differs from the standard
//! library's child in two things. Its exit is an event, [`exit_evt`](Child::exit_evt), which
//! fibers, plain threads and futures can wait for and choose against others. And its pipes are
//! Lisle's, so a fiber that reads them parks instead of blocking its domain.
//!
//! ```
//! use lisle::{Event, choose, process, time::after};
//! use std::process::Command;
//! use std::time::Duration;
//!
//! # fn main() -> std::io::Result<()> {
//! let child = process::spawn(Command::new("sleep").arg("600"))?;
//! let in_time = choose((
//!     child.exit_evt().wrap(Some),
//!     after(Duration::from_millis(5)).wrap(|()| None),
//! ));
//! assert!(in_time.sync().is_none());
//! child.kill()?;
//! assert!(!child.exit_evt().sync()?.success());
//! assert!(!child.exit_evt().sync()?.success()); // ready again and again
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! On Linux the kernel gives a descriptor that becomes readable when the process has exited
//! (`pidfd_open(2)`). It is registered with the reactor like any other. Where there is no such
//! descriptor (other systems, kernels before 5.3, a sandbox), a thread of its own waits for the
//! child, by `waitid(2)` with `WNOWAIT`, and closes a pipe when the child has exited. In both cases
//! only the `Child` itself collects the status, so no status is lost. `SIGCHLD` is neither caught
//! nor needed. (async-process and tokio use the pidfd, too.)
//!
//! # No zombies
//!
//! A child continues if its handle is dropped before the child has exited, as in the standard library.
//! A thread then collects its status. The thread exists as long as there are such children.
//!
//! # Caveats
//!
//! - Spawning itself blocks the thread until the child has executed its program: about a
//!   millisecond.
//! - If the process ignores `SIGCHLD`, the kernel collects children itself and their status is
//!   lost. Waiting then ends with an error (`ECHILD`) when the child has exited.

mod child;
mod exit;
mod output;
mod reaper;

pub use child::Child;
pub use exit::ExitEvt;
pub use output::{output, status};

use crate::event::cannot_be_checked;
use std::io;
use std::process::Command;

/// Starts `command` as a child process. The command's settings for standard streams apply: streams
/// that are `Stdio::piped()` become pipes in the [`Child`], the others are inherited.
///
/// # Errors
///
/// Returns the errors of [`Command::spawn`]. Also returns an error if the system is out of
/// descriptors or threads; the child has been killed in that case.
///
/// ```
/// use std::io::{Read, Write};
/// use std::process::{Command, Stdio};
///
/// # fn main() -> std::io::Result<()> {
/// let mut child =
///     lisle::process::spawn(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()))?;
/// child.stdin.take().unwrap().write_all(b"there and back")?;
/// let mut text = String::new();
/// child.stdout.take().unwrap().read_to_string(&mut text)?;
/// assert_eq!(text, "there and back");
/// assert!(child.wait()?.success());
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    cannot_be_checked("a child process", "it runs outside of the program", "Put a fiber in its place");
    Child::adopt(command.spawn()?).map_err(|(mut child, error)| {
        // Nothing owns the child, so it must not continue. After `SIGKILL` it ends soon, so waiting
        // for it here is short.
        let _ = child.kill();
        let _ = child.wait();
        error
    })
}
