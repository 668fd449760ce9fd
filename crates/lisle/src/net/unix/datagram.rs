//! Unix datagrams.

use super::Backoff;
use crate::net::face::{clone, descriptor, nonblocking, readable, socket, timeouts, writable};
use crate::net::pollable::not_in_models;
use crate::net::pollable::{Kind, Pollable, would_block};
use crate::reactor::Direction;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::SocketAddr;
use std::path::Path;

/// A socket for datagrams between processes of one machine. Unlike UDP's datagrams, they are
/// neither lost nor reordered.
///
/// # Cancel safety
///
/// A caller that is cancelled while it waits has sent and received nothing.
///
/// # Errors
///
/// All operations return the system's errors.
///
/// # Blocking
///
/// Operations wait as [`Event::sync`](crate::Event::sync) does. Operations with the prefix `try_`
/// do not wait but fail with `WouldBlock`.
pub struct UnixDatagram {
    pollable: Pollable<std::os::unix::net::UnixDatagram>,
}

impl UnixDatagram {
    /// Creates a socket at `path`, which must not exist.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::UnixDatagram;
    /// use std::io::ErrorKind;
    ///
    /// # let path = std::env::temp_dir().join(format!("lisle-{}-datagram", std::process::id()));
    /// let socket = UnixDatagram::bind(&path)?;
    /// assert_eq!(socket.local_addr()?.as_pathname(), Some(&*path));
    /// drop(socket); // leaves the path
    /// assert_eq!(UnixDatagram::bind(&path).unwrap_err().kind(), ErrorKind::AddrInUse);
    /// std::fs::remove_file(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        not_in_models();
        Self::from_std(std::os::unix::net::UnixDatagram::bind(path)?)
    }

    /// Creates a socket at `address`.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::UnixDatagram;
    /// use std::os::unix::net::SocketAddr;
    ///
    /// # let path = std::env::temp_dir().join(format!("lisle-{}-dgram-addr", std::process::id()));
    /// let socket = UnixDatagram::bind_addr(&SocketAddr::from_pathname(&path)?)?;
    /// assert_eq!(socket.local_addr()?.as_pathname(), Some(&*path));
    /// # std::fs::remove_file(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        not_in_models();
        Self::from_std(std::os::unix::net::UnixDatagram::bind_addr(address)?)
    }

    /// Creates a socket without an address. It can send, but can receive only after it is
    /// connected.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::UnixDatagram;
    ///
    /// # let path = std::env::temp_dir().join(format!("lisle-{}-unbound", std::process::id()));
    /// let (sender, receiver) = (UnixDatagram::unbound()?, UnixDatagram::bind(&path)?);
    /// sender.send_to(b"hello", &path)?;
    /// let (length, from) = receiver.recv_from(&mut [0; 16])?;
    /// assert_eq!(length, 5);
    /// assert!(from.is_unnamed()); // so the receiver cannot answer
    /// # std::fs::remove_file(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn unbound() -> io::Result<Self> {
        not_in_models();
        Self::from_std(std::os::unix::net::UnixDatagram::unbound()?)
    }

    /// Creates two sockets that are connected to each other.
    ///
    /// # Examples
    ///
    /// ```
    /// let (one, other) = lisle::net::UnixDatagram::pair()?;
    /// one.send(b"two")?;
    /// one.send(b"messages")?;
    /// assert_eq!((other.recv(&mut [0; 16])?, other.recv(&mut [0; 16])?), (3, 8)); // not one of 11
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn pair() -> io::Result<(Self, Self)> {
        not_in_models();
        let (one, other) = std::os::unix::net::UnixDatagram::pair()?;
        Ok((Self::from_std(one)?, Self::from_std(other)?))
    }

    /// Restricts sending and receiving to the socket at `path`.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::UnixDatagram;
    ///
    /// # let path = std::env::temp_dir().join(format!("lisle-{}-connect", std::process::id()));
    /// let (sender, receiver) = (UnixDatagram::unbound()?, UnixDatagram::bind(&path)?);
    /// assert!(sender.send(b"to nobody").is_err());
    /// sender.connect(&path)?;
    /// sender.send(b"hello")?;
    /// assert_eq!(receiver.recv(&mut [0; 16])?, 5);
    /// # std::fs::remove_file(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn connect(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.pollable.get_ref().connect(path)
    }

    /// Restricts sending and receiving to the socket at `address`.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::UnixDatagram;
    ///
    /// # let path = std::env::temp_dir().join(format!("lisle-{}-c-addr", std::process::id()));
    /// let (sender, receiver) = (UnixDatagram::unbound()?, UnixDatagram::bind(&path)?);
    /// sender.connect_addr(&receiver.local_addr()?)?;
    /// sender.send(b"hello")?;
    /// assert_eq!(receiver.recv(&mut [0; 16])?, 5);
    /// # std::fs::remove_file(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn connect_addr(&self, address: &SocketAddr) -> io::Result<()> {
        self.pollable.get_ref().connect_addr(address)
    }

    /// Returns the address that this socket is connected to.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::UnixDatagram;
    ///
    /// let (one, _other) = UnixDatagram::pair()?;
    /// assert!(one.peer_addr()?.is_unnamed());
    /// assert!(UnixDatagram::unbound()?.peer_addr().is_err()); // the socket is not connected
    /// # std::io::Result::Ok(())
    /// ```
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.pollable.get_ref().peer_addr()
    }

    /// Sends one datagram to the socket that this one is connected to. Waits while the receiver's
    /// queue is full.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::UnixDatagram;
    ///
    /// let (one, other) = UnixDatagram::pair()?;
    /// assert_eq!(one.send(b"hello")?, 5);
    /// assert_eq!(other.recv(&mut [0; 16])?, 5);
    /// drop(other);
    /// assert!(one.send(b"hello").is_err()); // the receiver is gone
    /// # std::io::Result::Ok(())
    /// ```
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.pollable.write_with(|socket| socket.send(bytes))
    }

    /// Sends one datagram to the socket at `path`. Waits while the receiver's queue is full. The
    /// system does not report when the queue has room again, so this function tries again after 1
    /// ms and then less often. A connected socket does not have this problem.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::UnixDatagram;
    ///
    /// # let path = std::env::temp_dir().join(format!("lisle-{}-send-to", std::process::id()));
    /// let (sender, receiver) = (UnixDatagram::unbound()?, UnixDatagram::bind(&path)?);
    /// assert_eq!(sender.send_to(b"hello", &path)?, 5);
    /// assert_eq!(receiver.recv(&mut [0; 16])?, 5);
    /// std::fs::remove_file(&path)?;
    /// assert!(sender.send_to(b"hello", &path).is_err()); // no such socket
    /// # std::io::Result::Ok(())
    /// ```
    pub fn send_to(&self, bytes: &[u8], path: impl AsRef<Path>) -> io::Result<usize> {
        self.send_to_addr(bytes, &SocketAddr::from_pathname(path)?)
    }

    /// Sends one datagram to the socket at `address`, as [`send_to`](UnixDatagram::send_to) does.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::UnixDatagram;
    ///
    /// # let path = std::env::temp_dir().join(format!("lisle-{}-s-addr", std::process::id()));
    /// let (sender, receiver) = (UnixDatagram::unbound()?, UnixDatagram::bind(&path)?);
    /// sender.send_to_addr(b"hello", &receiver.local_addr()?)?;
    /// assert_eq!(receiver.recv(&mut [0; 16])?, 5);
    /// # std::fs::remove_file(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn send_to_addr(&self, bytes: &[u8], address: &SocketAddr) -> io::Result<usize> {
        let mut backoff = Backoff::new();
        loop {
            match self.pollable.get_ref().send_to_addr(bytes, address) {
                Err(error) if would_block(&error) => backoff.wait()?,
                outcome => return outcome,
            }
        }
    }

    /// Receives one datagram. Bytes that do not fit into `buffer` are lost.
    ///
    /// # Examples
    ///
    /// ```
    /// let (one, other) = lisle::net::UnixDatagram::pair()?;
    /// one.send(b"hello")?;
    /// one.send(b"again")?;
    /// let mut short = [0; 2];
    /// assert_eq!(other.recv(&mut short)?, 2); // the rest is lost
    /// assert_eq!(other.recv(&mut [0; 16])?, 5); // "again"
    /// # std::io::Result::Ok(())
    /// ```
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.read_with(|socket| socket.recv(buffer))
    }

    /// Receives one datagram and the address of its sender. Bytes that do not fit into `buffer` are
    /// lost.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::UnixDatagram;
    ///
    /// # let path = std::env::temp_dir().join(format!("lisle-{}-recv-from", std::process::id()));
    /// # let other = path.with_extension("client");
    /// let (server, client) = (UnixDatagram::bind(&path)?, UnixDatagram::bind(&other)?);
    /// client.send_to(b"request", &path)?;
    /// let (_, from) = server.recv_from(&mut [0; 16])?;
    /// server.send_to_addr(b"answer", &from)?;
    /// assert_eq!(client.recv(&mut [0; 16])?, 6);
    /// # std::fs::remove_file(&path)?;
    /// # std::fs::remove_file(&other)?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.pollable.read_with(|socket| socket.recv_from(buffer))
    }

    /// Sends as [`send`](UnixDatagram::send) does, without waiting.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::ErrorKind;
    ///
    /// let (one, _other) = lisle::net::UnixDatagram::pair()?;
    /// while one.try_send(b"hello").is_ok() {} // nobody receives
    /// assert_eq!(one.try_send(b"hello").unwrap_err().kind(), ErrorKind::WouldBlock);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.pollable.try_once(Direction::Write, |socket| socket.send(bytes), |_| false)
    }

    /// Sends as [`send_to_addr`](UnixDatagram::send_to_addr) does, without waiting.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::UnixDatagram;
    /// use std::io::ErrorKind;
    ///
    /// # let path = std::env::temp_dir().join(format!("lisle-{}-t-addr", std::process::id()));
    /// let (sender, receiver) = (UnixDatagram::unbound()?, UnixDatagram::bind(&path)?);
    /// let address = receiver.local_addr()?;
    /// while sender.try_send_to_addr(b"hello", &address).is_ok() {} // nobody receives
    /// let full = sender.try_send_to_addr(b"hello", &address).unwrap_err();
    /// assert_eq!(full.kind(), ErrorKind::WouldBlock);
    /// # std::fs::remove_file(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_send_to_addr(&self, bytes: &[u8], address: &SocketAddr) -> io::Result<usize> {
        self.pollable.get_ref().send_to_addr(bytes, address)
    }

    /// Receives as [`recv`](UnixDatagram::recv) does, without waiting.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::ErrorKind;
    ///
    /// let (one, other) = lisle::net::UnixDatagram::pair()?;
    /// assert_eq!(other.try_recv(&mut [0; 16]).unwrap_err().kind(), ErrorKind::WouldBlock);
    /// one.send(b"hello")?;
    /// assert_eq!(other.try_recv(&mut [0; 16])?, 5);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.try_once(Direction::Read, |socket| socket.recv(buffer), |_| false)
    }

    /// Receives as [`recv_from`](UnixDatagram::recv_from) does, without waiting.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::ErrorKind;
    ///
    /// let (one, other) = lisle::net::UnixDatagram::pair()?;
    /// assert_eq!(other.try_recv_from(&mut [0; 16]).unwrap_err().kind(), ErrorKind::WouldBlock);
    /// one.send(b"hello")?;
    /// let (length, from) = other.try_recv_from(&mut [0; 16])?;
    /// assert!(length == 5 && from.is_unnamed());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.pollable.try_once(Direction::Read, |socket| socket.recv_from(buffer), |_| false)
    }

    /// Ends receiving, sending or both, for all handles. Wakes all performers that wait for the
    /// ended directions.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::net::Shutdown;
    ///
    /// let (one, other) = lisle::net::UnixDatagram::pair()?;
    /// one.shutdown(Shutdown::Write)?;
    /// assert!(one.send(b"hello").is_err());
    /// other.send(b"hello")?; // the other direction is open
    /// assert_eq!(one.recv(&mut [0; 16])?, 5);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.pollable.get_ref().shutdown(how)
    }
}

descriptor!(
    UnixDatagram,
    std::os::unix::net::UnixDatagram,
    std::os::unix::net::UnixDatagram,
    GENERAL,
    with_its_timeouts
);
socket!(UnixDatagram, SocketAddr);
clone!(UnixDatagram);
timeouts!(UnixDatagram);
nonblocking!(UnixDatagram);
readable!(UnixDatagram, std::os::unix::net::UnixDatagram);
writable!(UnixDatagram, std::os::unix::net::UnixDatagram);
