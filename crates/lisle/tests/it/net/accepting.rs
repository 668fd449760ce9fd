//! Accepting, alone and as a branch of a choice.

use super::{SocketPath, World, everywhere};
use lisle::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use lisle::time::after;
use lisle::{Event, always, choose};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

everywhere!(
    a_loser_has_accepted_nothing,
    a_poll_accepts_what_is_there_and_nothing_else,
    acceptors_share_a_listener,
    choosing_acceptors_share_a_listener,
    a_storm_of_connections,
    unix_connections,
);

fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Connects and sends the number of this connection.
fn introduce(address: SocketAddr, number: u32) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&number.to_be_bytes()).unwrap();
    stream
}

fn introduction(mut stream: &TcpStream) -> u32 {
    let mut number = [0; 4];
    stream.read_exact(&mut number).unwrap();
    u32::from_be_bytes(number)
}

fn a_loser_has_accepted_nothing(_: World) {
    let (listener, address) = listen();
    // It loses while it waits.
    let patience = Duration::from_millis(5);
    let accepted = choose((listener.accept_evt().wrap(Some), after(patience).wrap(|()| None))).sync();
    assert!(accepted.is_none());
    let first = introduce(address, 0);
    assert_eq!(introduction(&listener.accept().unwrap().0), 0);
    drop(first);

    // It wins or loses against an event that is ready, too, while a connection is waiting.
    let (mut won, mut lost) = (0, 0);
    while won < 50 || lost < 50 {
        let _client = introduce(address, won);
        loop {
            let accepted =
                choose((listener.accept_evt().wrap(Some), always(None::<()>).wrap(|_| None))).sync();
            let Some(accepted) = accepted else {
                lost += 1;
                continue;
            };
            assert_eq!(introduction(&accepted.unwrap().0), won);
            won += 1;
            break;
        }
    }
}

fn a_poll_accepts_what_is_there_and_nothing_else(_: World) {
    let (listener, address) = listen();
    assert!(listener.accept_evt().poll().is_none());
    assert_eq!(listener.try_accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    for number in 0..10 {
        let _client = introduce(address, number);
        let accepted = if number % 2 == 0 {
            listener.accept_evt().poll().expect("it is there").unwrap()
        } else {
            listener.try_accept().unwrap()
        };
        assert_eq!(introduction(&accepted.0), number);
        assert!(listener.accept_evt().poll().is_none());
        if number == 4 {
            // From here on the listener is registered.
            assert!(
                choose((listener.accept_evt().wrap(|_| false), after(Duration::ZERO).wrap(|()| true))).sync()
            );
        }
    }
}

const CLIENTS: u32 = 200;

/// Runs several performers that accept with `accept` until it returns `None`. Checks that they get
/// the numbers of all connections.
fn share(
    world: World,
    accept: impl Fn(&TcpListener, &lisle::sync::Condition) -> Option<TcpStream> + Send + Copy + 'static,
) {
    let (listener, address) = listen();
    let listener = Arc::new(listener);
    let done = Arc::new(lisle::sync::Condition::new());
    let acceptors: Vec<_> = (0..2)
        .map(|_| {
            let (listener, done) = (listener.clone(), done.clone());
            world.spawn(move || {
                let mut numbers = Vec::new();
                while let Some(mut stream) = accept(&listener, &done) {
                    let number = introduction(&stream);
                    if number == u32::MAX {
                        break;
                    }
                    numbers.push(number);
                    stream.write_all(&number.to_be_bytes()).unwrap();
                }
                numbers
            })
        })
        .collect();
    let clients: Vec<_> = (0..4)
        .map(|part| {
            world.spawn(move || {
                for number in (part..CLIENTS).step_by(4) {
                    assert_eq!(introduction(&introduce(address, number)), number);
                }
            })
        })
        .collect();
    clients.into_iter().for_each(|client| client.join());
    done.signal();
    // For acceptors that do not look at the condition.
    let _last: Vec<_> = acceptors.iter().map(|_| introduce(address, u32::MAX)).collect();
    let mut numbers: Vec<_> = acceptors.into_iter().flat_map(|acceptor| acceptor.join()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..CLIENTS).collect::<Vec<_>>());
}

fn acceptors_share_a_listener(world: World) {
    share(world, |listener, _| Some(listener.accept().unwrap().0));
}

fn choosing_acceptors_share_a_listener(world: World) {
    share(world, |listener, done| {
        choose((
            listener.accept_evt().wrap(|accepted| Some(accepted.unwrap().0)),
            done.wait_evt().wrap(|()| None),
        ))
        .sync()
    });
}

fn a_storm_of_connections(world: World) {
    let (listener, address) = listen();
    let server = world.spawn(move || {
        let mut served = Vec::new();
        for stream in listener.incoming().take(CLIENTS as usize) {
            let mut stream = stream.unwrap();
            served.push(world.spawn(move || {
                let mut text = Vec::new();
                stream.read_to_end(&mut text).unwrap();
                stream.write_all(&text).unwrap();
            }));
        }
        served.into_iter().for_each(|echo| echo.join());
    });
    // All at once: each is connected before the first is answered.
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            world.spawn(move || {
                let mut stream = introduce(address, number);
                stream.shutdown(std::net::Shutdown::Write).unwrap();
                let mut text = Vec::new();
                stream.read_to_end(&mut text).unwrap();
                assert_eq!(text, number.to_be_bytes());
            })
        })
        .collect();
    clients.into_iter().for_each(|client| client.join());
    server.join();
}

fn unix_connections(world: World) {
    let path = SocketPath::new();
    let listener = UnixListener::bind(&path).unwrap();
    assert!(listener.accept_evt().poll().is_none());
    let server = world.spawn(move || {
        for _ in 0..20 {
            let (mut stream, from) = listener.accept_evt().sync().unwrap();
            assert!(from.is_unnamed());
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            stream.write_all(&byte).unwrap();
        }
    });
    for number in 0..20 {
        let mut stream = UnixStream::connect(&path).unwrap();
        assert_eq!(stream.peer_addr().unwrap().as_pathname(), Some(path.as_ref()));
        stream.write_all(&[number]).unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        assert_eq!(byte, [number]);
    }
    server.join();
}

/// More clients connect than may wait to be accepted.
#[test]
fn unix_connections_wait_for_room() {
    use std::os::fd::AsRawFd;
    let path = SocketPath::new();
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    // SAFETY: the descriptor is open; no memory is passed.
    assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 1) }, 0);
    World::Fibers(1).run(|world| {
        let clients: Vec<_> = (0..20)
            .map(|_| {
                let path = path.0.clone();
                world.spawn(move || UnixStream::connect(path).unwrap())
            })
            .collect();
        let listener = UnixListener::from_std(listener).unwrap();
        let accepted: Vec<_> = listener.incoming().take(20).map(Result::unwrap).collect();
        clients.into_iter().for_each(|client| drop(client.join()));
        assert_eq!(accepted.len(), 20);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_peer_with_an_abstract_address() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::SocketAddr;
    let name = format!("lisle-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    let _client = UnixStream::connect_addr(&address).unwrap();
    let (stream, _) = listener.accept().unwrap();
    assert_eq!(stream.local_addr().unwrap().as_abstract_name(), Some(name.as_bytes()));
}
