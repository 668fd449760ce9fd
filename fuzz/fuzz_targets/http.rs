//! The server reads a client's bytes in one piece and in several, and its heads are compared with a
//! plain reading of the bytes.
//!
//! The input is the bytes sent. Only its last bytes tell how the others come.

#![no_main]

#[path = "../../crates/lisle-cli/src/serve/http/mod.rs"]
#[allow(dead_code, reason = "the server uses the rest")]
mod http;
#[path = "../../crates/lisle-cli/src/serve/connection/input.rs"]
#[allow(dead_code, reason = "the server uses the rest")]
mod input;
#[path = "../../crates/lisle-cli/src/serve/files/path.rs"]
mod path;

use http::body::{Discard, Framing};
use http::condition::{self, Validators, Verdict};
use http::date;
use http::fields::{Single, Span};
use http::range::{self, Selection};
use http::request::{Head, HeadLimits, HeadParser, Persistence, first_line};
use http::response;
use http::status::Status;
use input::Input;
use libfuzzer_sys::fuzz_target;
use lisle_fuzz::Draw;
use std::time::{Duration, UNIX_EPOCH};

/// How many bytes at the end of the input say how the rest comes.
const CONTROL: usize = 12;

#[derive(Debug, Clone, Copy)]
struct Limits {
    head: HeadLimits,
    body: u64,
}

fuzz_target!(|data: &[u8]| {
    let (sent, control) = data.split_at(data.len().saturating_sub(CONTROL));
    let mut draw = Draw::new(control, CONTROL);
    let limits = Limits {
        head: [
            HeadLimits { line: 8 << 10, fields: 16 << 10 },
            HeadLimits { line: 128, fields: 256 },
            HeadLimits { line: 24, fields: 24 },
        ][draw.below(3)],
        body: [1 << 20, 100, 0][draw.below(3)],
    };
    let (requests, end) = Connection::new(sent, Pieces::Whole, limits).read();
    for pieces in [Pieces::Drawn(draw), Pieces::Bytes] {
        let (others, other_end) = Connection::new(sent, pieces, limits).read();
        assert_eq!(requests, others, "in one piece and in several");
        assert!(end.is_like(other_end), "{end:?} in one piece, {other_end:?} in several");
    }
});

/// How the bytes arrive.
enum Pieces<'d> {
    Whole,
    Drawn(Draw<'d>),
    Bytes,
}

impl Pieces<'_> {
    fn next(&mut self) -> usize {
        match self {
            Pieces::Whole => usize::MAX,
            Pieces::Drawn(draw) => 1 + [0, 1, 2, 6, 15, 100, 1_000][draw.below(7)] + draw.below(3),
            Pieces::Bytes => 1,
        }
    }
}

/// An accepted request: the facts that must not depend on the pieces.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    head: String,
    /// How many bytes of a body there were.
    body: usize,
}

/// How reading ends, after all requests that were accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// There is nothing more.
    Silence,
    /// The client has sent less than a request.
    Cut,
    Refused(Status),
    /// The connection is closed after the response, and later bytes are not read.
    Closed,
}

impl End {
    /// Whether the two ends are the same, up to the reason of a refusal. A head that is too long or
    /// wrong can be refused before it is whole, and of several mistakes the first one seen is told.
    /// For whole heads the reason is the same.
    fn is_like(self, other: End) -> bool {
        let early = [
            Status::BAD_REQUEST,
            Status::URI_TOO_LONG,
            Status::FIELDS_TOO_LARGE,
            Status::VERSION_NOT_SUPPORTED,
        ];
        let is_early = |end| end == End::Cut || early.map(End::Refused).contains(&end);
        let is_refused = |end| matches!(end, End::Cut | End::Refused(_));
        self == other || is_refused(self) && is_refused(other) && (is_early(self) || is_early(other))
    }
}

/// The server's side of a connection, without the sockets.
struct Connection<'d> {
    input: Input,
    sent: &'d [u8],
    pieces: Pieces<'d>,
    limits: Limits,
}

impl<'d> Connection<'d> {
    fn new(sent: &'d [u8], pieces: Pieces<'d>, limits: Limits) -> Self {
        Connection { input: Input::new(), sent, pieces, limits }
    }

