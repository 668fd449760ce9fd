//! A TCP connection in progress, whose completion is an event.

use super::TcpStream;
use crate::event::Description;
use crate::event::until::{Operation, Until};
use crate::net::ReadyEvt;
use crate::reactor::Direction;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

/// A TCP connection in progress, returned by [`TcpStream::begin_connect`]. Dropping it abandons the
/// connection.
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
    /// Set when the connection has failed, because the system reports a failure only once.
    failed: AtomicBool,
}

/// The event that a connection has been made, returned by [`Connecting::connected_evt`].
pub type ConnectedEvt<'a> = Until<'a, Connecting, ReadyEvt<'a, std::net::TcpStream>>;

impl Connecting {
    pub(super) fn begin(address: &SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::nonblocking(mio::net::TcpStream::connect(*address)?.into());
        Ok(Connecting { stream, failed: AtomicBool::new(false) })
    }

    /// Returns the event that the connection has been made or has failed.
    ///
    /// # Cancel safety
    ///
    /// If the event loses a choice, the connection attempt continues, and the event may be
    /// performed again. Once the connection has been made, the event is always ready.
    ///
    /// # Errors
    ///
    /// The event gives the system's error when the connection has failed. Performed again after
    /// that, it gives `NotConnected`.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::{TcpListener, TcpStream};
    /// use lisle::Event;
    /// use std::io::ErrorKind;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let connecting = TcpStream::begin_connect(&listener.local_addr()?)?;
    /// connecting.connected_evt().sync()?;
    /// let stream = connecting.into_stream();
    ///
    /// let address = stream.local_addr()?; // nobody listens there
    /// let refused = TcpStream::begin_connect(&address).and_then(|it| it.connected_evt().sync());
    /// assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn connected_evt(&self) -> ConnectedEvt<'_> {
        Until::new(self, self.stream.writable_evt())
    }

    /// Returns the connection. Before it has been made, [`peer_addr`](TcpStream::peer_addr) fails
    /// with `NotConnected`; reading and writing wait for it on Linux, and may fail in the same way
    /// on other systems.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::Event;
    /// use lisle::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let connecting = TcpStream::begin_connect(&listener.local_addr()?)?;
    /// connecting.connected_evt().sync()?; // before this there is no address
    /// assert_eq!(connecting.into_stream().peer_addr()?, listener.local_addr()?);
    /// # std::io::Result::Ok(())
    /// ```
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
