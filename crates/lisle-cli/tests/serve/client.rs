//! A client that sees every byte.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use super::support::PATIENCE;

/// A raw connection.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    buffer: Vec<u8>,
}

/// A response as it came.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// The value of a header field.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).expect("it accepts");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time that is not zero");
        Client { stream, buffer: Vec::new() }
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.send_bytes(text.as_bytes());
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server listens");
    }

    /// As much as the server takes before it closes the connection.
    pub(crate) fn try_send(&mut self, bytes: &[u8]) {
        // In some tests the server stops listening.
        let _ = self.stream.write_all(bytes);
    }

    pub(crate) fn finish(&self) {
        self.stream.shutdown(Shutdown::Write).expect("it is connected");
    }

    /// The next response, with its body.
    #[track_caller]
    pub(crate) fn response(&mut self) -> Response {
        self.response_or_end(true).expect("a response, not the end of the connection")
    }

    /// The next response to a HEAD.
    #[track_caller]
    pub(crate) fn response_without_body(&mut self) -> Response {
        self.response_or_end(false).expect("a response, not the end of the connection")
    }

    /// The next response, or `None` if the server has closed the connection instead.
    #[track_caller]
    pub(crate) fn response_or_end(&mut self, with_body: bool) -> Option<Response> {
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            if !self.read_more() {
                assert!(self.buffer.is_empty(), "half a head: {:?}", String::from_utf8_lossy(&self.buffer));
                return None;
            }
        };
        let head = String::from_utf8(self.buffer.drain(..end).collect()).expect("a head is text");
        let status = head.get(9..12).and_then(|code| code.parse().ok()).expect("a status line");
        let mut response = Response { status, head, body: Vec::new() };
        let length = response.field("Content-Length").map_or(0, |value| value.parse().expect("a number"));
        if with_body && status != 304 {
            while self.buffer.len() < length {
                assert!(self.read_more(), "the body ends after {} of {length} bytes", self.buffer.len());
            }
            response.body = self.buffer.drain(..length).collect();
        }
        Some(response)
    }

    /// Whether the server closes the connection without another byte. A reset is an end like
    /// another.
    #[track_caller]
    pub(crate) fn is_closed(&mut self) -> bool {
        self.buffer.is_empty() && !self.read_more()
    }

    fn read_more(&mut self) -> bool {
        let mut piece = [0; 64 * 1024];
        match self.stream.read(&mut piece) {
            Ok(0) => false,
            Ok(count) => {
                self.buffer.extend_from_slice(&piece[..count]);
                true
            }
            Err(error) => match error.kind() {
                std::io::ErrorKind::ConnectionReset | std::io::ErrorKind::BrokenPipe => false,
                _ => panic!("nothing came: {error}"),
            },
        }
    }
}
