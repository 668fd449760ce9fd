//! One connection, one fiber: it reads a request, asks for the file, writes the response, and
//! starts again.
//!
//! Whenever the fiber waits for its client, it waits for three things at once: the socket, a
//! deadline, and a signal to stop. While the connection is idle, this is the signal to drain; once
//! a request has begun, it is the signal to halt. Time limits and the shutdown need nothing else.

pub(crate) mod input;
mod outflow;
mod receive;
pub(crate) mod respond;
mod send;
mod wire;

use std::net::SocketAddr;
use std::time::Instant;

use lisle::channel::{Receiver, Sender};
use lisle::net::TcpStream;
use lisle::{Event, choose};

use super::files::{Answer, Ask, path};
use super::http::request::{Head, Method, Persistence, first_line};
use super::http::response::ResponseHead;
use super::http::status::Status;
use super::local::Scratch;
use super::log::line::{Record, RequestText};
use super::shard::Shard;
use receive::Broken;
use respond::{Asked, RETRY_AFTER, Response};

/// Serves one client until it disconnects or has to be disconnected.
pub(crate) fn serve(stream: TcpStream, peer: SocketAddr, shard: &Shard) {
    // Without this the last segment of a response may wait for the client's acknowledgement. A
    // failure makes responses slower, but not wrong.
    let _ = stream.set_nodelay(true);
    let (reply, answers) = lisle::channel::bounded(1);
    let connection = Connection { stream, peer, shard, reply, answers };
    let mut idle_since = Instant::now();
    while let Some((mut scratch, mut began)) = connection.wait_for_request(idle_since) {
        loop {
            match connection.request(&mut scratch, began) {
                Turn::Next(now) if scratch.input.is_empty() => {
                    idle_since = now;
                    break;
                }
                Turn::Next(now) => began = now,
                Turn::Close => return scratch.give_back(),
                Turn::Linger => {
                    connection.linger(&mut scratch);
                    return scratch.give_back();
                }
            }
        }
        scratch.give_back();
    }
}

/// Tells a client that there are too many connections, and disconnects it.
pub(crate) fn refuse(stream: TcpStream, peer: SocketAddr, shard: &Shard) {
    let (reply, answers) = lisle::channel::bounded(1);
    let connection = Connection { stream, peer, shard, reply, answers };
    let mut scratch = Scratch::take();
    let response = respond::short(
        &mut scratch.output,
        Status::SERVICE_UNAVAILABLE,
        Persistence::Close,
        true,
        Instant::now(),
        |head| head.field("Retry-After", RETRY_AFTER),
    );
    connection.send(&scratch.output, response);
    connection.linger(&mut scratch);
    scratch.give_back();
}

struct Connection<'a> {
    stream: TcpStream,
    peer: SocketAddr,
    shard: &'a Shard,
    reply: Sender<Answer>,
    answers: Receiver<Answer>,
}

/// The next step after a request.
enum Turn {
    /// Serve the next request. The instant is the end of this one.
    Next(Instant),
    /// Close. The response has told the client.
    Close,
    /// Close, but the client may still be sending.
    Linger,
}

impl Connection<'_> {
    /// Serves the request whose first bytes are in the buffer.
    fn request(&self, scratch: &mut Scratch, began: Instant) -> Turn {
        let (head, framing_broken) = match self.read_request(scratch, began) {
            Ok(read) => read,
            Err(Broken::Gone) => return Turn::Close,
            Err(Broken::Refused(status)) => {
                let text = RequestText::unparsed(first_line(scratch.input.filled()));
                let response = respond::short(
                    &mut scratch.output,
                    status,
                    Persistence::Close,
                    true,
                    Instant::now(),
                    |head| head,
                );
                self.finish(&scratch.output, response, text, began);
                return Turn::Linger;
            }
        };
        let draining = self.shard.drain.is_signalled();
        let persistence = if framing_broken || draining { Persistence::Close } else { head.persistence };
        let response = self.respond(scratch, &head, persistence, began);
        let input = scratch.input.filled();
        let text = RequestText::new(head.method_name.of(input), head.target.of(input));
        let persistence = response.persistence;
        let (sent, now) = self.finish(&scratch.output, response, text, began);
        scratch.input.consume(head.length);
        match (sent, persistence) {
            (false, _) => Turn::Close,
            (true, Persistence::Keep | Persistence::KeepSaying) => Turn::Next(now),
            (true, Persistence::Close) if framing_broken || draining || !scratch.input.is_empty() => {
                Turn::Linger
            }
            (true, Persistence::Close) => Turn::Close,
        }
    }

    fn respond(
        &self,
        scratch: &mut Scratch,
        head: &Head,
        persistence: Persistence,
        now: Instant,
    ) -> Response {
        let Scratch { input, output, key } = scratch;
        let input = input.filled();
        match head.method {
            Method::Unknown => {
                respond::short(output, Status::NOT_IMPLEMENTED, persistence, true, now, |head| head)
            }
            Method::NotAllowed => respond::short(
                output,
                Status::METHOD_NOT_ALLOWED,
                persistence,
                true,
                now,
                ResponseHead::allow,
            ),
            Method::Options => respond::options(output, persistence, now),
            Method::Get | Method::Head => {
                let with_body = head.method == Method::Get;
                if path::decode(head.path.of(input), key).is_err() {
                    return respond::short(
                        output,
                        Status::BAD_REQUEST,
                        persistence,
                        with_body,
                        now,
                        |head| head,
                    );
                }
                let ask = Ask { key: std::mem::take(key), now, reply: self.reply.clone() };
                let answer = self.shard.files.send(ask).ok().and_then(|()| self.answer());
                let Some(answer) = answer else {
                    // There is no time left to wait for a disk, or the file component has ended.
                    return respond::short(
                        output,
                        Status::SERVICE_UNAVAILABLE,
                        Persistence::Close,
                        with_body,
                        now,
                        |head| head,
                    );
                };
                *key = answer.key;
                let asked = Asked { head, input, key, persistence, now };
                respond::get(answer.outcome, &asked, output)
            }
        }
    }

    /// Waits for the answer to a question. Returns `None` if there is no time left.
    fn answer(&self) -> Option<Answer> {
        choose((self.answers.recv_evt().wrap(Result::ok), self.shard.halt.wait_evt().wrap(|()| None))).sync()
    }

    /// Sends the response and a record of it to the scribe. Returns `true` if all of it was sent,
    /// and the time after that.
    fn finish(
        &self,
        output: &[u8],
        response: Response,
        request: RequestText,
        began: Instant,
    ) -> (bool, Instant) {
        let status = response.status.code();
        let (bytes, complete) = self.send(output, response);
        let now = Instant::now();
        let took = now.saturating_duration_since(began);
        let record = Record { peer: self.peer, request, status, bytes, took, complete };
        // The scribe ends only after the server has given up the connections, so a record that
        // fails is not counted anywhere.
        let _ = self.shard.records.send(record);
        (complete, now)
    }
}
