//! Connecting, and how it fails.

use super::{SocketPath, World, everywhere};
use lisle::net::{TcpListener, TcpStream, UnixStream};
use lisle::{Event, always, choose};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::time::Duration;

everywhere!(refused, the_first_that_answers, a_name, no_answer, as_an_event);

/// Port 1 belongs to a service that machines do not run any more.
const NOBODY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 1);

fn refused(_: World) {
    let error = TcpStream::connect(NOBODY).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ECONNREFUSED));
    let error = TcpStream::connect_timeout(&NOBODY, Duration::from_secs(60)).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ECONNREFUSED));

    let path = SocketPath::new();
    assert_eq!(UnixStream::connect(&path).unwrap_err().raw_os_error(), Some(libc::ENOENT));
    drop(lisle::net::UnixListener::bind(&path).unwrap());
    assert_eq!(UnixStream::connect(&path).unwrap_err().raw_os_error(), Some(libc::ECONNREFUSED));
}

fn the_first_that_answers(_: World) {
    // The first of these is reserved for documentation, and no machine has it.
    let addresses = ["192.0.2.1:0", "127.0.0.1:0"].map(|address| address.parse().unwrap());
    let listener = TcpListener::bind(&addresses[..]).unwrap();
    let address = listener.local_addr().unwrap();
    let stream = TcpStream::connect(&[NOBODY, address][..]).unwrap();
    assert_eq!(stream.peer_addr().unwrap(), address);
    assert_eq!(TcpStream::connect(&[][..]).unwrap_err().kind(), io::ErrorKind::InvalidInput);
}

fn a_name(world: World) {
    let listener = TcpListener::bind("localhost:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = world.spawn(move || listener.accept().unwrap().0.write_all(b"x").unwrap());
    let mut byte = [0];
    TcpStream::connect(("localhost", port)).unwrap().read_exact(&mut byte).unwrap();
    assert_eq!(&byte, b"x");
    server.join();
}

fn as_an_event(_: World) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connecting = TcpStream::begin_connect(&address).unwrap();
    // A connection whose event loses continues; one whose event has happened stays connected.
    choose((connecting.connected_evt(), always(()).wrap(Ok))).sync().unwrap();
    connecting.connected_evt().sync().unwrap();
    connecting.connected_evt().poll().unwrap().unwrap();
    let mut stream = connecting.into_stream();
    stream.write_all(b"x").unwrap();
    let mut byte = [0];
    listener.accept().unwrap().0.read_exact(&mut byte).unwrap();
    assert_eq!(&byte, b"x");

    match TcpStream::begin_connect(&NOBODY) {
        Err(error) => assert_eq!(error.raw_os_error(), Some(libc::ECONNREFUSED)),
        Ok(connecting) => {
            let error = connecting.connected_evt().sync().unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::ECONNREFUSED));
            let error = connecting.connected_evt().sync().unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotConnected);
        }
    }
}

/// A listener whose backlog is full does not answer at all, like a machine that does not exist.
#[cfg(target_os = "linux")]
fn no_answer(_: World) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    // SAFETY: the descriptor is open; no memory is passed.
    assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    let error = loop {
        match TcpStream::connect_timeout(&address, Duration::from_millis(50)) {
            Ok(stream) => waiting.push(stream),
            Err(error) => break error,
        }
        assert!(waiting.len() < 16, "there is a limit");
    };
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    drop(listener);
}

#[cfg(not(target_os = "linux"))]
fn no_answer(_: World) {
    // On other systems a full backlog causes a refusal, and a silent address needs a network.
    assert!(TcpStream::connect_timeout(&NOBODY, Duration::ZERO).is_err());
}
