//! Unix datagrams.

use super::Backoff;
use crate::net::face::{clone, descriptor, readable, socket, writable};
use crate::net::pollable::{Kind, Pollable, would_block};
use crate::sched::reactor::Direction;
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
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::from_std(std::os::unix::net::UnixDatagram::bind(path)?)
    }

    /// Creates a socket at `address`.
    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        Self::from_std(std::os::unix::net::UnixDatagram::bind_addr(address)?)
    }

    /// Creates a socket without an address. It can send, but can receive only after it is
    /// connected.
    pub fn unbound() -> io::Result<Self> {
        Self::from_std(std::os::unix::net::UnixDatagram::unbound()?)
    }

    /// Creates two sockets that are connected to each other.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = std::os::unix::net::UnixDatagram::pair()?;
        Ok((Self::from_std(one)?, Self::from_std(other)?))
    }

    /// Restricts sending and receiving to the socket at `path`.
    pub fn connect(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.pollable.get_ref().connect(path)
    }

    /// Restricts sending and receiving to the socket at `address`.
    pub fn connect_addr(&self, address: &SocketAddr) -> io::Result<()> {
        self.pollable.get_ref().connect_addr(address)
    }

    /// Returns the address that this socket is connected to.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.pollable.get_ref().peer_addr()
    }

    /// Sends one datagram to the socket that this one is connected to. Waits while the receiver's
    /// queue is full.
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.pollable.write_with(|socket| socket.send(bytes))
    }

    /// Sends one datagram to the socket at `path`. Waits while the receiver's queue is full. The
    /// system does not report when the queue has room again, so this function tries again after 1
    /// ms and then less often. A connected socket does not have this problem.
    pub fn send_to(&self, bytes: &[u8], path: impl AsRef<Path>) -> io::Result<usize> {
        self.send_to_addr(bytes, &SocketAddr::from_pathname(path)?)
    }

    /// Sends one datagram to the socket at `address`, as [`send_to`](UnixDatagram::send_to) does.
    pub fn send_to_addr(&self, bytes: &[u8], address: &SocketAddr) -> io::Result<usize> {
        let mut backoff = Backoff::new();
        loop {
            match self.pollable.get_ref().send_to_addr(bytes, address) {
                Err(error) if would_block(&error) => backoff.wait(),
                outcome => return outcome,
            }
        }
    }

    /// Receives one datagram. Bytes that do not fit into `buffer` are lost.
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.read_with(|socket| socket.recv(buffer))
    }

    /// Receives one datagram and the address of its sender. Bytes that do not fit into `buffer` are
    /// lost.
    pub fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.pollable.read_with(|socket| socket.recv_from(buffer))
    }

    /// Sends as [`send`](UnixDatagram::send) does, without waiting.
    pub fn try_send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.pollable.try_once(Direction::Write, |socket| socket.send(bytes), |_| false)
    }

    /// Sends as [`send_to_addr`](UnixDatagram::send_to_addr) does, without waiting.
    pub fn try_send_to_addr(&self, bytes: &[u8], address: &SocketAddr) -> io::Result<usize> {
        self.pollable.get_ref().send_to_addr(bytes, address)
    }

    /// Receives as [`recv`](UnixDatagram::recv) does, without waiting.
    pub fn try_recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.try_once(Direction::Read, |socket| socket.recv(buffer), |_| false)
    }

    /// Receives as [`recv_from`](UnixDatagram::recv_from) does, without waiting.
    pub fn try_recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.pollable.try_once(Direction::Read, |socket| socket.recv_from(buffer), |_| false)
    }

    /// Ends receiving, sending or both, for all handles. Wakes all performers that wait for the
    /// ended directions.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.pollable.get_ref().shutdown(how)
    }
}

descriptor!(UnixDatagram, std::os::unix::net::UnixDatagram, std::os::unix::net::UnixDatagram, GENERAL);
socket!(UnixDatagram, SocketAddr);
clone!(UnixDatagram, GENERAL);
readable!(UnixDatagram, std::os::unix::net::UnixDatagram);
writable!(UnixDatagram, std::os::unix::net::UnixDatagram);
