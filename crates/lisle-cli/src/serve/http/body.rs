//! The body of a request. No request that this server answers needs one, so a body is read only to
//! find the next request after it, and only up to a limit.

use super::status::Status;

/// The limit on chunk sizes, extensions and trailers together, besides the data that they frame.
const MAX_OVERHEAD: u64 = 64 * 1024;

/// The encoding of the length of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// There is no body.
    None,
    /// `Content-Length`, which is not 0.
    Length(u64),
    /// The chunked transfer coding.
    Chunked,
}

/// A reader that discards a body.
#[derive(Debug)]
pub(crate) struct Discard {
    state: State,
    data_left: u64,
    overhead_left: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Length(u64),
    Size { value: u64, digits: bool },
    Extension { value: u64 },
    SizeEnd { value: u64 },
    Data(u64),
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    LastLf,
    Done,
}

impl Discard {
    /// Begins a body of at most `limit` bytes. A declared length beyond that is refused at once.
    pub(crate) fn new(framing: Framing, limit: u64) -> Result<Discard, Status> {
        let state = match framing {
            Framing::None => State::Done,
            Framing::Length(length) if length > limit => return Err(Status::CONTENT_TOO_LARGE),
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::Size { value: 0, digits: false },
        };
        Ok(Discard { state, data_left: limit, overhead_left: MAX_OVERHEAD })
    }

    /// Returns `true` if the body has ended.
    pub(crate) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Consumes the part of `input` that belongs to the body, and returns its length.
    pub(crate) fn feed(&mut self, input: &[u8]) -> Result<usize, Status> {
        let mut at = 0;
        while at < input.len() {
            let rest = (input.len() - at) as u64;
            match self.state {
                State::Done => break,
                State::Length(left) => {
                    let taken = left.min(rest);
                    at += taken as usize;
                    self.state = if left == taken { State::Done } else { State::Length(left - taken) };
                }
                State::Data(left) => {
                    let taken = left.min(rest);
                    at += taken as usize;
                    self.state = if left == taken { State::DataCr } else { State::Data(left - taken) };
                }
                _ => {
                    self.overhead_left =
                        self.overhead_left.checked_sub(1).ok_or(Status::CONTENT_TOO_LARGE)?;
                    self.state = self.step(input[at])?;
                    at += 1;
                }
            }
        }
        Ok(at)
    }

    /// Processes one byte of the framing (section 7.1 of RFC 9112). Only CR LF ends a line here.
    /// Accepting a bare LF as well is how two readers come to disagree about the end of a body.
    fn step(&mut self, byte: u8) -> Result<State, Status> {
        let state = match (self.state, byte) {
            (State::Size { value, digits: _ }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16).map_or(0, u64::from);
                let value = value.checked_mul(16).ok_or(Status::CONTENT_TOO_LARGE)? + digit;
                if value > self.data_left {
                    return Err(Status::CONTENT_TOO_LARGE);
                }
                State::Size { value, digits: true }
            }
            (State::Size { value, digits: true }, b'\r') => State::SizeEnd { value },
            (State::Size { value, digits: true }, b';' | b' ' | b'\t') => State::Extension { value },
            (State::Extension { value }, b'\r') => State::SizeEnd { value },
            (State::Extension { value }, byte) if byte != b'\n' && byte != 0 => State::Extension { value },
            (State::SizeEnd { value: 0 }, b'\n') => State::TrailerStart,
            (State::SizeEnd { value }, b'\n') => {
                self.data_left -= value;
                State::Data(value)
            }
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => State::Size { value: 0, digits: false },
            (State::TrailerStart, b'\r') => State::LastLf,
            (State::LastLf, b'\n') => State::Done,
            (State::Trailer, b'\r') => State::TrailerLf,
            (State::TrailerLf, b'\n') => State::TrailerStart,
            (State::TrailerStart | State::Trailer, byte) if byte != b'\n' && byte != 0 => State::Trailer,
            _ => return Err(Status::BAD_REQUEST),
        };
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `text` in pieces of `step` bytes. Returns the length of the body, or the status of the
    /// refusal.
    fn read(framing: Framing, text: &[u8], step: usize, limit: u64) -> Result<Option<usize>, u16> {
        let mut body = Discard::new(framing, limit).map_err(Status::code)?;
        let mut total = 0;
        for piece in text.chunks(step) {
            let taken = body.feed(piece).map_err(Status::code)?;
            total += taken;
            if body.is_done() {
                return Ok(Some(total));
            }
            assert_eq!(taken, piece.len(), "a body that has not ended takes everything");
        }
        Ok(body.is_done().then_some(total))
    }

    fn chunked(text: &str) -> Result<Option<usize>, u16> {
        let outcome = read(Framing::Chunked, text.as_bytes(), text.len(), 100);
        for step in 1..text.len() {
            assert_eq!(read(Framing::Chunked, text.as_bytes(), step, 100), outcome, "in pieces of {step}");
        }
        outcome
    }

    #[test]
    fn lengths() {
        assert_eq!(read(Framing::Length(3), b"abcGET", 6, 100), Ok(Some(3)));
        assert_eq!(read(Framing::Length(3), b"abcGET", 2, 100), Ok(Some(3)));
        assert_eq!(read(Framing::Length(3), b"ab", 2, 100), Ok(None));
        assert_eq!(read(Framing::Length(101), b"", 1, 100), Err(413));
        assert!(Discard::new(Framing::None, 0).expect("nothing is within every limit").is_done());
    }

    #[test]
    fn chunks() {
        assert_eq!(chunked("0\r\n\r\nGET"), Ok(Some(5)));
        assert_eq!(chunked("3\r\nabc\r\n0\r\n\r\n"), Ok(Some(13)));
        assert_eq!(chunked("3;name=value\r\nabc\r\n000\r\nA: b\r\nC: d\r\n\r\n"), Ok(Some(38)));
        assert_eq!(chunked("A \r\n0123456789\r\n"), Ok(None));
    }

    #[test]
    fn what_is_no_chunk() {
        for bad in ["\r\n", "x\r\n", ";a\r\n", "1\n", "1\r\nab", "1\r\na\n", "0\r\n\n", "1;a\n", "0\r\na\n"] {
            assert_eq!(chunked(bad), Err(400), "{bad:?}");
        }
    }

    #[test]
    fn too_large() {
        assert_eq!(chunked("65\r\n"), Err(413));
        assert_eq!(chunked("60\r\n"), Ok(None));
        assert_eq!(chunked("FFFFFFFFFFFFFFFFFFFFFFFFFF\r\n"), Err(413));
        let exactly = format!("3C\r\n{}\r\n28\r\n{}\r\n1\r\n", "a".repeat(60), "a".repeat(40));
        assert_eq!(chunked(&exactly), Err(413), "the 101st byte is one too many");
        let endless = format!("1;{}", "a".repeat(MAX_OVERHEAD as usize));
        assert_eq!(read(Framing::Chunked, endless.as_bytes(), 1000, 100), Err(413));
    }
}
