//! The behaviours that every client relies on.

use super::support::{Server, Site, command, wait_until};

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into()
}

fn field<'a>(response: &'a ureq::http::Response<ureq::Body>, name: &str) -> &'a str {
    response.headers()[name].to_str().expect("text")
}

#[test]
fn a_client_gets_pages() {
    let site = Site::new();
    site.file("sub/index.html", "below");
    site.file("sub/a b.css", "p {}");
    site.file("sub/back\\slash/a\\b.txt", "of three");
    let server = Server::start(&site, &[]);
    let agent = agent();
    for (path, status, kind, text) in [
        ("/", 200, "text/html; charset=utf-8", "top"),
        ("/index.html", 200, "text/html; charset=utf-8", "top"),
        ("/sub/", 200, "text/html; charset=utf-8", "below"),
        ("/sub/back%5Cslash/a%5cb.txt", 200, "text/plain; charset=utf-8", "of three"),
        ("/sub/a%20b.css", 200, "text/css; charset=utf-8", "p {}"),
        ("/sub/%61%20%62.css?query", 200, "text/css; charset=utf-8", "p {}"),
    ] {
        let mut response = agent.get(server.url(path)).call().unwrap();
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(response.headers()["content-type"], kind, "{path}");
        assert_eq!(response.body_mut().read_to_string().unwrap(), text, "{path}");
    }
    let redirect = agent.get(server.url("/sub?x=1")).call().unwrap();
    assert_eq!((redirect.status().as_u16(), field(&redirect, "location")), (301, "/sub/?x=1"));
    let redirect = agent.get(server.url("/sub/back%5cslash")).call().unwrap();
    assert_eq!(field(&redirect, "location"), "/sub/back%5Cslash/");
    let missing = agent.get(server.url("/none")).call().unwrap();
    assert_eq!(missing.status(), 404);

    let head = agent.head(server.url("/")).call().unwrap();
    assert_eq!((head.status().as_u16(), field(&head, "content-length")), (200, "3"));
    let options = agent.options(server.url("/")).call().unwrap();
    assert_eq!((options.status().as_u16(), field(&options, "allow")), (204, "GET, HEAD, OPTIONS"));
    let post = agent.post(server.url("/")).send("some body").unwrap();
    assert_eq!((post.status().as_u16(), field(&post, "allow")), (405, "GET, HEAD, OPTIONS"));
    server.stop();
}

#[test]
fn a_client_keeps_its_copy() {
    let site = Site::new();
    site.file("data.bin", (0..=255).collect::<Vec<u8>>());
    let server = Server::start(&site, &[]);
    let agent = agent();
    let first = agent.get(server.url("/data.bin")).call().unwrap();
    let tag = first.headers()["etag"].to_str().unwrap().to_owned();
    let date = first.headers()["last-modified"].to_str().unwrap().to_owned();

    for (name, value) in [("If-None-Match", &tag), ("If-Modified-Since", &date)] {
        let response = agent.get(server.url("/data.bin")).header(name, value).call().unwrap();
        assert_eq!(response.status(), 304, "{name}");
        assert_eq!(response.headers()["etag"], tag.as_str());
    }
    let stale = agent.get(server.url("/data.bin")).header("If-Match", "\"other\"").call().unwrap();
    assert_eq!(stale.status(), 412);

    for (range, expected) in [("bytes=10-19", 10..20), ("bytes=250-", 250..256), ("bytes=-6", 250..256)] {
        let mut response = agent
            .get(server.url("/data.bin"))
            .header("Range", range)
            .header("If-Range", &tag)
            .call()
            .unwrap();
        assert_eq!(response.status(), 206, "{range}");
        let bytes: Vec<u8> = expected.map(|byte: u16| byte as u8).collect();
        assert_eq!(response.body_mut().read_to_vec().unwrap(), bytes, "{range}");
    }
    let beyond = agent.get(server.url("/data.bin")).header("Range", "bytes=256-").call().unwrap();
    assert_eq!((beyond.status().as_u16(), field(&beyond, "content-range")), (416, "bytes */256"));
    let several = agent.get(server.url("/data.bin")).header("Range", "bytes=0-1,5-6").call().unwrap();
    assert_eq!((several.status().as_u16(), field(&several, "content-length")), (200, "256"));
    let mut client = server.connect();
    client.send("GET /data.bin HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1\r\nRange: bytes=5-6\r\n\r\n");
    let lines = client.response();
    assert_eq!((lines.status, lines.body.len()), (200, 256), "neither line is the one that counts");
    server.stop();
}