    /// Reads on. False: the client has sent everything.
    fn more(&mut self) -> bool {
        let room = self.input.room();
        let count = self.pieces.next().min(room.len()).min(self.sent.len());
        let (now, later) = self.sent.split_at(count);
        room[..count].copy_from_slice(now);
        self.input.fill(count);
        self.sent = later;
        count > 0
    }

    fn read(mut self) -> (Vec<Request>, End) {
        let mut requests = Vec::new();
        let end = loop {
            match self.request() {
                Ok((request, goes_on)) => {
                    requests.push(request);
                    if !goes_on {
                        break End::Closed;
                    }
                }
                Err(end) => break end,
            }
        };
        (requests, end)
    }

    /// One request, and whether another one may follow.
    fn request(&mut self) -> Result<(Request, bool), End> {
        let mut parser = HeadParser::default();
        let head = loop {
            match parser.parse(self.input.filled(), &self.limits.head) {
                Ok(Some(head)) => break head,
                Ok(None) => {}
                Err(status) => {
                    let line = first_line(self.input.filled());
                    assert!(line.len() <= 200 && !line.contains(&b'\n'));
                    return Err(End::Refused(status));
                }
            }
            if !self.more() {
                return Err(if self.input.is_empty() { End::Silence } else { End::Cut });
            }
        };
        let bytes = self.input.filled();
        check(&head, bytes, &self.limits.head);
        answer(&head, bytes);
        let (body, is_unread) = self.body(&head)?;
        let goes_on = head.persistence != Persistence::Close && !is_unread;
        let request = Request { head: described(&head, self.input.filled()), body };
        self.input.consume(head.length);
        Ok((request, goes_on))
    }

    /// How long the body was, and whether it was left unread.
    fn body(&mut self, head: &Head) -> Result<(usize, bool), End> {
        if head.framing == Framing::None || head.expects_continue {
            return Ok((0, head.expects_continue && head.framing != Framing::None));
        }
        let mut body = match Discard::new(head.framing, self.limits.body) {
            Ok(body) => body,
            Err(_) if !head.method.is_served() => return Ok((0, true)),
            Err(status) => return Err(End::Refused(status)),
        };
        let mut read = Vec::new();
        loop {
            let rest = &self.input.filled()[head.length..];
            let taken = body.feed(rest).map_err(End::Refused)?;
            assert!(taken == rest.len() || body.is_done(), "a body that has not ended takes everything");
            read.extend_from_slice(&rest[..taken]);
            self.input.cut(head.length, taken);
            if body.is_done() {
                assert_eq!(body.feed(b"more").ok(), Some(0), "it has ended");
                break;
            }
            if !self.more() {
                return Err(End::Cut);
            }
        }
        match head.framing {
            Framing::None => unreachable!("there is a body"),
            Framing::Length(length) => assert_eq!(length, read.len() as u64),
            Framing::Chunked => {
                assert!(dechunked(&read).is_some_and(|data| data <= self.limits.body))
            }
        }
        Ok((read.len(), false))
    }
}

/// How many bytes are in these chunks, if they are a whole body and nothing else.
fn dechunked(body: &[u8]) -> Option<u64> {
    let mut rest = body;
    let mut sum = 0;
    loop {
        let digits = line(&mut rest)?.split(|byte| matches!(byte, b';' | b' ' | b'\t')).next()?;
        assert!(!digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit));
        let size = u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        if size == 0 {
            break;
        }
        sum += size;
        let (_, behind) = rest.split_at_checked(usize::try_from(size).ok()?)?;
        rest = behind.strip_prefix(b"\r\n")?;
    }
    while !line(&mut rest)?.is_empty() {}
    rest.is_empty().then_some(sum)
}

/// Takes a line off. It ends in CR LF, and neither stands in it alone.
fn line<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
    let line = &rest[..end];
    assert!(!line.contains(&b'\n') && !line.contains(&b'\r'));
    *rest = &rest[end + 2..];
    Some(line)
}

