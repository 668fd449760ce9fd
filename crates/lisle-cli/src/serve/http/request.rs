//! The head of a request: finding it in a buffer that may hold less than one request or more than
//! one, and determining the requested file and whether the connection continues.
//!
//! Nothing is copied out of the buffer. A [`Head`] holds positions in it ([`Span`]), so the buffer
//! can be borrowed mutably again, to read a body into, while the head is still in use.

use super::body::Framing;
use super::fields::{Fields, Seen, Span, is_host_byte};
use super::status::Status;

/// More header fields than any client sends. Beyond this number the answer is 431.
const MAX_FIELDS: usize = 100;

/// The largest number of bytes of empty lines before a request. Section 2.2 of RFC 9112 asks to
/// skip empty lines.
const MAX_LEADING: usize = 64;

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Options,
    /// A known method that no file here allows: 405.
    NotAllowed,
    /// A method that this server does not know: 501 (section 9.1 of RFC 9110).
    Unknown,
}

impl Method {
    /// Returns the method with this name. Names are case-sensitive. The known methods are the
    /// methods of section 9 of RFC 9110, and PATCH (RFC 5789).
    fn named(name: &str) -> Method {
        match name {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "OPTIONS" => Method::Options,
            "POST" | "PUT" | "DELETE" | "CONNECT" | "TRACE" | "PATCH" => Method::NotAllowed,
            _ => Method::Unknown,
        }
    }

    /// Returns `true` if this server serves the method.
    pub(crate) fn is_served(self) -> bool {
        matches!(self, Method::Get | Method::Head | Method::Options)
    }
}

/// The state of the connection after the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Persistence {
    /// It stays open, which is the default of HTTP/1.1.
    Keep,
    /// It stays open, and the response must say so to an HTTP/1.0 client that asked for it.
    KeepSaying,
    /// It is closed.
    Close,
}

/// A request's head.
#[derive(Debug)]
pub(crate) struct Head {
    /// The length of the head in the buffer.
    pub(crate) length: usize,
    pub(crate) method: Method,
    /// The method as the client wrote it.
    pub(crate) method_name: Span,
    /// The request target as the client wrote it.
    pub(crate) target: Span,
    /// The path in the target, still percent-encoded. It is `*` for a request about the server as a
    /// whole.
    pub(crate) path: Span,
    /// The query with its question mark, or empty if there is none.
    pub(crate) query: Span,
    pub(crate) persistence: Persistence,
    pub(crate) framing: Framing,
    /// The client waits for `100 Continue` before it sends the body.
    pub(crate) expects_continue: bool,
    pub(crate) fields: Fields,
}

/// The limits on a head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeadLimits {
    /// The longest request line.
    pub(crate) line: usize,
    /// The largest header section.
    pub(crate) fields: usize,
}

/// A parser that finds one head in a buffer that grows between the calls.
///
/// Usually the head is complete at the first call. For clients that send one byte at a time, the
/// further calls only look for the blank line in the new bytes. They parse the buffer (to refuse
/// invalid input early) each time it has doubled. The total work is therefore proportional to the
/// number of bytes.
#[derive(Debug, Default)]
pub(crate) struct HeadParser {
    scanned: usize,
    next_try: usize,
}

impl HeadParser {
    /// Parses the head at the start of `input`. Returns `None` if more bytes are needed.
    ///
    /// An error is the status with which the request is refused. The connection cannot be used further,
    /// because the start of the next request is unknown.
    pub(crate) fn parse(&mut self, input: &[u8], limits: &HeadLimits) -> Result<Option<Head>, Status> {
        if input.is_empty() {
            return Ok(None);
        }
        if input.len() < self.next_try && !self.blank_line_in(input) {
            self.scanned = input.len();
            return check_limits(input, limits).map(|()| None);
        }
        self.scanned = input.len();
        match parse_head(input)? {
            Some(head) => {
                check_limits(&input[..head.length], limits)?;
                *self = HeadParser::default();
                Ok(Some(head))
            }
            None => {
                self.next_try = input.len().saturating_mul(2);
                check_limits(input, limits).map(|()| None)
            }
        }
    }

    fn blank_line_in(&self, input: &[u8]) -> bool {
        let from = self.scanned.saturating_sub(3);
        memchr::memchr_iter(b'\n', &input[from..]).any(|at| {
            let behind = &input[from + at + 1..];
            behind.starts_with(b"\n") || behind.starts_with(b"\r\n")
        })
    }
}

/// Returns the first line of a refused request, for the log.
pub(crate) fn first_line(input: &[u8]) -> &[u8] {
    let input = &input[leading(input)..];
    let end = memchr::memchr2(b'\r', b'\n', input).unwrap_or(input.len());
    &input[..end.min(200)]
}

fn leading(input: &[u8]) -> usize {
    input.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
}

fn check_limits(input: &[u8], limits: &HeadLimits) -> Result<(), Status> {
    let leading = leading(input);
    if leading > MAX_LEADING {
        return Err(Status::BAD_REQUEST);
    }
    let input = &input[leading..];
    match memchr::memchr(b'\n', input) {
        // A line without an end may be whole, followed by the first half of its end.
        None if input.len() > limits.line + 1 => Err(Status::URI_TOO_LONG),
        Some(line) if line > limits.line + 1 => Err(Status::URI_TOO_LONG),
        Some(line) if input.len() - (line + 1) > limits.fields => Err(Status::FIELDS_TOO_LARGE),
        _ => Ok(()),
    }
}

