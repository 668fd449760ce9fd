//! Words to the person who runs the server, on standard error.
//!
//! `eprintln!` panics if standard error is a pipe that nobody reads any more. A server does not end because of that.

use std::fmt;
use std::io::{self, Write};

/// Prints one message, with a line end, if anybody listens.
pub(crate) fn notice(message: fmt::Arguments<'_>) {
    // One write for the whole line, so that messages of different threads stay apart.
    let _ = io::stderr().lock().write_all(format!("{message}\n").as_bytes());
}
