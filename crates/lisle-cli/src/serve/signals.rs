//! SIGINT and SIGTERM as messages.
//!
//! A signal handler may do next to nothing, and a signal that is waited for blocks a thread; so one plain thread waits and
//! sends on a channel what it has got. That a channel's two ends may be a thread and a host is all that is needed.

use std::io;

use lisle::channel::Receiver;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Begins to catch both signals. Each that comes is one message: its number.
pub(crate) fn catch() -> io::Result<Receiver<i32>> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let (sender, receiver) = lisle::channel::bounded(4);
    std::thread::Builder::new().name("lisle-signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            if sender.send(signal).is_err() {
                break;
            }
        }
    })?;
    Ok(receiver)
}
