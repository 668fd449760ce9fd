//! Tests of the head parser. They have a file of their own because they are longer than the parser.

use super::super::fields::Single;
use super::*;

const LIMITS: HeadLimits = HeadLimits { line: 128, fields: 256 };

fn parse(text: &str) -> Result<Option<Head>, Status> {
    HeadParser::default().parse(text.as_bytes(), &LIMITS)
}

fn accepted(text: &str) -> Head {
    parse(text).expect("accepted").expect("complete")
}

fn refused(text: &str) -> u16 {
    match parse(text) {
        Err(status) => status.code(),
        Ok(Some(_)) => panic!("{text:?} was accepted"),
        Ok(None) => panic!("{text:?} waits for more"),
    }
}

/// Returns a buffer with these header fields, and the fields that the parser finds.
pub(crate) fn fields_of(lines: &[(&str, &str)]) -> (Vec<u8>, Fields) {
    let mut text = String::from("GET / HTTP/1.1\r\nHost: a\r\n");
    for (name, value) in lines {
        text += &format!("{name}: {value}\r\n");
    }
    text += "\r\n";
    let limits = HeadLimits { line: 1000, fields: 10_000 };
    let head = HeadParser::default().parse(text.as_bytes(), &limits).expect("accepted").expect("complete");
    (text.into_bytes(), head.fields)
}

#[test]
fn a_plain_request() {
    let text = "GET /a/b?c=d HTTP/1.1\r\nHost: example.org:80\r\nRange: bytes=0-\r\n\r\nGET /next";
    let head = accepted(text);
    let input = text.as_bytes();
    assert_eq!(head.length, text.len() - "GET /next".len());
    assert_eq!(head.method, Method::Get);
    assert_eq!(head.method_name.of(input), b"GET");
    assert_eq!(head.target.of(input), b"/a/b?c=d");
    assert_eq!(head.path.of(input), b"/a/b");
    assert_eq!(head.query.of(input), b"?c=d");
    assert_eq!(head.persistence, Persistence::Keep);
    assert_eq!(head.framing, Framing::None);
    assert_eq!(head.fields.range.value().expect("it was given").of(input), b"bytes=0-");
}

#[test]
fn every_prefix_waits_for_more() {
    let text = "\r\n\r\nGET /a?b HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"x\"\r\nContent-Length: 3\r\n\r\nabc";
    let complete = text.len() - 3;
    let mut parser = HeadParser::default();
    for end in 0..complete {
        let outcome = parser.parse(&text.as_bytes()[..end], &LIMITS);
        assert!(matches!(outcome, Ok(None)), "after {end} bytes: {outcome:?}");
        assert!(matches!(parse(&text[..end]), Ok(None)), "{end} bytes at once");
    }
    let head = parser.parse(&text.as_bytes()[..complete], &LIMITS).expect("accepted").expect("complete");
    assert_eq!((head.length, head.framing), (complete, Framing::Length(3)));
}

#[test]
fn targets() {
    let path_and_query = |target: &str| {
        let text = format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n");
        let head = accepted(&text);
        let part = |span: Span| String::from_utf8_lossy(span.of(text.as_bytes())).into_owned();
        (part(head.path), part(head.query))
    };
    let pair = |path: &str, query: &str| (path.to_owned(), query.to_owned());
    assert_eq!(path_and_query("/"), pair("/", ""));
    assert_eq!(path_and_query("/?"), pair("/", "?"));
    assert_eq!(path_and_query("/a?b?c"), pair("/a", "?b?c"));
    assert_eq!(path_and_query("http://h:80/a/b?c"), pair("/a/b", "?c"));
    assert_eq!(path_and_query("HTTPS://h"), pair("/", ""));
    assert_eq!(path_and_query("http://h?x"), pair("/", "?x"));
    assert_eq!(path_and_query("http://[::1]:8080/a"), pair("/a", ""));
    let bad = ["a", "*", "ftp://h/", "/a#b", "h:443", "://", "?x"];
    let without_host = ["http:///x", "http://", "https:///", "http://?x", "http://:80/x"];
    let no_host = ["http://user@h/", "http://user:word@h/", "http://h\\x/"];
    for bad in bad.iter().chain(&without_host).chain(&no_host) {
        assert_eq!(refused(&format!("GET {bad} HTTP/1.1\r\nHost: a\r\n\r\n")), 400, "{bad}");
    }
    assert_eq!(accepted("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").method, Method::Options);
    assert_eq!(accepted("CONNECT h:443 HTTP/1.1\r\nHost: a\r\n\r\n").method, Method::NotAllowed);
}

