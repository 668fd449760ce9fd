//! Splitting bytes into lines.

use std::io;

/// The number of bytes of one read.
const PIECE: usize = 8 * 1024;

/// A line without its ending, or `None` at the end of the stream.
pub(super) type Line = io::Result<Option<String>>;

/// The bytes that have been read and are not a complete line yet.
#[derive(Debug)]
pub(super) struct LineBuffer {
    bytes: Vec<u8>,
    /// The start of the next line.
    start: usize,
    /// No line ends before this position.
    scanned: usize,
    limit: usize,
    /// `true` if the current line was too long. The rest of it is discarded.
    skips: bool,
    at_end: bool,
}

/// The bytes, with room for one more piece. Dropping this value removes the part of the piece that
/// was not filled, also if the read panics. Otherwise that part would count as read.
struct Room<'a> {
    bytes: &'a mut Vec<u8>,
    filled: usize,
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.bytes.truncate(self.filled);
    }
}

impl LineBuffer {
    pub(super) fn new(limit: usize) -> Self {
        LineBuffer { bytes: Vec::new(), start: 0, scanned: 0, limit, skips: false, at_end: false }
    }

    /// Returns the next line if it is complete. At the end of the stream, returns the end again and
    /// again.
    pub(super) fn take(&mut self) -> Option<Line> {
        while let Some(length) = self.bytes[self.scanned..].iter().position(|&byte| byte == b'\n') {
            let end = self.scanned + length;
            let line = self.start..end;
            (self.start, self.scanned) = (end + 1, end + 1);
            if !std::mem::take(&mut self.skips) {
                return Some(self.line(line));
            }
        }
        self.scanned = self.bytes.len();
        if self.skips {
            self.start = self.scanned;
        } else if self.scanned - self.start > self.limit + 1 {
            // One byte beyond the limit may be the first half of `\r\n`.
            self.skips = true;
            self.start = self.scanned;
            return Some(Err(self.too_long()));
        } else if self.at_end && self.start < self.scanned {
            let line = self.start..self.scanned;
            self.start = self.scanned;
            return Some(self.line(line));
        }
        self.at_end.then_some(Ok(None))
    }

    /// Reads one piece into the buffer with `read`. A piece of 0 bytes is the end of the stream.
    pub(super) fn fill(&mut self, read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<()> {
        self.bytes.drain(..self.start);
        self.scanned -= self.start;
        self.start = 0;
        let mut room = Room { filled: self.bytes.len(), bytes: &mut self.bytes };
        room.bytes.resize(room.filled + PIECE, 0);
        let outcome = read(&mut room.bytes[room.filled..]);
        room.filled += *outcome.as_ref().unwrap_or(&0);
        drop(room);
        self.at_end |= outcome.as_ref().is_ok_and(|&count| count == 0);
        outcome.map(drop)
    }

    fn line(&self, range: std::ops::Range<usize>) -> Line {
        let bytes = &self.bytes[range];
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if bytes.len() > self.limit {
            return Err(self.too_long());
        }
        match std::str::from_utf8(bytes) {
            Ok(line) => Ok(Some(line.to_owned())),
            Err(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "a line is not UTF-8")),
        }
    }

    fn too_long(&self) -> io::Error {
        let message = format!("a line is longer than {} bytes", self.limit);
        io::Error::new(io::ErrorKind::InvalidData, message)
    }
}

#[cfg(test)]
mod tests {
    use super::LineBuffer;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Returns the lines of `text`, read in pieces of `size` bytes. An error becomes its message.
    fn lines(text: &[u8], size: usize) -> Vec<String> {
        let mut buffer = LineBuffer::new(5);
        let mut pieces = text.chunks(size);
        let mut all = Vec::new();
        loop {
            match buffer.take() {
                None => buffer
                    .fill(|room| {
                        let piece = pieces.next().unwrap_or_default();
                        room[..piece.len()].copy_from_slice(piece);
                        Ok(piece.len())
                    })
                    .unwrap(),
                Some(Ok(Some(line))) => all.push(line),
                Some(Ok(None)) => return all,
                Some(Err(error)) => all.push(error.to_string()),
            }
        }
    }

    #[test]
    fn a_read_that_panics_leaves_nothing() {
        let mut buffer = LineBuffer::new(5);
        let read = AssertUnwindSafe(|| buffer.fill(|_| panic!("no descriptor")));
        assert!(catch_unwind(read).is_err());
        let text = b"one\n";
        let read = buffer.fill(|room| {
            room[..text.len()].copy_from_slice(text);
            Ok(text.len())
        });
        assert!(read.is_ok());
        assert_eq!(buffer.take().unwrap().unwrap().unwrap(), "one");
    }

    #[test]
    fn lines_do_not_depend_on_how_they_come() {
        let text = b"one\ntwo\r\n\n\r\n12345\n12345\r\n123456\n1234567890123\nx\xffy\nr\rs\nlast";
        let long = "a line is longer than 5 bytes";
        let expected =
            ["one", "two", "", "", "12345", "12345", long, long, "a line is not UTF-8", "r\rs", "last"];
        for size in 1..=text.len() {
            assert_eq!(lines(text, size), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn ends() {
        for size in 1..3 {
            assert!(lines(b"", size).is_empty());
            assert_eq!(lines(b"\n", size), [""]);
            assert_eq!(lines(b"a\n", size), ["a"]);
            assert_eq!(lines(b"123456789", size), ["a line is longer than 5 bytes"]);
        }
    }

    #[test]
    fn memory_does_not_grow_with_a_line_that_never_ends() {
        let mut buffer = LineBuffer::new(10);
        let mut errors = 0;
        for _ in 0..100 {
            errors += usize::from(buffer.take().is_some());
            buffer.fill(|room| Ok(room.len())).unwrap();
        }
        assert_eq!(errors, 1);
        assert!(buffer.bytes.capacity() <= 4 * super::PIECE);
    }
}
