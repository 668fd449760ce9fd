//! Accepting Unix connections.

use super::UnixStream;
use crate::net::accept::{Accept, AcceptEvt, Incoming, sealed::Sealed};
use crate::net::face::{clone, descriptor, listening, nonblocking, socket};
use crate::net::pollable::not_in_models;
use crate::net::pollable::{Kind, Pollable};
use crate::reactor::Direction;
use std::io;
use std::os::unix::net::SocketAddr;
use std::path::Path;

/// A socket that accepts Unix connections.
///
/// Its path stays in the file system after the socket is closed. The caller has to remove it.
pub struct UnixListener {
    /// `std`'s listener, since `mio`'s fails for peers with abstract addresses.
    pollable: Pollable<std::os::unix::net::UnixListener>,
}

impl UnixListener {
    /// Listens at `path`, which must not exist.
    ///
    /// # Errors
    ///
    /// Returns the errors of bind(2) and listen(2).
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::{UnixListener, UnixStream};
    ///
    /// # let path = std::env::temp_dir().join(format!("lisle-{}-listen", std::process::id()));
    /// let listener = UnixListener::bind(&path)?;
    /// let _client = UnixStream::connect(&path)?;
    /// let (_server, from) = listener.accept()?;
    /// assert!(from.is_unnamed()); // clients have no address of their own
    /// drop(listener);
    /// std::fs::remove_file(&path)?; // else the next `bind` would fail
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        not_in_models();
        Self::from_std(std::os::unix::net::UnixListener::bind(path)?)
    }

    /// Listens at `address`.
    ///
    /// # Errors
    ///
    /// Returns the errors of bind(2) and listen(2).
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::{UnixListener, UnixStream};
    /// use std::os::unix::net::SocketAddr;
    ///
    /// # let path = std::env::temp_dir().join(format!("lisle-{}-l-addr", std::process::id()));
    /// let listener = UnixListener::bind_addr(&SocketAddr::from_pathname(&path)?)?;
    /// let client = UnixStream::connect_addr(&listener.local_addr()?)?;
    /// assert_eq!(client.peer_addr()?.as_pathname(), Some(&*path));
    /// # std::fs::remove_file(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        not_in_models();
        Self::from_std(std::os::unix::net::UnixListener::bind_addr(address)?)
    }

    fn accept_now(listener: &std::os::unix::net::UnixListener) -> io::Result<(UnixStream, SocketAddr)> {
        let (stream, address) = listener.accept()?;
        Ok((UnixStream::from_std(stream)?, address))
    }
}

descriptor!(UnixListener, std::os::unix::net::UnixListener, std::os::unix::net::UnixListener, LISTENER);
socket!(UnixListener, SocketAddr);
nonblocking!(UnixListener);
clone!(UnixListener);
listening!(UnixListener, std::os::unix::net::UnixListener, UnixStream, SocketAddr);
