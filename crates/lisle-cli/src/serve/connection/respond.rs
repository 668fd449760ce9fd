//! Turns a request and a lookup result into a response: a head in a buffer, and the range of the
//! file that follows it. This module never waits.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use crate::serve::files::entry::Entry;
use crate::serve::files::root::Failure;
use crate::serve::files::{Outcome, path};
use crate::serve::http::condition::{self, Verdict};
use crate::serve::http::range::{self, Selection};
use crate::serve::http::request::{Head, Method, Persistence};
use crate::serve::http::response::{self, ResponseHead};
use crate::serve::http::status::Status;
use crate::serve::local;

/// The number of seconds after which a client should retry a request that failed because a resource
/// had run out.
pub(crate) const RETRY_AFTER: &[u8] = b"1";

/// A response whose head lies in a buffer.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: Status,
    pub(crate) persistence: Persistence,
    /// The number of bytes at the end of that buffer that are body.
    pub(crate) page: usize,
    /// The part of a file that follows the buffer.
    pub(crate) file: Option<(Arc<Entry>, Range<u64>)>,
}

/// The inputs of a response besides the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) head: &'a Head,
    /// The buffer into which the spans of the head point.
    pub(crate) input: &'a [u8],
    /// The name of the file, as decoded from the path.
    pub(crate) key: &'a [u8],
    pub(crate) persistence: Persistence,
    pub(crate) now: Instant,
}

impl Asked<'_> {
    fn with_body(&self) -> bool {
        self.head.method != Method::Head
    }

    fn short<'o>(
        &self,
        out: &'o mut Vec<u8>,
        status: Status,
        extra: impl FnOnce(ResponseHead<'o>) -> ResponseHead<'o>,
    ) -> Response {
        short(out, status, self.persistence, self.with_body(), self.now, extra)
    }
}

/// Writes a response that consists of little more than its status.
pub(crate) fn short<'o>(
    out: &'o mut Vec<u8>,
    status: Status,
    persistence: Persistence,
    with_body: bool,
    now: Instant,
    extra: impl FnOnce(ResponseHead<'o>) -> ResponseHead<'o>,
) -> Response {
    let page =
        local::with_date(now, |date| response::short(out, status, date, persistence, with_body, extra));
    Response { status, persistence, page, file: None }
}

/// Writes the answer to OPTIONS: the methods that every file allows.
pub(crate) fn options(out: &mut Vec<u8>, persistence: Persistence, now: Instant) -> Response {
    let status = Status::NO_CONTENT;
    local::with_date(now, |date| {
        ResponseHead::start(out, status, date).allow().finish(persistence);
    });
    Response { status, persistence, page: 0, file: None }
}

/// Writes the answer to a GET or HEAD.
pub(crate) fn get(outcome: Outcome, asked: &Asked<'_>, out: &mut Vec<u8>) -> Response {
    match outcome {
        Outcome::File(entry) => file(entry, asked, out),
        Outcome::Directory => {
            let mut location = Vec::with_capacity(asked.key.len() + 16);
            path::encode(asked.key, &mut location);
            location.push(b'/');
            location.extend_from_slice(asked.head.query.of(asked.input));
            asked.short(out, Status::MOVED_PERMANENTLY, |head| head.field("Location", &location))
        }
        Outcome::Missing(Some(page)) => {
            whole(Status::NOT_FOUND, page, asked, out, |head, page| head.lines(&page.content_lines))
        }
        Outcome::Missing(None) | Outcome::Failed(Failure::Missing) => {
            asked.short(out, Status::NOT_FOUND, |head| head)
        }
        Outcome::Failed(Failure::Forbidden) => asked.short(out, Status::FORBIDDEN, |head| head),
        Outcome::Failed(Failure::Exhausted) => {
            asked.short(out, Status::SERVICE_UNAVAILABLE, |head| head.field("Retry-After", RETRY_AFTER))
        }
        Outcome::Failed(Failure::Broken) => asked.short(out, Status::INTERNAL_SERVER_ERROR, |head| head),
    }
}

fn file(entry: Arc<Entry>, asked: &Asked<'_>, out: &mut Vec<u8>) -> Response {
    let Asked { head, input, persistence, now, .. } = *asked;
    match condition::evaluate(&head.fields, input, entry.validators()) {
        Verdict::Proceed => {}
        Verdict::Failed => return asked.short(out, Status::PRECONDITION_FAILED, |head| head),
        Verdict::NotModified => {
            let status = Status::NOT_MODIFIED;
            local::with_date(now, |date| {
                ResponseHead::start(out, status, date).lines(&entry.validator_lines).finish(persistence);
            });
            return Response { status, persistence, page: 0, file: None };
        }
    }
    let range = match head.fields.range.value() {
        Some(range)
            if head.method == Method::Get
                && condition::range_applies(&head.fields, input, entry.validators(), local::seconds(now)) =>
        {
            range::select(range.of(input), entry.length)
        }
        _ => Selection::Whole,
    };
    match range {
        Selection::Whole => whole(Status::OK, entry, asked, out, |head, entry| {
            head.lines(&entry.content_lines).lines(&entry.validator_lines)
        }),
        Selection::Unsatisfiable => {
            asked.short(out, Status::RANGE_NOT_SATISFIABLE, |head| head.unsatisfied_range(entry.length))
        }
        Selection::Part { start, end } => {
            let status = Status::PARTIAL_CONTENT;
            local::with_date(now, |date| {
                ResponseHead::start(out, status, date)
                    .lines(&entry.content_lines)
                    .lines(&entry.validator_lines)
                    .content_range(start, end, entry.length)
                    .length(end - start)
                    .finish(persistence);
            });
            Response { status, persistence, page: 0, file: Some((entry, start..end)) }
        }
    }
}

