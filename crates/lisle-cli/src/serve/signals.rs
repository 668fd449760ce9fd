//! SIGINT, SIGTERM and SIGHUP, which all say that the server is to end. (SIGQUIT asks what it is doing, and is the
//! runtime's affair.)
//!
//! SIGHUP ends it as well, since there is nothing to read anew: files are compared with the disk all the time, and options
//! are given once. It comes when a terminal is closed. Who starts a program with `nohup`, and so with SIGHUP ignored,
//! wants it to outlive its terminal; then it stays ignored.

use std::io;

use lisle::signal::{SIGHUP, SIGINT, SIGTERM, Signal, signal};
use lisle::{Event, choose};

/// The signals to end, caught.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Option<Signal>,
}

impl Signals {
    /// Begins to catch them.
    pub(crate) fn catch() -> io::Result<Self> {
        let hang_up = if is_ignored(SIGHUP) { None } else { Some(signal(SIGHUP)?) };
        Ok(Signals { interrupt: signal(SIGINT)?, terminate: signal(SIGTERM)?, hang_up })
    }

    /// The event of one of them having come.
    pub(crate) fn any_evt(&self) -> impl Event<Output = ()> {
        // A signal that cannot be waited for is taken for one that has come: better to end than not to be told to.
        let hang_up = self.hang_up.as_ref().map(Signal::recv_evt);
        choose((self.interrupt.recv_evt(), self.terminate.recv_evt(), hang_up)).wrap(drop)
    }
}

/// Whether this process ignores the signal. Where the kernel does not tell, it does not.
fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ignored >> (number - 1) & 1 == 1
}
