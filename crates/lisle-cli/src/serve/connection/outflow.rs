//! A response on its way to the client.
//!
//! Three rules protect the other fibers of the domain. After a partial write, the next one is tried
//! only when the socket reports room: a client that does not read costs one system call and then
//! nothing. A fiber that has sent [`TURN`] bytes lets other fibers run. And bytes of a file do not
//! pass through the program: the kernel sends them.
//!
//! Invariant: every wait ends, by the client, by the write timeout, or by the signal to halt.

use std::fs::File;
use std::io::{self, ErrorKind, IoSlice};
use std::sync::Arc;
use std::time::Instant;

use lisle::net::TcpStream;
use lisle::time::at;
use lisle::{Event, choose, fiber};
use rustix::net::SendFlags;

use super::wire::Stop;
use crate::serve::files::entry::Entry;
use crate::serve::shard::Shard;

/// The number of bytes of a response that a client must take within the write timeout. This keeps a
/// slow connection alive, and ends the wait for a client that takes a byte now and then to hold its
/// connection.
const PROGRESS: usize = 64 * 1024;

/// After this many bytes other fibers run. It is also the largest number of bytes given to the
/// kernel at once.
const TURN: usize = 1024 * 1024;

/// The sending half of a connection, for the duration of one response.
pub(super) struct Outflow<'a> {
    stream: &'a TcpStream,
    shard: &'a Shard,
    /// The number of bytes that the kernel has taken.
    sent: u64,
    /// The time by which the client must have taken more. The clock is read only when there is
    /// something to wait for.
    deadline: Option<Instant>,
    /// Bytes since the deadline was last extended.
    progress: usize,
    /// Bytes since other fibers last ran.
    turn: usize,
}

impl<'a> Outflow<'a> {
    pub(super) fn new(stream: &'a TcpStream, shard: &'a Shard) -> Self {
        Outflow { stream, shard, sent: 0, deadline: None, progress: 0, turn: 0 }
    }

    /// Returns the number of bytes that the kernel has taken so far.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// Sends both parts in order, in one system call if the socket takes them.
    pub(super) fn bytes(&mut self, parts: [&[u8]; 2]) -> Result<(), Stop> {
        let total = parts[0].len() + parts[1].len();
        self.all(total, |stream, from, most| write_some(stream, parts, from, most))
    }

    /// Sends the head of a response whose body follows at once. The kernel keeps a packet open for
    /// the body.
    pub(super) fn head(&mut self, head: &[u8]) -> Result<(), Stop> {
        let flags = SendFlags::MORE | SendFlags::NOSIGNAL;
        self.all(head.len(), |stream, from, _| Ok(rustix::net::send(stream, &head[from..], flags)?))
    }

    /// Sends `length` bytes of the file of `entry`, starting at `start`. If the file has become
    /// shorter than the response has promised, closing the connection is the only way to report
    /// this.
    pub(super) fn file(
        &mut self,
        entry: &Arc<Entry>,
        file: &File,
        start: u64,
        length: u64,
    ) -> Result<(), Stop> {
        let mut at = 0;
        while at < length {
            let piece = (length - at).min(TURN as u64) as usize;
            let from = start + at;
            if !entry.is_at_hand(from, piece) {
                let entry = Arc::clone(entry);
                lisle::blocking(move || entry.fetch(from, piece));
            }
            self.all(piece, |stream, done, _| stream.try_send_file(file, from + done as u64, piece - done))?;
            at += piece as u64;
        }
        Ok(())
    }

    /// Calls `send` with the number of bytes sent and the largest number to send, until all `total`
    /// bytes are sent.
    fn all(
        &mut self,
        total: usize,
        send: impl Fn(&TcpStream, usize, usize) -> io::Result<usize>,
    ) -> Result<(), Stop> {
        let mut done = 0;
        while done < total {
            let wanted = (total - done).min(TURN);
            match send(self.stream, done, wanted) {
                Ok(0) => return Err(Stop::Gone),
                Ok(count) => {
                    done += count;
                    self.took(count);
                    if count < wanted {
                        self.wait()?;
                    }
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => self.wait()?,
                    ErrorKind::Interrupted => {}
                    _ => return Err(Stop::Gone),
                },
            }
        }
        Ok(())
    }

    /// Records that the kernel has taken `count` bytes.
    fn took(&mut self, count: usize) {
        self.sent += count as u64;
        self.progress += count;
        if self.progress >= PROGRESS {
            self.progress = 0;
            self.deadline = None;
        }
        self.turn += count;
        if self.turn >= TURN {
            self.turn = 0;
            fiber::yield_now();
        }
    }

