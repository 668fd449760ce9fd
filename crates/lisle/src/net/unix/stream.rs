//! A Unix connection.

use super::Backoff;
use crate::net::face::{clone, descriptor, readable, reading, socket, writable, writing};
use crate::net::pollable::{Kind, Pollable, would_block};
use std::io;
use std::net::Shutdown;
use std::os::unix::net::SocketAddr;
use std::path::Path;

/// A connection between processes of one machine.
///
/// ```
/// use lisle::net::UnixStream;
/// use std::io::{Read, Write};
///
/// # fn main() -> std::io::Result<()> {
/// let (mut one, mut other) = UnixStream::pair()?;
/// one.write_all(b"hello")?;
/// let mut buffer = [0; 5];
/// other.read_exact(&mut buffer)?;
/// assert_eq!(&buffer, b"hello");
/// # Ok(())
/// # }
/// ```
pub struct UnixStream {
    pollable: Pollable<std::os::unix::net::UnixStream>,
}

impl UnixStream {
    /// Connects to the socket at `path`.
    ///
    /// # Cancel safety
    ///
    /// A caller that is cancelled while it waits has not connected.
    ///
    /// # Errors
    ///
    /// Returns the errors of connect(2).
    ///
    /// # Blocking
    ///
    /// Waits while the listener's backlog is full. It tries again after 1 ms and then less often,
    /// because the system has no notification for this.
    pub fn connect(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::connect_addr(&SocketAddr::from_pathname(path)?)
    }

    /// Connects to the socket at `address`, as [`connect`](UnixStream::connect) does.
    ///
    /// # Errors
    ///
    /// Returns the errors of connect(2).
    pub fn connect_addr(address: &SocketAddr) -> io::Result<Self> {
        let mut backoff = Backoff::new();
        loop {
            match mio::net::UnixStream::connect_addr(address) {
                Err(error) if would_block(&error) => backoff.wait(),
                outcome => return Ok(Self::nonblocking(outcome?.into())),
            }
        }
    }

    /// Creates two sockets that are connected to each other.
    ///
    /// # Errors
    ///
    /// Returns an error if the system is out of descriptors.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = mio::net::UnixStream::pair()?;
        Ok((Self::nonblocking(one.into()), Self::nonblocking(other.into())))
    }

    fn nonblocking(stream: std::os::unix::net::UnixStream) -> Self {
        UnixStream { pollable: Pollable::nonblocking(stream, Kind::GENERAL) }
    }

    /// Returns the address of the other end.
    ///
    /// # Errors
    ///
    /// Returns the errors of getpeername(2).
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.pollable.get_ref().peer_addr()
    }

    /// Ends reading, writing or both, for all handles. Wakes all performers that wait for the ended
    /// directions.
    ///
    /// # Errors
    ///
    /// Returns the errors of shutdown(2).
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.pollable.get_ref().shutdown(how)
    }
}

descriptor!(UnixStream, std::os::unix::net::UnixStream, std::os::unix::net::UnixStream, GENERAL);
socket!(UnixStream, SocketAddr);
clone!(UnixStream, GENERAL);
readable!(UnixStream, std::os::unix::net::UnixStream);
writable!(UnixStream, std::os::unix::net::UnixStream);
reading!(UnixStream);
writing!(UnixStream);
