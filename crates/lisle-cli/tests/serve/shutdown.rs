//! The end of the server.

use std::net::TcpStream;
use std::process::Stdio;

use rustix::process::Signal;

use super::support::{Server, Site, command_with_hang_up, wait_until};

fn refuses(server: &Server) -> bool {
    TcpStream::connect(server.address).is_err()
}

#[test]
fn each_of_three_signals_ends_an_idle_server() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
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
fn a_hang_up_lets_what_is_under_way_finish() {
    let site = Site::new();
    let server = Server::start(&site, &["--drain", "3600", "--header-timeout", "3600"]);
    let before = server.descriptors_at_rest();
    let mut busy = server.connect();
    busy.send("GET / HTTP/1.1\r\nHost: te");
    wait_until("it is accepted", || server.descriptors() > before);
    assert_eq!(server.get("/").text(), "top");
    server.signal(Signal::HUP);
    wait_until("nobody new is accepted", || refuses(&server));
    busy.send("st\r\n\r\n");
    assert_eq!(busy.response().text(), "top");
    busy.finish();
    let ended = server.wait();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("2 requests, 6 bytes"), "{}", ended.stderr);
}

#[test]
fn under_nohup_a_hang_up_is_nothing() {
    let site = Site::new();
    let command = command_with_hang_up(libc::SIG_IGN);
    let unused = tempfile::tempfile().unwrap();
    let server = Server::spawned(command, &site.path(), &[], Stdio::null(), unused);
    server.signal(Signal::HUP);
    server.signal(Signal::QUIT);
    wait_until("it answers", || server.stderr().contains("wait graph"));
    assert_eq!(server.get("/").text(), "top");
    server.stop();
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