#[test]
fn methods() {
    let of = |method: &str| accepted(&format!("{method} / HTTP/1.1\r\nHost: a\r\n\r\n")).method;
    assert_eq!((of("GET"), of("HEAD"), of("OPTIONS")), (Method::Get, Method::Head, Method::Options));
    for known in ["POST", "PUT", "DELETE", "CONNECT", "TRACE", "PATCH"] {
        assert_eq!(of(known), Method::NotAllowed, "{known}");
    }
    for unknown in ["BREW", "get", "Post", "GETX"] {
        assert_eq!(of(unknown), Method::Unknown, "{unknown}");
    }
}

#[test]
fn a_field_that_is_no_list_counts_only_if_it_is_given_once() {
    let names = ["Range", "If-Range", "If-Modified-Since", "If-Unmodified-Since"];
    let of = |lines: &[(&str, &str)]| {
        let (text, fields) = fields_of(lines);
        [fields.range, fields.if_range, fields.if_modified_since, fields.if_unmodified_since]
            .map(|field| (field, field.value().map(|span| span.of(&text).to_vec())))
    };
    for (at, name) in names.into_iter().enumerate() {
        let once = &of(&[(name, "x")])[at];
        assert!(matches!(once, (Single::Once(_), Some(value)) if value == b"x"), "{name}: {once:?}");
        assert_eq!(of(&[(name, "x"), ("X", "y"), (name, "x")])[at], (Single::Repeated, None), "{name}");
        assert_eq!(of(&[(name, "x"); 3])[at], (Single::Repeated, None), "{name}");
        assert_eq!(of(&[("X", "y")])[at], (Single::Absent, None), "{name}");
    }
}

#[test]
fn persistence() {
    let of = |version: &str, connection: &str| {
        accepted(&format!("GET / HTTP/{version}\r\nHost: a\r\n{connection}\r\n")).persistence
    };
    assert_eq!(of("1.1", ""), Persistence::Keep);
    assert_eq!(of("1.1", "Connection: close\r\n"), Persistence::Close);
    assert_eq!(of("1.1", "Connection: Foo, CLOSE\r\n"), Persistence::Close);
    assert_eq!(of("1.1", "Connection: keep-alive\r\nConnection: close\r\n"), Persistence::Close);
    assert_eq!(of("1.0", ""), Persistence::Close);
    assert_eq!(of("1.0", "Connection: Keep-Alive\r\n"), Persistence::KeepSaying);
    assert_eq!(of("1.0", "Connection: keep-alive, close\r\n"), Persistence::Close);
}

#[test]
fn hosts() {
    assert_eq!(refused("GET / HTTP/1.1\r\n\r\n"), 400);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), 400);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"), 400);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: a b\r\n\r\n"), 400);
    accepted("GET / HTTP/1.0\r\n\r\n");
    accepted("GET / HTTP/1.1\r\nHost:\r\n\r\n");
    accepted("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n");
}

