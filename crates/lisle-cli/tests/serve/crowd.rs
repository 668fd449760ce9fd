//! Many clients at once, and too many.

use std::process::Stdio;
use std::time::Duration;

use super::client::Client;
use super::support::{Server, Site, command_with_descriptors, descriptors_for_tests, wait_until};

/// As many connections as wanted, or as the system allows to this process beside the other tests.
fn crowd(wanted: usize) -> usize {
    wanted.min((descriptors_for_tests() / 4) as usize)
}

/// Creates `count` clients. Each has sent another part of a request, and none a whole request.
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
fn clients_that_do_not_read_a_large_file_hold_neither_its_bytes_nor_descriptors() {
    let site = Site::new();
    let large = site.path().join("large.bin");
    std::fs::File::create(&large).unwrap().set_len(200 << 20).unwrap();
    let server = Server::start(&site, &["--log", "off", "--write-timeout", "3600"]);
    assert_eq!(server.get("/").text(), "top");
    // A file that was changed within the last two seconds is opened anew by each that asks for it.
    let age = || std::fs::metadata(&large).unwrap().modified().unwrap().elapsed().unwrap_or_default();
    wait_until("the file is settled", || age() > Duration::from_secs(3));
    let (idle, resident) = (server.descriptors_at_rest(), server.resident());
    let count = crowd(300);
    let mut clients: Vec<Client> = (0..count).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send("GET /large.bin HTTP/1.1\r\nHost: test\r\n\r\n");
    }
    for client in &clients {
        assert_eq!(client.stream.peek(&mut [0]).unwrap(), 1, "each is answered");
    }
    for _ in 0..20 {
        assert_eq!(server.get("/").text(), "top", "others are served meanwhile");
    }
    // A client's stack and its request take some 30 KiB; its share of the file would be as much as
    // it is sent at once.
    let growth = server.resident().saturating_sub(resident);
    assert!(growth < 56 * count as u64, "{growth} KiB for {count} clients");
    // Each domain has opened the file once for all who asked, and may be looking at it again.
    let open = server.descriptors().saturating_sub(idle + count);
    assert!(open <= 8, "{open} descriptors beside those of the connections");
    drop(clients);
    server.wait_for_descriptors(idle + 4);
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
fn the_limit_on_connections_fits_the_limit_on_descriptors() {
    let site = Site::new();
    for number in 0..20 {
        site.file(&format!("{number}.txt"), number.to_string());
    }
    let command = command_with_descriptors(100, 150);
    let unused = tempfile::tempfile().unwrap();
    let server = Server::spawned(command, &site.path(), &["--log", "off"], Stdio::null(), unused);
    let text = server.stderr();
    assert!(text.contains("raised the limit on open files from 100 to 150"), "{text}");
    assert!(text.contains("connections at once instead of 10000"), "{text}");
    let idle = server.descriptors_at_rest();
    let mut served = Vec::new();
    let mut refused = Vec::new();
    for _ in 0..300 {
        let mut client = server.connect();
        client.try_send(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n");
        match client.response_or_end(true) {
            Some(response) if response.status == 200 => served.push(client),
            Some(response) => {
                assert_eq!(response.status, 503);
                refused.push(client);
            }
            None => refused.push(client),
        }
    }
    assert!(served.len() > 50 && refused.len() > 150, "{} served", served.len());
    for (number, client) in served.iter_mut().enumerate().take(20) {
        client.send(&format!("GET /{number}.txt HTTP/1.1\r\nHost: test\r\n\r\n"));
        assert_eq!(client.response().text(), number.to_string(), "there are descriptors left for files");
    }
    assert!(!server.stderr().contains("cannot accept"), "{}", server.stderr());
    drop((served, refused));
    server.wait_for_descriptors(idle);
    assert_eq!(server.get("/").text(), "top");
    server.stop();
}

#[test]
fn too_few_descriptors_to_begin_with() {
    let site = Site::new();
    // Should it begin all the same, it ends at once, because the address is taken.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let arguments = ["--domains", "8", "--addr", &address];
    let output = command_with_descriptors(50, 50).args(arguments).arg(site.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("cannot start: the system allows 50 open files"), "{text}");
}

#[test]
fn what_is_in_memory_is_served_when_it_cannot_be_compared_with_the_disk() {
    let site = Site::new();
    let server = Server::start(&site, &["--recheck", "0"]);
    let idle = server.descriptors_at_rest();
    let mut client = server.connect();
    let mut get = |path: &str| {
        client.send(&format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n"));
        let response = client.response();
        (response.status, response.text().to_owned())
    };
    assert_eq!(get("/").1, "top");
    server.wait_for_descriptors(idle + 1);
    server.leave_descriptors(0);
    site.file("index.html", "new");
    for _ in 0..5 {
        assert_eq!(get("/"), (200, "top".to_owned()));
    }
    server.leave_descriptors(20);
    assert_eq!(get("/"), (200, "new".to_owned()));
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
