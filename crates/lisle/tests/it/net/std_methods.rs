//! The types have the methods of the standard library's: the same code compiles with both.
//!
//! The list has the names of the methods that are stable in Rust 1.95, taken from the `stable`
//! attributes in the standard library's source. A later version may add some.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd};

/// The methods of std, sorted by type.
const STABLE: [(&str, &str); 8] = [
    ("PipeReader", "try_clone"),
    ("PipeWriter", "try_clone"),
    (
        "TcpListener",
        "accept bind incoming local_addr only_v6 set_nonblocking set_only_v6 set_ttl take_error try_clone ttl",
    ),
    (
        "TcpStream",
        "connect connect_timeout local_addr nodelay peek peer_addr read_timeout set_nodelay set_nonblocking \
         set_read_timeout set_ttl set_write_timeout shutdown take_error try_clone ttl write_timeout",
    ),
    (
        "UdpSocket",
        "bind broadcast connect join_multicast_v4 join_multicast_v6 leave_multicast_v4 leave_multicast_v6 local_addr \
         multicast_loop_v4 multicast_loop_v6 multicast_ttl_v4 peek peek_from peer_addr read_timeout recv recv_from send \
         send_to set_broadcast set_multicast_loop_v4 set_multicast_loop_v6 set_multicast_ttl_v4 set_nonblocking \
         set_read_timeout set_ttl set_write_timeout take_error try_clone ttl write_timeout",
    ),
    (
        "UnixDatagram",
        "bind bind_addr connect connect_addr local_addr pair peer_addr read_timeout recv recv_from send send_to \
         send_to_addr set_nonblocking set_read_timeout set_write_timeout shutdown take_error try_clone unbound \
         write_timeout",
    ),
    ("UnixListener", "accept bind bind_addr incoming local_addr set_nonblocking take_error try_clone"),
    (
        "UnixStream",
        "connect connect_addr local_addr pair peer_addr read_timeout set_nonblocking set_read_timeout \
         set_write_timeout shutdown take_error try_clone write_timeout",
    ),
];

/// The methods left out, as the documentation of `net` says.
const LEFT_OUT: [(&str, &str); 2] = [("TcpListener", "only_v6"), ("TcpListener", "set_only_v6")];

/// The methods of each type, with code that uses them, which must have this type.
macro_rules! methods {
    ($($type:ident { $($method:ident: $signature:ty = $code:expr;)* })*) => {
        pub(super) fn names() -> Vec<(&'static str, Vec<&'static str>)> {
            vec![$((
                stringify!($type),
                vec![$({
                    let _: $signature = $code;
                    stringify!($method)
                }),*],
            )),*]
        }
    };
}