    /// Waits until the kernel has room for a good part of its buffer.
    fn wait(&mut self) -> Result<(), Stop> {
        self.turn = 0;
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + self.shard.limits.write);
        choose((
            self.stream.writable_evt().wrap(|writable| writable.map_err(|_| Stop::Gone)),
            at(deadline).wrap(|()| Err(Stop::Late)),
            self.shard.halt.wait_evt().wrap(|()| Err(Stop::Told)),
        ))
        .sync()
    }
}

/// Writes once, at most `most` bytes from position `from` of the two parts together.
fn write_some(stream: &TcpStream, parts: [&[u8]; 2], from: usize, most: usize) -> io::Result<usize> {
    let [first, second] = parts;
    if from >= first.len() {
        let from = from - first.len();
        return stream.try_write(&second[from..second.len().min(from + most)]);
    }
    let first = &first[from..first.len().min(from + most)];
    let second = &second[..second.len().min(most - first.len())];
    if second.is_empty() {
        stream.try_write(first)
    } else {
        stream.try_write_vectored(&[IoSlice::new(first), IoSlice::new(second)])
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use lisle::net::TcpListener;

    use super::*;
    use crate::serve::shard::tests::shard;

    fn pair() -> (TcpStream, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (listener.accept().unwrap().0, client)
    }

    /// Starts a plain thread that reads everything.
    fn drain(mut client: std::net::TcpStream) -> std::thread::JoinHandle<Vec<u8>> {
        std::thread::spawn(move || {
            let mut found = Vec::new();
            client.read_to_end(&mut found).unwrap();
            found
        })
    }

    #[test]
    fn much_output_gives_others_a_turn() {
        lisle::Runtime::builder().domains(1).run(|| {
            let (stream, _client) = pair();
            let shard = shard(Duration::from_secs(3600));
            let mut out = Outflow::new(&stream, &shard);
            let turns = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&turns);
            let other = lisle::spawn(move || {
                while counted.fetch_add(1, Ordering::Relaxed) < 2 {
                    fiber::yield_now();
                }
            });
            let turns = || turns.load(Ordering::Relaxed);
            out.took(TURN - 1);
            assert_eq!(turns(), 0);
            out.took(1);
            assert_eq!(turns(), 1, "the other has had a turn");
            out.took(TURN - 1);
            assert_eq!(turns(), 1);
            out.took(TURN);
            assert_eq!(turns(), 2);
            other.join().unwrap();
        });
    }

    #[test]
    fn everything_arrives_in_order() {
        lisle::Runtime::builder().domains(1).run(|| {
            let (stream, client) = pair();
            let shard = shard(Duration::from_secs(3600));
            let reader = drain(client);
            let content: Vec<u8> =
                (0..5_000_000_u32).map(|at| (at.wrapping_mul(40_503) >> 9) as u8).collect();
            let entry = Arc::new(crate::serve::files::entry::tests::entry_on_disk(&content));
            let crate::serve::files::entry::Body::Disk(file) = &entry.body else { panic!("on disk") };
            let mut out = Outflow::new(&stream, &shard);
            out.bytes([b"first", &content]).unwrap();
            out.head(b"head").unwrap();
            out.file(&entry, file, 3, content.len() as u64 - 5).unwrap();
            out.bytes([b"", b"last"]).unwrap();
            let expected =
                [b"first", &content[..], b"head", &content[3..content.len() - 2], b"last"].concat();
            assert_eq!(out.sent(), expected.len() as u64);
            assert_eq!(out.file(&entry, file, content.len() as u64 - 1, 2), Err(Stop::Gone), "it is shorter");
            drop(stream);
            let found = reader.join().unwrap();
            assert!(found[..expected.len()] == expected && found.len() == expected.len() + 1);
        });
    }

    #[test]
    fn waiting_for_a_client_that_does_not_read_ends() {
        lisle::Runtime::builder().domains(1).run(|| {
            let content = vec![b'x'; 64 << 20];
            let (stream, _client) = pair();
            let late = shard(Duration::from_millis(1));
            assert_eq!(Outflow::new(&stream, &late).bytes([&content, b""]), Err(Stop::Late));

            let (stream, _client) = pair();
            let told = shard(Duration::from_secs(3600));
            told.halt.signal();
            assert_eq!(Outflow::new(&stream, &told).bytes([&content, b""]), Err(Stop::Told));

            let (stream, client) = pair();
            drop(client);
            let patient = shard(Duration::from_secs(3600));
            let mut out = Outflow::new(&stream, &patient);
            assert_eq!(out.bytes([&content, b""]), Err(Stop::Gone));
        });
    }
}
