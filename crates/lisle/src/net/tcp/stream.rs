//! A TCP connection.

use super::Connecting;
use crate::net::face::{
    clone, descriptor, nonblocking, readable, reading, socket, timeouts, writable, writing,
};
use crate::net::pollable::not_in_models;
use crate::net::pollable::{Kind, Pollable};
use crate::net::resolve::{self, ToSocketAddrs};
use crate::reactor::Direction;
use crate::shim::clock;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::time::{Duration, Instant};

/// A TCP connection.
///
/// [`Read`](io::Read) and [`Write`](io::Write) are implemented for the stream and for shared
/// references to it, so one fiber may read while another writes.
///
/// By default, a small write waits until the other end has acknowledged the writes before it. This is
/// the system's default, and causes unexplained delays of 40 ms.
/// [`set_nodelay`](TcpStream::set_nodelay) turns it off.
pub struct TcpStream {
    pub(super) pollable: Pollable<std::net::TcpStream>,
}

/// Returns the outcome if the connection has been made or has failed. The system reports a failure
/// only once.
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
    /// Connects to `address`. If a name stands for several addresses, connects to the first that
    /// answers.
    ///
    /// # Cancel safety
    ///
    /// If the caller is cancelled while it waits, the connection attempt is closed.
    ///
    /// # Errors
    ///
    /// Returns an error if the name stands for no address, or the error of the last of its
    /// addresses.
    ///
    /// # Blocking
    ///
    /// Waits as [`Event::sync`](crate::Event::sync) does. The system decides how long it tries,
    /// often two minutes; see [`connect_timeout`](TcpStream::connect_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::{TcpListener, TcpStream};
    /// use std::io::ErrorKind;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let port = listener.local_addr()?.port();
    /// let stream = TcpStream::connect(("127.0.0.1", port))?;
    /// assert_eq!(stream.peer_addr()?.port(), port);
    ///
    /// let refused = TcpStream::connect(stream.local_addr()?); // nobody listens there
    /// assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn connect(address: impl ToSocketAddrs) -> io::Result<Self> {
        not_in_models();
        resolve::first(address, |address| Self::connect_until(address, None))
    }

    /// Connects to `address`, and waits for at most `timeout`.
    ///
    /// # Errors
    ///
    /// Fails with `TimedOut` if no answer came in time, or else as [`connect`](TcpStream::connect)
    /// does.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::{TcpListener, TcpStream};
    /// use std::time::Duration;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let address = listener.local_addr()?; // no name: looking one up would take time, too
    /// let stream = TcpStream::connect_timeout(&address, Duration::from_secs(60))?;
    /// assert_eq!(stream.peer_addr()?, address);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn connect_timeout(address: &SocketAddr, timeout: Duration) -> io::Result<Self> {
        not_in_models();
        Self::connect_until(*address, Some(clock::instant_after(timeout)))
    }

    fn connect_until(address: SocketAddr, deadline: Option<Instant>) -> io::Result<Self> {
        let stream = Connecting::begin(&address)?.into_stream();
        stream.pollable.perform(Direction::Write, deadline, |io| {
            connected(io).unwrap_or_else(|| Err(io::ErrorKind::WouldBlock.into()))
        })?;
        Ok(stream)
    }

    /// Begins to connect to `address` and does not wait. The returned value has an event for the
    /// completion.
    ///
    /// # Errors
    ///
    /// Returns an error if the system is out of descriptors or has no route to the address.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::{TcpListener, TcpStream};
    /// use lisle::{Event, choose, sync::Condition};
    ///
    /// let (listener, stop) = (TcpListener::bind("127.0.0.1:0")?, Condition::new());
    /// let connecting = TcpStream::begin_connect(&listener.local_addr()?)?;
    /// stop.signal();
    /// let made = choose((
    ///     connecting.connected_evt().wrap(Some),
    ///     stop.wait_evt().wrap(|()| None),
    /// ));
    /// match made.sync() {
    ///     Some(made) => made?, // then `connecting.into_stream()` is connected
    ///     None => {} // dropping `connecting` gives the connection up
    /// }
    /// # std::io::Result::Ok(())
    /// ```
    pub fn begin_connect(address: &SocketAddr) -> io::Result<Connecting> {
        Connecting::begin(address)
    }

    /// Returns the outcome if the connection has been made or has failed, and `None` before that.
    pub(super) fn connected(&self) -> Option<io::Result<()>> {
        connected(self.pollable.get_ref())
    }

    pub(super) fn nonblocking(stream: std::net::TcpStream) -> Self {
        TcpStream { pollable: Pollable::nonblocking(stream, Kind::TCP) }
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
    /// use lisle::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let client = TcpStream::connect(listener.local_addr()?)?;
    /// let (server, address) = listener.accept()?;
    /// assert_eq!(server.peer_addr()?, address);
    /// assert_eq!(client.peer_addr()?, server.local_addr()?);
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
    /// use std::io::{Read, Write};
    /// use std::net::Shutdown;
    /// # use lisle::net::{TcpListener, TcpStream};
    /// # let listener = TcpListener::bind("127.0.0.1:0")?;
    /// # let mut client = TcpStream::connect(listener.local_addr()?)?;
    /// # let (mut server, _) = listener.accept()?;
    ///
    /// client.write_all(b"request")?;
    /// client.shutdown(Shutdown::Write)?; // no more bytes follow
    /// let mut text = String::new();
    /// server.read_to_string(&mut text)?; // finds the end
    /// server.write_all(b"answer")?; // the other direction is open
    /// let mut buffer = [0; 6];
    /// client.read_exact(&mut buffer)?;
    /// assert_eq!((&*text, &buffer), ("request", b"answer"));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.pollable.get_ref().shutdown(how)
    }

    /// Reads as [`Read::read`](io::Read::read) does, and leaves the bytes to be read again.
    ///
    /// # Errors
    ///
    /// Returns the system's errors.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::{Read, Write};
    /// # use lisle::net::{TcpListener, TcpStream};
    /// # let listener = TcpListener::bind("127.0.0.1:0")?;
    /// # let mut client = TcpStream::connect(listener.local_addr()?)?;
    /// # let (mut server, _) = listener.accept()?;
    ///
    /// client.write_all(b"x")?;
    /// assert_eq!(server.peek(&mut [0; 8])?, 1);
    /// assert_eq!(server.read(&mut [0; 8])?, 1); // the same byte
    /// drop(client);
    /// assert_eq!(server.peek(&mut [0; 8])?, 0); // the end
    /// # std::io::Result::Ok(())
    /// ```
    pub fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.read_with(|stream| stream.peek(buffer))
    }

    /// Returns `true` if small writes are sent at once.
    ///
    /// # Errors
    ///
    /// Returns the errors of getsockopt(2).
    pub fn nodelay(&self) -> io::Result<bool> {
        self.pollable.get_ref().nodelay()
    }

    /// Sets whether small writes are sent at once (`TCP_NODELAY`). `true` is right for nearly all
    /// protocols with requests and responses.
    ///
    /// # Errors
    ///
    /// Returns the errors of setsockopt(2).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle::net::{TcpListener, TcpStream};
    /// # let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let stream = TcpStream::connect(listener.local_addr()?)?;
    /// assert!(!stream.nodelay()?);
    /// stream.set_nodelay(true)?;
    /// assert!(stream.nodelay()?);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.pollable.get_ref().set_nodelay(nodelay)
    }

    /// Returns the number of hops that a packet may take.
    ///
    /// # Errors
    ///
    /// Returns the errors of getsockopt(2).
    pub fn ttl(&self) -> io::Result<u32> {
        self.pollable.get_ref().ttl()
    }

    /// Sets [`ttl`](TcpStream::ttl).
    ///
    /// # Errors
    ///
    /// Returns the errors of setsockopt(2).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle::net::{TcpListener, TcpStream};
    /// # let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let stream = TcpStream::connect(listener.local_addr()?)?;
    /// stream.set_ttl(8)?;
    /// assert_eq!(stream.ttl()?, 8);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.pollable.get_ref().set_ttl(ttl)
    }
}

descriptor!(TcpStream, std::net::TcpStream, std::net::TcpStream, TCP, with_its_timeouts);
socket!(TcpStream, SocketAddr);
clone!(TcpStream);
timeouts!(TcpStream);
nonblocking!(TcpStream);
readable!(TcpStream, std::net::TcpStream);
writable!(TcpStream, std::net::TcpStream);
reading!(TcpStream);
writing!(TcpStream);
