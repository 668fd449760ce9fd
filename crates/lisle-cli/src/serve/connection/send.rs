//! Sending a response: its head together with the content, from memory or from disk.

use super::Connection;
use super::outflow::Outflow;
use super::respond::Response;
use super::wire::Stop;
use crate::serve::files::entry::Body;

impl Connection<'_> {
    /// Sends the head (and page) in `output` and the file after it. Returns the number of bytes of
    /// the body that were sent, and `true` if this was the whole body.
    pub(super) fn send(&self, output: &[u8], response: Response) -> (u64, bool) {
        let head = output.len() - response.page;
        let mut out = Outflow::new(&self.stream, self.shard);
        let outcome = match &response.file {
            None => out.bytes([output, &[]]),
            Some((entry, range)) => match &entry.body {
                Body::Memory(content) => {
                    out.bytes([output, &content[range.start as usize..range.end as usize]])
                }
                Body::Disk(file) => out
                    .head(output)
                    .and_then(|()| out.file(entry, file, range.start, range.end - range.start)),
            },
        };
        if outcome == Err(Stop::Late) {
            self.abort();
        }
        (out.sent().saturating_sub(head as u64), outcome.is_ok())
    }

    /// Makes the kernel drop the bytes that the client has not taken, instead of keeping them for a
    /// client that takes nothing.
    fn abort(&self) {
        let _ = rustix::net::sockopt::set_socket_linger(&self.stream, Some(std::time::Duration::ZERO));
    }
}
