//! Files that the kernel sends.

use super::{World, everywhere, tcp_pair, unix_pair};
use lisle::net::{TcpStream, pipe};
use lisle::{Event, choose, time::after};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

everywhere!(
    a_file_arrives_whole,
    the_position_of_the_file_plays_no_part,
    the_end_of_the_file_and_beyond,
    it_waits_while_there_is_no_room,
    a_sender_that_gives_up_has_sent_what_was_counted,
    what_the_kernel_cannot_send_is_copied,
    a_peer_that_has_gone,
);

/// Creates a file without a name.
fn file(content: &[u8]) -> File {
    let path = super::SocketPath::new();
    let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    file.write_all(content).unwrap();
    file.rewind().unwrap();
    file
}

/// Returns bytes that depend on their position.
fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn transfer(
    world: World,
    content: &Arc<Vec<u8>>,
    send: impl Fn(&File, u64, usize) -> std::io::Result<usize> + Send + 'static,
    mut to: impl Read + Send + 'static,
) {
    let (expected, sent) = (Arc::clone(content), Arc::clone(content));
    let sender = world.spawn(move || {
        let file = file(&sent);
        let mut at = 0;
        while at < sent.len() {
            let count = send(&file, at as u64, sent.len() - at).unwrap();
            assert!(count > 0);
            at += count;
        }
        assert_eq!(send(&file, at as u64, 100).unwrap(), 0);
    });
    let receiver = world.spawn(move || {
        let mut found = Vec::new();
        to.read_to_end(&mut found).unwrap();
        assert!(found == *expected);
    });
    sender.join();
    receiver.join();
}

fn a_file_arrives_whole(world: World) {
    let bytes = Arc::new(content((20 << 20) + 17));
    let (server, client) = tcp_pair();
    transfer(world, &bytes, move |file, at, count| server.send_file(file, at, count), client);
    let bytes = Arc::new(content((2 << 20) + 3));
    let (one, other) = unix_pair();
    transfer(world, &bytes, move |file, at, count| one.send_file(file, at, count), other);
    let (reader, writer) = pipe().unwrap();
    transfer(world, &bytes, move |file, at, count| writer.send_file(file, at, count), reader);
}

fn the_position_of_the_file_plays_no_part(_: World) {
    let (server, mut client) = tcp_pair();
    let mut file = file(b"0123456789");
    file.seek(std::io::SeekFrom::Start(4)).unwrap();
    assert_eq!(server.send_file(&file, 1, 3).unwrap(), 3);
    assert_eq!(server.try_send_file(&file, 8, 100).unwrap(), 2);
    let mut found = [0; 5];
    client.read_exact(&mut found).unwrap();
    assert_eq!(&found, b"12389");
    assert_eq!(file.stream_position().unwrap(), 4);
}

fn the_end_of_the_file_and_beyond(_: World) {
    let (server, _client) = tcp_pair();
    let file = file(b"0123456789");
    assert_eq!(server.send_file(&file, 10, 5).unwrap(), 0);
    assert_eq!(server.send_file(&file, 1 << 40, 5).unwrap(), 0);
    assert_eq!(server.send_file(&file, 0, 0).unwrap(), 0);
    for offset in [u64::MAX, 1 << 63] {
        assert_eq!(server.send_file(&file, offset, 5).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    let unreadable = File::options().write(true).open("/dev/null").unwrap();
    assert!(server.send_file(&unreadable, 0, 5).is_err());
}

/// Sends until there is no room. Returns the number of bytes sent.
fn fill(stream: &TcpStream, file: &File) -> usize {
    let mut sent = 0;
    loop {
        match stream.try_send_file(file, 0, 1 << 20) {
            Ok(count) => sent += count,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                return sent;
            }
        }
    }
}

/// Sends until there is no room, also after the bytes that moved to the other end have made room
/// again. Returns the number of bytes sent.
fn fill_for_good(stream: &TcpStream, file: &File) -> usize {
    let mut sent = 0;
    loop {
        sent += fill(stream, file);
        let ready = stream.writable_evt().wrap(|ready| ready.is_ok());
        if !choose((ready, after(Duration::from_millis(50)).wrap(|()| false))).sync() {
            return sent;
        }
    }
}

fn it_waits_while_there_is_no_room(world: World) {
    let (server, mut client) = tcp_pair();
    let file = file(&content(1 << 20));
    let before = fill_for_good(&server, &file);
    let sender = world.spawn(move || server.send_file(&file, 0, 1000).unwrap());
    let mut rest = vec![0; 1 << 20];
    let mut found = 0;
    while found < before {
        found += client.read(&mut rest).unwrap();
    }
    let sent = sender.join();
    assert!((1..=1000).contains(&sent));
    while found < before + sent {
        found += client.read(&mut rest).unwrap();
    }
    assert_eq!(client.read(&mut rest).unwrap(), 0);
    assert_eq!(found, before + sent);
}

fn a_sender_that_gives_up_has_sent_what_was_counted(_: World) {
    let (server, mut client) = tcp_pair();
    let file = file(&content(1 << 20));
    let sent = fill_for_good(&server, &file);
    drop(server);
    let mut found = Vec::new();
    client.read_to_end(&mut found).unwrap();
    assert_eq!(found.len(), sent);
}

fn what_the_kernel_cannot_send_is_copied(_: World) {
    // The content of such files is created when they are read. Some kernels can send them, and some
    // refuse.
    let file = File::open("/proc/self/cmdline").unwrap();
    let expected = std::fs::read("/proc/self/cmdline").unwrap();
    let (server, mut client) = tcp_pair();
    let mut at = 0;
    loop {
        match server.send_file(&file, at, 100_000).unwrap() {
            0 => break,
            sent => at += sent as u64,
        }
    }
    drop(server);
    let mut found = Vec::new();
    client.read_to_end(&mut found).unwrap();
    assert_eq!(found, expected);
}

fn a_peer_that_has_gone(_: World) {
    let (server, client) = tcp_pair();
    let file = file(&content(1 << 20));
    drop(OwnedFd::from(client));
    let error = loop {
        match server.send_file(&file, 0, 1 << 20) {
            Ok(sent) => assert!(sent > 0),
            Err(error) => break error,
        }
    };
    assert!(matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{error}");
}
