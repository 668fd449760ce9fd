//! SIGINT, SIGTERM and SIGHUP, which all end the server. (The runtime handles SIGQUIT, which asks
//! for a dump.)
//!
//! SIGHUP ends the server as well, since there is nothing to reload: files are compared with the
//! disk all the time, and options are given once. It is sent when a terminal is closed. `nohup`
//! starts a program with SIGHUP ignored, so the program outlives its terminal; in that case the
//! signal stays ignored.

use std::io;

use lisle::signal::{SIGHUP, SIGINT, SIGTERM, Signal, signal};
use lisle::{Event, choose};

/// The signals that end the server, caught.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Option<Signal>,
}

impl Signals {
    /// Begins to catch the signals.
    pub(crate) fn catch() -> io::Result<Self> {
        let hang_up = if is_ignored(SIGHUP) { None } else { Some(signal(SIGHUP)?) };
        Ok(Signals { interrupt: signal(SIGINT)?, terminate: signal(SIGTERM)?, hang_up })
    }

    /// Returns the event that one of the signals has come.
    pub(crate) fn any_evt(&self) -> impl Event<Output = ()> {
        // If the server cannot wait for a signal, the signal counts as one that has come: ending is
        // better than never ending.
        let hang_up = self.hang_up.as_ref().map(Signal::recv_evt);
        choose((self.interrupt.recv_evt(), self.terminate.recv_evt(), hang_up)).wrap(drop)
    }
}

/// Returns `true` if this process ignores the signal. If the kernel does not tell, returns `false`.
fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ignored >> (number - 1) & 1 == 1
}
