//! Which files are served, and that no others are.

use std::os::unix::fs::symlink;

use super::support::{Server, Site, wait_until};

#[test]
fn nothing_outside_is_ever_served() {
    let site = Site::new();
    site.file("sub/inside.txt", "inside");
    symlink("../secret.txt", site.path().join("relative")).unwrap();
    symlink(site.outside("secret.txt"), site.path().join("absolute")).unwrap();
    symlink("..", site.path().join("up")).unwrap();
    symlink("/", site.path().join("system")).unwrap();
    symlink("sub/inside.txt", site.path().join("fine")).unwrap();
    symlink(site.path().join("sub"), site.path().join("fine-too")).unwrap();
    let server = Server::start(&site, &[]);
    let secret = site.outside("secret.txt");
    let paths = [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/%2E%2E%2Fsecret.txt",
        "/..%2fsecret.txt",
        "/.%2e/secret.txt",
        "/sub/../../secret.txt",
        "/sub/%2e%2e/%2e%2e/secret.txt",
        "/..\\secret.txt",
        "/..%5csecret.txt",
        "/%252e%252e/secret.txt",
        "/%c0%ae%c0%ae/secret.txt",
        "/....//secret.txt",
        "/..;/secret.txt",
        "/..%00/secret.txt",
        "/../site/../secret.txt",
        "//..//secret.txt",
        "/relative",
        "/absolute",
        "/up/secret.txt",
        "/up/",
        "/system/etc/passwd",
        "/system/",
        "http://test/../secret.txt",
        "/proc/self/environ",
        "/etc/passwd",
        secret.to_str().unwrap(),
    ];
    for path in paths {
        let response = server.get(path);
        assert!(matches!(response.status, 400 | 404), "{path} was answered with {}", response.status);
        assert!(!response.text().contains("secret"), "{path}");
        assert!(!response.text().contains("root:"), "{path}");
    }
    for path in ["/fine", "/fine-too/inside.txt"] {
        assert_eq!(server.get(path).text(), "inside", "{path}");
    }
    server.stop();
}

#[test]
fn dotfiles_are_served_only_if_asked_for() {
    let site = Site::new();
    let hidden = [".env", ".git/config", "sub/.htpasswd", ".well-known/.hidden", "sub/.well-known/x"];
    for name in hidden {
        site.file(name, "a secret");
    }
    site.file(".dir/index.html", "a secret");
    site.file(".well-known/security.txt", "seen");
    site.file("404.html", "our page");
    std::fs::create_dir(site.path().join(".empty")).unwrap();

    let server = Server::start(&site, &[]);
    let encoded = ["%2eenv", "%2Egit/config", "sub//.htpasswd"];
    let others = [".none", ".git", ".git/", ".dir", ".dir/", ".empty"];
    for name in hidden.iter().chain(&encoded).chain(&others) {
        let response = server.get(&format!("/{name}"));
        assert_eq!((response.status, response.text()), (404, "our page"), "{name}");
    }
    assert_eq!(server.get("/.well-known/security.txt").text(), "seen");
    assert_eq!(server.get("/.well-known").status, 301);
    server.stop();

    let server = Server::start(&site, &["--dotfiles"]);
    for name in hidden.iter().chain(&encoded).chain(&[".dir/"]) {
        assert_eq!(server.get(&format!("/{name}")).text(), "a secret", "{name}");
    }
    assert_eq!(server.get("/.none").status, 404);
    server.stop();
}

#[test]
fn what_is_no_file_does_not_hold_anybody_up() {
    let site = Site::new();
    let fifo = site.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    std::os::unix::net::UnixListener::bind(site.path().join("socket")).unwrap();
    symlink("/dev/zero", site.path().join("device")).unwrap();
    let server = Server::start(&site, &[]);
    for path in ["/fifo", "/socket", "/device"] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    server.stop();
}

