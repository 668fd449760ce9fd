//! Messages to the operator of the server, on standard error.
//!
//! `eprintln!` panics if standard error is a pipe without readers, and waits forever if it is a
//! full pipe whose reader does not read. A server must neither end nor hang for this reason, so a
//! message that cannot be written is dropped.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// A pipe that is ready takes at least this many bytes at once (`PIPE_BUF` on Linux).
const PIECE: usize = 4096;

/// How long a reader of standard error may take to make room.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Whether standard error had no room the last time. If so, later messages do not wait for it.
static IS_FULL: AtomicBool = AtomicBool::new(false);

/// Prints one message with a line end, if standard error takes it.
pub(crate) fn notice(message: fmt::Arguments<'_>) {
    // One write for a line of the usual length, so messages of different threads do not mix.
    let text = format!("{message}\n");
    let mut errors = io::stderr().lock();
    for piece in text.as_bytes().chunks(PIECE) {
        let patience = if IS_FULL.load(Ordering::Relaxed) { Timespec::default() } else { PATIENCE };
        let ready = poll(&mut [PollFd::new(&errors, PollFlags::OUT)], Some(&patience));
        IS_FULL.store(ready == Ok(0), Ordering::Relaxed);
        if ready == Ok(0) || errors.write_all(piece).is_err() {
            return;
        }
    }
}
