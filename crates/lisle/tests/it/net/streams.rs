//! Streams of bytes: echoes, ends and failures.

use super::{World, everywhere, tcp_pair, unix_pair};
use lisle::net::{TcpListener, TcpStream};
use std::io::{self, BufRead, BufReader, IoSlice, IoSliceMut, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

everywhere!(
    echo,
    both_halves_at_once,
    vectored,
    a_half_closed_connection,
    a_reset_connection,
    the_end_of_a_peer,
    peeking,
    urgent_data_does_not_hide_what_follows,
    shutdown_wakes_the_waiters,
    conversions,
    options,
);

fn echo(world: World) {
    fn serve(mut stream: impl Read + Write) {
        let mut buffer = [0; 1024];
        loop {
            match stream.read(&mut buffer).unwrap() {
                0 => return,
                length => stream.write_all(&buffer[..length]).unwrap(),
            }
        }
    }
    fn talk(mut stream: impl Read + Write) {
        for round in 0..500_usize {
            let text: Vec<_> = (0..round % 97 + 1).map(|i| (i * round) as u8).collect();
            stream.write_all(&text).unwrap();
            let mut answer = vec![0; text.len()];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, text);
        }
    }
    let (client, server) = tcp_pair();
    client.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    let (unix_client, unix_server) = unix_pair();
    let performers = [
        world.spawn(move || serve(server)),
        world.spawn(move || serve(unix_server)),
        world.spawn(move || talk(client)),
        world.spawn(move || talk(unix_client)),
    ];
    performers.into_iter().for_each(|performer| performer.join());
}

fn both_halves_at_once(world: World) {
    let (client, server) = tcp_pair();
    let client = std::sync::Arc::new(client);
    let writer = {
        let client = client.clone();
        world.spawn(move || {
            for line in 0..1000 {
                writeln!(&*client, "{line}").unwrap();
            }
            client.shutdown(Shutdown::Write).unwrap();
        })
    };
    let server = world.spawn(move || {
        for line in BufReader::new(&server).lines() {
            writeln!(&server, "{}", line.unwrap()).unwrap();
        }
    });
    let lines: Vec<_> = BufReader::new(&*client).lines().map(Result::unwrap).collect();
    assert_eq!(lines, (0..1000).map(|line| line.to_string()).collect::<Vec<_>>());
    writer.join();
    server.join();
}

fn vectored(_: World) {
    let (mut client, mut server) = unix_pair();
    let written = client.write_vectored(&[IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"cde")]);
    assert_eq!(written.unwrap(), 5);
    let (mut one, mut other) = ([0; 3], [0; 8]);
    let read = server.read_vectored(&mut [IoSliceMut::new(&mut one), IoSliceMut::new(&mut other)]);
    assert_eq!((read.unwrap(), &one, &other[..2]), (5, b"abc", &b"de"[..]));

    assert_eq!(client.try_write_vectored(&[IoSlice::new(b"xy")]).unwrap(), 2);
    assert_eq!(server.try_read_vectored(&mut [IoSliceMut::new(&mut one)]).unwrap(), 2);
    let nothing = server.try_read_vectored(&mut [IoSliceMut::new(&mut one)]);
    assert_eq!(nothing.unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

fn a_half_closed_connection(world: World) {
    let (mut client, mut server) = tcp_pair();
    let server = world.spawn(move || {
        let mut request = String::new();
        server.read_to_string(&mut request).unwrap();
        server.write_all(request.to_uppercase().as_bytes()).unwrap();
    });
    client.write_all(b"question").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "QUESTION");
    assert_eq!(client.read(&mut [0; 8]).unwrap(), 0);
    server.join();
}

/// Closes a socket with unread bytes, which resets its connection.
fn reset(mut client: &TcpStream, server: TcpStream) {
    client.write_all(b"never read").unwrap();
    assert_eq!(server.peek(&mut [0]).unwrap(), 1);
    drop(server);
}

fn a_reset_connection(world: World) {
    let (mut client, server) = tcp_pair();
    reset(&client, server);
    assert_eq!(client.read(&mut [0; 8]).unwrap_err().raw_os_error(), Some(libc::ECONNRESET));
    assert_eq!(client.write(b"x").unwrap_err().raw_os_error(), Some(libc::EPIPE));

    // The same while a read waits.
    let (client, server) = tcp_pair();
    let client = std::sync::Arc::new(client);
    let reader = {
        let client = client.clone();
        world.spawn(move || (&*client).read(&mut [0; 8]).unwrap_err().raw_os_error())
    };
    reset(&client, server);
    assert_eq!(reader.join(), Some(libc::ECONNRESET));
}

