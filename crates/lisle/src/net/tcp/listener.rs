//! Accepting TCP connections.

use super::TcpStream;
use crate::net::accept::{Accept, AcceptEvt, Incoming, sealed::Sealed};
use crate::net::face::{descriptor, listening, nonblocking, socket};
use crate::net::pollable::not_in_models;
use crate::net::pollable::{Kind, Pollable};
use crate::net::resolve::{self, ToSocketAddrs};
use crate::net::system;
use crate::reactor::Direction;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;

/// The number of connections that may wait to be accepted, if the system's own limit allows it.
/// When many clients connect at once, the usual 128 is soon reached, and then connecting takes a
/// second or more.
const BACKLOG: libc::c_int = 4096;

/// A socket that accepts TCP connections.
///
/// ```
/// use lisle::net::{TcpListener, TcpStream};
/// use std::io::{Read, Write};
///
/// # fn main() -> std::io::Result<()> {
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let mut client = TcpStream::connect(listener.local_addr()?)?;
/// let (mut server, _) = listener.accept()?;
/// server.write_all(b"hello")?;
/// drop(server);
/// let mut text = String::new();
/// client.read_to_string(&mut text)?;
/// assert_eq!(text, "hello");
/// # Ok(())
/// # }
/// ```
pub struct TcpListener {
    /// `mio`'s listener, since it accepts a connection and makes it non-blocking in one system call.
    pollable: Pollable<mio::net::TcpListener>,
}

impl TcpListener {
    /// Listens at `address`. If a name stands for several addresses, listens at the first that
    /// works.
    ///
    /// The address may be reused at once after a listener there has been closed (`SO_REUSEADDR`).
    ///
    /// # Errors
    ///
    /// Returns an error if the name stands for no address, or the system's error.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::TcpListener;
    /// use std::io::ErrorKind;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?; // port 0: any that is free
    /// let again = TcpListener::bind(listener.local_addr()?).unwrap_err();
    /// assert_eq!(again.kind(), ErrorKind::AddrInUse);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        not_in_models();
        resolve::first(address, |address| {
            let listener = mio::net::TcpListener::bind(address)?;
            system::listen(listener.as_fd(), BACKLOG)?;
            Ok(TcpListener { pollable: Pollable::nonblocking(listener, Kind::LISTENER) })
        })
    }

    fn accept_now(listener: &mio::net::TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, address) = listener.accept()?;
        Ok((TcpStream::nonblocking(stream.into()), address))
    }

    /// Creates a second handle to the same socket.
    ///
    /// # Errors
    ///
    /// Returns an error if the system is out of descriptors.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let second = listener.try_clone()?;
    /// let address = listener.local_addr()?;
    /// drop(listener);
    /// let client = TcpStream::connect(address)?; // the socket is still open
    /// assert_eq!(second.accept()?.1, client.local_addr()?);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_clone(&self) -> io::Result<Self> {
        let fd = self.as_fd().try_clone_to_owned()?;
        Ok(TcpListener { pollable: Pollable::duplicate(&self.pollable, fd.into()) })
    }

    /// Returns the number of hops that packets of accepted connections may take.
    ///
    /// # Errors
    ///
    /// Returns the errors of getsockopt(2).
    pub fn ttl(&self) -> io::Result<u32> {
        self.pollable.get_ref().ttl()
    }

    /// Sets [`ttl`](TcpListener::ttl).
    ///
    /// # Errors
    ///
    /// Returns the errors of setsockopt(2).
    ///
    /// # Examples
    ///
    /// ```
    /// let listener = lisle::net::TcpListener::bind("127.0.0.1:0")?;
    /// listener.set_ttl(8)?;
    /// assert_eq!(listener.ttl()?, 8);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.pollable.get_ref().set_ttl(ttl)
    }
}

descriptor!(TcpListener, mio::net::TcpListener, std::net::TcpListener, LISTENER);
socket!(TcpListener, SocketAddr);
nonblocking!(TcpListener);
listening!(TcpListener, mio::net::TcpListener, TcpStream, SocketAddr);
