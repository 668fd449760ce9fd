//! A request as a line of the access log.
//!
//! Bytes from a client appear in the line only as printable ASCII; all others are escaped. A client
//! can therefore neither end the line and forge another one, nor send colours or other control
//! sequences to the terminal of a reader.

use std::io::Write;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use smallvec::SmallVec;

/// The facts about a finished request.
///
/// A record is created for each request and sent to another fiber. It therefore stores a request
/// line of the usual length inline; only a long one costs an allocation.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) peer: SocketAddr,
    pub(crate) request: RequestText,
    pub(crate) status: u16,
    /// The number of bytes of the body that the kernel has taken.
    pub(crate) bytes: u64,
    /// The time from the first byte of the request to the last byte of the response.
    pub(crate) took: Duration,
    /// `true` if the whole response was sent. Otherwise the client had disconnected or was too
    /// slow.
    pub(crate) complete: bool,
}

/// The method and the target, or the start of the first line of a request that could not be parsed.
#[derive(Debug, Clone)]
pub(crate) struct RequestText {
    bytes: SmallVec<[u8; 64]>,
    method: usize,
}

impl RequestText {
    /// Creates the text of a parsed request.
    pub(crate) fn new(method: &[u8], target: &[u8]) -> RequestText {
        let mut bytes = SmallVec::from_slice(method);
        bytes.extend_from_slice(target);
        RequestText { bytes, method: method.len() }
    }

    /// Creates the text of a request that could not be parsed.
    pub(crate) fn unparsed(line: &[u8]) -> RequestText {
        RequestText { bytes: SmallVec::from_slice(line), method: 0 }
    }

    fn method(&self) -> &[u8] {
        &self.bytes[..self.method]
    }

    fn target(&self) -> &[u8] {
        &self.bytes[self.method..]
    }
}

/// The two forms of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Columns.
    Human {
        /// Whether to use colours.
        colour: bool,
    },
    /// A JSON object.
    Json,
}

/// A writer of records as lines. It keeps the text of the current second, which most lines of a
/// busy server share.
#[derive(Debug)]
pub(crate) struct LineWriter {
    form: Form,
    second: u64,
    second_text: String,
}

impl LineWriter {
    pub(crate) fn new(form: Form) -> LineWriter {
        LineWriter { form, second: u64::MAX, second_text: String::new() }
    }

    /// Appends the line for `record`, which ended at `time`.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>, record: &Record, time: SystemTime) {
        match self.form {
            Form::Human { colour } => self.human(out, record, time, colour),
            Form::Json => self.json(out, record, time),
        }
    }

    fn human(&mut self, out: &mut Vec<u8>, record: &Record, time: SystemTime, colour: bool) {
        self.time(out, time);
        out.extend_from_slice(b"  ");
        if colour {
            out.extend_from_slice(status_colour(record.status));
        }
        number(out, u64::from(record.status), 0);
        if colour {
            out.extend_from_slice(b"\x1b[0m");
        }
        out.extend_from_slice(b"  ");
        let start = out.len();
        if record.request.method().is_empty() {
            out.push(b'-');
        } else {
            escape(out, record.request.method());
        }
        pad(out, start, 7);
        number(out, record.bytes, 12);
        out.extend_from_slice(if record.complete { b" " } else { b"!" });
        let micros = u64::try_from(record.took.as_micros()).unwrap_or(u64::MAX);
        number(out, micros / 1000, 7);
        out.push(b'.');
        out.extend((0..3).rev().map(|place| b'0' + (micros / 10_u64.pow(place) % 10) as u8));
        out.extend_from_slice(b" ms  ");
        let start = out.len();
        display(out, record.peer);
        pad(out, start, 21);
        out.extend_from_slice(b"  ");
        escape(out, record.request.target());
        out.push(b'\n');
    }

    fn json(&mut self, out: &mut Vec<u8>, record: &Record, time: SystemTime) {
        out.extend_from_slice(b"{\"time\":\"");
        self.time(out, time);
        out.extend_from_slice(b"\",\"peer\":\"");
        display(out, record.peer);
        out.extend_from_slice(b"\",\"method\":");
        json_string(out, record.request.method());
        out.extend_from_slice(b",\"target\":");
        json_string(out, record.request.target());
        out.extend_from_slice(b",\"status\":");
        number(out, u64::from(record.status), 0);
        out.extend_from_slice(b",\"bytes\":");
        number(out, record.bytes, 0);
        out.extend_from_slice(b",\"micros\":");
        number(out, u64::try_from(record.took.as_micros()).unwrap_or(u64::MAX), 0);
        out.extend_from_slice(b",\"complete\":");
        out.extend_from_slice(if record.complete { b"true" } else { b"false" });
        out.extend_from_slice(b"}\n");
    }

    /// Writes the time as `2026-03-21T12:34:56.789Z`.
    fn time(&mut self, out: &mut Vec<u8>, time: SystemTime) {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        if since.as_secs() != self.second {
            self.second = since.as_secs();
            self.second_text = humantime::format_rfc3339_seconds(time).to_string();
            self.second_text.pop();
        }
        out.extend_from_slice(self.second_text.as_bytes());
        let millis = since.subsec_millis();
        out.push(b'.');
        out.extend((0..3).rev().map(|place| b'0' + (millis / 10_u32.pow(place) % 10) as u8));
        out.push(b'Z');
    }
}

