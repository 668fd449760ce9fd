//! Reading from a client: waiting for a request, reading it, and reading on from a client that has
//! been told to disconnect.

use std::net::Shutdown;
use std::time::{Duration, Instant};

use super::Connection;
use super::wire::{self, Stop};
use crate::serve::http::body::{Discard, Framing};
use crate::serve::http::request::{Head, HeadParser};
use crate::serve::http::status::Status;
use crate::serve::local::Scratch;

/// How long the server still reads from a client that has been told of its mistake. Closing at once
/// while the client still sends would reset the connection, and the client might never see the
/// answer.
const LINGER: Duration = Duration::from_secs(2);

/// The number of bytes that are read and discarded during that time.
const LINGER_BYTES: usize = 4 << 20;

/// The reason why a request did not complete.
pub(super) enum Broken {
    /// The request is refused, and the client should be told.
    Refused(Status),
    /// The client is gone, or there is no time to tell it.
    Gone,
}

impl From<Stop> for Broken {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Late => Broken::Refused(Status::REQUEST_TIMEOUT),
            Stop::Told | Stop::Gone => Broken::Gone,
        }
    }
}

impl Connection<'_> {
    /// Waits, without holding a buffer, for the first byte of a request. Returns `None` if no
    /// request will come.
    pub(super) fn wait_for_request(&self, idle_since: Instant) -> Option<(Scratch, Instant)> {
        let deadline = idle_since + self.shard.limits.idle;
        loop {
            let told = match wire::wait_readable(&self.stream, deadline, &self.shard.drain) {
                Ok(()) => false,
                // A request that came before the signal is still served.
                Err(Stop::Told) => true,
                Err(Stop::Late | Stop::Gone) => return None,
            };
            let mut scratch = Scratch::take();
            match wire::try_read(&self.stream, scratch.input.room()) {
                Ok(Some(count)) if count > 0 => {
                    scratch.input.fill(count);
                    return Some((scratch, Instant::now()));
                }
                Ok(None) if !told => scratch.give_back(),
                _ => {
                    scratch.give_back();
                    return None;
                }
            }
        }
    }

    /// Reads the head and the body after it, which is discarded. The returned bool is `true` if the
    /// body was left unread; the connection cannot continue in that case.
    pub(super) fn read_request(&self, scratch: &mut Scratch, began: Instant) -> Result<(Head, bool), Broken> {
        let limits = &self.shard.limits;
        let deadline = began + limits.request;
        let mut parser = HeadParser::default();
        let head = loop {
            if let Some(head) = parser.parse(scratch.input.filled(), &limits.head).map_err(Broken::Refused)? {
                break head;
            }
            self.read_more(scratch, deadline)?;
        };
        if head.framing == Framing::None {
            return Ok((head, false));
        }
        // A client that asks first gets the final answer instead of permission to send a body that
        // is not needed.
        if head.expects_continue {
            return Ok((head, true));
        }
        let mut body = match Discard::new(head.framing, limits.body) {
            Ok(body) => body,
            // The status that the method is not served is more useful, and it is correct for any
            // body.
            Err(_) if !head.method.is_served() => return Ok((head, true)),
            Err(status) => return Err(Broken::Refused(status)),
        };
        let deadline = Instant::now() + limits.request;
        loop {
            let taken = body.feed(&scratch.input.filled()[head.length..]).map_err(Broken::Refused)?;
            scratch.input.cut(head.length, taken);
            if body.is_done() {
                return Ok((head, false));
            }
            self.read_more(scratch, deadline)?;
        }
    }

    /// Reads more bytes in the middle of a request.
    fn read_more(&self, scratch: &mut Scratch, deadline: Instant) -> Result<(), Broken> {
        match wire::read(&self.stream, scratch.input.room(), deadline, &self.shard.halt)? {
            // The client sends no more, but it may still wait for the answer that its request was
            // incomplete.
            0 => Err(Broken::Refused(Status::BAD_REQUEST)),
            count => {
                scratch.input.fill(count);
                Ok(())
            }
        }
    }

    /// Ends the sending half, and reads for a while longer.
    pub(super) fn linger(&self, scratch: &mut Scratch) {
        if self.stream.shutdown(Shutdown::Write).is_err() {
            return;
        }
        let deadline = Instant::now() + LINGER;
        let mut left = LINGER_BYTES;
        while left > 0 {
            scratch.input.clear();
            match wire::read(&self.stream, scratch.input.room(), deadline, &self.shard.halt) {
                Ok(0) | Err(_) => return,
                Ok(count) => left = left.saturating_sub(count),
            }
        }
    }
}
