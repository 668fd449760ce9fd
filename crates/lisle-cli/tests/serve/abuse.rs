//! Clients that break the rules, one at a time.

use super::support::{Server, Site};

const REQUEST: &str =
    "GET /index.html?query HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\nX-Y: z\r\n\r\nhello";

#[test]
fn a_request_cut_at_every_byte() {
    let site = Site::new();
    let server = Server::start(&site, &[]);
    let idle = server.descriptors_at_rest();
    for cut in 0..REQUEST.len() {
        let mut client = server.connect();
        client.send(&REQUEST[..cut]);
        client.finish();
        match client.response_or_end(true) {
            None => assert_eq!(cut, 0, "nothing asked, nothing answered"),
            Some(response) => assert_eq!(response.status, 400, "after {cut} bytes"),
        }
        assert!(client.is_closed(), "after {cut} bytes");
    }
    // The same, with the connection gone altogether.
    for cut in 0..REQUEST.len() {
        let mut client = server.connect();
        client.send(&REQUEST[..cut]);
    }
    server.wait_for_descriptors(idle);
    assert_eq!(server.get("/").text(), "top");
    server.stop();
}

#[test]
fn a_request_in_pieces_of_every_size() {
    let site = Site::new();
    let server = Server::start(&site, &[]);
    let mut client = server.connect();
    client.stream.set_nodelay(true).unwrap();
    for size in 1..REQUEST.len() {
        for piece in REQUEST.as_bytes().chunks(size) {
            client.send_bytes(piece);
        }
        assert_eq!(client.response().text(), "top", "in pieces of {size}");
    }
    server.stop();
}

#[test]
fn garbage() {
    let site = Site::new();
    let server = Server::start(&site, &[]);
    let idle = server.descriptors_at_rest();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    for round in 0..200 {
        let mut bytes: Vec<u8> = (0..round * 7 + 1).map(|_| byte()).collect();
        if round % 4 == 0 {
            bytes.splice(0..0, *b"GET / HTTP/1.1\r\nHost: test\r\n");
        }
        let mut client = server.connect();
        client.try_send(&bytes);
        client.try_send(b"\r\n\r\n");
        // It may be closed already, by the other side.
        let _ = client.stream.shutdown(std::net::Shutdown::Write);
        while let Some(response) = client.response_or_end(true) {
            assert!(
                matches!(response.status, 400 | 405 | 414 | 431 | 501 | 505),
                "{bytes:?}: {}",
                response.status
            );
        }
    }
    let tls = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    let mut client = server.connect();
    client.send_bytes(tls);
    assert_eq!(client.response().status, 400, "a TLS handshake is answered before it is complete");
    server.wait_for_descriptors(idle + 1);
    drop(client);
    server.wait_for_descriptors(idle);
    assert_eq!(server.get("/").text(), "top");
    server.stop();
}

#[test]
fn too_much_of_everything() {
    let site = Site::new();
    let server = Server::start(
        &site,
        &[
            "--max-request-line",
            "1K",
            "--max-header-bytes",
            "4K",
            "--max-body",
            "10K",
            "--header-timeout",
            "30",
        ],
    );
    let idle = server.descriptors_at_rest();
    let status = |text: &[u8]| {
        let mut client = server.connect();
        client.try_send(text);
        let response = client.response();
        assert_eq!(response.field("Connection"), Some("close"));
        response.status
    };
    let mega = "a".repeat(1 << 20);
    assert_eq!(status(format!("GET / HTTP/1.1\r\nHost: test\r\nX: {mega}\r\n\r\n").as_bytes()), 431);
    assert_eq!(
        status(format!("GET / HTTP/1.1\r\nHost: test\r\n{}\r\n", "X: y\r\n".repeat(1 << 17)).as_bytes()),
        431
    );
    assert_eq!(status(format!("GET /{mega} HTTP/1.1\r\nHost: test\r\n\r\n").as_bytes()), 414);
    assert_eq!(status(mega.as_bytes()), 414);
    let long = format!("GET / HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n{mega}", mega.len());
    assert_eq!(status(long.as_bytes()), 413);
    assert_eq!(status(b"GET / HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999999999999999\r\n\r\n"), 413);
    let chunk = format!(
        "GET / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n{}\r\n",
        "a".repeat(1024)
    );
    let chunks = format!("{chunk}{}", format!("400\r\n{}\r\n", "a".repeat(1024)).repeat(1000));
    assert_eq!(status(chunks.as_bytes()), 413);
    server.wait_for_descriptors(idle);
    server.stop();
}

