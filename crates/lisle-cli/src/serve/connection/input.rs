//! The bytes that have come from a client and have not been used yet: less than one request, or
//! more than one.

/// The initial size of a buffer. Most requests fit.
const INITIAL: usize = 4096;

/// A buffer that is filled at its end and consumed at its start.
#[derive(Debug)]
pub(crate) struct Input {
    /// All of it is initialized, so any part can be passed to a read.
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    pub(crate) fn new() -> Input {
        Input { bytes: vec![0; INITIAL], start: 0, end: 0 }
    }

    /// Returns the bytes that have come and have not been used.
    pub(crate) fn filled(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Returns `true` if the buffer still has its initial size and is therefore worth keeping for
    /// another connection.
    pub(crate) fn is_small(&self) -> bool {
        self.bytes.len() == INITIAL
    }

    /// Returns the room to read into, which is never empty. To make room, the buffer moves its
    /// content to the front or doubles its size.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.end == self.bytes.len() {
            if self.start > 0 {
                self.bytes.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            } else {
                self.bytes.resize(self.bytes.len() * 2, 0);
            }
        }
        &mut self.bytes[self.end..]
    }

    /// Records that `count` bytes have been read into the room.
    pub(crate) fn fill(&mut self, count: usize) {
        debug_assert!(count <= self.bytes.len() - self.end);
        self.end += count;
    }

    /// Removes the first `count` bytes.
    pub(crate) fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        self.start += count;
        if self.start == self.end {
            self.clear();
        }
    }

    /// Removes `count` bytes after the first `from`, which stay in place.
    pub(crate) fn cut(&mut self, from: usize, count: usize) {
        let at = self.start + from;
        self.bytes.copy_within(at + count..self.end, at);
        self.end -= count;
    }

    pub(crate) fn clear(&mut self) {
        self.start = 0;
        self.end = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(input: &mut Input, bytes: &[u8]) {
        for piece in bytes.chunks(1000) {
            let mut rest = piece;
            while !rest.is_empty() {
                let room = input.room();
                let count = rest.len().min(room.len());
                room[..count].copy_from_slice(&rest[..count]);
                input.fill(count);
                rest = &rest[count..];
            }
        }
    }

    #[test]
    fn first_in_first_out() {
        let mut input = Input::new();
        let stream: Vec<u8> = (0..100_000_u32).map(|n| n as u8).collect();
        let mut used = 0;
        for (round, piece) in stream.chunks(3000).enumerate() {
            push(&mut input, piece);
            let count = if round % 7 == 6 { input.filled().len() } else { input.filled().len() / 2 };
            assert_eq!(input.filled()[..count], stream[used..used + count]);
            input.consume(count);
            used += count;
        }
        assert_eq!(input.filled(), &stream[used..]);
        assert!(!input.is_small(), "it had to grow");
        assert!(input.bytes.len() <= 16 * INITIAL, "by no more than it held");
    }

    #[test]
    fn cutting_keeps_what_is_around() {
        let mut input = Input::new();
        push(&mut input, b"..headbodynext");
        input.consume(2);
        input.cut(4, 4);
        assert_eq!(input.filled(), b"headnext");
        input.cut(4, 4);
        assert_eq!(input.filled(), b"head");
        input.consume(4);
        assert!(input.is_empty() && input.is_small());
    }
}
