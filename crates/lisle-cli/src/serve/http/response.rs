//! Response heads, written directly into a reused buffer: no formatting machinery, and no
//! allocation once the buffer has grown.

use super::request::Persistence;
use super::status::Status;

/// The field with the served methods.
const ALLOW: &[u8] = b"Allow: GET, HEAD, OPTIONS\r\n";

/// A head that is being written. It is complete after [`finish`](Self::finish).
#[derive(Debug)]
#[must_use = "a head without its end is no head"]
pub(crate) struct ResponseHead<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> ResponseHead<'a> {
    /// Writes the status line and `date`, the lines that [`DateFields`](super::date::DateFields)
    /// keeps.
    pub(crate) fn start(out: &'a mut Vec<u8>, status: Status, date: &[u8]) -> Self {
        out.clear();
        out.extend_from_slice(status.line());
        out.extend_from_slice(date);
        ResponseHead { out }
    }

    /// Copies lines that were prepared earlier, each with its line end.
    pub(crate) fn lines(self, lines: &[u8]) -> Self {
        self.out.extend_from_slice(lines);
        self
    }

    /// Writes `name: value`. The value must not contain a line end; values from a client are
    /// percent-encoded before.
    pub(crate) fn field(self, name: &str, value: &[u8]) -> Self {
        debug_assert!(!value.iter().any(u8::is_ascii_control), "a value keeps to its line");
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b": ");
        self.out.extend_from_slice(value);
        self.out.extend_from_slice(b"\r\n");
        self
    }

    /// Writes `Content-Length`.
    pub(crate) fn length(mut self, length: u64) -> Self {
        self.out.extend_from_slice(b"Content-Length: ");
        self.number(length);
        self.out.extend_from_slice(b"\r\n");
        self
    }

    /// Writes `Content-Range` for the bytes from `start` up to and excluding `end`.
    pub(crate) fn content_range(mut self, start: u64, end: u64, total: u64) -> Self {
        self.out.extend_from_slice(b"Content-Range: bytes ");
        self.number(start);
        self.out.push(b'-');
        self.number(end - 1);
        self.out.push(b'/');
        self.number(total);
        self.out.extend_from_slice(b"\r\n");
        self
    }

    /// Writes the `Content-Range` of a 416, which contains the length of the file.
    pub(crate) fn unsatisfied_range(mut self, total: u64) -> Self {
        self.out.extend_from_slice(b"Content-Range: bytes */");
        self.number(total);
        self.out.extend_from_slice(b"\r\n");
        self
    }

    /// Writes `Allow`.
    pub(crate) fn allow(self) -> Self {
        self.lines(ALLOW)
    }

    /// Writes `Connection`, if it is needed, and the end of the head. A small body may be appended
    /// to the returned buffer.
    pub(crate) fn finish(self, persistence: Persistence) -> &'a mut Vec<u8> {
        self.out.extend_from_slice(match persistence {
            Persistence::Keep => b"\r\n".as_slice(),
            Persistence::KeepSaying => b"Connection: keep-alive\r\n\r\n",
            Persistence::Close => b"Connection: close\r\n\r\n",
        });
        self.out
    }

    fn number(&mut self, number: u64) {
        self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }
}

/// Writes a complete response that consists of little more than its status, with a page that shows
/// the status to a user. For a HEAD (`with_body` is `false`) only the head is written. `extra` adds
/// the fields that this status needs. Returns the length of the body that was written.
pub(crate) fn short<'a>(
    out: &'a mut Vec<u8>,
    status: Status,
    date: &[u8],
    persistence: Persistence,
    with_body: bool,
    extra: impl FnOnce(ResponseHead<'a>) -> ResponseHead<'a>,
) -> usize {
    let page = status.page();
    let head = ResponseHead::start(out, status, date).lines(b"Content-Type: text/html; charset=utf-8\r\n");
    let out = extra(head.length(page.len() as u64)).finish(persistence);
    if with_body {
        out.extend_from_slice(page);
        page.len()
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &[u8] = b"Date: now\r\n";

    #[test]
    fn a_full_head() {
        let mut out = b"left over".to_vec();
        ResponseHead::start(&mut out, Status::PARTIAL_CONTENT, DATE)
            .lines(b"A: b\r\n")
            .field("Location", b"/c/")
            .length(u64::MAX)
            .content_range(5, 10, 1234)
            .finish(Persistence::Keep);
        let expected = "HTTP/1.1 206 Partial Content\r\nDate: now\r\nA: b\r\nLocation: /c/\r\n\
            Content-Length: 18446744073709551615\r\nContent-Range: bytes 5-9/1234\r\n\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn persistence_is_said_where_it_must_be() {
        for (persistence, end) in [
            (Persistence::Keep, "now\r\n\r\n"),
            (Persistence::KeepSaying, "now\r\nConnection: keep-alive\r\n\r\n"),
            (Persistence::Close, "now\r\nConnection: close\r\n\r\n"),
        ] {
            let mut out = Vec::new();
            ResponseHead::start(&mut out, Status::NO_CONTENT, DATE).finish(persistence);
            assert!(String::from_utf8(out).unwrap().ends_with(end));
        }
    }

    #[test]
    fn short_responses() {
        let mut out = Vec::new();
        let length = short(&mut out, Status::RANGE_NOT_SATISFIABLE, DATE, Persistence::Close, true, |head| {
            head.unsatisfied_range(7)
        });
        let text = String::from_utf8(out.clone()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 416 Range Not Satisfiable\r\n"));
        assert!(head.contains("\r\nContent-Range: bytes */7\r\n"));
        assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())));
        assert!(head.ends_with("\r\nConnection: close"));
        assert_eq!(length, body.len());
        assert!(body.contains("<title>416 Range Not Satisfiable</title>"));

        let length =
            short(&mut out, Status::METHOD_NOT_ALLOWED, DATE, Persistence::Keep, false, ResponseHead::allow);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(length, 0);
        assert!(text.contains("\r\nAllow: GET, HEAD, OPTIONS\r\n") && text.ends_with("\r\n\r\n"));
    }
}
