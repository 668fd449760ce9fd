//! Unix domain sockets.

mod datagram;
mod listener;
mod stream;

pub use datagram::UnixDatagram;
pub use listener::UnixListener;
pub use stream::UnixStream;

use crate::time::sleep;
use std::time::Duration;

/// Waiting for a peer's queue to have room, of which the kernel does not tell.
///
/// Connecting to a listener whose backlog is full, and sending to a socket that one is not connected to, fail
/// at once and leave nothing behind that could be waited for. So they are repeated, less and less often.
struct AdaptiveSpin(Duration);

impl AdaptiveSpin {
    const FIRST: Duration = Duration::from_millis(1);
    const LONGEST: Duration = Duration::from_millis(32);

    fn new() -> Self {
        AdaptiveSpin(Self::FIRST)
    }

    fn wait(&mut self) {
        sleep(self.0);
        self.0 = (self.0 * 2).min(Self::LONGEST);
    }
}
