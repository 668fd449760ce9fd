//! Futures on executors that do not know this library.

use super::{tcp_pair, unix_pair};
use crate::support::{Executor, block_on, watched};
use lisle::net::{TcpListener, TcpStream, UnixStream};
use lisle::time::after;
use lisle::{Event, choose};
use std::future::poll_fn;
use std::io::{self, Write};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

/// Reads until `buffer` is full or the stream ends, and awaits readiness.
async fn read_full(stream: &UnixStream, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match stream.try_read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => stream.readable_evt().await?,
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Polls `future` once and expects it to wait.
async fn begin<F: Future + Unpin>(future: &mut F) {
    let waits = poll_fn(|context| Poll::Ready(std::pin::Pin::new(&mut *future).poll(context).is_pending()));
    assert!(waits.await);
}

#[test]
fn reading() {
    let _watched = watched();
    let (mut client, server) = unix_pair();
    let writer = std::thread::spawn(move || {
        for number in 0..1000_u16 {
            client.write_all(&number.to_be_bytes()).unwrap();
        }
    });
    block_on(async {
        for number in 0..1000_u16 {
            let mut buffer = [0; 2];
            assert_eq!(read_full(&server, &mut buffer).await.unwrap(), 2);
            assert_eq!(buffer, number.to_be_bytes());
        }
        assert_eq!(read_full(&server, &mut [0]).await.unwrap(), 0);
    });
    writer.join().unwrap();
}

#[test]
fn accepting() {
    let _watched = watched();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let clients =
        std::thread::spawn(move || (0..50).map(|_| TcpStream::connect(address).unwrap()).collect::<Vec<_>>());
    let mut accepted = block_on(async {
        let mut accepted = Vec::new();
        while accepted.len() < 50 {
            accepted.push(listener.accept_evt().await.unwrap().1);
        }
        accepted
    });
    let mut connected: Vec<_> =
        clients.join().unwrap().iter().map(|client| client.local_addr().unwrap()).collect();
    accepted.sort();
    connected.sort();
    assert_eq!(accepted, connected);
}

/// A future that is dropped while it waits takes neither a connection nor a byte with it.
#[test]
fn dropping_what_waits() {
    let _watched = watched();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    block_on(async {
        for _ in 0..50 {
            let mut accept = Box::pin(listener.accept_evt().into_future());
            begin(&mut accept).await;
            let client = TcpStream::connect(address).unwrap();
            drop(accept);
            let (server, from) = listener.accept_evt().await.unwrap();
            assert_eq!(from, client.local_addr().unwrap());

            let mut ready = Box::pin(server.readable_evt().into_future());
            begin(&mut ready).await;
            (&client).write_all(b"x").unwrap();
            drop(ready);
            server.readable_evt().await.unwrap();
            assert_eq!(server.try_read(&mut [0; 8]).unwrap(), 1);
        }
    });
}

#[test]
fn choosing() {
    let _watched = watched();
    let (client, server) = tcp_pair();
    let next = |patience| {
        choose((
            server.readable_evt().wrap(|ready| ready.map(|()| true)),
            after(patience).wrap(|()| Ok(false)),
        ))
    };
    block_on(async {
        assert!(!next(Duration::from_millis(2)).await.unwrap());
        (&client).write_all(b"x").unwrap();
        assert!(next(Duration::from_secs(600)).await.unwrap());
        // Each time with a new future, and without reading.
        let again = pin!(next(Duration::from_secs(600)).into_future());
        assert!(again.await.unwrap());
    });
}

/// Many futures run at once, and each may be polled by different threads.
#[test]
fn many_on_a_pool() {
    const PAIRS: usize = 64;
    const BYTES: usize = 100_000;
    let _watched = watched();
    let executor = Executor::new(3);
    let (done, all) = lisle::channel();
    for _ in 0..PAIRS {
        let (one, other) = unix_pair();
        executor.spawn(async move {
            let mut left = BYTES;
            while left > 0 {
                match one.try_write(&vec![1; left]) {
                    Ok(length) => left -= length,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        one.writable_evt().await.unwrap()
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        });
        let done = done.clone();
        executor.spawn(async move {
            let length = read_full(&other, &mut vec![0; BYTES + 1]).await.unwrap();
            done.send_evt(length).await.unwrap();
        });
    }
    for _ in 0..PAIRS {
        assert_eq!(all.recv().unwrap(), BYTES);
    }
}
