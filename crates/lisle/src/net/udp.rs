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
/// A caller that is cancelled while it waits has sent and received nothing.
///
/// # Errors
///
/// All operations return the system's errors. On a connected socket these include the report that
/// an earlier datagram had no receiver (`ConnectionRefused`).
///
/// # Blocking
///
/// Operations wait as [`Event::sync`](crate::Event::sync) does. Operations with the prefix `try_`
/// do not wait but fail with `WouldBlock`.
pub struct UdpSocket {
    pollable: Pollable<std::net::UdpSocket>,
}

impl UdpSocket {
    /// Creates a socket at `address`. If a name stands for several addresses, uses the first that
    /// works.
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        resolve::first(address, |address| {
            let pollable = Pollable::of_kind(std::net::UdpSocket::bind(address)?, Kind::GENERAL)?;
            Ok(UdpSocket { pollable })
        })
    }

    /// Restricts sending and receiving to this address.
    pub fn connect(&self, address: impl ToSocketAddrs) -> io::Result<()> {
        resolve::first(address, |address| self.pollable.get_ref().connect(address))
    }

    /// Returns the address that this socket is connected to.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.pollable.get_ref().peer_addr()
    }

    /// Sends one datagram to `address`, or to the first address that a name stands for.
    pub fn send_to(&self, bytes: &[u8], address: impl ToSocketAddrs) -> io::Result<usize> {
        let address = resolve::one(address)?;
        self.pollable.write_with(|socket| socket.send_to(bytes, address))
    }

    /// Sends one datagram to the address that this socket is connected to.
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.pollable.write_with(|socket| socket.send(bytes))
    }

    /// Receives one datagram. Bytes that do not fit into `buffer` are lost.
    pub fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.pollable.read_with(|socket| socket.recv_from(buffer))
    }

    /// Receives one datagram from the address that this socket is connected to.
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.read_with(|socket| socket.recv(buffer))
    }

    /// Receives as [`recv_from`](UdpSocket::recv_from) does, and leaves the datagram to be received
    /// again.
    pub fn peek_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.pollable.read_with(|socket| socket.peek_from(buffer))
    }

    /// Receives as [`recv`](UdpSocket::recv) does, and leaves the datagram to be received again.
    pub fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.read_with(|socket| socket.peek(buffer))
    }

    /// Receives as [`recv_from`](UdpSocket::recv_from) does, and waits for at most `timeout`. After
    /// that it fails with `TimedOut`.
    pub fn recv_from_timeout(&self, buffer: &mut [u8], timeout: Duration) -> io::Result<(usize, SocketAddr)> {
        let deadline = Some(clock::instant_after(timeout));
        self.pollable.perform(Direction::Read, deadline, |socket| socket.recv_from(buffer))
    }

    /// Sends as [`send_to`](UdpSocket::send_to) does, without waiting.
    pub fn try_send_to(&self, bytes: &[u8], address: SocketAddr) -> io::Result<usize> {
        self.pollable.try_once(Direction::Write, |socket| socket.send_to(bytes, address), |_| false)
    }

    /// Sends as [`send`](UdpSocket::send) does, without waiting.
    pub fn try_send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.pollable.try_once(Direction::Write, |socket| socket.send(bytes), |_| false)
    }

    /// Receives as [`recv_from`](UdpSocket::recv_from) does, without waiting.
    pub fn try_recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.pollable.try_once(Direction::Read, |socket| socket.recv_from(buffer), |_| false)
    }

    /// Receives as [`recv`](UdpSocket::recv) does, without waiting.
    pub fn try_recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.try_once(Direction::Read, |socket| socket.recv(buffer), |_| false)
    }

    /// Returns `true` if datagrams may go to broadcast addresses.
    pub fn broadcast(&self) -> io::Result<bool> {
        self.pollable.get_ref().broadcast()
    }

    /// Sets [`broadcast`](UdpSocket::broadcast).
    pub fn set_broadcast(&self, broadcast: bool) -> io::Result<()> {
        self.pollable.get_ref().set_broadcast(broadcast)
    }

    /// Returns the number of hops that a datagram may take.
    pub fn ttl(&self) -> io::Result<u32> {
        self.pollable.get_ref().ttl()
    }

    /// Sets [`ttl`](UdpSocket::ttl).
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.pollable.get_ref().set_ttl(ttl)
    }

    /// Returns `true` if this host receives the datagrams that it sends to IPv4 groups.
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.pollable.get_ref().multicast_loop_v4()
    }

    /// Sets [`multicast_loop_v4`](UdpSocket::multicast_loop_v4).
    pub fn set_multicast_loop_v4(&self, looping: bool) -> io::Result<()> {
        self.pollable.get_ref().set_multicast_loop_v4(looping)
    }

    /// Returns the number of hops that a datagram to an IPv4 group may take.
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.pollable.get_ref().multicast_ttl_v4()
    }

    /// Sets [`multicast_ttl_v4`](UdpSocket::multicast_ttl_v4).
    pub fn set_multicast_ttl_v4(&self, ttl: u32) -> io::Result<()> {
        self.pollable.get_ref().set_multicast_ttl_v4(ttl)
    }

    /// Returns `true` if this host receives the datagrams that it sends to IPv6 groups.
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.pollable.get_ref().multicast_loop_v6()
    }

    /// Sets [`multicast_loop_v6`](UdpSocket::multicast_loop_v6).
    pub fn set_multicast_loop_v6(&self, looping: bool) -> io::Result<()> {
        self.pollable.get_ref().set_multicast_loop_v6(looping)
    }

    /// Joins the IPv4 group `group` on the interface with the address `interface`.
    pub fn join_multicast_v4(&self, group: &Ipv4Addr, interface: &Ipv4Addr) -> io::Result<()> {
        self.pollable.get_ref().join_multicast_v4(group, interface)
    }

    /// Leaves a group that was joined by [`join_multicast_v4`](UdpSocket::join_multicast_v4).
    pub fn leave_multicast_v4(&self, group: &Ipv4Addr, interface: &Ipv4Addr) -> io::Result<()> {
        self.pollable.get_ref().leave_multicast_v4(group, interface)
    }

    /// Joins the IPv6 group `group` on the interface with the number `interface`.
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
