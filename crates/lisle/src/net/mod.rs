//! Sockets in direct style.
//!
//! The types have the names and methods of [`std::net`] and [`std::os::unix::net`]. An operation
//! blocks its caller alone: a fiber parks and its domain runs other fibers, and a plain OS thread
//! waits. The same waits are available as events, which can be chosen against other events or
//! awaited by a future on any executor.
//!
//! ```
//! use lisle::net::{TcpListener, TcpStream};
//! use lisle::{Event, choose, time::after};
//! use std::io::{Read, Write};
//! use std::time::Duration;
//!
//! # fn main() -> std::io::Result<()> {
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! let mut client = TcpStream::connect(listener.local_addr()?)?;
//! let (mut server, _) = listener.accept()?;
//!
//! client.write_all(b"ping")?;
//! let mut buffer = [0; 4];
//! server.read_exact(&mut buffer)?;
//! assert_eq!(&buffer, b"ping");
//!
//! // Waits for a connection for a millisecond. A connection that comes later is not taken.
//! let next = choose((
//!     listener.accept_evt().wrap(|accepted| accepted.map(Some)),
//!     after(Duration::from_millis(1)).wrap(|()| Ok(None)),
//! ));
//! assert!(next.sync()?.is_none());
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! Every descriptor is non-blocking. An operation is tried first. Only if it would block is the
//! descriptor registered, once, with the reactor of the current domain. Outside of a runtime, it is
//! registered with a reactor that all such threads share. It stays registered there. All types are
//! faces of [`Pollable`], which does this for any descriptor.
//!
//! A fiber whose operations never wait, because its peer is fast, lets the other fibers of its
//! domain run after every few operations.
//!
//! Reading and writing work through shared references, so both halves of a stream can be used at
//! once without splitting it: `let (mut reader, mut writer) = (&stream, &stream);`.
//!
//! # Giving up
//!
//! An operation that waits ends with an error
//!
//! - when its fiber is [cancelled](crate::fiber::JoinHandle::cancel): the error is
//!   [`Cancelled`](crate::fiber::Cancelled);
//! - when a [deadline](crate::time::with_deadline) of the calls in progress passes: `TimedOut`, with a
//!   [`DeadlinePassed`](crate::time::DeadlinePassed) in it;
//! - when the timeout of its handle is over ([`set_read_timeout`](TcpStream::set_read_timeout)):
//!   `WouldBlock`, as in the standard library;
//! - when the timeout of the operation is over: `TimedOut` ([`read_within`](TcpStream::read_within)
//!   and others; [`write_all_within`](TcpStream::write_all_within) and
//!   [`read_exact_within`](TcpStream::read_exact_within) have a timeout for all bytes together).
//!
//! The same holds for connecting, for looking up a name (the lookup goes on without its caller), for
//! processes and for lines. After a cancel or a deadline, each further operation that would have to
//! wait ends at once. An operation that need not wait does its work. A wait in a destructor, while
//! the stack unwinds, is not ended either. To wait in spite of a cancel and a deadline, call
//! [`without_deadline`](crate::time::without_deadline).
//!
//! An event that is performed with `sync` does not end in these ways: choose between the event and
//! [`cancelled_evt`](crate::fiber::cancelled_evt).
//!
//! # Cancel safety
//!
//! Waiting takes nothing: a fiber that is cancelled while it waits, or a future that is dropped
//! while it waits, has read, written and accepted nothing. Functions that loop inside
//! (`read_exact`, `write_all`, `read_to_end`) may have done a part of their work. If this
//! matters, write the loop in the caller, or use [`read_exact_within`](TcpStream::read_exact_within)
//! and [`write_all_within`](TcpStream::write_all_within), whose errors say how many bytes they have
//! done.
//!
//! # Differences from the standard library
//!
//! All methods that are stable in Rust 1.95 are here, and the same code compiles with both. The
//! differences:
//!
//! - Timeouts and [`set_nonblocking`](TcpStream::set_nonblocking) belong to a handle, not to the open
//!   file: a duplicate that exists already keeps its own.
//! - A handle is made from a descriptor by `TryFrom`, not `From` and `FromRawFd`: making the
//!   descriptor non-blocking may fail.
//! - `only_v6` and `set_only_v6` of `TcpListener` are missing. They are deprecated, since
//!   `set_only_v6` has no effect on a socket that is bound.
//! - The traits of `std::os::linux::net` are implemented for the standard library's types alone. For
//!   the same options, call the system with the descriptor of `as_fd`.
//! - `Stdio` is made of a pipe by [`into_std`](PipeReader::into_std), since a child expects that its
//!   streams block.
//! - [`Incoming`] ends when its fiber is cancelled. A listener's queue is longer, and connecting to a
//!   Unix listener whose queue is full waits.
//! - [`ToSocketAddrs`] is a trait of this module, implemented for the same types.
//!
//! # Caveats
//!
//! - Unix only.
//! - The open file is non-blocking for all its users, also in other processes.
//! - A descriptor belongs to one domain's reactor. If a fiber keeps that domain busy and never
//!   blocks, performers that wait for the descriptor also wait for that fiber.
//! - The kernel reports files of a file system as always ready. Reading a file blocks the thread.

mod accept;
mod face;
mod partly;
mod pipe;
mod pollable;
mod ready;
mod resolve;
mod system;
mod tcp;
mod udp;
mod unix;
pub(crate) mod waiting;

pub use accept::{Accept, AcceptEvt, Accepting, Incoming};
pub use partly::PartlyDone;
pub use pipe::{PipeReader, PipeWriter, pipe};
pub use pollable::Pollable;
pub use ready::{ReadyEvt, Readying};
pub use resolve::ToSocketAddrs;
pub use tcp::{ConnectedEvt, Connecting, TcpListener, TcpStream};
pub use udp::UdpSocket;
pub use unix::{UnixDatagram, UnixListener, UnixStream};
