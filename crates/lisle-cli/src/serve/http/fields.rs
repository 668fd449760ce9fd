//! The relevant header fields of a request, found in one pass.
//!
//! Nothing is copied out of the buffer: the value of a field is kept as a position in it
//! ([`Span`]).

use smallvec::SmallVec;

use super::body::Framing;
use super::status::Status;

/// A range of the buffer from which a head was parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Returns the bytes of the range in the same buffer.
    pub(crate) fn of(self, input: &[u8]) -> &[u8] {
        &input[self.start as usize..self.end as usize]
    }

    pub(crate) fn whole(part: &[u8], input: &[u8]) -> Span {
        let start = part.as_ptr().addr() - input.as_ptr().addr();
        debug_assert!(start + part.len() <= input.len(), "the part lies in the input");
        Span { start: start as u32, end: (start + part.len()) as u32 }
    }

    pub(crate) fn cut(self, from: usize, to: usize) -> Span {
        Span { start: self.start + from as u32, end: self.start + to as u32 }
    }
}

/// The values of a field that may be given in several lines.
pub(crate) type Lines = SmallVec<[Span; 2]>;

/// The value of a field that is not a list and may therefore be given only once (section 5.3 of RFC
/// 9110).
///
/// Choosing one of several lines would be a guess, and a proxy in front may guess differently. A
/// server is free to ignore any of these fields, so a repeated one is ignored as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Single {
    /// The field was not given.
    #[default]
    Absent,
    /// The field was given once.
    Once(Span),
    /// The field was given in several lines, so its meaning is unknown.
    Repeated,
}

impl Single {
    fn take(&mut self, span: Span) {
        *self = if *self == Single::Absent { Single::Once(span) } else { Single::Repeated };
    }

    /// Returns the value if the field was given exactly once.
    pub(crate) fn value(self) -> Option<Span> {
        match self {
            Single::Once(span) => Some(span),
            Single::Absent | Single::Repeated => None,
        }
    }
}

/// The header fields that matter for a file.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub(crate) if_match: Lines,
    pub(crate) if_none_match: Lines,
    pub(crate) if_modified_since: Single,
    pub(crate) if_unmodified_since: Single,
    pub(crate) if_range: Single,
    pub(crate) range: Single,
}

/// The header fields that have been read so far.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) fields: Fields,
    pub(crate) hosts: u32,
    pub(crate) close: bool,
    pub(crate) keep_alive: bool,
    pub(crate) expects_continue: bool,
    length: Option<u64>,
    codings: u32,
    chunked: bool,
}

impl Seen {
    /// Processes one field. Names are compared by length first, which rules out most fields of most
    /// requests.
    pub(crate) fn take(&mut self, field: &httparse::Header<'_>, input: &[u8]) -> Result<(), Status> {
        let named = |name: &str| field.name.eq_ignore_ascii_case(name);
        let span = || Span::whole(field.value, input);
        match field.name.len() {
            4 if named("host") => {
                self.hosts += 1;
                if !field.value.iter().all(|byte| is_host_byte(*byte)) {
                    return Err(Status::BAD_REQUEST);
                }
            }
            5 if named("range") => self.fields.range.take(span()),
            6 if named("expect") => {
                if !field.value.eq_ignore_ascii_case(b"100-continue") {
                    return Err(Status::EXPECTATION_FAILED);
                }
                self.expects_continue = true;
            }
            8 if named("if-match") => self.fields.if_match.push(span()),
            8 if named("if-range") => self.fields.if_range.take(span()),
            10 if named("connection") => {
                for option in field.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                    self.close |= option.eq_ignore_ascii_case(b"close");
                    self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            13 if named("if-none-match") => self.fields.if_none_match.push(span()),
            14 if named("content-length") => {
                for item in field.value.split(|byte| *byte == b',') {
                    let length = content_length(item.trim_ascii())?;
                    if self.length.is_some_and(|other| other != length) {
                        return Err(Status::BAD_REQUEST);
                    }
                    self.length = Some(length);
                }
            }
            17 if named("transfer-encoding") => {
                for coding in field.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                    self.codings += 1;
                    self.chunked = coding.eq_ignore_ascii_case(b"chunked");
                }
            }
            17 if named("if-modified-since") => self.fields.if_modified_since.take(span()),
            19 if named("if-unmodified-since") => self.fields.if_unmodified_since.take(span()),
            _ => {}
        }
        Ok(())
    }

    /// Returns the length of the body. Anything that two readers could understand differently is
    /// refused, because a proxy in front may be the other reader (section 6.1 of RFC 9112).
    pub(crate) fn framing(&self, minor_one: bool) -> Result<Framing, Status> {
        match (self.codings, self.length) {
            (0, None | Some(0)) => Ok(Framing::None),
            (0, Some(length)) => Ok(Framing::Length(length)),
            (_, Some(_)) => Err(Status::BAD_REQUEST),
            _ if !minor_one => Err(Status::BAD_REQUEST),
            (1, None) if self.chunked => Ok(Framing::Chunked),
            (_, None) if self.chunked => Err(Status::NOT_IMPLEMENTED),
            (_, None) => Err(Status::BAD_REQUEST),
        }
    }
}

/// Returns `true` if the byte may appear in the host and port of a URI.
pub(crate) fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:[]%".contains(&byte)
}

fn content_length(digits: &[u8]) -> Result<u64, Status> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Status::BAD_REQUEST);
    }
    let digits = std::str::from_utf8(digits).map_err(|_| Status::BAD_REQUEST)?;
    digits.parse().map_err(|_| Status::CONTENT_TOO_LARGE)
}
