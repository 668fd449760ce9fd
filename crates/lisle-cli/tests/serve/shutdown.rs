//! The end of the server.

use std::net::TcpStream;

use rustix::process::Signal;

use super::support::{Server, Site, wait_until};

fn refuses(server: &Server) -> bool {
    TcpStream::connect(server.address).is_err()
}

#[test]
fn both_signals_end_an_idle_server() {
    for signal in [Signal::TERM, Signal::INT] {
        let site = Site::new();
        let server = Server::start(&site, &[]);
        server.get("/");
        server.signal(signal);
        let ended = server.wait();
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        assert!(ended.stderr.contains("1 request, 3 bytes"), "{}", ended.stderr);
    }
}

#[test]
fn idle_connections_are_closed_at_once_and_busy_ones_finish() {
    let site = Site::new();
    let server = Server::start(&site, &["--drain", "60"]);
    let mut idle = server.connect();
    idle.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    assert_eq!(idle.response().text(), "top");
    let before = server.descriptors_at_rest();
    let mut busy = server.connect();
    busy.send("GET / HTTP/1.1\r\nHost: te");
    wait_until("the busy one is accepted", || server.descriptors() > before);
    // The half request has been read once the idle connection, which was told later, is answered.
    idle.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    assert_eq!(idle.response().text(), "top");
    server.signal(Signal::TERM);
    assert!(idle.is_closed());
    wait_until("nobody new is accepted", || refuses(&server));
    busy.send("st\r\n\r\n");
    let response = busy.response();
    assert_eq!((response.text(), response.field("Connection")), ("top", Some("close")));
    busy.finish();
    assert!(busy.is_closed());
    let ended = server.wait();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("3 requests, 9 bytes"), "{}", ended.stderr);
}

#[test]
fn the_deadline_ends_what_does_not_finish() {
    let site = Site::new();
    std::fs::File::create(site.path().join("large.bin")).unwrap().set_len(200 << 20).unwrap();
    let server = Server::start(&site, &["--drain", "0.3"]);
    let mut half = server.connect();
    half.send("GET / HTTP/1.1\r\n");
    let mut deaf = server.connect();
    deaf.send("GET /large.bin HTTP/1.1\r\nHost: test\r\n\r\n");
    std::io::Read::read_exact(&mut deaf.stream, &mut [0; 1000]).unwrap();
    let ended = server.stop();
    assert!(ended.stderr.contains("closing the connections that are still open"), "{}", ended.stderr);
    assert!(ended.stderr.contains("1 not sent to the end"), "{}", ended.stderr);
    assert!(half.is_closed());
}

#[test]
fn a_second_signal_ends_the_wait() {
    let site = Site::new();
    let server = Server::start(&site, &["--drain", "3600", "--header-timeout", "3600"]);
    let before = server.descriptors_at_rest();
    let mut half = server.connect();
    half.send("GET / HTTP/1.1\r\n");
    wait_until("it is accepted", || server.descriptors() > before);
    assert_eq!(server.get("/").text(), "top");
    server.signal(Signal::INT);
    wait_until("nobody new is accepted", || refuses(&server));
    server.signal(Signal::INT);
    let ended = server.wait();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert!(half.is_closed());
}
