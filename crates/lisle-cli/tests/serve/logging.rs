//! The access log, and the totals.

use std::process::Stdio;

use super::support::{PATIENCE, Server, Site};

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
    let start = std::time::Instant::now();
    let ended = server.wait();
    drop(reader);
    assert!(ended.status.success(), "{}", ended.stderr);
    assert!(start.elapsed() < PATIENCE / 2, "the end is not held up either");
    assert!(ended.stderr.contains("1000 requests"), "{}", ended.stderr);
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
