//! Tests with a reactor whose driver the test runs by hand.

use super::{Kind, Pollable};
use crate::reactor::{self, Direction, Driver, Reactor};
use crate::shim::sync::Arc;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Duration;

type Stream = Pollable<TcpStream>;

fn pair() -> (TcpStream, Stream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let server = Pollable::of_kind(listener.accept().unwrap().0, Kind::TCP).unwrap();
    (client, server)
}

/// Registers `stream`, to which nothing has been sent.
fn register(stream: &Stream, reactor: &Arc<Reactor>) {
    reactor::set_current(Some(reactor.clone()));
    assert_eq!(stream.try_read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    stream.registered(Direction::Read).unwrap();
    reactor::set_current(None);
}

fn believed_readable(stream: &Stream) -> bool {
    stream.registered(Direction::Read).unwrap().state(Direction::Read).is_ready()
}

/// Processes all pending events of the kernel, and returns the number of descriptors that they
/// concerned.
fn settle(driver: &mut Driver) -> usize {
    std::iter::from_fn(|| Some(driver.wait_then(Some(Duration::ZERO), || ()).unwrap()))
        .take_while(|&count| count > 0)
        .sum()
}

#[test]
#[cfg(any(target_os = "linux", target_os = "android"))]
fn a_short_read_drains_unless_there_is_a_mark_of_urgency() {
    let (reactor, mut driver) = Reactor::new().unwrap();
    let (mut client, server) = pair();
    register(&server, &reactor);
    let mut buffer = [0; 64];
    client.write_all(b"0123456789").unwrap();
    settle(&mut driver);
    assert_eq!((&server).read(&mut buffer[..5]).unwrap(), 5);
    assert!(believed_readable(&server));
    assert_eq!((&server).read(&mut buffer).unwrap(), 5);
    assert!(!believed_readable(&server));

    client.write_all(b"0123456789").unwrap();
    // SAFETY: the descriptor is open, and the pointer is valid for one byte, as the length says.
    let sent = unsafe { libc::send(client.as_raw_fd(), b"!".as_ptr().cast(), 1, libc::MSG_OOB) };
    assert_eq!(sent, 1);
    client.write_all(b"abc").unwrap();
    settle(&mut driver);
    assert_eq!((&server).read(&mut buffer).unwrap(), 10, "up to the mark");
    assert!(believed_readable(&server));
    assert_eq!((&server).read(&mut buffer).unwrap(), 3);
}

#[test]
fn a_descriptor_can_be_registered_again() {
    let (reactor, mut driver) = Reactor::new().unwrap();
    let (mut client, server) = pair();
    register(&server, &reactor);
    settle(&mut driver);

    let server = server.into_inner();
    client.write_all(b"x").unwrap();
    assert_eq!(settle(&mut driver), 0, "it is not registered any more");
    assert_eq!((&server).read(&mut [0; 8]).unwrap(), 1);

    let server = Pollable::of_kind(server, Kind::TCP).unwrap();
    register(&server, &reactor);
    client.write_all(b"x").unwrap();
    assert!(settle(&mut driver) > 0);
    assert!(believed_readable(&server));
}