#[test]
fn a_connection_lives_as_long_as_it_should() {
    let site = Site::new();
    let server = Server::start(&site, &[]);

    let mut client = server.connect();
    for _ in 0..3 {
        client.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
        let response = client.response();
        assert_eq!((response.text(), response.field("Connection")), ("top", None));
    }
    client.send("GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    assert_eq!(client.response().field("Connection"), Some("close"));
    assert!(client.is_closed());

    let mut client = server.connect();
    client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_eq!(client.response().field("Connection"), Some("keep-alive"));
    client.send("GET / HTTP/1.0\r\n\r\n");
    assert_eq!(client.response().text(), "top");
    assert!(client.is_closed());

    // A mistake in one request that does not hide where the next begins costs only that request.
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\n\r\nbody");
    assert_eq!(client.response().status, 405);
    client.send("GET / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n");
    assert_eq!(client.response().text(), "top");
    client.send("GET /%zz HTTP/1.1\r\nHost: test\r\n\r\n");
    assert_eq!(client.response().status, 400);
    client.send("HEAD / HTTP/1.1\r\nHost: test\r\n\r\n");
    assert_eq!(client.response_without_body().field("Content-Length"), Some("3"));
    client.send("OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n");
    assert_eq!(client.response().status, 204);
    client.finish();
    assert!(client.is_closed());
    server.stop();
}

#[test]
fn requests_sent_ahead_are_answered_in_order() {
    let site = Site::new();
    for number in 0..10 {
        site.file(&format!("{number}.txt"), number.to_string().repeat(number + 1));
    }
    let server = Server::start(&site, &[]);
    let mut client = server.connect();
    let mut text = String::new();
    for number in 0..500 {
        text += &format!("GET /{}.txt HTTP/1.1\r\nHost: test\r\n\r\n", number % 10);
    }
    client.send(&text);
    for number in 0..500 {
        let digit = number % 10;
        assert_eq!(client.response().text(), digit.to_string().repeat(digit + 1));
    }
    server.stop();
}

#[test]
fn a_command_line_that_makes_no_sense() {
    for arguments in [
        &["--domains", "0", "."][..],
        &["--log", "loud", "."],
        &[],
        &["--nonsense", "."],
        &["--addr", "8080", "."],
        &["--addr", "::1:8080", "."],
    ] {
        let output = command().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

/// The cores on which each of the server's two worker threads may run, as the system lists them.
/// `None` as long as one has not begun, and told its name.
fn cores_of_workers(server: &Server) -> Option<[String; 2]> {
    let threads = std::fs::read_dir(format!("/proc/{}/task", server.pid().as_raw_nonzero())).unwrap();
    // Others may end meanwhile.
    let status = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("status")).ok();
    let field = |status: &str, name: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
        value.expect("such a field").to_owned()
    };
    let statuses: Vec<String> = threads.filter_map(|thread| status(thread.unwrap())).collect();
    let is_worker = |status: &&String| ["lisle-0", "lisle-1"].contains(&field(status, "Name").as_str());
    let workers = statuses.iter().filter(is_worker);
    workers.map(|status| field(status, "Cpus_allowed_list")).collect::<Vec<_>>().try_into().ok()
}

#[test]
fn worker_threads_have_cores_of_their_own_if_that_is_asked_for() {
    let site = Site::new();
    let plain = Server::start(&site, &[]);
    wait_until("both have begun, and may run where they like", || {
        cores_of_workers(&plain).is_some_and(|[one, other]| one == other)
    });
    plain.stop();
    let pinned = Server::start(&site, &["--pin"]);
    let cores = std::thread::available_parallelism().unwrap().get();
    wait_until("each has a core of its own, if there are two", || {
        cores_of_workers(&pinned).is_some_and(|[one, other]| {
            [&one, &other].iter().all(|list| list.parse::<u32>().is_ok()) && (one == other) == (cores == 1)
        })
    });
    pinned.stop();
}

#[test]
fn ways_to_say_where() {
    let site = Site::new();
    for (address, loopback) in [(":0", false), ("localhost:0", true)] {
        let server = Server::start(&site, &["--addr", address, "--log", "json"]);
        let text = server.stderr();
        let bound: Vec<std::net::SocketAddr> = text
            .split("http://")
            .skip(1)
            .map(|rest| rest.split_once('/').expect("a slash").0.parse().expect("an address"))
            .collect();
        assert!(!bound.is_empty(), "{text}");
        for address in bound {
            assert!(
                address.ip().is_loopback() == loopback && address.port() == server.address.port(),
                "{text}"
            );
            let mut client = super::client::Client::connect(address);
            client.send("GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
            assert_eq!(client.response().text(), "top", "{address}");
        }
        let mut client = super::client::Client::connect(([127, 0, 0, 1], server.address.port()).into());
        client.send("GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
        assert_eq!(client.response().text(), "top");
        assert!(client.is_closed());
        let log = server.stop().stdout;
        assert!(log.contains("\"peer\":\"127.0.0.1:"), "as an address of its own version: {log}");
    }
}

#[test]
fn what_cannot_be_served() {
    let site = Site::new();
    let missing = command().arg(site.outside("none")).output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
    let text = String::from_utf8(missing.stderr).unwrap();
    assert!(text.starts_with("lisle: cannot serve ") && text.contains("No such file"), "{text}");

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = command().args(["--addr", &address]).arg(site.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains(&format!("cannot listen on {address}")), "{text}");
}
