//! Many clients at once, and what happens when there are too many.

use super::client::Client;
use super::support::{Server, Site, descriptors_for_tests, wait_until};

/// As many connections as wanted, or as the system allows to this process beside the other tests.
fn crowd(wanted: usize) -> usize {
    wanted.min((descriptors_for_tests() / 4) as usize)
}

/// So many clients, each of which has sent another part of a request, but none a whole one.
fn half_requests(server: &Server, count: usize) -> Vec<Client> {
    let text = "GET / HTTP/1.1\r\nHost: test\r\nX: a-long-one";
    (0..count)
        .map(|number| {
            let mut client = server.connect();
            client.send(&text[..1 + number % (text.len() - 1)]);
            client
        })
        .collect()
}

#[test]
fn a_thousand_half_requests_are_held() {
    let site = Site::new();
    let server = Server::start(&site, &["--header-timeout", "3600"]);
    let idle = server.descriptors_at_rest();
    let count = crowd(1000);
    let clients = half_requests(&server, count);
    wait_until("all are connected", || server.descriptors() >= idle + count);
    for _ in 0..20 {
        assert_eq!(server.get("/").text(), "top", "others are served meanwhile");
    }
    drop(clients);
    server.wait_for_descriptors(idle);
    server.stop();
}

#[test]
fn a_thousand_half_requests_are_told_that_they_are_late() {
    let site = Site::new();
    let server = Server::start(&site, &["--header-timeout", "0.5", "--log", "json"]);
    let idle = server.descriptors_at_rest();
    let count = crowd(1000);
    for mut client in half_requests(&server, count) {
        assert_eq!(client.response().status, 408);
    }
    server.wait_for_descriptors(idle);
    let ended = server.stop();
    assert_eq!(ended.stdout.matches("\"status\":408").count(), count);
}

#[test]
fn thousands_of_idle_connections() {
    let site = Site::new();
    let server = Server::start(&site, &["--log", "off"]);
    let idle = server.descriptors_at_rest();
    let count = crowd(5000);
    let request = "GET / HTTP/1.1\r\nHost: test\r\n\r\n";
    let mut resident = Vec::new();
    for round in 0..2 {
        let mut clients: Vec<Client> = (0..count)
            .map(|_| {
                let mut client = server.connect();
                client.send(request);
                assert_eq!(client.response().text(), "top");
                client
            })
            .collect();
        assert!(server.descriptors() >= idle + count, "all of them are kept in round {round}");
        for client in clients.iter_mut().rev().step_by(7) {
            client.send(request);
            assert_eq!(client.response().text(), "top", "and still answered in round {round}");
        }
        resident.push(server.resident());
        drop(clients);
        server.wait_for_descriptors(idle);
    }
    let [first, second] = resident[..] else { unreachable!("two rounds") };
    assert!(
        second < first + first / 4 + 4096,
        "memory grows from {first} to {second} KiB for the same crowd"
    );
    server.stop();
}

#[test]
fn one_too_many() {
    let site = Site::new();
    let server = Server::start(&site, &["--max-connections", "3"]);
    let idle = server.descriptors_at_rest();
    let request = "GET / HTTP/1.1\r\nHost: test\r\n\r\n";
    let mut clients: Vec<Client> = (0..3)
        .map(|_| {
            let mut client = server.connect();
            client.send(request);
            assert_eq!(client.response().text(), "top");
            client
        })
        .collect();
    for _ in 0..5 {
        let mut refused = server.connect();
        let response = refused.response();
        assert_eq!((response.status, response.field("Connection")), (503, Some("close")));
        assert_eq!(response.field("Retry-After"), Some("1"));
        refused.finish();
        assert!(refused.is_closed());
    }
    clients[0].send(request);
    assert_eq!(clients[0].response().text(), "top", "those who are in stay in");
    clients.pop();
    wait_until("there is room again", || server.get("/").status == 200);
    drop(clients);
    server.wait_for_descriptors(idle);
    let ended = server.stop();
    assert!(ended.stderr.contains("connections over the limit"), "{}", ended.stderr);
}

#[test]
fn no_descriptor_left_for_connections() {
    let site = Site::new();
    let server = Server::start(&site, &["--log", "off"]);
    assert_eq!(server.get("/").text(), "top");
    let idle = server.descriptors_at_rest();
    server.leave_descriptors(10);
    let clients: Vec<Client> = (0..50).map(|_| server.connect()).collect();
    wait_until("accepting fails", || server.stderr().contains("cannot accept for now"));
    drop(clients);
    wait_until("it has recovered", || server.stderr().contains("accepting again"));
    assert_eq!(server.get("/").text(), "top");
    server.wait_for_descriptors(idle);
    server.stop();
}

#[test]
fn no_descriptor_left_for_files() {
    let site = Site::new();
    site.file("other.txt", "other");
    let server = Server::start(&site, &["--recheck", "3600"]);
    let mut client = server.connect();
    client.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    assert_eq!(client.response().text(), "top");
    server.leave_descriptors(0);
    client.send("GET /other.txt HTTP/1.1\r\nHost: test\r\n\r\n");
    let response = client.response();
    assert_eq!((response.status, response.field("Retry-After")), (503, Some("1")));
    client.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    assert_eq!(client.response().text(), "top", "what is in memory needs no descriptor");
    server.leave_descriptors(20);
    client.send("GET /other.txt HTTP/1.1\r\nHost: test\r\n\r\n");
    assert_eq!(client.response().text(), "other");
    server.stop();
}
