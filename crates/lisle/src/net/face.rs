//! The code that the faces of [`Pollable`](super::Pollable) share.
//!
//! A face is a struct with the one field `pollable`.

mod bytes;
mod patience;

pub(super) use bytes::{reading, writing};
pub(super) use patience::{nonblocking, timeouts};

/// Conversions from and to descriptors and `std`'s type.
macro_rules! descriptor {
    ($face:ident, $io:ty, $std:ty, $kind:ident $(, $adopted:ident)?) => {
        impl $face {
            /// Takes over a socket of the standard library and makes it non-blocking. Its timeouts, if
            /// it has any, also hold for the new handle.
            ///
            /// # Errors
            ///
            /// Returns an error if the descriptor cannot be made non-blocking.
            ///
            /// # Examples
            ///
            /// ```
            /// use lisle::net::UdpSocket; // for instance; all types have this
            ///
            /// let std = std::net::UdpSocket::bind("127.0.0.1:0")?;
            /// let address = std.local_addr()?;
            /// let socket = UdpSocket::from_std(std)?;
            /// assert_eq!(socket.local_addr()?, address); // the same socket
            /// # std::io::Result::Ok(())
            /// ```
            #[track_caller]
            pub fn from_std(std: $std) -> std::io::Result<Self> {
                $crate::net::pollable::not_in_models();
                Self::try_from(std::os::fd::OwnedFd::from(std))
            }

            /// Converts the handle into the standard library's type, which blocks, unless this handle is
            /// set not to wait. Duplicates share the open file, so they block from then on, too.
            ///
            /// # Errors
            ///
            /// Returns an error if the descriptor cannot be made blocking.
            ///
            /// # Examples
            ///
            /// ```
            /// use std::io::{Read, Write};
            ///
            /// // Pipes, for instance; all types have this.
            /// let (reader, mut writer) = lisle::net::pipe()?;
            /// let mut reader: std::io::PipeReader = reader.into_std()?;
            /// writer.write_all(b"x")?;
            /// assert_eq!(reader.read(&mut [0; 8])?, 1); // blocks the thread until there is a byte
            /// # std::io::Result::Ok(())
            /// ```
            pub fn into_std(self) -> std::io::Result<$std> {
                let waits = !self.pollable.patience().is_none();
                let fd = std::os::fd::OwnedFd::from(self);
                $crate::net::system::set_nonblocking(std::os::fd::AsFd::as_fd(&fd), !waits)?;
                Ok(<$std>::from(fd))
            }
        }

        /// Takes over a descriptor and makes it non-blocking. If the descriptor is not of the right
        /// kind, operations fail.
        impl TryFrom<std::os::fd::OwnedFd> for $face {
            type Error = std::io::Error;
            fn try_from(fd: std::os::fd::OwnedFd) -> std::io::Result<Self> {
                let pollable = Pollable::of_kind(<$io>::from(fd), Kind::$kind)?;
                let face = $face { pollable };
                $(let face = face.$adopted()?;)?
                Ok(face)
            }
        }

        impl TryFrom<$std> for $face {
            type Error = std::io::Error;
            fn try_from(std: $std) -> std::io::Result<Self> {
                $face::from_std(std)
            }
        }

        /// The descriptor stays non-blocking.
        impl From<$face> for std::os::fd::OwnedFd {
            fn from(face: $face) -> Self {
                face.pollable.into_inner().into()
            }
        }

        impl std::os::fd::IntoRawFd for $face {
            fn into_raw_fd(self) -> std::os::fd::RawFd {
                std::os::fd::OwnedFd::from(self).into_raw_fd()
            }
        }

        impl std::os::fd::AsFd for $face {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                self.pollable.as_fd()
            }
        }

        impl std::os::fd::AsRawFd for $face {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                std::os::fd::AsFd::as_fd(self).as_raw_fd()
            }
        }

        impl std::fmt::Debug for $face {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(self.pollable.get_ref(), f)
            }
        }
    };
}
pub(super) use descriptor;