fn status_colour(status: u16) -> &'static [u8] {
    match status / 100 {
        2 => b"\x1b[32m",
        3 => b"\x1b[36m",
        4 => b"\x1b[33m",
        _ => b"\x1b[31m",
    }
}

/// Writes a number right-aligned in `width` columns.
fn number(out: &mut Vec<u8>, number: u64, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number).as_bytes();
    out.resize(out.len() + width.saturating_sub(digits.len()), b' ');
    out.extend_from_slice(digits);
}

/// Pads the text since `start` to `width` columns.
fn pad(out: &mut Vec<u8>, start: usize, width: usize) {
    let end = (start + width).max(out.len());
    out.resize(end, b' ');
}

fn display(out: &mut Vec<u8>, value: impl std::fmt::Display) {
    write!(out, "{value}").expect("a vector takes every write");
}

/// Writes printable ASCII as it is, a backslash doubled, and every other byte as `\xHH`.
fn escape(out: &mut Vec<u8>, bytes: &[u8]) {
    for &byte in bytes {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b' '..=b'~' => out.push(byte),
            _ => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                out.extend_from_slice(b"\\x");
                out.extend_from_slice(&digits);
            }
        }
    }
}

/// Writes a JSON string of the escaped text that the human-readable form shows, so bytes that are
/// not UTF-8 are not lost.
fn json_string(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut escaped = Vec::new();
    let plain = if bytes.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'\\') {
        bytes
    } else {
        escape(&mut escaped, bytes);
        &escaped
    };
    let text = std::str::from_utf8(plain).expect("printable ASCII alone is left");
    serde_json::to_writer(out, text).expect("a vector takes every write");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(request: RequestText) -> Record {
        Record {
            peer: "127.0.0.1:5000".parse().unwrap(),
            request,
            status: 404,
            bytes: 10_240,
            took: Duration::from_nanos(1_234_567),
            complete: true,
        }
    }

    fn line(form: Form, record: &Record) -> String {
        let mut out = Vec::new();
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(784_111_777_042);
        LineWriter::new(form).write(&mut out, record, time);
        String::from_utf8(out).expect("printable")
    }

    const PLAIN: Form = Form::Human { colour: false };

    #[test]
    fn columns() {
        assert_eq!(
            line(PLAIN, &record(RequestText::new(b"GET", b"/a?b"))),
            "1994-11-06T08:49:37.042Z  404  GET           10240       1.234 ms  127.0.0.1:5000         /a?b\n"
        );
        let cut = Record { complete: false, ..record(RequestText::unparsed(b"\x16rubbish")) };
        assert_eq!(
            line(PLAIN, &cut),
            "1994-11-06T08:49:37.042Z  404  -             10240!      1.234 ms  127.0.0.1:5000         \\x16rubbish\n"
        );
    }

    #[test]
    fn colour_is_for_the_status_alone() {
        let text = line(Form::Human { colour: true }, &record(RequestText::new(b"GET", b"/")));
        assert!(text.contains("  \x1b[33m404\x1b[0m  GET"));
    }

    #[test]
    fn json_is_json() {
        let text = line(Form::Json, &record(RequestText::new(b"GET", b"/a\"b\\\n\xff\x1b[2J")));
        let value: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
        assert_eq!(text.matches('\n').count(), 1);
        assert_eq!(value["time"], "1994-11-06T08:49:37.042Z");
        assert_eq!(value["method"], "GET");
        assert_eq!(value["target"], "/a\"b\\\\\\x0a\\xff\\x1b[2J");
        assert_eq!(value["status"], 404);
        assert_eq!(value["bytes"], 10_240);
        assert_eq!(value["micros"], 1234);
        assert_eq!(value["complete"], true);
    }

    #[test]
    fn no_client_forges_a_line() {
        let all: Vec<u8> = (0..=255).collect();
        for form in [PLAIN, Form::Json] {
            for request in [RequestText::new(&all, &all), RequestText::unparsed(&all)] {
                let text = line(form, &record(request));
                let (last, before) = text.as_bytes().split_last().unwrap();
                assert_eq!(*last, b'\n');
                assert!(before.iter().all(|byte| matches!(byte, b' '..=b'~')), "{form:?}");
            }
        }
    }

    #[test]
    fn the_second_moves_on() {
        let mut writer = LineWriter::new(PLAIN);
        let mut out = Vec::new();
        let record = record(RequestText::new(b"GET", b"/"));
        for millis in [999, 1000, 86_400_000] {
            writer.write(&mut out, &record, SystemTime::UNIX_EPOCH + Duration::from_millis(millis));
        }
        let text = String::from_utf8(out).unwrap();
        let times: Vec<&str> = text.lines().map(|line| &line[..24]).collect();
        assert_eq!(
            times,
            ["1970-01-01T00:00:00.999Z", "1970-01-01T00:00:01.000Z", "1970-01-02T00:00:00.000Z"]
        );
    }
}
