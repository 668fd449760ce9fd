//! UDP.

use crate::net::face::{clone, descriptor, nonblocking, readable, socket, timeouts, writable};
use crate::net::pollable::not_in_models;
use crate::net::pollable::{Kind, Pollable};
use crate::net::resolve::{self, ToSocketAddrs};
use crate::reactor::Direction;
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
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::UdpSocket;
    /// use std::io::ErrorKind;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0")?; // port 0: any that is free
    /// let again = UdpSocket::bind(socket.local_addr()?).unwrap_err();
    /// assert_eq!(again.kind(), ErrorKind::AddrInUse);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        not_in_models();
        resolve::first(address, |address| {
            let pollable = Pollable::of_kind(std::net::UdpSocket::bind(address)?, Kind::GENERAL)?;
            Ok(UdpSocket { pollable })
        })
    }

    /// Restricts sending and receiving to this address.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::UdpSocket;
    ///
    /// let (one, other) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    /// one.connect(other.local_addr()?)?;
    /// let stranger = UdpSocket::bind("127.0.0.1:0")?;
    /// stranger.send_to(b"not wanted", one.local_addr()?)?;
    /// other.send_to(b"wanted", one.local_addr()?)?;
    /// let mut buffer = [0; 16];
    /// let length = one.recv(&mut buffer)?;
    /// assert_eq!(&buffer[..length], b"wanted");
    /// # std::io::Result::Ok(())
    /// ```
    pub fn connect(&self, address: impl ToSocketAddrs) -> io::Result<()> {
        resolve::first(address, |address| self.pollable.get_ref().connect(address))
    }

    /// Returns the address that this socket is connected to.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::UdpSocket;
    /// use std::io::ErrorKind;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// assert_eq!(socket.peer_addr().unwrap_err().kind(), ErrorKind::NotConnected);
    /// let other = UdpSocket::bind("127.0.0.1:0")?.local_addr()?;
    /// socket.connect(other)?;
    /// assert_eq!(socket.peer_addr()?, other);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.pollable.get_ref().peer_addr()
    }

    /// Sends one datagram to `address`, or to the first address that a name stands for.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle::net::UdpSocket;
    /// let (one, other) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    /// let port = other.local_addr()?.port();
    /// assert_eq!(one.send_to(b"hello", ("127.0.0.1", port))?, 5);
    /// assert_eq!(other.recv_from(&mut [0; 16])?, (5, one.local_addr()?));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn send_to(&self, bytes: &[u8], address: impl ToSocketAddrs) -> io::Result<usize> {
        let address = resolve::one(address)?;
        self.pollable.write_with(|socket| socket.send_to(bytes, address))
    }

    /// Sends one datagram to the address that this socket is connected to.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle::net::UdpSocket;
    /// let (one, other) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    /// assert!(one.send(b"to nobody").is_err()); // the socket is not connected
    /// one.connect(other.local_addr()?)?;
    /// assert_eq!(one.send(b"hello")?, 5);
    /// assert_eq!(other.recv_from(&mut [0; 16])?, (5, one.local_addr()?));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.pollable.write_with(|socket| socket.send(bytes))
    }

    /// Receives one datagram. Bytes that do not fit into `buffer` are lost.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle::net::UdpSocket;
    /// let (one, other) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    /// one.send_to(b"hello", other.local_addr()?)?;
    /// one.send_to(b"again", other.local_addr()?)?;
    /// let mut short = [0; 2];
    /// assert_eq!(other.recv_from(&mut short)?, (2, one.local_addr()?));
    /// assert_eq!(&short, b"he"); // the rest is lost
    /// assert_eq!(other.recv_from(&mut [0; 16])?, (5, one.local_addr()?)); // "again"
    /// # std::io::Result::Ok(())
    /// ```
    pub fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.pollable.read_with(|socket| socket.recv_from(buffer))
    }

    /// Receives one datagram from the address that this socket is connected to.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle::net::UdpSocket;
    /// let (one, other) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    /// one.connect(other.local_addr()?)?;
    /// other.send_to(b"", one.local_addr()?)?;
    /// assert_eq!(one.recv(&mut [0; 16])?, 0); // an empty datagram, not an end
    /// # std::io::Result::Ok(())
    /// ```
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.read_with(|socket| socket.recv(buffer))
    }

    /// Receives as [`recv_from`](UdpSocket::recv_from) does, and leaves the datagram to be received
    /// again.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle::net::UdpSocket;
    /// let (one, other) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    /// one.send_to(b"hello", other.local_addr()?)?;
    /// let (_, from) = other.peek_from(&mut [0; 1])?; // the sender
    /// assert_eq!(other.recv_from(&mut [0; 16])?, (5, from)); // nothing was lost
    /// # std::io::Result::Ok(())
    /// ```
    pub fn peek_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.pollable.read_with(|socket| socket.peek_from(buffer))
    }

    /// Receives as [`recv`](UdpSocket::recv) does, and leaves the datagram to be received again.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle::net::UdpSocket;
    /// let (one, other) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    /// one.connect(other.local_addr()?)?;
    /// other.send_to(b"hello", one.local_addr()?)?;
    /// assert_eq!(one.peek(&mut [0; 16])?, 5);
    /// assert_eq!(one.recv(&mut [0; 16])?, 5); // the same datagram
    /// # std::io::Result::Ok(())
    /// ```
    pub fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.read_with(|socket| socket.peek(buffer))
    }

    /// Receives as [`recv_from`](UdpSocket::recv_from) does, and waits for at most `timeout`. Then
    /// fails with `TimedOut`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{io::ErrorKind, time::Duration};
    ///
    /// # use lisle::net::UdpSocket;
    /// let (one, other) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    /// let mut buffer = [0; 16];
    /// let late = other.recv_from_within(&mut buffer, Duration::from_millis(1)).unwrap_err();
    /// assert_eq!(late.kind(), ErrorKind::TimedOut);
    /// one.send_to(b"hello", other.local_addr()?)?;
    /// let (length, _) = other.recv_from_within(&mut buffer, Duration::from_secs(60))?;
    /// assert_eq!(length, 5);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn recv_from_within(&self, buffer: &mut [u8], timeout: Duration) -> io::Result<(usize, SocketAddr)> {
        let deadline = Some(clock::instant_after(timeout));
        self.pollable.perform(Direction::Read, deadline, |socket| socket.recv_from(buffer))
    }

    /// Sends as [`send_to`](UdpSocket::send_to) does, without waiting.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle::net::UdpSocket;
    /// let (one, other) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    /// assert_eq!(one.try_send_to(b"hello", other.local_addr()?)?, 5);
    /// assert_eq!(other.recv_from(&mut [0; 16])?, (5, one.local_addr()?));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_send_to(&self, bytes: &[u8], address: SocketAddr) -> io::Result<usize> {
        self.pollable.try_once(Direction::Write, |socket| socket.send_to(bytes, address), |_| false)
    }

    /// Sends as [`send`](UdpSocket::send) does, without waiting.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle::net::UdpSocket;
    /// let (one, other) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    /// one.connect(other.local_addr()?)?;
    /// assert_eq!(one.try_send(b"hello")?, 5);
    /// assert_eq!(other.recv_from(&mut [0; 16])?, (5, one.local_addr()?));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.pollable.try_once(Direction::Write, |socket| socket.send(bytes), |_| false)
    }

    /// Receives as [`recv_from`](UdpSocket::recv_from) does, without waiting.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::Event;
    /// use std::io::ErrorKind;
    ///
    /// # use lisle::net::UdpSocket;
    /// let (one, other) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    /// let nothing = other.try_recv_from(&mut [0; 16]).unwrap_err();
    /// assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
    /// one.send_to(b"hello", other.local_addr()?)?;
    /// other.readable_evt().sync()?;
    /// assert_eq!(other.try_recv_from(&mut [0; 16])?, (5, one.local_addr()?));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.pollable.try_once(Direction::Read, |socket| socket.recv_from(buffer), |_| false)
    }

    /// Receives as [`recv`](UdpSocket::recv) does, without waiting.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::Event;
    /// use std::io::ErrorKind;
    ///
    /// # use lisle::net::UdpSocket;
    /// let (one, other) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    /// one.connect(other.local_addr()?)?;
    /// assert_eq!(one.try_recv(&mut [0; 16]).unwrap_err().kind(), ErrorKind::WouldBlock);
    /// other.send_to(b"hello", one.local_addr()?)?;
    /// one.readable_evt().sync()?;
    /// assert_eq!(one.try_recv(&mut [0; 16])?, 5);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pollable.try_once(Direction::Read, |socket| socket.recv(buffer), |_| false)
    }

    /// Returns `true` if datagrams may go to broadcast addresses.
    pub fn broadcast(&self) -> io::Result<bool> {
        self.pollable.get_ref().broadcast()
    }

    /// Sets [`broadcast`](UdpSocket::broadcast).
    ///
    /// # Examples
    ///
    /// ```
    /// let socket = lisle::net::UdpSocket::bind("127.0.0.1:0")?;
    /// assert!(!socket.broadcast()?);
    /// socket.set_broadcast(true)?;
    /// assert!(socket.broadcast()?);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_broadcast(&self, broadcast: bool) -> io::Result<()> {
        self.pollable.get_ref().set_broadcast(broadcast)
    }

    /// Returns the number of hops that a datagram may take.
    pub fn ttl(&self) -> io::Result<u32> {
        self.pollable.get_ref().ttl()
    }

    /// Sets [`ttl`](UdpSocket::ttl).
    ///
    /// # Examples
    ///
    /// ```
    /// let socket = lisle::net::UdpSocket::bind("127.0.0.1:0")?;
    /// socket.set_ttl(8)?;
    /// assert_eq!(socket.ttl()?, 8);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.pollable.get_ref().set_ttl(ttl)
    }

    /// Returns `true` if this host receives the datagrams that it sends to IPv4 groups.
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.pollable.get_ref().multicast_loop_v4()
    }

    /// Sets [`multicast_loop_v4`](UdpSocket::multicast_loop_v4).
    ///
    /// # Examples
    ///
    /// ```
    /// let socket = lisle::net::UdpSocket::bind("127.0.0.1:0")?;
    /// assert!(socket.multicast_loop_v4()?);
    /// socket.set_multicast_loop_v4(false)?;
    /// assert!(!socket.multicast_loop_v4()?);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_multicast_loop_v4(&self, looping: bool) -> io::Result<()> {
        self.pollable.get_ref().set_multicast_loop_v4(looping)
    }

    /// Returns the number of hops that a datagram to an IPv4 group may take.
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.pollable.get_ref().multicast_ttl_v4()
    }

    /// Sets [`multicast_ttl_v4`](UdpSocket::multicast_ttl_v4).
    ///
    /// # Examples
    ///
    /// ```
    /// let socket = lisle::net::UdpSocket::bind("127.0.0.1:0")?;
    /// assert_eq!(socket.multicast_ttl_v4()?, 1); // not beyond the local network
    /// socket.set_multicast_ttl_v4(8)?;
    /// assert_eq!(socket.multicast_ttl_v4()?, 8);
    /// # std::io::Result::Ok(())
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// use std::net::Ipv4Addr;
    ///
    /// let socket = lisle::net::UdpSocket::bind("127.0.0.1:0")?;
    /// let single = Ipv4Addr::new(127, 0, 0, 2);
    /// assert!(socket.join_multicast_v4(&single, &Ipv4Addr::LOCALHOST).is_err()); // no group
    /// # std::io::Result::Ok(())
    /// ```
    pub fn join_multicast_v4(&self, group: &Ipv4Addr, interface: &Ipv4Addr) -> io::Result<()> {
        self.pollable.get_ref().join_multicast_v4(group, interface)
    }

    /// Leaves a group that was joined by [`join_multicast_v4`](UdpSocket::join_multicast_v4).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::net::Ipv4Addr;
    ///
    /// let socket = lisle::net::UdpSocket::bind("127.0.0.1:0")?;
    /// let group = Ipv4Addr::new(224, 0, 0, 200);
    /// assert!(socket.leave_multicast_v4(&group, &Ipv4Addr::LOCALHOST).is_err()); // not joined
    /// # std::io::Result::Ok(())
    /// ```
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

descriptor!(UdpSocket, std::net::UdpSocket, std::net::UdpSocket, GENERAL, with_its_timeouts);
socket!(UdpSocket, SocketAddr);
clone!(UdpSocket);
timeouts!(UdpSocket);
nonblocking!(UdpSocket);
readable!(UdpSocket, std::net::UdpSocket);
writable!(UdpSocket, std::net::UdpSocket);