/// The operations that all sockets have.
macro_rules! socket {
    ($face:ident, $address:ty) => {
        impl $face {
            /// Returns the address of this socket.
            ///
            /// # Errors
            ///
            /// Returns the errors of getsockname(2).
            ///
            /// # Examples
            ///
            /// ```
            /// use lisle::net::TcpListener; // for instance; all sockets have this
            ///
            /// let listener = TcpListener::bind("127.0.0.1:0")?; // on any port that is free
            /// assert_ne!(listener.local_addr()?.port(), 0);
            /// # std::io::Result::Ok(())
            /// ```
            pub fn local_addr(&self) -> std::io::Result<$address> {
                self.pollable.get_ref().local_addr()
            }

            /// Takes the error of the socket that no operation has reported yet, if there is one.
            ///
            /// # Errors
            ///
            /// Returns the errors of getsockopt(2).
            ///
            /// # Examples
            ///
            /// ```
            /// use lisle::net::UdpSocket; // for instance; all sockets have this
            ///
            /// let socket = UdpSocket::bind("127.0.0.1:0")?;
            /// assert!(socket.take_error()?.is_none());
            /// # std::io::Result::Ok(())
            /// ```
            pub fn take_error(&self) -> std::io::Result<Option<std::io::Error>> {
                self.pollable.get_ref().take_error()
            }
        }
    };
}
pub(super) use socket;

/// Duplicates of the same open file.
macro_rules! clone {
    ($face:ident) => {
        impl $face {
            /// Creates a second handle to the same socket.
            ///
            /// Often a shared reference is enough: all operations take one.
            ///
            /// # Errors
            ///
            /// Returns an error if the system is out of descriptors.
            ///
            /// # Examples
            ///
            /// ```
            /// use std::io::{Read, Write};
            ///
            /// // Pipes, for instance.
            /// let (mut reader, writer) = lisle::net::pipe()?;
            /// let mut second = writer.try_clone()?;
            /// drop(writer);
            /// second.write_all(b"still open")?;
            /// drop(second);
            /// let mut text = String::new();
            /// reader.read_to_string(&mut text)?; // finds the end when all handles are closed
            /// assert_eq!(text, "still open");
            /// # std::io::Result::Ok(())
            /// ```
            pub fn try_clone(&self) -> std::io::Result<Self> {
                let io = self.pollable.get_ref().try_clone()?;
                Ok($face { pollable: Pollable::duplicate(&self.pollable, io) })
            }
        }
    };
}
pub(super) use clone;

/// The event of being ready to read.
macro_rules! readable {
    ($face:ident, $io:ty) => {
        impl $face {
            /// Returns the event of being ready to read: an operation that reads would not block,
            /// but succeed, fail or find the end.
            ///
            /// This event only observes, and another reader may be faster. After it, use an operation
            /// that does not wait, and wait again if that operation would block.
            ///
            /// # Cancel safety
            ///
            /// Nothing is read.
            ///
            /// # Examples
            ///
            /// ```
            /// use lisle::{Event, net::pipe};
            /// use std::io::Write;
            ///
            /// let (reader, mut writer) = pipe()?; // for instance
            /// assert!(reader.readable_evt().poll().is_none());
            /// writer.write_all(b"abc")?;
            /// reader.readable_evt().sync()?;
            /// assert_eq!(reader.try_read(&mut [0; 8])?, 3); // the event has read nothing
            /// # std::io::Result::Ok(())
            /// ```
            pub fn readable_evt(&self) -> $crate::net::ReadyEvt<'_, $io> {
                self.pollable.readable_evt()
            }
        }
    };
}
pub(super) use readable;

/// The event of being ready to write.
macro_rules! writable {
    ($face:ident, $io:ty) => {
        impl $face {
            /// Returns the event of being ready to write: an operation that writes would not block,
            /// but succeed or fail.
            ///
            /// This event only observes, as the one for reading does.
            ///
            /// # Cancel safety
            ///
            /// Nothing is written.
            ///
            /// # Examples
            ///
            /// ```
            /// use lisle::{Event, net::pipe};
            ///
            /// let (reader, writer) = pipe()?; // for instance
            /// while writer.try_write(&[0; 4_096]).is_ok() {} // until there is no room
            /// assert!(writer.writable_evt().poll().is_none());
            /// while reader.try_read(&mut [0; 4_096]).is_ok() {}
            /// writer.writable_evt().sync()?;
            /// assert_eq!(writer.try_write(b"abc")?, 3);
            /// # std::io::Result::Ok(())
            /// ```
            pub fn writable_evt(&self) -> $crate::net::ReadyEvt<'_, $io> {
                self.pollable.writable_evt()
            }
        }
    };
}
pub(super) use writable;