#[test]
fn large_files_are_streamed() {
    let site = Site::new();
    let content: Vec<u8> = (0..3_000_001_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    site.file("large.bin", &content);
    let server = Server::start(&site, &["--max-file-in-cache", "64K"]);
    let mut response = ureq::get(server.url("/large.bin")).call().unwrap();
    assert!(response.body_mut().read_to_vec().unwrap() == content);
    let mut response =
        ureq::get(server.url("/large.bin")).header("Range", "bytes=65535-200000").call().unwrap();
    assert_eq!(response.status(), 206);
    assert!(response.body_mut().read_to_vec().unwrap() == content[65_535..=200_000]);

    let mut client = server.connect();
    client.send("HEAD /large.bin HTTP/1.1\r\nHost: test\r\n\r\n");
    assert_eq!(client.response_without_body().field("Content-Length"), Some("3000001"));
    client.send("GET /large.bin HTTP/1.1\r\nHost: test\r\n\r\nGET / HTTP/1.1\r\nHost: test\r\n\r\n");
    assert!(client.response().body == content);
    assert_eq!(client.response().text(), "top");
    server.stop();
}

#[test]
fn a_file_that_shrinks_under_way_ends_the_connection() {
    let site = Site::new();
    let length = 64 << 20;
    std::fs::File::create(site.path().join("large.bin")).unwrap().set_len(length).unwrap();
    let server = Server::start(&site, &[]);
    let mut client = server.connect();
    client.send("GET /large.bin HTTP/1.1\r\nHost: test\r\n\r\n");
    // The socket buffers hold a few megabytes; the rest is not read from the file before the client
    // reads.
    std::io::Read::read_exact(&mut client.stream, &mut [0; 1000]).unwrap();
    std::fs::File::options().write(true).open(site.path().join("large.bin")).unwrap().set_len(1).unwrap();
    let mut rest = Vec::new();
    // A reset is as good an end as another.
    let _ = std::io::Read::read_to_end(&mut client.stream, &mut rest);
    assert!((rest.len() as u64) < length, "the connection ended early");
    assert_eq!(server.get("/").text(), "top");
    server.stop();
}

#[test]
fn changes_are_seen() {
    let site = Site::new();
    site.file("a.txt", "one");
    let server = Server::start(&site, &["--recheck", "0.05"]);
    assert_eq!(server.get("/a.txt").text(), "one");
    site.file("a.txt", "two, longer");
    wait_until("the new content is served", || server.get("/a.txt").text() == "two, longer");
    std::fs::remove_file(site.path().join("a.txt")).unwrap();
    wait_until("it is gone", || server.get("/a.txt").status == 404);
    site.file("404.html", "a page of our own");
    wait_until("the site's own page is shown", || server.get("/a.txt").text() == "a page of our own");
    wait_until("with the status of what is missing", || server.get("/a.txt").status == 404);
    assert_eq!(server.get("/404.html").status, 200);
    server.stop();
}

#[test]
fn a_large_file_that_is_written_to_is_never_served_under_its_old_tag() {
    let site = Site::new();
    site.file("large.bin", vec![b'a'; 100_000]);
    let server = Server::start(&site, &["--max-file-in-cache", "64K", "--recheck", "3600"]);
    let first = server.get("/large.bin");
    let tag = first.field("ETag").unwrap().to_owned();
    assert_eq!((first.body.len(), first.body[0]), (100_000, b'a'));
    // The same file, of the same length, which the server may have open.
    let file = std::fs::File::options().write(true).open(site.path().join("large.bin")).unwrap();
    let changed = || {
        std::os::unix::fs::FileExt::write_all_at(&file, &[b'b'; 100_000], 0).unwrap();
        server.get("/large.bin")
    };
    // The clock of the file system may not have moved on.
    wait_until("the tag is another", || changed().field("ETag") != Some(&tag));
    assert_eq!(changed().body[0], b'b');
    drop(file);
    std::fs::File::create(site.path().join("large.bin")).unwrap();
    assert_eq!(server.get("/large.bin").body.len(), 0, "it has become empty, and that is seen at once");
    server.stop();
}

#[test]
fn a_tag_never_stands_for_two_contents() {
    let site = Site::new();
    let server = Server::start(&site, &["--recheck", "0", "--max-file-in-cache", "1K"]);
    for (name, length) in [("small.txt", 10), ("large.bin", 10_000)] {
        let path = site.path().join(name);
        let mut tags = std::collections::HashMap::new();
        for round in 0..50_u8 {
            // The same length, and the same time as before, as a tool that copies a site sets it.
            std::fs::write(&path, vec![round; length]).unwrap();
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
            let response = server.get(&format!("/{name}"));
            assert_eq!(response.body, vec![round; length], "{name}");
            let tag = response.field("ETag").expect("a file has one").to_owned();
            if tag.starts_with('"') {
                let other = tags.insert(tag.clone(), round);
                assert_eq!(other, None, "{name}: {tag} in rounds {other:?} and {round}");
            }
        }
    }
    server.stop();
}

#[test]
fn a_directory_that_vanishes_and_comes_back() {
    let site = Site::new();
    let server = Server::start(&site, &["--recheck", "0.05"]);
    assert_eq!(server.get("/").text(), "top");
    std::fs::rename(site.path(), site.outside("elsewhere")).unwrap();
    wait_until("nothing is found any more", || server.get("/").status == 404);
    std::fs::remove_dir_all(site.outside("elsewhere")).unwrap();
    wait_until("and still nothing", || server.get("/").status == 404);
    std::fs::create_dir(site.path()).unwrap();
    site.file("index.html", "again");
    wait_until("the new directory is served", || server.get("/").text() == "again");
    server.stop();
}

#[test]
fn a_small_cache_serves_everything_all_the_same() {
    let site = Site::new();
    for number in 0..100 {
        site.file(&format!("{number}.txt"), vec![number as u8; 1000 + number]);
    }
    let server = Server::start(&site, &["--cache-bytes", "20K"]);
    let mut client = server.connect();
    for round in 0..3 {
        for number in 0..100 {
            client.send(&format!("GET /{number}.txt HTTP/1.1\r\nHost: test\r\n\r\n"));
            assert!(client.response().body == vec![number as u8; 1000 + number], "{number} in round {round}");
        }
    }
    server.stop();
}
