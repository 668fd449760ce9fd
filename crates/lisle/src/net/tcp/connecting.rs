//! A TCP connection in the making, whose being made is an event.

use super::TcpStream;
use crate::event::Description;
use crate::event::until::{Operation, Until};
use crate::net::ReadyEvt;
use crate::sched::reactor::Direction;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

/// A TCP connection in the making, see [`TcpStream::begin_connect`]. Dropping it gives the connection up.
///
/// ```
/// use lisle::net::{TcpListener, TcpStream};
/// use lisle::{Event, choose, time::after};
/// use std::io::ErrorKind;
/// use std::time::Duration;
///
/// fn main() -> std::io::Result<()> {
///     lisle::run(|| {
///         let listener = TcpListener::bind("127.0.0.1:0")?;
///         let connecting = TcpStream::begin_connect(&listener.local_addr()?)?;
///         choose((
///             connecting.connected_evt(),
///             after(Duration::from_secs(60)).wrap(|()| Err(ErrorKind::TimedOut.into())),
///         ))
///         .sync()?;
///         let stream = connecting.into_stream();
///         assert_eq!(stream.peer_addr()?, listener.local_addr()?);
///         Ok(())
///     })
/// }
/// ```
#[derive(Debug)]
pub struct Connecting {
    stream: TcpStream,
    /// The system tells once that it has failed.
    failed: AtomicBool,
}

/// The event of a connection having been made, see [`Connecting::connected_evt`].
pub type ConnectedEvt<'a> = Until<'a, Connecting, ReadyEvt<'a, std::net::TcpStream>>;

impl Connecting {
    pub(super) fn begin(address: &SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::nonblocking(mio::net::TcpStream::connect(*address)?.into());
        Ok(Connecting { stream, failed: AtomicBool::new(false) })
    }

    /// The event of the connection having been made, or having failed.
    ///
    /// # Cancel safety
    ///
    /// If it loses a choice the connection goes on being made, and the event may be performed again. Once the
    /// connection is made it is always ready.
    ///
    /// # Errors
    ///
    /// The system's, when the connection has failed; asked again, `NotConnected`.
    pub fn connected_evt(&self) -> ConnectedEvt<'_> {
        Until::new(self, self.stream.writable_evt())
    }

    /// The connection. Before it has been made, reading and writing fail with `NotConnected`.
    pub fn into_stream(self) -> TcpStream {
        self.stream
    }
}

impl Operation for Connecting {
    type Output = ();

    fn attempt(&self) -> Option<io::Result<()>> {
        if self.failed.load(Ordering::Relaxed) {
            return Some(Err(io::ErrorKind::NotConnected.into()));
        }
        let outcome = self.stream.connected();
        if outcome.as_ref().is_some_and(Result::is_err) {
            self.failed.store(true, Ordering::Relaxed);
        }
        outcome
    }

    fn describe(&self, waits: &mut Description) {
        self.stream.pollable.describe(Direction::Write, waits);
    }
}
