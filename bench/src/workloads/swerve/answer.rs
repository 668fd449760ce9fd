//! The common parts of the forms: a request's head, the answer, a line of the log. Only
//! `Request::read` waits.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    net::SocketAddr,
    sync::Arc,
};

/// As much of a file as is sent at once.
const PIECE: usize = 4096;

/// A request as it comes.
pub(super) struct Request {
    /// On the heap, and not a part of the task that reads it: a task should be small.
    bytes: Vec<u8>,
    filled: usize,
}

impl Request {
    pub(super) fn new() -> Self {
        Request { bytes: vec![0; 1024], filled: 0 }
    }

    /// The path that is asked for by the request from `stream`, whose bytes are waited for.
    pub(super) fn read(stream: &mut impl Read) -> io::Result<String> {
        let mut request = Request::new();
        loop {
            let count = stream.read(request.rest())?;
            if let Some(path) = request.came(count)? {
                return Ok(path);
            }
        }
    }

    /// Where its next bytes go.
    pub(super) fn rest(&mut self) -> &mut [u8] {
        &mut self.bytes[self.filled..]
    }

    /// Notes that `count` bytes have come. Returns the path that is asked for, once the head is
    /// whole.
    pub(super) fn came(&mut self, count: usize) -> io::Result<Option<String>> {
        self.filled += count;
        let mut fields = [httparse::EMPTY_HEADER; 16];
        let mut request = httparse::Request::new(&mut fields);
        let parsed = request.parse(&self.bytes[..self.filled]).map_err(|error| wrong(&error.to_string()))?;
        if parsed.is_partial() {
            return if count == 0 { Err(wrong("it ends in the middle, or is too long")) } else { Ok(None) };
        }
        let path = request.path.and_then(|path| path.strip_prefix('/'));
        path.filter(|path| !path.contains(".."))
            .map(|path| Some(path.to_owned()))
            .ok_or_else(|| wrong("its path"))
    }
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("a request: {what}"))
}

/// A message about a file. Asynchronous messages are cloned, so its bytes are shared.
#[derive(Clone)]
pub(super) enum Piece {
    Length(u64),
    Bytes(Arc<Vec<u8>>),
}

/// Opens a file, and gives its length and then its bytes.
pub(super) fn pieces(path: &str) -> io::Result<impl Iterator<Item = Piece> + use<>> {
    let mut file = File::open(path)?;
    let mut left = file.metadata()?.len();
    let mut length = Some(left);
    Ok(std::iter::from_fn(move || {
        if let Some(length) = length.take() {
            return Some(Piece::Length(length));
        }
        let mut bytes = vec![0; PIECE.min(left as usize)];
        left -= bytes.len() as u64;
        // A file that became shorter ends the answer.
        (!bytes.is_empty() && file.read_exact(&mut bytes).is_ok()).then(|| Piece::Bytes(Arc::new(bytes)))
    }))
}

/// An answer, of the pieces of a file: none, if there is no such file.
#[derive(Default)]
pub(super) struct Answer {
    bytes: Vec<u8>,
}

impl Answer {
    /// For a reader of the whole file.
    pub(super) fn with_file(path: &str) -> Self {
        let mut answer = Answer::default();
        if let Ok(file) = fs::read(path) {
            answer.add(Piece::Length(file.len() as u64));
            answer.add(Piece::Bytes(Arc::new(file)));
        }
        answer
    }

    pub(super) fn add(&mut self, piece: Piece) {
        match piece {
            Piece::Length(length) => {
                self.bytes.reserve_exact(length as usize + 256);
                self.head("200 OK", length);
            }
            Piece::Bytes(bytes) => self.bytes.extend_from_slice(&bytes),
        }
    }

    fn head(&mut self, status: &str, length: u64) {
        write!(
            self.bytes,
            "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        )
        .expect("a vector takes every write");
    }

    /// It leaves in one write.
    pub(super) fn bytes(mut self) -> Vec<u8> {
        if self.bytes.is_empty() {
            self.head("404 Not Found", 0);
        }
        self.bytes
    }
}

/// A line of the log.
pub(super) fn line(peer: SocketAddr, path: &str, length: usize) -> String {
    format!("{peer} GET /{path} {length}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The path of a request that comes in these parts.
    fn path(parts: &[&str]) -> io::Result<Option<String>> {
        let mut request = Request::new();
        let mut path = None;
        for part in parts {
            request.rest()[..part.len()].copy_from_slice(part.as_bytes());
            path = request.came(part.len())?;
        }
        Ok(path)
    }

    #[test]
    fn a_request_may_come_in_parts() {
        assert_eq!(path(&["GET /10k.html HTTP/1.1\r\n"]).unwrap(), None);
        let whole = path(&["GET /10k.html HT", "TP/1.1\r\nHost: localhost\r\n", "\r\n"]);
        assert_eq!(whole.unwrap().as_deref(), Some("10k.html"));
    }

    #[test]
    fn what_is_no_request_for_a_file_below_is_an_error() {
        for parts in [&["GET /../key HTTP/1.1\r\n\r\n"][..], &["GET x HTTP/1.1\r\n\r\n"], &["GET / HTTP", ""]]
        {
            assert!(path(parts).is_err(), "{parts:?}");
        }
        let too_long = "x".repeat(1024);
        assert!(path(&[&too_long, ""]).is_err());
    }

    #[test]
    fn a_file_in_pieces_makes_the_same_answer_as_the_whole() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/workloads/swerve/answer.rs");
        let mut answer = Answer::default();
        pieces(file).unwrap().for_each(|piece| answer.add(piece));
        assert!(answer.bytes.len() > PIECE);
        assert_eq!(answer.bytes(), Answer::with_file(file).bytes());
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        assert!(pieces("no such file").is_err());
        assert!(Answer::with_file("no such file").bytes().starts_with(b"HTTP/1.1 404 Not Found\r\n"));
    }
}
