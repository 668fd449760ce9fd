//! A Unix connection.

use super::Backoff;
use crate::net::face::{
    clone, descriptor, nonblocking, readable, reading, socket, timeouts, writable, writing,
};
use crate::net::pollable::not_in_models;
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
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::{UnixListener, UnixStream};
    ///
    /// # let path = std::env::temp_dir().join(format!("lisle-{}-stream", std::process::id()));
    /// assert!(UnixStream::connect(&path).is_err()); // no such socket
    /// let listener = UnixListener::bind(&path)?;
    /// let client = UnixStream::connect(&path)?; // before a call accepts it
    /// assert_eq!(client.peer_addr()?.as_pathname(), Some(&*path));
    /// # std::fs::remove_file(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn connect(path: impl AsRef<Path>) -> io::Result<Self> {
        not_in_models();
        Self::connect_addr(&SocketAddr::from_pathname(path)?)
    }

    /// Connects to the socket at `address`, as [`connect`](UnixStream::connect) does.
    ///
    /// # Errors
    ///
    /// Returns the errors of connect(2).
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::{UnixListener, UnixStream};
    ///
    /// # let path = std::env::temp_dir().join(format!("lisle-{}-s-c-addr", std::process::id()));
    /// let listener = UnixListener::bind(&path)?;
    /// let client = UnixStream::connect_addr(&listener.local_addr()?)?;
    /// assert_eq!(client.peer_addr()?.as_pathname(), Some(&*path));
    /// # std::fs::remove_file(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn connect_addr(address: &SocketAddr) -> io::Result<Self> {
        not_in_models();
        let mut backoff = Backoff::new();
        loop {
            match mio::net::UnixStream::connect_addr(address) {
                Err(error) if would_block(&error) => backoff.wait()?,
                outcome => return Ok(Self::nonblocking(outcome?.into())),
            }
        }
    }

    /// Creates two sockets that are connected to each other.
    ///
    /// # Errors
    ///
    /// Returns an error if the system is out of descriptors.
    #[track_caller]
    pub fn pair() -> io::Result<(Self, Self)> {
        not_in_models();
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
    ///
    /// # Examples
    ///
    /// ```
    /// let (one, _other) = lisle::net::UnixStream::pair()?;
    /// assert!(one.peer_addr()?.is_unnamed());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.pollable.get_ref().peer_addr()
    }

    /// Ends reading, writing or both, for all handles. Wakes all performers that wait for the ended
    /// directions.
    ///
    /// # Errors
    ///
    /// Returns the errors of shutdown(2).
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::UnixStream;
    /// use std::io::{Read, Write};
    /// use std::net::Shutdown;
    ///
    /// let (mut one, mut other) = UnixStream::pair()?;
    /// one.write_all(b"request")?;
    /// one.shutdown(Shutdown::Write)?; // no more bytes follow
    /// let mut text = String::new();
    /// other.read_to_string(&mut text)?; // finds the end
    /// assert_eq!(text, "request");
    /// other.write_all(b"answer")?; // the other direction is open
    /// # std::io::Result::Ok(())
    /// ```
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.pollable.get_ref().shutdown(how)
    }
}

descriptor!(
    UnixStream,
    std::os::unix::net::UnixStream,
    std::os::unix::net::UnixStream,
    GENERAL,
    with_its_timeouts
);
socket!(UnixStream, SocketAddr);
clone!(UnixStream);
timeouts!(UnixStream);
nonblocking!(UnixStream);
readable!(UnixStream, std::os::unix::net::UnixStream);
writable!(UnixStream, std::os::unix::net::UnixStream);
reading!(UnixStream);
writing!(UnixStream);
