//! A TCP connection.

use super::Connecting;
use crate::net::face::{clone, descriptor, readable, reading, socket, writable, writing};
use crate::net::pollable::{Kind, Pollable};
use crate::net::resolve::{self, ToSocketAddrs};
use crate::sched::reactor::Direction;
use crate::shim::clock;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::time::{Duration, Instant};

/// A TCP connection.
///
/// [`Read`](io::Read) and [`Write`](io::Write) are there for the stream and for shared references to it, so
/// that one may read while another writes.
///
/// Small writes wait for the answer to earlier ones unless [`set_nodelay`](TcpStream::set_nodelay) says
/// otherwise, which is the system's default and a cause of mysterious 40 ms delays.
pub struct TcpStream {
    pub(super) pollable: Pollable<std::net::TcpStream>,
}

/// Has a connection been made, or failed? The system tells of a failure once.
fn connected(stream: &std::net::TcpStream) -> Option<io::Result<()>> {
    let error = match stream.peer_addr() {
        Ok(_) => return Some(Ok(())),
        Err(error) => error,
    };
    match stream.take_error() {
        Ok(Some(error)) | Err(error) => Some(Err(error)),
        Ok(None) if error.kind() == io::ErrorKind::NotConnected => None,
        Ok(None) => Some(Err(error)),
    }
}

impl TcpStream {
    /// Connects to `address`; of several that a name stands for, to the first that answers.
    ///
    /// # Cancel safety
    ///
    /// Whoever is cancelled while waiting closes the connection that was in the making.
    ///
    /// # Errors
    ///
    /// The name stands for nothing, or the last of its addresses cannot be connected to.
    ///
    /// # Blocking
    ///
    /// Waits as [`Event::sync`](crate::Event::sync) does. How long the system tries is its own
    /// affair, often two minutes; see [`connect_timeout`](TcpStream::connect_timeout).
    pub fn connect(address: impl ToSocketAddrs) -> io::Result<Self> {
        resolve::first(address, |address| Self::connect_until(address, None))
    }

    /// Connects to `address`, waiting for at most `timeout`.
    ///
    /// # Errors
    ///
    /// `TimedOut`: no answer came in time. Else as [`connect`](TcpStream::connect).
    pub fn connect_timeout(address: &SocketAddr, timeout: Duration) -> io::Result<Self> {
        Self::connect_until(*address, Some(clock::instant_after(timeout)))
    }

    fn connect_until(address: SocketAddr, deadline: Option<Instant>) -> io::Result<Self> {
        let stream = Connecting::begin(&address)?.into_stream();
        stream.pollable.perform(Direction::Write, deadline, |io| {
            connected(io).unwrap_or_else(|| Err(io::ErrorKind::WouldBlock.into()))
        })?;
        Ok(stream)
    }

    /// Begins to connect to `address` and does not wait for it: that is an event of what is given.
    ///
    /// # Errors
    ///
    /// There is no descriptor to be had, or no way to the address.
    pub fn begin_connect(address: &SocketAddr) -> io::Result<Connecting> {
        Connecting::begin(address)
    }

    /// Has the connection been made, or failed? `None`: not yet.
    pub(super) fn connected(&self) -> Option<io::Result<()>> {
        connected(self.pollable.get_ref())
    }

    pub(super) fn nonblocking(stream: std::net::TcpStream) -> Self {
        TcpStream { pollable: Pollable::nonblocking(stream, Kind::TCP) }
    }

    /// The address of the other end.
    ///
    /// # Errors
    ///
    /// Those of getpeername(2).
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.pollable.get_ref().peer_addr()
    }

    /// Ends reading, writing or both, for all handles. Whoever waits for what is ended is woken.
    ///
    /// # Errors
    ///
    /// Those of shutdown(2).
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.pollable.get_ref().shutdown(how)
    }

    /// Reads as [`Read::read`](io::Read::read) does and leaves the bytes to be read again.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.read_with(|stream| stream.peek(buffer))
    }

    /// Are small writes sent at once?
    ///
    /// # Errors
    ///
    /// Those of getsockopt(2).
    pub fn nodelay(&self) -> io::Result<bool> {
        self.pollable.get_ref().nodelay()
    }

    /// Sends small writes at once (`TCP_NODELAY`), which is right for nearly everything that asks and answers.
    ///
    /// # Errors
    ///
    /// Those of setsockopt(2).
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.pollable.get_ref().set_nodelay(nodelay)
    }

    /// How many hops a packet may take.
    ///
    /// # Errors
    ///
    /// Those of getsockopt(2).
    pub fn ttl(&self) -> io::Result<u32> {
        self.pollable.get_ref().ttl()
    }

    /// Sets [`ttl`](TcpStream::ttl).
    ///
    /// # Errors
    ///
    /// Those of setsockopt(2).
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.pollable.get_ref().set_ttl(ttl)
    }
}

descriptor!(TcpStream, std::net::TcpStream, std::net::TcpStream, TCP);
socket!(TcpStream, SocketAddr);
clone!(TcpStream, TCP);
readable!(TcpStream, std::net::TcpStream);
writable!(TcpStream, std::net::TcpStream);
reading!(TcpStream);
writing!(TcpStream);