/// Accepting connections.
macro_rules! listening {
    ($face:ident, $io:ty, $stream:ty, $address:ty) => {
        impl $face {
            /// Waits for a connection and accepts it.
            ///
            /// # Cancel safety
            ///
            /// A caller that is cancelled while it waits has accepted nothing.
            ///
            /// # Errors
            ///
            /// Returns the system's errors: a connection was aborted before it was accepted, or the
            /// system is out of descriptors. The listener continues to work.
            ///
            /// # Blocking
            ///
            /// Waits as [`Event::sync`](crate::Event::sync) does. Several callers may wait. The
            /// order in which they get connections is not specified.
            pub fn accept(&self) -> std::io::Result<($stream, $address)> {
                self.pollable.perform(Direction::Read, None, Self::accept_now)
            }

            /// Accepts a connection that has come already.
            ///
            /// # Errors
            ///
            /// Fails with `WouldBlock` if no connection has come, or else as
            /// [`accept`](Self::accept) does.
            ///
            /// # Examples
            ///
            /// ```
            /// use lisle::fiber;
            /// use lisle::net::{TcpListener, TcpStream};
            /// use std::io::ErrorKind;
            ///
            /// let listener = TcpListener::bind("127.0.0.1:0")?;
            /// let nobody = listener.try_accept().unwrap_err();
            /// assert_eq!(nobody.kind(), ErrorKind::WouldBlock);
            ///
            /// let client = TcpStream::connect(listener.local_addr()?)?;
            /// let (_, address) = loop {
            ///     match listener.try_accept() {
            ///         // Does something else meanwhile. To wait, use `accept` or `accept_evt`.
            ///         Err(error) if error.kind() == ErrorKind::WouldBlock => fiber::yield_now(),
            ///         accepted => break accepted?,
            ///     }
            /// };
            /// assert_eq!(address, client.local_addr()?);
            /// # std::io::Result::Ok(())
            /// ```
            pub fn try_accept(&self) -> std::io::Result<($stream, $address)> {
                self.pollable.try_once(Direction::Read, Self::accept_now, |_| false)
            }

            /// Returns the event of accepting a connection. Its commit is the accept itself.
            ///
            /// # Cancel safety
            ///
            /// A performance that loses a choice, a poll that fails and a future that is dropped
            /// have accepted nothing.
            ///
            /// # Examples
            ///
            /// ```
            /// use lisle::net::{TcpListener, TcpStream};
            /// use lisle::{Event, choose, sync::Condition};
            ///
            /// let (listener, stop) = (TcpListener::bind("127.0.0.1:0")?, Condition::new());
            /// let next = choose((
            ///     listener.accept_evt().wrap(Some),
            ///     stop.wait_evt().wrap(|()| None),
            /// ));
            /// let client = TcpStream::connect(listener.local_addr()?)?;
            /// let (_, address) = next.sync().unwrap()?;
            /// assert_eq!(address, client.local_addr()?);
            /// stop.signal();
            /// assert!(next.sync().is_none());
            /// # std::io::Result::Ok(())
            /// ```
            pub fn accept_evt(&self) -> AcceptEvt<'_, Self> {
                AcceptEvt::new(self)
            }

            /// Returns an iterator over connections as they come. It calls [`accept`](Self::accept)
            /// again and again and drops the addresses.
            ///
            /// # Examples
            ///
            /// ```
            /// use lisle::net::{TcpListener, TcpStream};
            /// use std::io::{Read, Write};
            ///
            /// let listener = TcpListener::bind("127.0.0.1:0")?;
            /// let mut client = TcpStream::connect(listener.local_addr()?)?;
            /// for stream in listener.incoming().take(1) {
            ///     stream?.write_all(b"hello")?; // a server would spawn a fiber for this
            /// }
            /// let mut text = String::new();
            /// client.read_to_string(&mut text)?;
            /// assert_eq!(text, "hello");
            /// # std::io::Result::Ok(())
            /// ```
            pub fn incoming(&self) -> Incoming<'_, Self> {
                Incoming::new(self)
            }
        }

        impl Accept for $face {
            type Accepted = ($stream, $address);
        }

        impl Sealed for $face {
            type Io = $io;
            fn pollable(&self) -> &Pollable<$io> {
                &self.pollable
            }
            fn accept_now(io: &$io) -> std::io::Result<($stream, $address)> {
                $face::accept_now(io)
            }
        }

        impl<'a> IntoIterator for &'a $face {
            type Item = std::io::Result<$stream>;
            type IntoIter = Incoming<'a, $face>;
            fn into_iter(self) -> Self::IntoIter {
                self.incoming()
            }
        }
    };
}
pub(super) use listening;