#[test]
fn mistakes_and_their_statuses() {
    let site = Site::new();
    let server = Server::start(&site, &[]);
    for (request, status) in [
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        ("GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n", 417),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        ("GET noslash HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("BREW / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 501),
        ("BREW / HTTP/1.1\r\nHost: a\r\nContent-Length: 30000000\r\n\r\n", 501),
        ("get / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 501),
        ("TRACE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 405),
        ("GET http:///index.html HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET http://user@a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("CONNECT a:80 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 405),
        ("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n", 405),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 30000000\r\n\r\n", 405),
    ] {
        let mut client = server.connect();
        client.send(request);
        let response = client.response();
        assert_eq!(response.status, status, "{request:?}");
        assert_eq!(response.field("Connection"), Some("close"), "{request:?}");
        let allow = (status == 405).then_some("GET, HEAD, OPTIONS");
        assert_eq!(response.field("Allow"), allow, "{request:?}");
        client.finish();
        assert!(client.is_closed(), "{request:?}");
    }
    server.stop();
}

#[test]
fn clients_that_do_not_finish_in_time() {
    let site = Site::new();
    let server = Server::start(&site, &["--header-timeout", "0.3", "--idle-timeout", "0.3"]);
    let idle = server.descriptors_at_rest();

    let mut silent = server.connect();
    assert!(silent.is_closed(), "one that says nothing is told nothing");

    let mut half = server.connect();
    half.send("GET / HTTP/1.1\r\nHost:");
    assert_eq!(half.response().status, 408);

    let mut body = server.connect();
    body.send("GET / HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhalf");
    assert_eq!(body.response().status, 408);

    let mut kept = server.connect();
    kept.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    assert_eq!(kept.response().text(), "top");
    assert!(kept.is_closed(), "idle for too long");

    // Bytes that trickle in do not put the deadline off.
    let mut slow = server.connect();
    slow.stream.set_nodelay(true).unwrap();
    slow.stream.set_read_timeout(Some(std::time::Duration::from_millis(20))).unwrap();
    slow.send("GET / HTTP/1.1\r\nHost: test\r\nX: ");
    let mut answer = [0; 12];
    let mut sent = 0;
    while std::io::Read::read_exact(&mut slow.stream, &mut answer).is_err() {
        slow.try_send(b"y");
        sent += 1;
        assert!(sent < 3000, "it goes on for ever");
    }
    assert_eq!(&answer, b"HTTP/1.1 408");

    drop((silent, half, body, kept, slow));
    server.wait_for_descriptors(idle);
    server.stop();
}

#[test]
fn a_client_that_does_not_read() {
    let site = Site::new();
    std::fs::File::create(site.path().join("large.bin")).unwrap().set_len(200 << 20).unwrap();
    site.file("cached.bin", vec![b'x'; 900 << 10]);
    let server = Server::start(&site, &["--write-timeout", "0.3"]);
    let idle = server.descriptors_at_rest();
    let mut large = server.connect();
    large.send("GET /large.bin HTTP/1.1\r\nHost: test\r\n\r\n");
    let mut many = server.connect();
    many.send(&"GET /cached.bin HTTP/1.1\r\nHost: test\r\n\r\n".repeat(100));
    assert_eq!(server.get("/").text(), "top", "others are served meanwhile");
    // Neither client has read a byte or closed anything: it is the server that gives up.
    server.wait_for_descriptors(idle);
    drop((large, many));
    let ended = server.stop();
    assert!(ended.stderr.contains("2 not sent to the end"), "{}", ended.stderr);
}

#[test]
fn a_client_that_reads_slowly_gets_everything() {
    let site = Site::new();
    let content = vec![b'x'; 8 << 20];
    site.file("large.bin", &content);
    let server = Server::start(&site, &["--write-timeout", "5", "--max-file-in-cache", "16M"]);
    let mut client = server.connect();
    client.send("GET /large.bin HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    let mut total = 0;
    let mut piece = vec![0; 256 << 10];
    loop {
        match std::io::Read::read(&mut client.stream, &mut piece).unwrap() {
            0 => break,
            count => total += count,
        }
        std::thread::yield_now();
    }
    assert!(total > content.len());
    server.stop();
}