/// Everything that a head says.
fn described(head: &Head, input: &[u8]) -> String {
    let text = |span: Span| span.of(input).escape_ascii().to_string();
    let single = |single: Single| match single {
        Single::Once(span) => text(span),
        other => format!("{other:?}"),
    };
    let lines = |lines: &[Span]| lines.iter().map(|line| text(*line)).collect::<Vec<_>>();
    let fields = &head.fields;
    format!(
        "{:?} {} {} {:?} {:?} {} {:?} {:?} {:?} {} {:?} {:?} {} {} {} {}",
        head.method,
        text(head.method_name),
        text(head.target),
        text(head.path),
        text(head.query),
        head.length,
        head.persistence,
        head.framing,
        head.expects_continue,
        single(fields.range),
        lines(&fields.if_match),
        lines(&fields.if_none_match),
        single(fields.if_modified_since),
        single(fields.if_unmodified_since),
        single(fields.if_range),
        input[..head.length].escape_ascii(),
    )
}

/// Compares an accepted head with its lines, read once more in the plainest way.
fn check(head: &Head, input: &[u8], limits: &HeadLimits) {
    let whole = &input[..head.length];
    assert!(whole.ends_with(b"\n\n") || whole.ends_with(b"\n\r\n"), "a head ends in an empty line");
    let mut lines: Vec<&[u8]> = whole
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .skip_while(|line| line.is_empty())
        .collect();
    assert_eq!(lines.split_off(lines.len() - 2), [b"", b""], "there is one empty line");
    let (first, fields) = lines.split_first().expect("there is a request line");
    assert!(first.len() <= limits.line);
    assert!(fields.iter().map(|line| line.len() + 1).sum::<usize>() <= limits.fields);

    let words: Vec<&[u8]> = first.split(|byte| *byte == b' ').collect();
    let [method, target, version] = words[..] else { panic!("a request line has three words") };
    assert_eq!((head.method_name.of(input), head.target.of(input)), (method, target));
    let is_1_1 = version == b"HTTP/1.1";
    assert!(is_1_1 || version == b"HTTP/1.0");
    assert!(!method.is_empty() && !target.is_empty());
    assert_eq!(head.method.is_served(), [&b"GET"[..], b"HEAD", b"OPTIONS"].contains(&method));

    let fields: Vec<(String, &[u8])> = fields
        .iter()
        .map(|line| {
            let colon = line.iter().position(|byte| *byte == b':').expect("a field has a colon");
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            assert!(!name.is_empty() && name.iter().all(u8::is_ascii_graphic), "no space before the colon");
            assert!(value.iter().all(|byte| *byte == b'\t' || !byte.is_ascii_control()));
            (String::from_utf8_lossy(name).to_ascii_lowercase(), value)
        })
        .collect();
    let values = |wanted: &str| -> Vec<&[u8]> {
        fields.iter().filter(|(name, _)| name == wanted).map(|(_, value)| *value).collect()
    };
    let items = |wanted: &str| -> Vec<&[u8]> {
        values(wanted).into_iter().flat_map(|value| value.split(|byte| *byte == b',')).collect()
    };
    let has =
        |name, wanted: &[u8]| items(name).iter().any(|item| item.trim_ascii().eq_ignore_ascii_case(wanted));

    assert!(values("host").len() <= 1 && (!is_1_1 || values("host").len() == 1));
    let persistence = match (has("connection", b"close"), is_1_1, has("connection", b"keep-alive")) {
        (true, ..) | (_, false, false) => Persistence::Close,
        (false, true, _) => Persistence::Keep,
        (false, false, true) => Persistence::KeepSaying,
    };
    assert_eq!(head.persistence, persistence);
    assert_eq!(head.expects_continue, is_1_1 && !values("expect").is_empty());

    // Nothing that another reader could take for a body of another length.
    let codings = values("transfer-encoding");
    let lengths: Vec<u64> = items("content-length")
        .iter()
        .map(|item| std::str::from_utf8(item.trim_ascii()).unwrap().parse().unwrap())
        .collect();
    let framing = match (&codings[..], &lengths[..]) {
        ([], [] | [0, ..]) => Framing::None,
        ([], [length, ..]) => Framing::Length(*length),
        ([coding], []) if is_1_1 && coding.eq_ignore_ascii_case(b"chunked") => Framing::Chunked,
        _ => panic!("a body of doubtful length was accepted"),
    };
    assert_eq!(head.framing, framing);
    assert!(lengths.iter().all(|length| *length == lengths[0]));

    for (name, single) in [
        ("range", head.fields.range),
        ("if-range", head.fields.if_range),
        ("if-modified-since", head.fields.if_modified_since),
        ("if-unmodified-since", head.fields.if_unmodified_since),
    ] {
        match (&values(name)[..], single) {
            ([], Single::Absent) | ([_, _, ..], Single::Repeated) => {}
            ([value], Single::Once(span)) => assert_eq!(*value, span.of(input), "{name}"),
            (values, single) => panic!("{name}: {values:?} is not {single:?}"),
        }
    }
    for (name, lines) in [("if-match", &head.fields.if_match), ("if-none-match", &head.fields.if_none_match)]
    {
        assert!(values(name).into_iter().eq(lines.iter().map(|line| line.of(input))), "{name}");
    }

    // A shorter piece is no whole head, and nothing to be refused.
    for cut in [1, 2, 3, head.length / 2] {
        let part = HeadParser::default().parse(&input[..head.length.saturating_sub(cut)], limits);
        assert!(matches!(part, Ok(None)), "without the last {cut} bytes: {part:?}");
    }
}