fn whole(
    status: Status,
    entry: Arc<Entry>,
    asked: &Asked<'_>,
    out: &mut Vec<u8>,
    lines: impl for<'o> FnOnce(ResponseHead<'o>, &Entry) -> ResponseHead<'o>,
) -> Response {
    local::with_date(asked.now, |date| {
        lines(ResponseHead::start(out, status, date), &entry).length(entry.length).finish(asked.persistence);
    });
    let range = 0..entry.length;
    let file = asked.with_body().then_some((entry, range));
    Response { status, persistence: asked.persistence, page: 0, file }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::files::entry::tests::entry_of;
    use crate::serve::http::request::{HeadLimits, HeadParser};

    /// Returns the head that answers this request, and the response.
    fn answer(request: &str, outcome: Outcome) -> (String, Response) {
        let text = request.replace('\n', "\r\n") + "\r\n\r\n";
        let limits = HeadLimits { line: 1000, fields: 1000 };
        let head = HeadParser::default().parse(text.as_bytes(), &limits).unwrap().unwrap();
        let asked = Asked {
            head: &head,
            input: text.as_bytes(),
            key: b"a b",
            persistence: head.persistence,
            now: Instant::now(),
        };
        let mut out = Vec::new();
        let response = get(outcome, &asked, &mut out);
        let out = String::from_utf8(out).unwrap();
        assert!(out.starts_with(std::str::from_utf8(response.status.line()).unwrap()));
        assert!(out[..out.len() - response.page].ends_with("\r\n\r\n"));
        (out, response)
    }

    fn file() -> Outcome {
        Outcome::File(Arc::new(entry_of(10)))
    }

    fn range(response: &Response) -> Option<Range<u64>> {
        response.file.as_ref().map(|(_, range)| range.clone())
    }

    #[test]
    fn whole_files() {
        let (head, response) = answer("GET /a HTTP/1.1\nHost: a", file());
        assert_eq!((response.status, range(&response)), (Status::OK, Some(0..10)));
        for line in [
            "Content-Length: 10",
            "Content-Type: text/plain; charset=utf-8",
            "Accept-Ranges: bytes",
            "ETag: \"",
        ] {
            assert!(head.contains(&format!("\r\n{line}")), "{line} is missing from {head}");
        }
        let (head, response) = answer("HEAD /a HTTP/1.1\nHost: a\nRange: bytes=1-2", file());
        assert_eq!((response.status, range(&response)), (Status::OK, None));
        assert!(head.contains("\r\nContent-Length: 10\r\n"));
    }

    #[test]
    fn parts() {
        let (head, response) = answer("GET /a HTTP/1.1\nHost: a\nRange: bytes=2-4", file());
        assert_eq!((response.status, range(&response)), (Status::PARTIAL_CONTENT, Some(2..5)));
        assert!(head.contains("\r\nContent-Range: bytes 2-4/10\r\nContent-Length: 3\r\n"));

        let (head, response) = answer("GET /a HTTP/1.1\nHost: a\nRange: bytes=10-", file());
        assert_eq!((response.status, range(&response)), (Status::RANGE_NOT_SATISFIABLE, None));
        assert!(head.contains("\r\nContent-Range: bytes */10\r\n"));

        let twice = "GET /a HTTP/1.1\nHost: a\nRange: bytes=2-4\nRange: bytes=5-6";
        let (_, response) = answer(twice, file());
        assert_eq!((response.status, range(&response)), (Status::OK, Some(0..10)));

        let (_, response) = answer("GET /a HTTP/1.1\nHost: a\nRange: bytes=2-4\nIf-Range: \"other\"", file());
        assert_eq!((response.status, range(&response)), (Status::OK, Some(0..10)));
    }

    #[test]
    fn conditions_come_before_ranges() {
        let (head, response) = answer("GET /a HTTP/1.1\nHost: a\nIf-None-Match: *\nRange: bytes=50-", file());
        assert_eq!((response.status, range(&response)), (Status::NOT_MODIFIED, None));
        assert!(head.contains("\r\nETag: ") && !head.contains("Content-Length"));
        let (_, response) = answer("GET /a HTTP/1.1\nHost: a\nIf-Match: \"x\"", file());
        assert_eq!(response.status, Status::PRECONDITION_FAILED);
    }

    #[test]
    fn directories_are_redirected_to_their_slash() {
        let (head, response) = answer("GET /a%20b?x=y HTTP/1.1\nHost: a", Outcome::Directory);
        assert_eq!(response.status, Status::MOVED_PERMANENTLY);
        assert!(head.contains("\r\nLocation: /a%20b/?x=y\r\n"));
    }

    #[test]
    fn what_is_not_there() {
        let (head, response) = answer("GET /a HTTP/1.1\nHost: a", Outcome::Missing(None));
        assert_eq!(response.status, Status::NOT_FOUND);
        assert!(response.page > 0 && head.ends_with("Not Found\n"));

        let page = Arc::new(entry_of(7));
        let (head, response) = answer("GET /a HTTP/1.1\nHost: a", Outcome::Missing(Some(page)));
        assert_eq!((response.status, range(&response)), (Status::NOT_FOUND, Some(0..7)));
        assert!(!head.contains("ETag"), "the page is no version of the requested file");

        let (head, response) = answer("GET /a HTTP/1.0", Outcome::Failed(Failure::Exhausted));
        assert_eq!(response.status, Status::SERVICE_UNAVAILABLE);
        assert!(head.contains("\r\nRetry-After: 1\r\n") && head.contains("\r\nConnection: close\r\n"));
    }
}