#[test]
fn bodies() {
    let framed = |fields: &str| parse(&format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n"));
    let framing = |fields: &str| framed(fields).expect("accepted").expect("complete").framing;
    let status = |fields: &str| framed(fields).expect_err("refused").code();
    assert_eq!(framing("Content-Length: 0\r\n"), Framing::None);
    assert_eq!(framing("Content-Length: 12\r\n"), Framing::Length(12));
    assert_eq!(framing("Content-Length: 7, 7\r\nContent-Length: 7\r\n"), Framing::Length(7));
    assert_eq!(framing("Transfer-Encoding: Chunked\r\n"), Framing::Chunked);
    for bad in [
        "Content-Length: 7\r\nContent-Length: 8\r\n",
        "Content-Length: +7\r\n",
        "Content-Length: -7\r\n",
        "Content-Length: 7 7\r\n",
        "Content-Length: 0x7\r\n",
        "Content-Length:\r\n",
        "Content-Length: 7\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked, gzip\r\n",
    ] {
        assert_eq!(status(bad), 400, "{bad:?}");
    }
    assert_eq!(status("Transfer-Encoding: gzip, chunked\r\n"), 501);
    assert_eq!(status("Content-Length: 99999999999999999999999\r\n"), 413);
    assert_eq!(refused("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

#[test]
fn expectations() {
    assert!(accepted("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n\r\n").expects_continue);
    assert!(!accepted("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n").expects_continue);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: a\r\nExpect: a miracle\r\n\r\n"), 417);
}

#[test]
fn rubbish_is_refused_before_it_ends() {
    for text in
        ["\x16\x03\x01\x02", "\0", "{\"a\"", "GET  /", "GET /\x01", "G\u{e4}T / ", "GET /\r\n", "GET / HTTX"]
    {
        assert_eq!(refused(text), 400, "{text:?}");
    }
    for text in [
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
    ] {
        assert_eq!(refused(text), 400, "{text:?}");
    }
}

#[test]
fn other_versions() {
    for version in ["2.0", "0.9", "3.1", "9.9"] {
        assert_eq!(refused(&format!("GET / HTTP/{version}\r\n\r\n")), 505, "{version}");
    }
    assert_eq!(refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
    // No versions at all.
    for version in ["3", "11.1", "1.10", "1.", "1.x", "1,1"] {
        assert_eq!(refused(&format!("GET / HTTP/{version}\r\nHost: a\r\n\r\n")), 400, "{version}");
    }
    // A later minor version is answered as the highest known one, whose rules it must keep.
    for version in ["1.2", "1.9"] {
        let text = format!("\r\nGET /a?b HTTP/{version}\r\nHost: a\r\nIf-None-Match: \"x\"\r\n\r\n");
        let head = accepted(&text);
        assert_eq!((head.length, head.persistence), (text.len(), Persistence::Keep));
        assert_eq!(head.target.of(text.as_bytes()), b"/a?b");
        assert_eq!(refused(&format!("GET / HTTP/{version}\r\n\r\n")), 400, "it has no host");
        for end in 1..text.len() {
            let mut parser = HeadParser::default();
            assert!(parser.parse(&text.as_bytes()[..end], &LIMITS).unwrap().is_none(), "{end}");
        }
    }
}

#[test]
fn limits() {
    let line = |length: usize| format!("GET /{} HTTP/1.1", "a".repeat(length - "GET / HTTP/1.1".len()));
    accepted(&format!("{}\r\nHost: a\r\n\r\n", line(LIMITS.line)));
    assert_eq!(refused(&format!("{}\r\nHost: a\r\n\r\n", line(LIMITS.line + 1))), 414);
    assert_eq!(refused(&format!("GET /{}", "a".repeat(LIMITS.line))), 414);

    let fields = |length: usize| {
        format!("Host: a\r\nX: {}\r\n\r\n", "b".repeat(length - "Host: a\r\nX: \r\n\r\n".len()))
    };
    accepted(&format!("GET / HTTP/1.1\r\n{}", fields(LIMITS.fields)));
    assert_eq!(refused(&format!("GET / HTTP/1.1\r\n{}", fields(LIMITS.fields + 1))), 431);
    assert_eq!(refused(&format!("GET / HTTP/1.1\r\nHost: {}", "b".repeat(LIMITS.fields))), 431);

    let many = "A: b\r\n".repeat(MAX_FIELDS + 1);
    let wide = HeadLimits { line: 128, fields: 100_000 };
    let text = format!("GET / HTTP/1.1\r\nHost: a\r\n{many}\r\n");
    assert_eq!(HeadParser::default().parse(text.as_bytes(), &wide).expect_err("too many").code(), 431);

    assert_eq!(refused(&"\r\n".repeat(MAX_LEADING)), 400);
}

/// The line's end may come in two parts. The answer does not depend on how the bytes arrive.
#[test]
fn a_line_as_long_as_may_be_whose_end_comes_in_two_parts() {
    let text = "GET /12345678 HTTP/1.1\r\nHost: a\r\n\r\n";
    let line = text.find('\r').expect("it has an end");
    let limits = HeadLimits { line, fields: 256 };
    for end in 0..text.len() {
        let mut parser = HeadParser::default();
        let outcome = parser.parse(&text.as_bytes()[..end], &limits);
        assert!(matches!(outcome, Ok(None)), "after {end} bytes: {outcome:?}");
        assert!(matches!(parser.parse(text.as_bytes(), &limits), Ok(Some(_))), "in two parts, at {end}");
    }
    let outcome = HeadParser::default().parse(text.as_bytes(), &HeadLimits { line: line - 1, ..limits });
    assert_eq!(outcome.expect_err("one byte too long").code(), 414);
}

/// A fragment belongs to no form of a target.
#[test]
fn fragments_are_refused_in_every_form() {
    for target in ["/a#b", "/#", "http://h#x", "http://h/#x", "http://h?a#x", "#"] {
        assert_eq!(refused(&format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n")), 400, "{target}");
    }
}

/// A line of four words has no version, whatever its last word is.
#[test]
fn a_space_in_a_target_is_no_other_version() {
    assert_eq!(refused("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
    assert_eq!(refused("GET /a b HTTP/2.0\r\nHost: a\r\n\r\n"), 400);
    assert_eq!(refused("GET /a HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
}

#[test]
fn the_log_gets_a_line_of_bounded_length() {
    assert_eq!(first_line(b"\r\n\x16\x03 rubbish\r\nmore"), b"\x16\x03 rubbish");
    assert_eq!(first_line(&[b'a'; 5000]).len(), 200);
    assert_eq!(first_line(b""), b"");
}
