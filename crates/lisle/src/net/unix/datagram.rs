//! Unix datagrams.

use super::AdaptiveSpin;
use crate::net::face::{clone, descriptor, readable, socket, writable};
use crate::net::pollable::{Kind, Pollable, would_block};
use crate::sched::reactor::Direction;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::SocketAddr;
use std::path::Path;

/// A socket for datagrams between processes of one machine. Unlike UDP's, they are neither lost nor
/// reordered.
///
/// # Cancel safety
///
/// Whoever is cancelled while waiting has sent and received nothing.
///
/// # Errors
///
/// All operations give the system's errors.
///
/// # Blocking
///
/// Operations wait as [`Event::sync`](crate::Event::sync) does; those named `try_` do not wait but
/// fail with `WouldBlock`.
pub struct UnixDatagram {
    pollable: Pollable<std::os::unix::net::UnixDatagram>,
}

impl UnixDatagram {
    /// A socket at `path`, which must not exist.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::from_std(std::os::unix::net::UnixDatagram::bind(path)?)
    }

    /// A socket at `address`.
    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        Self::from_std(std::os::unix::net::UnixDatagram::bind_addr(address)?)
    }

    /// A socket without an address: it sends, and receives only once connected.
    pub fn unbound() -> io::Result<Self> {
        Self::from_std(std::os::unix::net::UnixDatagram::unbound()?)
    }

    /// Two sockets that are connected to each other.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = std::os::unix::net::UnixDatagram::pair()?;
        Ok((Self::from_std(one)?, Self::from_std(other)?))
    }

    /// Sends to, and receives from, the socket at `path` only.
    pub fn connect(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.pollable.get_ref().connect(path)
    }

    /// Sends to, and receives from, the socket at `address` only.
    pub fn connect_addr(&self, address: &SocketAddr) -> io::Result<()> {
        self.pollable.get_ref().connect_addr(address)
    }

    /// The address this socket is connected to.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.pollable.get_ref().peer_addr()
    }

    /// Sends one datagram to the socket this one is connected to, waiting while its queue is full.
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.pollable.write_with(|socket| socket.send(bytes))
    }

    /// Sends one datagram to the socket at `path`, waiting while its queue is full. The system does not tell
    /// when it is not any more, so this tries again after 1 ms, then less often; better connect.
    pub fn send_to(&self, bytes: &[u8], path: impl AsRef<Path>) -> io::Result<usize> {
        self.send_to_addr(bytes, &SocketAddr::from_pathname(path)?)
    }

    /// Sends one datagram to the socket at `address`, as [`send_to`](UnixDatagram::send_to).
    pub fn send_to_addr(&self, bytes: &[u8], address: &SocketAddr) -> io::Result<usize> {
        let mut adaptive_spin = AdaptiveSpin::new();
        loop {
            match self.pollable.get_ref().send_to_addr(bytes, address) {
                Err(error) if would_block(&error) => adaptive_spin.wait(),
                outcome => return outcome,
            }
        }
    }

    /// Receives one datagram. What does not fit is lost.
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.read_with(|socket| socket.recv(buffer))
    }

    /// Receives one datagram and the address of its sender. What does not fit is lost.
    pub fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.pollable.read_with(|socket| socket.recv_from(buffer))
    }

    /// As [`send`](UnixDatagram::send), without waiting.
    pub fn try_send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.pollable.try_once(Direction::Write, |socket| socket.send(bytes), |_| false)
    }

    /// As [`send_to_addr`](UnixDatagram::send_to_addr), without waiting.
    pub fn try_send_to_addr(&self, bytes: &[u8], address: &SocketAddr) -> io::Result<usize> {
        self.pollable.get_ref().send_to_addr(bytes, address)
    }

    /// As [`recv`](UnixDatagram::recv), without waiting.
    pub fn try_recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.try_once(Direction::Read, |socket| socket.recv(buffer), |_| false)
    }

    /// As [`recv_from`](UnixDatagram::recv_from), without waiting.
    pub fn try_recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.pollable.try_once(Direction::Read, |socket| socket.recv_from(buffer), |_| false)
    }

    /// Ends receiving, sending or both, for all handles. Whoever waits for what is ended is woken.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.pollable.get_ref().shutdown(how)
    }
}

descriptor!(UnixDatagram, std::os::unix::net::UnixDatagram, std::os::unix::net::UnixDatagram, GENERAL);
socket!(UnixDatagram, SocketAddr);
clone!(UnixDatagram, GENERAL);
readable!(UnixDatagram, std::os::unix::net::UnixDatagram);
writable!(UnixDatagram, std::os::unix::net::UnixDatagram);
