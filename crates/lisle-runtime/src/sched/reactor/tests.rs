use super::*;
use lisle_core::Event;

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

const TERMS: Terms = Terms { interest: Interest::READABLE.add(Interest::WRITABLE), wakes: Wakes::Commit };
const NOW: Option<Duration> = Some(Duration::ZERO);

fn pair() -> (UnixStream, UnixStream) {
    let (one, other) = UnixStream::pair().unwrap();
    one.set_nonblocking(true).unwrap();
    other.set_nonblocking(true).unwrap();
    (one, other)
}

#[test]
fn readiness_comes_once_for_each_edge() {
    let (reactor, mut driver) = Reactor::new().unwrap();
    let (one, mut other) = pair();
    let registration = reactor.register(one.as_fd(), TERMS, Direction::Read).unwrap();
    let state = registration.state(Direction::Read);
    // On registration the kernel reports that the socket is writable.
    assert_eq!(driver.wait(NOW).unwrap(), 1);
    assert!(!state.is_ready());
    assert_eq!(driver.wait(NOW).unwrap(), 0);

    other.write_all(b"x").unwrap();
    assert_eq!(driver.wait(None).unwrap(), 1);
    assert!(state.is_ready());
    assert_eq!(driver.wait(NOW).unwrap(), 0);

    let read = || state.attempt(Ask::IfReady, || (&one).read(&mut [0; 8]), |_| false);
    assert_eq!(read().unwrap(), 1);
    assert!(state.is_ready(), "a success says nothing about the rest");
    assert_eq!(read().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert!(!state.is_ready());
}

#[test]
fn an_edge_during_an_operation_is_not_forgotten() {
    let (reactor, mut driver) = Reactor::new().unwrap();
    let (one, mut other) = pair();
    let registration = reactor.register(one.as_fd(), TERMS, Direction::Write).unwrap();
    let state = registration.state(Direction::Read);
    let mut calls = 0;
    let outcome = state.attempt(
        Ask::IfReady,
        || {
            calls += 1;
            let read = (&one).read(&mut [0; 8]);
            if calls == 1 {
                // Between the system call and the recording of its outcome.
                other.write_all(b"abc").unwrap();
                driver.wait(None).unwrap();
            }
            read
        },
        |_| false,
    );
    assert_eq!((outcome.unwrap(), calls), (3, 2));
}

#[test]
fn a_short_read_clears_unless_the_peer_has_shut_down() {
    let (reactor, mut driver) = Reactor::new().unwrap();
    let (one, mut other) = pair();
    let registration = reactor.register(one.as_fd(), TERMS, Direction::Read).unwrap();
    let state = registration.state(Direction::Read);
    let read = || state.attempt(Ask::IfReady, || (&one).read(&mut [0; 8]), |&n| n < 8);

    other.write_all(b"abc").unwrap();
    driver.wait(None).unwrap();
    assert_eq!(read().unwrap(), 3);
    assert!(!state.is_ready());

    other.write_all(b"abc").unwrap();
    drop(other);
    driver.wait(None).unwrap();
    assert_eq!(read().unwrap(), 3);
    assert_eq!(read().unwrap(), 0, "the end is found without another edge");
}

#[test]
fn a_stale_event_reaches_nobody() {
    let (reactor, mut driver) = Reactor::new().unwrap();
    for _ in 0..5 {
        let (one, mut other) = pair();
        let registration = reactor.register(one.as_fd(), TERMS, Direction::Read).unwrap();
        other.write_all(b"x").unwrap();
        let engine = driver.0.as_mut().unwrap();
        engine.poll.poll(&mut engine.events, None).unwrap();
        assert!(engine.events.iter().any(|event| event.token() == registration.token));

        // The driver has fetched the event; its slot, and mostly its descriptor's number, go to
        // another registration.
        let token = registration.token;
        drop(registration);
        drop(one);
        let (reused, _peer) = pair();
        let next = reactor.register(reused.as_fd(), TERMS, Direction::Read).unwrap();
        assert_ne!(next.token, token);
        assert!(reactor.sockets.lock().get(token).is_none());
        driver.wait(NOW).unwrap();
        assert!(!next.state(Direction::Read).is_ready());
    }
    assert!(reactor.is_empty());
}

#[test]
fn all_waiters_are_woken() {
    let (reactor, mut driver) = Reactor::new().unwrap();
    for wakes in [Wakes::Commit, Wakes::Retry] {
        let (one, mut other) = pair();
        let terms = Terms { wakes, ..TERMS };
        let registration = reactor.register(one.as_fd(), terms, Direction::Read).unwrap();
        std::thread::scope(|scope| {
            let waiting: Vec<_> =
                (0..8).map(|_| scope.spawn(|| registration.state(Direction::Read).ready().sync())).collect();
            other.write_all(b"x").unwrap();
            while !waiting.iter().all(|thread| thread.is_finished()) {
                driver.wait(Some(Duration::from_millis(1))).unwrap();
            }
        });
    }
}

#[test]
fn a_wake_ends_the_present_or_the_next_wait() {
    let (reactor, mut driver) = Reactor::new().unwrap();
    reactor.wake();
    assert_eq!(driver.wait(None).unwrap(), 0);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| driver.wait(None));
        reactor.wake();
        assert_eq!(waiting.join().unwrap().unwrap(), 0);
    });
}

#[test]
fn what_cannot_be_waited_for_is_an_error_and_leaves_nothing() {
    let (reactor, _driver) = Reactor::new().unwrap();
    let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
    let error = reactor.register(file.as_fd(), TERMS, Direction::Read).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EPERM));
    assert!(reactor.is_empty());
}

#[test]
fn a_descriptor_outlives_the_driver_that_served_it() {
    let (reactor, driver) = Reactor::new().unwrap();
    let (one, mut other) = pair();
    let registration = reactor.register(one.as_fd(), TERMS, Direction::Read).unwrap();
    drop(driver);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| registration.state(Direction::Read).ready().sync());
        other.write_all(b"x").unwrap();
        waiting.join().unwrap();
    });
    let weak = Arc::downgrade(&reactor);
    drop((registration, reactor));
    // The thread that took the driver over ends with the last registration, and the reactor with
    // it.
    let mut backoff = crate::shim::Backoff::new();
    while weak.strong_count() > 0 {
        backoff.wait();
    }
}

#[test]
fn each_thread_has_the_reactor_it_was_given_or_shares_one() {
    let (reactor, _driver) = Reactor::new().unwrap();
    set_current(Some(reactor.clone()));
    assert!(Arc::ptr_eq(&current().unwrap(), &reactor));
    set_current(None);
    let shared = current().unwrap();
    assert!(!Arc::ptr_eq(&shared, &reactor));
    let elsewhere = std::thread::spawn(|| current().unwrap()).join().unwrap();
    assert!(Arc::ptr_eq(&shared, &elsewhere));
}
