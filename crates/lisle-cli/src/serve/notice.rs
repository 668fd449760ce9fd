//! Words to the person who runs the server, on standard error.
//!
//! `eprintln!` panics if standard error is a pipe that nobody reads any more, and waits for ever if it is a full one that
//! somebody holds open without reading. A server neither ends nor hangs because of that: what is not taken is not said.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// So much is taken at once by a pipe that is ready for anything at all (`PIPE_BUF` on Linux).
const PIECE: usize = 4096;

/// How long a reader of standard error may take to make room.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Whether it had no room last time. Then nobody waits for it again.
static IS_FULL: AtomicBool = AtomicBool::new(false);

/// Prints one message, with a line end, if anybody listens.
pub(crate) fn notice(message: fmt::Arguments<'_>) {
    // One write for a line of the usual length, so that messages of different threads stay apart.
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
