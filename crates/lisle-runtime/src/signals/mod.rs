//! Catching signals: the handler writes a byte into a pipe each time that the signal arrives.

pub mod names;

use crate::descriptor::set_nonblocking;
use signal_hook_registry::{FORBIDDEN, SigId, register, unregister};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// A registration that catches a signal until it is dropped.
pub struct Caught(SigId);

impl Caught {
    /// Catches the signal `number`. Returns the reading end of the pipe, which reports its end when
    /// the registration is dropped.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the signal cannot be caught, or if there is none of this number. Else the
    /// system is out of descriptors.
    pub fn new(number: i32) -> io::Result<(Caught, io::PipeReader)> {
        if FORBIDDEN.contains(&number) {
            let message = format!("{} cannot be received", names::of(number));
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let (reader, writer) = io::pipe()?;
        let notifier = Notifier::new(writer)?;
        // SAFETY: the action is async-signal-safe, see `Notifier::notify`.
        let caught = unsafe { register(number, move || notifier.notify()) }.map(Caught)?;
        Ok((caught, reader))
    }
}

impl Drop for Caught {
    fn drop(&mut self) {
        // After this the handler does not use the pipe any more, and the writing end is closed.
        unregister(self.0);
    }
}

/// The part that the handler uses.
struct Notifier {
    pipe: io::PipeWriter,
    process: u32,
}

impl Notifier {
    fn new(pipe: io::PipeWriter) -> io::Result<Self> {
        // The handler must not wait for room.
        set_nonblocking(pipe.as_fd(), true)?;
        Ok(Notifier { pipe, process: std::process::id() })
    }

    /// Writes a byte into the pipe. Runs in the handler.
    fn notify(&self) {
        // A forked child that has not executed its program yet shares the pipe. Its signals are not
        // for us.
        if std::process::id() != self.process {
            return;
        }
        // SAFETY: one byte is read, from a constant. The descriptor is open as long as the action
        // is registered. If the pipe is full, the reader has enough bytes to find.
        let _ = unsafe { libc::write(self.pipe.as_raw_fd(), [1_u8].as_ptr().cast(), 1) };
    }
}
