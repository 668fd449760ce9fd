//! Dates in the form that HTTP prefers, and the two lines with which every response begins.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The length of `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) const LENGTH: usize = 29;

const PREFIX: &[u8] = b"Server: lisle\r\nDate: ";

/// Appends `time` in the form `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) fn write(out: &mut Vec<u8>, time: SystemTime) {
    use std::io::Write;
    write!(out, "{}", httpdate::HttpDate::from(time)).expect("a vector takes every write");
}

/// Parses a date in any of the three forms of section 5.6.7. Returns whole seconds since 1970.
pub(crate) fn parse(value: &[u8]) -> Option<u64> {
    let time = httpdate::parse_http_date(std::str::from_utf8(value).ok()?).ok()?;
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// The fields `Server` and `Date`, written once a second and copied in between.
///
/// Each domain keeps one. The caller passes an instant that it has anyway, so a response does not
/// read the clock for its date.
#[derive(Debug)]
pub(crate) struct DateFields {
    lines: Vec<u8>,
    seconds: u64,
    good_until: Option<Instant>,
}

impl DateFields {
    /// Creates the fields. Nothing is written until the first use.
    pub(crate) fn new() -> Self {
        DateFields { lines: Vec::with_capacity(PREFIX.len() + LENGTH + 2), seconds: 0, good_until: None }
    }

    /// Returns both lines, as of `now`.
    pub(crate) fn lines(&mut self, now: Instant) -> &[u8] {
        self.refresh(now);
        &self.lines
    }

    /// Returns the time of the lines, in seconds since 1970.
    pub(crate) fn seconds(&mut self, now: Instant) -> u64 {
        self.refresh(now);
        self.seconds
    }

    fn refresh(&mut self, now: Instant) {
        if self.good_until.is_some_and(|end| now < end) {
            return;
        }
        let time = SystemTime::now();
        let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        self.seconds = since.as_secs();
        self.lines.clear();
        self.lines.extend_from_slice(PREFIX);
        write(&mut self.lines, time);
        self.lines.extend_from_slice(b"\r\n");
        let rest = Duration::from_secs(1) - Duration::from_nanos(u64::from(since.subsec_nanos()));
        self.good_until = Some(now + rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_go_there_and_back() {
        let mut out = Vec::new();
        write(&mut out, UNIX_EPOCH + Duration::from_secs(784_111_777));
        assert_eq!(out, b"Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(out.len(), LENGTH);
        for form in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(parse(form.as_bytes()), Some(784_111_777), "{form}");
        }
        for bad in ["", "yesterday", "Sun, 06 Nov 1994", "Sun, 31 Feb 1994 08:49:37 GMT\u{e9}"] {
            assert_eq!(parse(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn the_lines_change_once_a_second() {
        let mut fields = DateFields::new();
        let now = Instant::now();
        let first = fields.seconds(now);
        let lines = fields.lines(now).to_vec();
        assert!(lines.starts_with(PREFIX) && lines.ends_with(b" GMT\r\n"));
        assert_eq!(fields.lines(now), lines, "within the second nothing is written anew");
        let end = fields.good_until.expect("the first use has set it");
        assert!(end > now && end <= now + Duration::from_secs(1));
        assert!(fields.seconds(end) >= first);
        assert!(fields.good_until.expect("still set") > end, "past its end the line is renewed");
    }
}
