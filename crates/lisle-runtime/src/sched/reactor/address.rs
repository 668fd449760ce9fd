//! The addresses of a socket, in words: for the wait graph.

use std::fmt::Display;
use std::io;
use std::mem::ManuallyDrop;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd};
use std::os::unix::net::{SocketAddr, UnixStream};

/// Returns `tcp 127.0.0.1:80 -> 127.0.0.1:40000`, and the like. Returns `None` if `fd` is no
/// socket.
pub fn of(fd: BorrowedFd<'_>) -> Option<String> {
    let kind = match option(fd, libc::SO_TYPE)? {
        libc::SOCK_STREAM => "tcp",
        libc::SOCK_DGRAM => "udp",
        _ => "socket",
    };
    let listens = option(fd, libc::SO_ACCEPTCONN).is_some_and(|listens| listens != 0);
    // The standard library's types make the same system calls for all sockets of a family. SAFETY:
    // open while it is borrowed, and not closed here, since this is never dropped.
    let internet = ManuallyDrop::new(unsafe { TcpStream::from_raw_fd(fd.as_raw_fd()) });
    if let Ok(local) = internet.local_addr() {
        return Some(told(kind, local, internet.peer_addr(), listens));
    }
    // SAFETY: as above.
    let unix = ManuallyDrop::new(unsafe { UnixStream::from_raw_fd(fd.as_raw_fd()) });
    let local = unix.local_addr().ok()?;
    Some(told("unix", path(&local), unix.peer_addr().map(|peer| path(&peer)), listens))
}

fn told<A: Display>(kind: &str, local: A, peer: io::Result<A>, listens: bool) -> String {
    match peer {
        Ok(peer) => format!("{kind} {local} -> {peer}"),
        Err(_) if listens => format!("{kind} {local}, listening"),
        Err(_) => format!("{kind} {local}"),
    }
}

fn path(address: &SocketAddr) -> String {
    address.as_pathname().map_or_else(|| "(unnamed)".to_owned(), |path| path.display().to_string())
}

/// Returns a number that the system keeps for a socket.
fn option(fd: BorrowedFd<'_>, name: libc::c_int) -> Option<libc::c_int> {
    let mut value: libc::c_int = 0;
    let mut size = libc::socklen_t::try_from(size_of_val(&value)).ok()?;
    // SAFETY: the descriptor is open while it is borrowed; the pointers are to a number and to its
    // size.
    let asked = unsafe {
        libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, name, (&raw mut value).cast(), &raw mut size)
    };
    (asked == 0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::of;
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::AsFd;
    use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

    #[test]
    fn sockets_tell_where_they_lead_and_others_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        assert_eq!(of(listener.as_fd()).unwrap(), format!("tcp {server}, listening"));
        let stream = TcpStream::connect(server).unwrap();
        let client = stream.local_addr().unwrap();
        assert_eq!(of(stream.as_fd()).unwrap(), format!("tcp {client} -> {server}"));

        let socket = UdpSocket::bind("[::1]:0").or_else(|_| UdpSocket::bind("127.0.0.1:0")).unwrap();
        let local = socket.local_addr().unwrap();
        assert_eq!(of(socket.as_fd()).unwrap(), format!("udp {local}"));
        socket.connect(local).unwrap();
        assert_eq!(of(socket.as_fd()).unwrap(), format!("udp {local} -> {local}"));

        let path = std::env::temp_dir().join(format!("lisle-address-{}", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        assert_eq!(of(listener.as_fd()).unwrap(), format!("unix {}, listening", path.display()));
        let stream = UnixStream::connect(&path).unwrap();
        assert_eq!(of(stream.as_fd()).unwrap(), format!("unix (unnamed) -> {}", path.display()));
        std::fs::remove_file(&path).unwrap();
        let (datagram, _other) = UnixDatagram::pair().unwrap();
        assert_eq!(of(datagram.as_fd()).unwrap(), "unix (unnamed) -> (unnamed)");

        let (pipe, _writer) = std::io::pipe().unwrap();
        assert_eq!(of(pipe.as_fd()), None);
    }
}
