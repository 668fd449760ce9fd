//! The access log, and the totals.

use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::Stdio;

use super::support::{Server, Site, command, wait_until};

#[test]
fn json_lines() {
    let site = Site::new();
    let server = Server::start(&site, &["--log", "json"]);
    for _ in 0..10 {
        server.get("/");
    }
    server.get("/none?a=\"b\"");
    let mut client = server.connect();
    client.send_bytes(b"\x16garbage\x1b[2J\"}\n");
    client.response();
    client.finish();
    assert!(client.is_closed());
    let ended = server.stop();
    let lines: Vec<serde_json::Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    assert_eq!(lines.len(), 12);
    assert_eq!(lines.iter().filter(|line| line["status"] == 200 && line["bytes"] == 3).count(), 10);
    let missing = lines.iter().find(|line| line["status"] == 404).expect("it was asked for");
    assert_eq!((&missing["method"], &missing["target"]), (&"GET".into(), &"/none?a=\"b\"".into()));
    let garbage = lines.iter().find(|line| line["status"] == 400).expect("it was refused");
    assert_eq!(garbage["target"], "\\x16garbage\\x1b[2J\"}");

    let totals = ended.stderr.lines().last().expect("the totals");
    let totals: serde_json::Value = serde_json::from_str(totals).expect("JSON as well");
    assert_eq!(totals["requests"], 12);
    assert_eq!(totals["statuses"]["2xx"], 10);
    assert!(totals["latency_micros"]["p99.9"].as_u64().is_some_and(|micros| micros > 0));
}

#[test]
fn lines_for_people() {
    let site = Site::new();
    let server = Server::start(&site, &[]);
    server.get("/");
    server.get("/a\u{e4}%0d%0a200");
    let ended = server.stop();
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", ended.stdout);
    assert!(lines[0].contains("  200  GET ") && lines[0].ends_with("  /"), "{}", lines[0]);
    assert!(
        lines[1].contains("  404  GET ") && lines[1].ends_with("  /a\\xc3\\xa4%0d%0a200"),
        "{}",
        lines[1]
    );
    assert!(!ended.stdout.contains('\x1b'), "no colours where there is no terminal");
    assert!(ended.stderr.contains("lisle: 2 requests, "), "{}", ended.stderr);
    assert!(ended.stderr.contains("latency p50 "), "{}", ended.stderr);
}

#[test]
fn no_log() {
    let site = Site::new();
    let server = Server::start(&site, &["--log", "off"]);
    server.get("/");
    let ended = server.stop();
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.contains("lisle: 1 request, "), "{}", ended.stderr);
}

#[test]
fn a_reader_of_the_log_that_has_stopped_reading_delays_nobody() {
    let site = Site::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let unused = tempfile::tempfile().unwrap();
    let server = Server::start_with(&site.path(), &[], Stdio::from(writer), unused);
    let mut client = server.connect();
    let request = format!("GET /{} HTTP/1.1\r\nHost: test\r\n\r\n", "x".repeat(4000));
    for _ in 0..1000 {
        client.send(&request);
        assert_eq!(client.response().status, 404);
    }
    server.signal(rustix::process::Signal::TERM);
    let ended = server.wait();
    drop(reader);
    assert!(ended.status.success(), "{}", ended.stderr);
    assert!(ended.stderr.contains("1000 requests"), "{}", ended.stderr);
    assert!(ended.stderr.contains("standard output is not read"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("not ended in time"), "nobody waits for its fiber: {}", ended.stderr);
}

#[test]
fn the_end_of_the_log_reaches_a_slow_reader() {
    let site = Site::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let unused = tempfile::tempfile().unwrap();
    let server = Server::start_with(&site.path(), &["--log", "json"], Stdio::from(writer), unused);
    let mut client = server.connect();
    let request = format!("GET /{} HTTP/1.1\r\nHost: test\r\n\r\n", "x".repeat(4000));
    for _ in 0..60 {
        client.send(&request);
        assert_eq!(client.response().status, 404);
    }
    drop(client);
    server.signal(rustix::process::Signal::TERM);
    wait_until("it stops", || std::net::TcpStream::connect(server.address).is_err());
    let lines = std::io::BufRead::lines(std::io::BufReader::new(reader)).count();
    let ended = server.wait();
    // Should this test not have been given a processor in time, it is said how many lines are
    // missing.
    assert!(
        lines == 60 || ended.stderr.contains("the end of the access log is lost"),
        "{lines} {}",
        ended.stderr
    );
}

#[test]
fn nobody_reads_anything() {
    let site = Site::new();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = command();
    command.args(["--addr", "127.0.0.1:0"]).arg(site.path());
    command.stdout(writer.try_clone().unwrap()).stderr(writer.try_clone().unwrap());
    let child = command.spawn().unwrap();
    let mut text = Vec::new();
    while !text.ends_with(b"/\n") {
        let mut byte = [0];
        reader.read_exact(&mut byte).unwrap();
        text.extend(byte);
    }
    // The same pipe, through an open file of its own, for the program's is to stay one whose writes
    // wait.
    let path = format!("/proc/self/fd/{}", writer.as_raw_fd());
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let mut filler = std::fs::File::options().write(true).custom_flags(flags).open(path).unwrap();
    while filler.write(&[b'x'; 4096]).is_ok() {}
    let pid = rustix::process::Pid::from_child(&child);
    // Nobody reads the list of its waits either. The test cannot see the try to print it. Should
    // that take longer, then the server has ended before, and less is tested.
    rustix::process::kill_process(pid, rustix::process::Signal::QUIT).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    /// Is not left behind by a test that fails.
    struct Killed(std::process::Child);
    impl Drop for Killed {
        fn drop(&mut self) {
            // It may have ended, and then this does nothing.
            let _ = self.0.kill();
        }
    }
    let mut child = Killed(child);
    let mut status = None;
    wait_until("it has ended by itself", || {
        status = child.0.try_wait().unwrap();
        status.is_some()
    });
    assert!(status.is_some_and(|status| status.success()));
}

#[test]
fn nobody_reads_the_log() {
    let site = Site::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let unused = tempfile::tempfile().unwrap();
    let server = Server::start_with(&site.path(), &[], Stdio::from(writer), unused);
    for _ in 0..10 {
        assert_eq!(server.get("/").text(), "top");
    }
    let ended = server.stop();
    assert!(ended.stderr.contains("cannot write the access log"), "{}", ended.stderr);
    assert!(ended.stderr.contains("10 log lines dropped"), "{}", ended.stderr);
}
