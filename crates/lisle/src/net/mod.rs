//! Sockets in direct style.
//!
//! The types have the names and methods of [`std::net`] and [`std::os::unix::net`]. Their operations look
//! blocking and block whoever performs them, no more: in a fiber the fiber is parked and its worker goes on
//! with others, on a plain OS thread the thread waits. What one waits for is also had as an event, to be
//! chosen against others or awaited by a future on any executor.
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
//! // A connection, or the end of adaptive_spin; a connection that comes later is not taken.
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
//! Every descriptor is non-blocking. An operation is tried; only if it would block is the descriptor
//! registered, once, with the reactor of the domain on which that happens (outside any runtime, with one that
//! all such threads share), and there it stays. All types are faces of [`Pollable`], which does this for any
//! descriptor.
//!
//! A fiber whose operations never wait, since its peer is fast, lets the other fibers of its domain have a turn
//! after every few of them.
//!
//! Reading and writing work through shared references, so both halves of a stream can be used at once without
//! splitting it: `let (mut reader, mut writer) = (&stream, &stream);`.
//!
//! # Cancel safety
//!
//! Waiting takes nothing: a fiber that is cancelled, or a future that is dropped, while it waits has
//! read, written and accepted nothing. What loops inside (`read_exact`, `write_all`, `read_to_end`) may
//! have done a part; where that matters, loop yourself and choose.
//!
//! # Caveats
//!
//! - Unix only.
//! - The open file is non-blocking for everybody who shares it, also in other processes.
//! - A descriptor belongs to one domain's reactor. If a fiber keeps that domain busy without ever
//!   blocking, those who wait for the descriptor wait for it too.
//! - Files of a file system are always ready, as far as the kernel tells; reading them blocks the thread.

mod accept;
mod face;
mod pipe;
mod pollable;
mod ready;
mod resolve;
mod system;
mod tcp;
mod udp;
mod unix;

pub use accept::{Accept, AcceptEvt, Accepting, Incoming};
pub use pipe::{PipeReader, PipeWriter, pipe};
pub use pollable::Pollable;
pub use ready::{ReadyEvt, Readying};
pub use resolve::ToSocketAddrs;
pub use tcp::{ConnectedEvt, Connecting, TcpListener, TcpStream};
pub use udp::UdpSocket;
pub use unix::{UnixDatagram, UnixListener, UnixStream};
