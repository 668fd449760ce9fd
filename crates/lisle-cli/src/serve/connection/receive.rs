//! Reading from a client: waiting for a request, reading one, and listening out a client that has been told to go.

use std::net::Shutdown;
use std::time::{Duration, Instant};

use super::Connection;
use super::wire::{self, Stop};
use crate::serve::http::body::{Discard, Framing};
use crate::serve::http::request::{Head, HeadParser};
use crate::serve::http::status::Status;
use crate::serve::local::Scratch;

/// How long a client that has been told of its mistake is listened to. To close at once while it still sends would reset the
/// connection, and the client might never see the answer.
const LINGER: Duration = Duration::from_secs(2);

/// How many bytes are read and thrown away meanwhile.
const LINGER_BYTES: usize = 4 << 20;

/// Why a request did not come to its end.
pub(super) enum Broken {
    /// It is refused, and the client should hear so.
    Refused(Status),
    /// There is nobody to tell, or no time.
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
    /// Waits, without holding a buffer, for the first byte of a request. `None`: there will be none.
    pub(super) fn wait_for_request(&self, idle_since: Instant) -> Option<(Scratch, Instant)> {
        let deadline = idle_since + self.shard.limits.idle;
        loop {
            let told = match wire::wait_readable(&self.stream, deadline, &self.shard.drain) {
                Ok(()) => false,
                // A request that came before the signal did is still served.
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

    /// Reads the head, and the body behind it, which is forgotten. True if the body was left unread: the connection
    /// cannot go on then.
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
        // Who asks first gets the final answer instead of leave to send what is not needed.
        if head.expects_continue {
            return Ok((head, true));
        }
        let mut body = match Discard::new(head.framing, limits.body) {
            Ok(body) => body,
            // That the method is not served is the better answer, and it holds whatever the body is.
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

    /// Reads on in the middle of a request.
    fn read_more(&self, scratch: &mut Scratch, deadline: Instant) -> Result<(), Broken> {
        match wire::read(&self.stream, scratch.input.room(), deadline, &self.shard.halt)? {
            // The client will send no more, but it may still want to hear that this was not enough.
            0 => Err(Broken::Refused(Status::BAD_REQUEST)),
            count => {
                scratch.input.fill(count);
                Ok(())
            }
        }
    }

    /// Says that nothing more will come, and listens a while longer.
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