/// The same code, whatever the types are that are in scope where it stands.
macro_rules! code {
    () => {
        use std::io::{Error, Result};
        use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr};
        use std::os::unix::net::SocketAddr as Path;
        use std::time::Duration;

        type Timeout = Option<Duration>;

        methods! {
            TcpStream {
                connect: fn(SocketAddr) -> Result<TcpStream> = |address| TcpStream::connect(address);
                connect_timeout: fn(&SocketAddr, Duration) -> Result<TcpStream> = TcpStream::connect_timeout;
                peer_addr: fn(&TcpStream) -> Result<SocketAddr> = TcpStream::peer_addr;
                local_addr: fn(&TcpStream) -> Result<SocketAddr> = TcpStream::local_addr;
                shutdown: fn(&TcpStream, Shutdown) -> Result<()> = TcpStream::shutdown;
                try_clone: fn(&TcpStream) -> Result<TcpStream> = TcpStream::try_clone;
                set_read_timeout: fn(&TcpStream, Timeout) -> Result<()> = TcpStream::set_read_timeout;
                set_write_timeout: fn(&TcpStream, Timeout) -> Result<()> = TcpStream::set_write_timeout;
                read_timeout: fn(&TcpStream) -> Result<Timeout> = TcpStream::read_timeout;
                write_timeout: fn(&TcpStream) -> Result<Timeout> = TcpStream::write_timeout;
                peek: fn(&TcpStream, &mut [u8]) -> Result<usize> = TcpStream::peek;
                set_nodelay: fn(&TcpStream, bool) -> Result<()> = TcpStream::set_nodelay;
                nodelay: fn(&TcpStream) -> Result<bool> = TcpStream::nodelay;
                set_ttl: fn(&TcpStream, u32) -> Result<()> = TcpStream::set_ttl;
                ttl: fn(&TcpStream) -> Result<u32> = TcpStream::ttl;
                take_error: fn(&TcpStream) -> Result<Option<Error>> = TcpStream::take_error;
                set_nonblocking: fn(&TcpStream, bool) -> Result<()> = TcpStream::set_nonblocking;
            }
            TcpListener {
                bind: fn(SocketAddr) -> Result<TcpListener> = |address| TcpListener::bind(address);
                local_addr: fn(&TcpListener) -> Result<SocketAddr> = TcpListener::local_addr;
                try_clone: fn(&TcpListener) -> Result<TcpListener> = TcpListener::try_clone;
                accept: fn(&TcpListener) -> Result<(TcpStream, SocketAddr)> = TcpListener::accept;
                incoming: fn(&TcpListener) -> Option<Result<TcpStream>> = |listener| listener.incoming().next();
                set_ttl: fn(&TcpListener, u32) -> Result<()> = TcpListener::set_ttl;
                ttl: fn(&TcpListener) -> Result<u32> = TcpListener::ttl;
                take_error: fn(&TcpListener) -> Result<Option<Error>> = TcpListener::take_error;
                set_nonblocking: fn(&TcpListener, bool) -> Result<()> = TcpListener::set_nonblocking;
            }
            UdpSocket {
                bind: fn(SocketAddr) -> Result<UdpSocket> = |address| UdpSocket::bind(address);
                recv_from: fn(&UdpSocket, &mut [u8]) -> Result<(usize, SocketAddr)> = UdpSocket::recv_from;
                peek_from: fn(&UdpSocket, &mut [u8]) -> Result<(usize, SocketAddr)> = UdpSocket::peek_from;
                send_to: fn(&UdpSocket, &[u8], SocketAddr) -> Result<usize> = |socket, bytes, to| socket.send_to(bytes, to);
                peer_addr: fn(&UdpSocket) -> Result<SocketAddr> = UdpSocket::peer_addr;
                local_addr: fn(&UdpSocket) -> Result<SocketAddr> = UdpSocket::local_addr;
                try_clone: fn(&UdpSocket) -> Result<UdpSocket> = UdpSocket::try_clone;
                set_read_timeout: fn(&UdpSocket, Timeout) -> Result<()> = UdpSocket::set_read_timeout;
                set_write_timeout: fn(&UdpSocket, Timeout) -> Result<()> = UdpSocket::set_write_timeout;
                read_timeout: fn(&UdpSocket) -> Result<Timeout> = UdpSocket::read_timeout;
                write_timeout: fn(&UdpSocket) -> Result<Timeout> = UdpSocket::write_timeout;
                set_broadcast: fn(&UdpSocket, bool) -> Result<()> = UdpSocket::set_broadcast;
                broadcast: fn(&UdpSocket) -> Result<bool> = UdpSocket::broadcast;
                set_multicast_loop_v4: fn(&UdpSocket, bool) -> Result<()> = UdpSocket::set_multicast_loop_v4;
                multicast_loop_v4: fn(&UdpSocket) -> Result<bool> = UdpSocket::multicast_loop_v4;
                set_multicast_ttl_v4: fn(&UdpSocket, u32) -> Result<()> = UdpSocket::set_multicast_ttl_v4;
                multicast_ttl_v4: fn(&UdpSocket) -> Result<u32> = UdpSocket::multicast_ttl_v4;
                set_multicast_loop_v6: fn(&UdpSocket, bool) -> Result<()> = UdpSocket::set_multicast_loop_v6;
                multicast_loop_v6: fn(&UdpSocket) -> Result<bool> = UdpSocket::multicast_loop_v6;
                set_ttl: fn(&UdpSocket, u32) -> Result<()> = UdpSocket::set_ttl;
                ttl: fn(&UdpSocket) -> Result<u32> = UdpSocket::ttl;
                join_multicast_v4: fn(&UdpSocket, &Ipv4Addr, &Ipv4Addr) -> Result<()> = UdpSocket::join_multicast_v4;
                join_multicast_v6: fn(&UdpSocket, &Ipv6Addr, u32) -> Result<()> = UdpSocket::join_multicast_v6;
                leave_multicast_v4: fn(&UdpSocket, &Ipv4Addr, &Ipv4Addr) -> Result<()> = UdpSocket::leave_multicast_v4;
                leave_multicast_v6: fn(&UdpSocket, &Ipv6Addr, u32) -> Result<()> = UdpSocket::leave_multicast_v6;
                take_error: fn(&UdpSocket) -> Result<Option<Error>> = UdpSocket::take_error;
                connect: fn(&UdpSocket, SocketAddr) -> Result<()> = |socket, to| socket.connect(to);
                send: fn(&UdpSocket, &[u8]) -> Result<usize> = UdpSocket::send;
                recv: fn(&UdpSocket, &mut [u8]) -> Result<usize> = UdpSocket::recv;
                peek: fn(&UdpSocket, &mut [u8]) -> Result<usize> = UdpSocket::peek;
                set_nonblocking: fn(&UdpSocket, bool) -> Result<()> = UdpSocket::set_nonblocking;
            }
            UnixStream {
                connect: fn(&str) -> Result<UnixStream> = |path| UnixStream::connect(path);
                connect_addr: fn(&Path) -> Result<UnixStream> = UnixStream::connect_addr;
                pair: fn() -> Result<(UnixStream, UnixStream)> = UnixStream::pair;
                try_clone: fn(&UnixStream) -> Result<UnixStream> = UnixStream::try_clone;
                local_addr: fn(&UnixStream) -> Result<Path> = UnixStream::local_addr;
                peer_addr: fn(&UnixStream) -> Result<Path> = UnixStream::peer_addr;
                set_read_timeout: fn(&UnixStream, Timeout) -> Result<()> = UnixStream::set_read_timeout;
                set_write_timeout: fn(&UnixStream, Timeout) -> Result<()> = UnixStream::set_write_timeout;
                read_timeout: fn(&UnixStream) -> Result<Timeout> = UnixStream::read_timeout;
                write_timeout: fn(&UnixStream) -> Result<Timeout> = UnixStream::write_timeout;
                set_nonblocking: fn(&UnixStream, bool) -> Result<()> = UnixStream::set_nonblocking;
                take_error: fn(&UnixStream) -> Result<Option<Error>> = UnixStream::take_error;
                shutdown: fn(&UnixStream, Shutdown) -> Result<()> = UnixStream::shutdown;
            }
            UnixListener {
                bind: fn(&str) -> Result<UnixListener> = |path| UnixListener::bind(path);
                bind_addr: fn(&Path) -> Result<UnixListener> = UnixListener::bind_addr;
                accept: fn(&UnixListener) -> Result<(UnixStream, Path)> = UnixListener::accept;
                try_clone: fn(&UnixListener) -> Result<UnixListener> = UnixListener::try_clone;
                local_addr: fn(&UnixListener) -> Result<Path> = UnixListener::local_addr;
                set_nonblocking: fn(&UnixListener, bool) -> Result<()> = UnixListener::set_nonblocking;
                take_error: fn(&UnixListener) -> Result<Option<Error>> = UnixListener::take_error;
                incoming: fn(&UnixListener) -> Option<Result<UnixStream>> = |listener| listener.incoming().next();
            }
            UnixDatagram {
                bind: fn(&str) -> Result<UnixDatagram> = |path| UnixDatagram::bind(path);
                bind_addr: fn(&Path) -> Result<UnixDatagram> = UnixDatagram::bind_addr;
                unbound: fn() -> Result<UnixDatagram> = UnixDatagram::unbound;
                pair: fn() -> Result<(UnixDatagram, UnixDatagram)> = UnixDatagram::pair;
                connect: fn(&UnixDatagram, &str) -> Result<()> = |socket, path| socket.connect(path);
                connect_addr: fn(&UnixDatagram, &Path) -> Result<()> = UnixDatagram::connect_addr;
                try_clone: fn(&UnixDatagram) -> Result<UnixDatagram> = UnixDatagram::try_clone;
                local_addr: fn(&UnixDatagram) -> Result<Path> = UnixDatagram::local_addr;
                peer_addr: fn(&UnixDatagram) -> Result<Path> = UnixDatagram::peer_addr;
                recv_from: fn(&UnixDatagram, &mut [u8]) -> Result<(usize, Path)> = UnixDatagram::recv_from;
                recv: fn(&UnixDatagram, &mut [u8]) -> Result<usize> = UnixDatagram::recv;
                send_to: fn(&UnixDatagram, &[u8], &str) -> Result<usize> = |socket, bytes, path| socket.send_to(bytes, path);
                send_to_addr: fn(&UnixDatagram, &[u8], &Path) -> Result<usize> = UnixDatagram::send_to_addr;
                send: fn(&UnixDatagram, &[u8]) -> Result<usize> = UnixDatagram::send;
                set_read_timeout: fn(&UnixDatagram, Timeout) -> Result<()> = UnixDatagram::set_read_timeout;
                set_write_timeout: fn(&UnixDatagram, Timeout) -> Result<()> = UnixDatagram::set_write_timeout;
                read_timeout: fn(&UnixDatagram) -> Result<Timeout> = UnixDatagram::read_timeout;
                write_timeout: fn(&UnixDatagram) -> Result<Timeout> = UnixDatagram::write_timeout;
                set_nonblocking: fn(&UnixDatagram, bool) -> Result<()> = UnixDatagram::set_nonblocking;
                take_error: fn(&UnixDatagram) -> Result<Option<Error>> = UnixDatagram::take_error;
                shutdown: fn(&UnixDatagram, Shutdown) -> Result<()> = UnixDatagram::shutdown;
            }
            PipeReader {
                try_clone: fn(&PipeReader) -> Result<PipeReader> = PipeReader::try_clone;
            }
            PipeWriter {
                try_clone: fn(&PipeWriter) -> Result<PipeWriter> = PipeWriter::try_clone;
            }
        }

        /// The traits that all have.
        pub(super) fn traits() {
            super::all_have::<TcpStream>();
            super::all_have::<TcpListener>();
            super::all_have::<UdpSocket>();
            super::all_have::<UnixStream>();
            super::all_have::<UnixListener>();
            super::all_have::<UnixDatagram>();
            super::all_have::<PipeReader>();
            super::all_have::<PipeWriter>();
            super::streams_have::<TcpStream>();
            super::streams_have::<UnixStream>();
            super::reads::<PipeReader>();
            super::writes::<PipeWriter>();
            super::iterates::<UnixStream, UnixListener>();
        }
    };
}

