//! SIGQUIT prints the waits of the server's fibers and tasks.

use rustix::process::Signal;

use super::support::{Server, Site, wait_until};

#[test]
fn a_signal_shows_what_waits_and_the_server_goes_on() {
    let site = Site::new();
    let server = Server::start(&site, &["--log", "json"]);
    let mut idle: Vec<_> = (0..5).map(|_| server.connect()).collect();
    for client in &mut idle {
        client.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
        assert_eq!(client.response().text(), "top");
    }
    let all = [
        "lisle: wait graph: ",
        "fiber 'listener' (spawned at",
        "read from a TcpListener; fd ",
        "or wait for condition 'stop' (made at",
        "2 fibers 'files' (spawned at",
        "receive from channel 'asks' (made at",
        "fiber 'output' (spawned at",
        "receive from channel 'batches' (made at",
        "receive from channel 'records' (made at",
        "receive signal 'SIGINT' (made at",
        "or join fiber 'listener' (spawned at",
        "5 fibers 'connection' (spawned at",
        "or wait for condition 'drain' (made at",
        "read from a TcpStream",
    ];
    let mut asked = 0;
    wait_until("all are listed", || {
        server.signal(Signal::QUIT);
        asked += 1;
        wait_until("it answers", || server.stderr().matches(all[0]).count() >= asked);
        all.iter().all(|text| server.stderr().contains(text))
    });
    assert_eq!(server.get("/").text(), "top");
    for client in &mut idle {
        client.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
        assert_eq!(client.response().text(), "top");
    }
    server.stop();
}
