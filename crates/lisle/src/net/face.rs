//! What the faces of [`Pollable`](super::Pollable) have in common, written once.
//!
//! A face is a struct with the one field `pollable`.

mod bytes;

pub(super) use bytes::{reading, writing};

/// Conversions from and to descriptors and `std`'s type.
macro_rules! descriptor {
    ($face:ident, $io:ty, $std:ty, $kind:ident) => {
        impl $face {
            /// Takes over a socket of the standard library, which becomes non-blocking.
            ///
            /// # Errors
            ///
            /// The descriptor cannot be made non-blocking.
            pub fn from_std(std: $std) -> std::io::Result<Self> {
                Self::try_from(std::os::fd::OwnedFd::from(std))
            }

            /// Turns it into the standard library's type, which blocks. So do duplicates from then on, which
            /// share the open file.
            ///
            /// # Errors
            ///
            /// The descriptor cannot be made blocking.
            pub fn into_std(self) -> std::io::Result<$std> {
                let fd = std::os::fd::OwnedFd::from(self);
                $crate::net::system::set_nonblocking(std::os::fd::AsFd::as_fd(&fd), false)?;
                Ok(<$std>::from(fd))
            }
        }

        /// Takes over a descriptor, which becomes non-blocking. It must be of the right kind, else
        /// operations fail.
        impl TryFrom<std::os::fd::OwnedFd> for $face {
            type Error = std::io::Error;
            fn try_from(fd: std::os::fd::OwnedFd) -> std::io::Result<Self> {
                let pollable = Pollable::of_kind(<$io>::from(fd), Kind::$kind)?;
                Ok($face { pollable })
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

/// What all sockets can do.
macro_rules! socket {
    ($face:ident, $address:ty) => {
        impl $face {
            /// Its own address.
            ///
            /// # Errors
            ///
            /// Those of getsockname(2).
            pub fn local_addr(&self) -> std::io::Result<$address> {
                self.pollable.get_ref().local_addr()
            }

            /// The error that waits to be reported, if there is one. It is then gone.
            ///
            /// # Errors
            ///
            /// Those of getsockopt(2).
            pub fn take_error(&self) -> std::io::Result<Option<std::io::Error>> {
                self.pollable.get_ref().take_error()
            }
        }
    };
}
pub(super) use socket;

/// A second handle to the same open file.
macro_rules! clone {
    ($face:ident, $kind:ident) => {
        impl $face {
            /// A second handle to the same socket.
            ///
            /// Often a shared reference does: all operations take one.
            ///
            /// # Errors
            ///
            /// The system is out of descriptors.
            pub fn try_clone(&self) -> std::io::Result<Self> {
                let pollable = Pollable::nonblocking(self.pollable.get_ref().try_clone()?, Kind::$kind);
                Ok($face { pollable })
            }
        }
    };
}
pub(super) use clone;

/// The event of being ready to read.
macro_rules! readable {
    ($face:ident, $io:ty) => {
        impl $face {
            /// The event of being ready to read: an operation that reads would not block, or fail, or find the
            /// end.
            ///
            /// Only a look: with several readers another may be faster, so go on with an operation that
            /// does not wait, and wait again if it would.
            ///
            /// # Cancel safety
            ///
            /// Nothing is read.
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
            /// The event of being ready to write: an operation that writes would not block, or fail.
            ///
            /// Only a look, as with reading.
            ///
            /// # Cancel safety
            ///
            /// Nothing is written.
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
            /// Accepts a connection, waiting for it.
            ///
            /// # Cancel safety
            ///
            /// Whoever is cancelled while waiting has accepted nothing.
            ///
            /// # Errors
            ///
            /// The system's: a connection that was aborted before it was accepted, or too few descriptors.
            /// The listener goes on.
            ///
            /// # Blocking
            ///
            /// Waits as [`Event::sync`](crate::Event::sync) does. Several may wait; who gets a
            /// connection is not said.
            pub fn accept(&self) -> std::io::Result<($stream, $address)> {
                self.pollable.perform(Direction::Read, None, Self::accept_now)
            }

            /// Accepts a connection that is there already.
            ///
            /// # Errors
            ///
            /// `WouldBlock`: there is none. Else as [`accept`](Self::accept).
            pub fn try_accept(&self) -> std::io::Result<($stream, $address)> {
                self.pollable.try_once(Direction::Read, Self::accept_now, |_| false)
            }

            /// The event of accepting a connection. Its commit is the accept itself.
            ///
            /// # Cancel safety
            ///
            /// A loser of a choice, a poll that fails and a future that is dropped have accepted nothing.
            pub fn accept_evt(&self) -> AcceptEvt<'_, Self> {
                AcceptEvt::new(self)
            }

            /// Connections as they come: [`accept`](Self::accept) again and again, without the addresses.
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