mod of_std {
    use std::io::{PipeReader, PipeWriter};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
    code!();
}

mod of_lisle {
    use lisle::net::{
        PipeReader, PipeWriter, TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream,
    };
    code!();
}

fn all_have<
    T: AsFd + AsRawFd + IntoRawFd + Into<OwnedFd> + TryFrom<OwnedFd> + Debug + Send + Sync + Unpin,
>() {
}

fn streams_have<T>()
where
    T: Read + Write,
    for<'a> &'a T: Read + Write,
{
}

fn reads<T: Read>()
where
    for<'a> &'a T: Read,
{
}

fn writes<T: Write>()
where
    for<'a> &'a T: Write,
{
}

fn iterates<S, L>()
where
    for<'a> &'a L: IntoIterator<Item = std::io::Result<S>>,
{
}

#[test]
fn the_methods_are_those_of_the_standard_library() {
    let left_out = |of: &str, name: &str| LEFT_OUT.contains(&(of, name));
    let expected: BTreeMap<_, Vec<_>> = STABLE
        .iter()
        .map(|(of, names)| (*of, names.split_whitespace().filter(|name| !left_out(of, name)).collect()))
        .collect();
    for names in [of_std::names(), of_lisle::names()] {
        let sorted: BTreeMap<_, Vec<_>> = names
            .into_iter()
            .map(|(of, mut names)| {
                names.sort_unstable();
                (of, names)
            })
            .collect();
        assert_eq!(sorted, expected);
    }
    of_std::traits();
    of_lisle::traits();
}