/// The server's further steps with a head: no word of the client's gets further than it may.
fn answer(head: &Head, input: &[u8]) {
    conditions(head, input);
    let (path, query) = (head.path.of(input), head.query.of(input));
    if !head.method.is_served() || path == b"*" {
        assert!(query.is_empty());
        return;
    }
    assert!(path.starts_with(b"/") && !path.contains(&b'?') && !path.contains(&b'#'));
    assert!(query.is_empty() || query[0] == b'?');
    let mut key = Vec::new();
    if path::decode(path, &mut key).is_err() {
        return;
    }
    within(&key);
    let _ = path::is_hidden(&key);
    let mut location = Vec::new();
    path::encode(&key, &mut location);
    assert!(location.iter().all(u8::is_ascii_graphic));
    let mut again = Vec::new();
    assert!(path::decode(&location, &mut again).is_ok() && again == key, "one file has one name");

    location.push(b'/');
    location.extend_from_slice(query);
    let mut out = Vec::new();
    let (status, date) = (Status::MOVED_PERMANENTLY, b"Date: now\r\n");
    response::short(&mut out, status, date, head.persistence, false, |head| {
        head.field("Location", &location)
    });
    let lines = out.split(|byte| matches!(byte, b'\r' | b'\n')).filter(|line| !line.is_empty()).count();
    let said = usize::from(head.persistence != Persistence::Keep);
    assert_eq!(lines, 5 + said, "a line was smuggled into {}", out.escape_ascii());
}

/// A name below the directory that is served, and one that is written in one way only.
fn within(key: &[u8]) {
    assert!(!key.iter().any(|byte| matches!(byte, 0 | b'\\')));
    let name = key.strip_suffix(b"/").unwrap_or(key);
    let is_plain = |part: &[u8]| !matches!(part, b"" | b"." | b"..");
    assert!(key.is_empty() || name.split(|byte| *byte == b'/').all(is_plain), "{}", key.escape_ascii());
}

fn conditions(head: &Head, input: &[u8]) {
    let fields = &head.fields;
    for (etag, modified) in [(&b"\"a\""[..], Some(784_111_777)), (b"W/\"a\"", None)] {
        let file = Validators { etag, modified };
        match condition::evaluate(fields, input, file) {
            Verdict::Proceed => {}
            Verdict::NotModified => {
                assert!(!fields.if_none_match.is_empty() || fields.if_modified_since != Single::Absent)
            }
            Verdict::Failed => {
                assert!(!fields.if_match.is_empty() || fields.if_unmodified_since != Single::Absent)
            }
        }
        let applies = condition::range_applies(fields, input, file, 1 << 40);
        assert!(applies || fields.if_range != Single::Absent);
    }
    for value in [fields.if_modified_since, fields.if_unmodified_since, fields.if_range] {
        let Some(seconds) = value.value().and_then(|value| date::parse(value.of(input))) else {
            continue;
        };
        let mut written = Vec::new();
        date::write(&mut written, UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(date::parse(&written), Some(seconds));
    }
    let Some(range) = fields.range.value() else { return };
    for length in [0, 1, 10, u64::MAX] {
        match range::select(range.of(input), length) {
            Selection::Whole | Selection::Unsatisfiable => {}
            Selection::Part { start, end } => assert!(start < end && end <= length),
        }
    }
}
