//! Waiting for readiness: events, timeouts, and operations that do not wait.

use super::{World, everywhere, tcp_pair, unix_pair};
use lisle::net::{Pollable, TcpStream};
use lisle::time::after;
use lisle::{Event, always, choose};
use std::fs::File;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

everywhere!(
    nothing_is_there_now,
    readiness_is_exact,
    a_read_against_time,
    choosing_between_streams,
    readiness_takes_nothing,
    all_waiters_for_readiness_are_told,
    a_stream_outlives_its_runtime,
);

fn nothing_is_there_now(_: World) {
    let (mut client, server) = tcp_pair();
    let mut buffer = [0; 8];
    assert_eq!(server.try_read(&mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    client.write_all(b"abc").unwrap();
    server.readable_evt().sync().unwrap();
    assert_eq!(server.try_read(&mut buffer[..2]).unwrap(), 2);
    assert_eq!(server.try_read(&mut buffer[..2]).unwrap(), 1);
    assert_eq!(server.try_read(&mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert_eq!(server.try_write(b"x").unwrap(), 1);
    drop(client);
    server.readable_evt().sync().unwrap();
    assert!(matches!(server.try_read(&mut buffer), Ok(0) | Err(_)));
}

/// A descriptor that was ready once is not assumed to be ready forever.
fn readiness_is_exact(_: World) {
    let (mut client, mut server) = unix_pair();
    assert!(server.readable_evt().poll().is_none());
    assert!(server.writable_evt().poll().expect("there is room").is_ok());
    for _ in 0..10 {
        client.write_all(b"ab").unwrap();
        server.readable_evt().sync().unwrap();
        server.readable_evt().sync().unwrap();
        // This read is not short, so it does not tell whether more is there.
        server.read_exact(&mut [0; 2]).unwrap();
        assert!(server.readable_evt().poll().is_none());
        let patience = Duration::from_millis(1);
        assert!(choose((server.readable_evt().wrap(|_| false), after(patience).wrap(|()| true))).sync());
    }
}

fn a_read_against_time(world: World) {
    let (client, server) = tcp_pair();
    let mut buffer = [0; 8];
    let begun = Instant::now();
    let timeout = Duration::from_millis(20);
    let error = server.read_within(&mut buffer, timeout).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert!(begun.elapsed() >= timeout);

    // A byte that comes later has not been taken.
    (&client).write_all(b"x").unwrap();
    assert_eq!(server.read_within(&mut buffer, Duration::from_secs(600)).unwrap(), 1);
    // A byte that is there is taken even if the timeout is zero.
    (&client).write_all(b"y").unwrap();
    server.readable_evt().sync().unwrap();
    assert_eq!(server.read_within(&mut buffer, Duration::ZERO).unwrap(), 1);

    let writer = world.spawn(move || {
        after(Duration::from_millis(5)).sync();
        (&client).write_all(b"z").unwrap();
        client
    });
    // A timeout beyond the range of the clock is no limit.
    assert_eq!(server.read_within(&mut buffer, Duration::MAX).unwrap(), 1);
    assert_eq!(&buffer[..1], b"z");
    drop(writer.join());
}

fn choosing_between_streams(world: World) {
    let pairs: Vec<_> = (0..4).map(|_| tcp_pair()).collect();
    let (clients, servers): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let writers: Vec<_> = clients
        .into_iter()
        .enumerate()
        .map(|(index, mut client)| {
            world.spawn(move || {
                for number in 0..200_u8 {
                    client.write_all(&[index as u8, number]).unwrap();
                }
            })
        })
        .collect();
    let mut next = [0_u8; 4];
    let mut open = 4;
    let mut ended = [false; 4];
    while open > 0 {
        let events = (0..4).filter(|&index| !ended[index]);
        let events = events.map(|index| servers[index].readable_evt().wrap(move |ready| (index, ready)));
        let (index, ready) = choose(events.collect::<Vec<_>>()).sync();
        ready.unwrap();
        let mut pair = [0; 2];
        match (&servers[index]).read(&mut pair).unwrap() {
            0 => {
                ended[index] = true;
                open -= 1;
            }
            length => {
                (&servers[index]).read_exact(&mut pair[length..]).unwrap();
                assert_eq!(pair, [index as u8, next[index]]);
                next[index] += 1;
            }
        }
    }
    assert_eq!(next, [200; 4]);
    writers.into_iter().for_each(|writer| writer.join());
}

fn readiness_takes_nothing(_: World) {
    let (mut client, mut server) = tcp_pair();
    for number in 0..100 {
        client.write_all(&[number]).unwrap();
        let ready = server.readable_evt().wrap(|ready| ready.is_ok());
        while !choose((ready, always(false))).sync() {}
        let mut byte = [0];
        server.read_exact(&mut byte).unwrap();
        assert_eq!(byte, [number]);
    }
}

fn all_waiters_for_readiness_are_told(world: World) {
    let (mut client, server) = tcp_pair();
    let server = std::sync::Arc::new(server);
    let waiting: Vec<_> = (0..10)
        .map(|_| {
            let server = server.clone();
            world.spawn(move || server.readable_evt().sync().unwrap())
        })
        .collect();
    client.write_all(b"x").unwrap();
    waiting.into_iter().for_each(|performer| performer.join());
}

/// A stream is registered with the reactor of a domain that ends, and is waited for afterwards.
fn a_stream_outlives_its_runtime(_: World) {
    let (client, server) = std::thread::spawn(|| {
        lisle::Runtime::builder().domains(1).run(|| {
            let (client, server) = tcp_pair();
            let nothing = server.read_within(&mut [0], Duration::from_millis(1));
            assert_eq!(nothing.unwrap_err().kind(), io::ErrorKind::TimedOut);
            (client, server)
        })
    })
    .join()
    .unwrap();
    let reader = std::thread::spawn(move || read_one(&server));
    (&client).write_all(b"x").unwrap();
    assert_eq!(reader.join().unwrap(), b'x');
}

fn read_one(mut stream: &TcpStream) -> u8 {
    let mut byte = [0];
    stream.read_exact(&mut byte).unwrap();
    byte[0]
}

/// A fiber that is unwound while it reads has taken nothing.
#[test]
fn a_shutdown_ends_a_read() {
    let (client, server) = tcp_pair();
    let server = std::sync::Arc::new(server);
    lisle::Runtime::builder().domains(1).run(|| {
        let server = server.clone();
        drop(lisle::spawn(move || {
            let read = read_one(&server);
            unreachable!("nothing was sent, but {read} was read");
        }));
        lisle::fiber::yield_now();
    });
    (&client).write_all(b"x").unwrap();
    assert_eq!(read_one(&server), b'x');
}

/// A fiber that reads from a source that is always ready does not keep its domain to itself,
/// sockets included.
#[test]
fn a_fiber_that_never_waits_takes_turns() {
    World::Fibers(1).run(|world| {
        let (client, server) = tcp_pair();
        let (enough, more) = lisle::channel::bounded(1);
        let busy = world.spawn(move || {
            let zeros = Pollable::new(File::open("/dev/zero").unwrap()).unwrap();
            while more.try_recv().is_err() {
                (&zeros).read_exact(&mut [0; 64]).unwrap();
            }
        });
        let writer = std::thread::spawn(move || {
            (&client).write_all(b"x").unwrap();
            client
        });
        assert_eq!(read_one(&server), b'x');
        drop(writer.join().unwrap());
        enough.send(()).unwrap();
        busy.join();
    });
}

/// Files are always ready, and the system refuses to wait for them.
#[test]
fn a_file_cannot_be_waited_for() {
    let file = Pollable::new(File::open(std::env::current_exe().unwrap()).unwrap()).unwrap();
    file.readable_evt().sync().unwrap();
    let mut byte = [0];
    (&file).read_exact(&mut byte).unwrap();
    let error = file.read_with(|_| io::Result::<()>::Err(io::ErrorKind::WouldBlock.into())).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EPERM));
}

/// A performer that waits uses no processor time.
#[test]
fn waiting_is_idle() {
    let threads = [World::Threads, World::Fibers(1)].map(|world| {
        std::thread::spawn(move || {
            let mut used = Duration::MAX;
            world.run(|_| {
                let (_client, server) = tcp_pair();
                let before = thread_time();
                let nothing = server.read_within(&mut [0], Duration::from_millis(200));
                assert_eq!(nothing.unwrap_err().kind(), io::ErrorKind::TimedOut);
                used = thread_time() - before;
            });
            used
        })
    });
    for thread in threads {
        let used = thread.join().unwrap();
        assert!(used < Duration::from_millis(20), "{used:?}");
    }
}

/// Returns the processor time that the calling thread has used.
fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a `timespec`.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) }, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
