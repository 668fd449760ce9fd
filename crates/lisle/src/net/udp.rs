//! UDP.

use crate::net::face::{clone, descriptor, readable, socket, writable};
use crate::net::pollable::{Kind, Pollable};
use crate::net::resolve::{self, ToSocketAddrs};
use crate::sched::reactor::Direction;
use crate::shim::clock;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

/// A UDP socket.
///
/// ```
/// use lisle::net::UdpSocket;
///
/// # fn main() -> std::io::Result<()> {
/// let one = UdpSocket::bind("127.0.0.1:0")?;
/// let other = UdpSocket::bind("127.0.0.1:0")?;
/// one.send_to(b"hello", other.local_addr()?)?;
/// let mut buffer = [0; 16];
/// let (length, from) = other.recv_from(&mut buffer)?;
/// assert_eq!((&buffer[..length], from), (&b"hello"[..], one.local_addr()?));
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
///
/// Whoever is cancelled while waiting has sent and received nothing.
///
/// # Errors
///
/// All operations give the system's errors. On a connected socket that includes the news that an
/// earlier datagram found nobody (`ConnectionRefused`).
///
/// # Blocking
///
/// Operations wait as [`Event::sync`](crate::Event::sync) does; those named `try_` do not wait but
/// fail with `WouldBlock`.
pub struct UdpSocket {
    pollable: Pollable<std::net::UdpSocket>,
}

impl UdpSocket {
    /// A socket at `address`; of several that a name stands for, at the first that can be had.
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        resolve::first(address, |address| {
            let pollable = Pollable::of_kind(std::net::UdpSocket::bind(address)?, Kind::GENERAL)?;
            Ok(UdpSocket { pollable })
        })
    }

    /// Sends to, and receives from, this address only.
    pub fn connect(&self, address: impl ToSocketAddrs) -> io::Result<()> {
        resolve::first(address, |address| self.pollable.get_ref().connect(address))
    }

    /// The address this socket is connected to.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.pollable.get_ref().peer_addr()
    }

    /// Sends one datagram to `address`, the first that a name stands for.
    pub fn send_to(&self, bytes: &[u8], address: impl ToSocketAddrs) -> io::Result<usize> {
        let address = resolve::one(address)?;
        self.pollable.write_with(|socket| socket.send_to(bytes, address))
    }

    /// Sends one datagram to the address this socket is connected to.
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.pollable.write_with(|socket| socket.send(bytes))
    }

    /// Receives one datagram. What does not fit is lost.
    pub fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.pollable.read_with(|socket| socket.recv_from(buffer))
    }

    /// Receives one datagram from the address this socket is connected to.
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.read_with(|socket| socket.recv(buffer))
    }

    /// As [`recv_from`](UdpSocket::recv_from), and leaves the datagram to be received again.
    pub fn peek_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.pollable.read_with(|socket| socket.peek_from(buffer))
    }

    /// As [`recv`](UdpSocket::recv), and leaves the datagram to be received again.
    pub fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.read_with(|socket| socket.peek(buffer))
    }

    /// As [`recv_from`](UdpSocket::recv_from), waiting for at most `timeout`; then the error is `TimedOut`.
    pub fn recv_from_timeout(&self, buffer: &mut [u8], timeout: Duration) -> io::Result<(usize, SocketAddr)> {
        let deadline = Some(clock::instant_after(timeout));
        self.pollable.perform(Direction::Read, deadline, |socket| socket.recv_from(buffer))
    }

    /// As [`send_to`](UdpSocket::send_to), without waiting.
    pub fn try_send_to(&self, bytes: &[u8], address: SocketAddr) -> io::Result<usize> {
        self.pollable.try_once(Direction::Write, |socket| socket.send_to(bytes, address), |_| false)
    }

    /// As [`send`](UdpSocket::send), without waiting.
    pub fn try_send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.pollable.try_once(Direction::Write, |socket| socket.send(bytes), |_| false)
    }

    /// As [`recv_from`](UdpSocket::recv_from), without waiting.
    pub fn try_recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.pollable.try_once(Direction::Read, |socket| socket.recv_from(buffer), |_| false)
    }

    /// As [`recv`](UdpSocket::recv), without waiting.
    pub fn try_recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.try_once(Direction::Read, |socket| socket.recv(buffer), |_| false)
    }

    /// May datagrams go to broadcast addresses?
    pub fn broadcast(&self) -> io::Result<bool> {
        self.pollable.get_ref().broadcast()
    }

    /// Sets [`broadcast`](UdpSocket::broadcast).
    pub fn set_broadcast(&self, broadcast: bool) -> io::Result<()> {
        self.pollable.get_ref().set_broadcast(broadcast)
    }

    /// How many hops a datagram may take.
    pub fn ttl(&self) -> io::Result<u32> {
        self.pollable.get_ref().ttl()
    }

    /// Sets [`ttl`](UdpSocket::ttl).
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.pollable.get_ref().set_ttl(ttl)
    }

    /// Does this host receive what it sends to IPv4 groups?
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.pollable.get_ref().multicast_loop_v4()
    }

    /// Sets [`multicast_loop_v4`](UdpSocket::multicast_loop_v4).
    pub fn set_multicast_loop_v4(&self, looping: bool) -> io::Result<()> {
        self.pollable.get_ref().set_multicast_loop_v4(looping)
    }

    /// How many hops a datagram to an IPv4 group may take.
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.pollable.get_ref().multicast_ttl_v4()
    }

    /// Sets [`multicast_ttl_v4`](UdpSocket::multicast_ttl_v4).
    pub fn set_multicast_ttl_v4(&self, ttl: u32) -> io::Result<()> {
        self.pollable.get_ref().set_multicast_ttl_v4(ttl)
    }

    /// Does this host receive what it sends to IPv6 groups?
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.pollable.get_ref().multicast_loop_v6()
    }

    /// Sets [`multicast_loop_v6`](UdpSocket::multicast_loop_v6).
    pub fn set_multicast_loop_v6(&self, looping: bool) -> io::Result<()> {
        self.pollable.get_ref().set_multicast_loop_v6(looping)
    }

    /// Joins the IPv4 group `group` on the interface with this address.
    pub fn join_multicast_v4(&self, group: &Ipv4Addr, interface: &Ipv4Addr) -> io::Result<()> {
        self.pollable.get_ref().join_multicast_v4(group, interface)
    }

    /// Leaves a group that was joined by [`join_multicast_v4`](UdpSocket::join_multicast_v4).
    pub fn leave_multicast_v4(&self, group: &Ipv4Addr, interface: &Ipv4Addr) -> io::Result<()> {
        self.pollable.get_ref().leave_multicast_v4(group, interface)
    }

    /// Joins the IPv6 group `group` on the interface with this number.
    pub fn join_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.pollable.get_ref().join_multicast_v6(group, interface)
    }

    /// Leaves a group that was joined by [`join_multicast_v6`](UdpSocket::join_multicast_v6).
    pub fn leave_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.pollable.get_ref().leave_multicast_v6(group, interface)
    }
}

descriptor!(UdpSocket, std::net::UdpSocket, std::net::UdpSocket, GENERAL);
socket!(UdpSocket, SocketAddr);
clone!(UdpSocket, GENERAL);
readable!(UdpSocket, std::net::UdpSocket);
writable!(UdpSocket, std::net::UdpSocket);
