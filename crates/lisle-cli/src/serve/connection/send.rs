//! Sending a response: its head together with what follows, from memory or from disk.

use std::ops::Range;
use std::sync::Arc;

use super::Connection;
use super::respond::Response;
use super::wire::{self, Stop};
use crate::serve::files::entry::{Body, Entry};
use crate::serve::local::{self, PIECE};

impl Connection<'_> {
    /// Sends the head (and page) in `output` and the file behind it. How many bytes of the body went out, and whether that
    /// was all of it.
    pub(super) fn send(&self, output: &[u8], response: Response) -> (u64, bool) {
        let head = output.len() - response.page;
        let (written, complete) = match &response.file {
            None => self.write([output, &[]]),
            Some((entry, range)) => match &entry.body {
                Body::Memory(content) => {
                    self.write([output, &content[range.start as usize..range.end as usize]])
                }
                Body::Disk(_) => self.stream_file(output, entry, range.clone()),
            },
        };
        (written.saturating_sub(head as u64), complete)
    }

    fn write(&self, parts: [&[u8]; 2]) -> (u64, bool) {
        let (written, outcome) = wire::write(&self.stream, parts, self.shard.limits.write, &self.shard.halt);
        if outcome == Err(Stop::Late) {
            self.abort();
        }
        (written as u64, outcome.is_ok())
    }

    /// Sends piece by piece. That the file has become shorter than was promised can be told only by closing the
    /// connection.
    fn stream_file(&self, output: &[u8], entry: &Arc<Entry>, range: Range<u64>) -> (u64, bool) {
        let mut piece = local::take_piece();
        let mut head = output;
        let mut total = 0;
        let mut at = range.start;
        let mut complete = true;
        while complete && (at < range.end || !head.is_empty()) {
            let count = (range.end - at).min(PIECE as u64) as usize;
            let (read, buffer) = read_piece(entry, piece, at, count);
            piece = buffer;
            if !read {
                complete = false;
                break;
            }
            let (written, all) = self.write([head, &piece[..count]]);
            total += written;
            complete = all;
            head = &[];
            at += count as u64;
        }
        local::give_back_piece(piece);
        (total, complete)
    }

    /// Has the kernel forget what the client has not taken, instead of keeping it for a client that takes nothing.
    fn abort(&self) {
        let _ = rustix::net::sockopt::set_socket_linger(&self.stream, Some(std::time::Duration::ZERO));
    }
}

/// Reads `count` bytes at `at` into the piece, and gives the piece back. What the kernel has in memory is read on the spot;
/// for the rest the host waits while a thread of the pool does.
fn read_piece(entry: &Arc<Entry>, mut piece: Vec<u8>, at: u64, count: usize) -> (bool, Vec<u8>) {
    if entry.read_now(&mut piece[..count], at) {
        return (true, piece);
    }
    let entry = Arc::clone(entry);
    lisle::blocking(move || (entry.read(&mut piece[..count], at).is_ok(), piece))
}