fn parse_head(input: &[u8]) -> Result<Option<Head>, Status> {
    let mut fields = [const { std::mem::MaybeUninit::<httparse::Header<'_>>::uninit() }; MAX_FIELDS];
    let mut request = httparse::Request::new(&mut []);
    let length = match request.parse_with_uninit_headers(input, &mut fields) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Status::FIELDS_TOO_LARGE),
        Err(httparse::Error::Version) => {
            return match version(input) {
                // "Should process the message as if it was in the highest minor version within that
                // major version to which the recipient is conformant": section 2.5 of RFC 9110.
                Some((b'1', minor @ b'2'..=b'9', at)) => {
                    debug_assert_eq!(input[at], minor);
                    let mut as_known = input.to_vec();
                    as_known[at] = b'1';
                    parse_head(&as_known)
                }
                Some(_) => Err(Status::VERSION_NOT_SUPPORTED),
                None => Err(Status::BAD_REQUEST),
            };
        }
        Err(_) => return Err(Status::BAD_REQUEST),
    };
    let (Some(method_name), Some(target), Some(minor)) = (request.method, request.path, request.version)
    else {
        return Err(Status::BAD_REQUEST);
    };
    let method = Method::named(method_name);
    let target = Span::whole(target.as_bytes(), input);
    let (path, query) = split_target(target, method, input).ok_or(Status::BAD_REQUEST)?;
    let mut seen = Seen::default();
    for field in request.headers.iter() {
        seen.take(field, input)?;
    }
    let minor_one = minor >= 1;
    if seen.hosts > 1 || (minor_one && seen.hosts == 0) {
        return Err(Status::BAD_REQUEST);
    }
    Ok(Some(Head {
        length,
        method,
        method_name: Span::whole(method_name.as_bytes(), input),
        target,
        path,
        query,
        persistence: match (seen.close, minor_one, seen.keep_alive) {
            (true, _, _) | (false, false, false) => Persistence::Close,
            (false, true, _) => Persistence::Keep,
            (false, false, true) => Persistence::KeepSaying,
        },
        framing: seen.framing(minor_one)?,
        expects_continue: seen.expects_continue && minor_one,
        fields: seen.fields,
    }))
}

/// Returns the two digits of the version, and the position of the second digit, if the line has three
/// words and the third is a version (section 2.3 of RFC 9112).
fn version(input: &[u8]) -> Option<(u8, u8, usize)> {
    let start = leading(input);
    let line = &input[start..];
    let line = &line[..memchr::memchr2(b'\r', b'\n', line).unwrap_or(line.len())];
    let at = memchr::memrchr(b' ', line)? + 1;
    let words = line.split(|byte| *byte == b' ').count();
    match line[at..] {
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
            if words == 3 && major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            Some((major, minor, start + at + 7))
        }
        _ => None,
    }
}

/// Finds path and query in a target of any of the forms of section 3.2 of RFC 9112.
fn split_target(target: Span, method: Method, input: &[u8]) -> Option<(Span, Span)> {
    let bytes = target.of(input);
    if !method.is_served() || (method == Method::Options && bytes == b"*") {
        return Some((target, target.cut(bytes.len(), bytes.len())));
    }
    // A fragment does not concern the server, and no form of a target has one.
    if memchr::memchr(b'#', bytes).is_some() {
        return None;
    }
    let path = if bytes.starts_with(b"/") {
        0
    } else {
        let scheme = memchr::memmem::find(bytes, b"://")?;
        if !bytes[..scheme].eq_ignore_ascii_case(b"http") && !bytes[..scheme].eq_ignore_ascii_case(b"https") {
            return None;
        }
        let authority = scheme + 3;
        let length = bytes[authority..].iter().position(|byte| matches!(byte, b'/' | b'?'));
        let end = length.map_or(bytes.len(), |length| authority + length);
        if !is_authority(&bytes[authority..end]) {
            return None;
        }
        match length.map(|length| authority + length) {
            Some(path) if bytes[path] == b'/' => path,
            // A target without a path means the root. The span of the root's slash is taken from
            // the `//` of the target.
            None => return Some((target.cut(scheme + 1, scheme + 2), target.cut(bytes.len(), bytes.len()))),
            Some(query) => return Some((target.cut(scheme + 1, scheme + 2), target.cut(query, bytes.len()))),
        }
    };
    let query = memchr::memchr(b'?', &bytes[path..]).map_or(bytes.len(), |at| path + at);
    Some((target.cut(path, query), target.cut(query, bytes.len())))
}

/// Returns `true` for a host with an optional port. A URI without a host has to be refused (section
/// 4.2.1 of RFC 9110). A URI with a user name should be refused, too, since such names are used to
/// make a URI look like another one (section 4.2.4).
fn is_authority(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes[0] != b':' && bytes.iter().all(|byte| is_host_byte(*byte))
}

#[cfg(test)]
#[path = "request_tests.rs"]
pub(crate) mod tests;
