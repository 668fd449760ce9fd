//! The load: plain threads, each of which asks for the file again and again, on a new connection
//! each time.

use crate::server::site::{FILE, LENGTH};
use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

/// How long an answer may take before it counts as lost.
const LOST: Duration = Duration::from_secs(5);

/// Whom to ask, and how many at once.
pub(super) struct Load {
    pub(super) address: SocketAddr,
    pub(super) clients: u64,
}

impl Load {
    /// Asks `requests` times, and checks each answer. Returns how many bytes of the file have come
    /// in all.
    pub(super) fn run(&self, requests: u64) -> io::Result<u64> {
        let begun = AtomicU64::new(0);
        let client = || -> io::Result<u64> {
            let mut answer = Vec::with_capacity(2 * LENGTH);
            let mut bytes = 0;
            while begun.fetch_add(1, Ordering::Relaxed) < requests {
                bytes += self.ask(&mut answer)?;
            }
            Ok(bytes)
        };
        thread::scope(|scope| {
            let clients: Vec<_> = (0..self.clients).map(|_| scope.spawn(client)).collect();
            clients.into_iter().map(|client| client.join().expect("a client does not panic")).sum()
        })
    }

    fn ask(&self, answer: &mut Vec<u8>) -> io::Result<u64> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(LOST))?;
        // One write, one packet.
        let request = format!("GET /{FILE} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        answer.clear();
        stream.read_to_end(answer)?;
        check(answer)
    }
}

/// The length of the file in an answer, which must be the one that is served.
fn check(answer: &[u8]) -> io::Result<u64> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("an answer {what}"));
    let mut fields = [httparse::EMPTY_HEADER; 16];
    let mut response = httparse::Response::new(&mut fields);
    let parsed = response.parse(answer).map_err(|error| wrong(&format!("makes no sense: {error}")))?;
    let httparse::Status::Complete(head) = parsed else {
        return Err(wrong("ends in the middle of its head"));
    };
    if response.code != Some(200) {
        return Err(wrong(&format!("has status {}", response.code.unwrap_or_default())));
    }
    let file = &answer[head..];
    if file.len() != LENGTH || file.iter().any(|&byte| byte != b'x') {
        return Err(wrong("has not the file"));
    }
    Ok(file.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_is_right() {
        let answer = |status: &str, length| format!("HTTP/1.1 {status}\r\n\r\n{}", "x".repeat(length));
        assert_eq!(check(answer("200 OK", LENGTH).as_bytes()).unwrap(), LENGTH as u64);
        for (answer, what) in [
            (answer("404 Not Found", LENGTH), "has status 404"),
            (answer("200 OK", LENGTH - 1), "has not the file"),
            (answer("200 OK", LENGTH + 1), "has not the file"),
            (answer("200 OK", LENGTH).replace("xx", "xy"), "has not the file"),
            ("HTTP/1.1 200".to_owned(), "ends in the middle"),
            ("SSH-2.0".to_owned(), "makes no sense"),
        ] {
            let error = check(answer.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