/// A write loses its reader while it waits for room.
fn the_end_of_a_peer(world: World) {
    let (mut client, mut server) = unix_pair();
    let writer = world.spawn(move || {
        loop {
            if let Err(error) = client.write(&[0; 4096]) {
                return error.kind();
            }
        }
    });
    server.read_exact(&mut [0; 8192]).unwrap();
    drop(server);
    assert!(matches!(writer.join(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset));
}

fn peeking(world: World) {
    let (mut client, mut server) = tcp_pair();
    let writer = world.spawn(move || {
        client.write_all(b"abc").unwrap();
        client
    });
    let mut buffer = [0; 1];
    assert_eq!(server.peek(&mut buffer).unwrap(), 1);
    let mut all = [0; 3];
    server.read_exact(&mut all).unwrap();
    assert_eq!((&buffer, &all), (b"a", b"abc"));
    drop(writer.join());
    assert_eq!(server.peek(&mut buffer).unwrap(), 0);
}

/// A read stops at the mark of urgency although more bytes are there, so a short read does not show
/// that the stream is drained.
fn urgent_data_does_not_hide_what_follows(world: World) {
    let (mut client, mut server) = tcp_pair();
    let reader = world.spawn(move || {
        let mut all = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            match server.read(&mut buffer).unwrap() {
                0 => return all,
                length => all.extend_from_slice(&buffer[..length]),
            }
        }
    });
    let mut expected = Vec::new();
    for round in 0..200_u8 {
        client.write_all(&[round; 10]).unwrap();
        // SAFETY: the descriptor is open, and the pointer is valid for one byte, as the length
        // says.
        let sent = unsafe { libc::send(client.as_raw_fd(), b"!".as_ptr().cast(), 1, libc::MSG_OOB) };
        assert_eq!(sent, 1);
        client.write_all(&[round; 5]).unwrap();
        expected.extend([round; 15]);
    }
    client.shutdown(Shutdown::Write).unwrap();
    let mut all = reader.join();
    // If the first mark has not been passed, a second one turns the urgent byte of the first into
    // an ordinary byte.
    all.retain(|&byte| byte != b'!');
    expected.retain(|&byte| byte != b'!');
    assert_eq!(all, expected);
}

fn shutdown_wakes_the_waiters(world: World) {
    let (client, _server) = tcp_pair();
    let client = std::sync::Arc::new(client);
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let client = client.clone();
            world.spawn(move || (&*client).read(&mut [0; 8]).unwrap())
        })
        .collect();
    client.shutdown(Shutdown::Both).unwrap();
    assert!(readers.into_iter().all(|reader| reader.join() == 0));
}

fn conversions(world: World) {
    let (client, server) = tcp_pair();
    let number = client.as_raw_fd();
    let std = client.into_std().unwrap();
    assert_eq!(std.as_raw_fd(), number);
    // SAFETY: the descriptor is open; no memory is passed.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFL) };
    assert_eq!(flags & libc::O_NONBLOCK, 0);
    let client = TcpStream::from_std(std).unwrap();
    // SAFETY: the descriptor is open; no memory is passed.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFL) };
    assert_ne!(flags & libc::O_NONBLOCK, 0);

    let duplicate = client.try_clone().unwrap();
    assert_ne!(duplicate.as_raw_fd(), number);
    let reader = world.spawn(move || {
        let mut byte = [0];
        (&duplicate).read_exact(&mut byte).unwrap();
        byte
    });
    (&server).write_all(b"x").unwrap();
    assert_eq!(&reader.join(), b"x");

    let fd = OwnedFd::from(client);
    let mut client = TcpStream::try_from(fd).unwrap();
    (&server).write_all(b"y").unwrap();
    let mut byte = [0];
    client.read_exact(&mut byte).unwrap();
    assert_eq!((&byte, client.as_fd().as_raw_fd()), (b"y", number));
}

fn options(_: World) {
    let (client, server) = tcp_pair();
    assert_eq!(client.peer_addr().unwrap(), server.local_addr().unwrap());
    for on in [true, false] {
        client.set_nodelay(on).unwrap();
        assert_eq!(client.nodelay().unwrap(), on);
    }
    client.set_ttl(33).unwrap();
    assert_eq!(client.ttl().unwrap(), 33);
    assert!(client.take_error().unwrap().is_none());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_ttl(44).unwrap();
    assert_eq!(listener.ttl().unwrap(), 44);
    assert!(format!("{listener:?} {client:?}").contains("127.0.0.1"));
}
