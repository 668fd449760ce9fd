//! Unix domain sockets.

mod datagram;
mod listener;
mod stream;

pub use datagram::UnixDatagram;
pub use listener::UnixListener;
pub use stream::UnixStream;

use super::waiting;
use crate::time::after;
use std::io;
use std::time::Duration;

/// A wait for room in a peer's queue, which the kernel does not report.
///
/// Two operations fail at once, and have no event of their readiness: connecting to a listener whose
/// backlog is full, and sending to a socket that the sender is not connected to. Therefore they are
/// repeated, less and less often.
struct Backoff(Duration);

impl Backoff {
    const FIRST: Duration = Duration::from_millis(1);
    const LONGEST: Duration = Duration::from_millis(32);

    fn new() -> Self {
        Backoff(Self::FIRST)
    }

    /// Waits a while.
    ///
    /// # Errors
    ///
    /// If the fiber has been cancelled or a deadline has passed.
    fn wait(&mut self) -> io::Result<()> {
        waiting::wait(after(self.0))?;
        self.0 = (self.0 * 2).min(Self::LONGEST);
        Ok(())
    }
}
