//! The listener: accepts and counts connections, and starts a fiber for each on the domain with the
//! fewest connections.
//!
//! Only the listener knows the number of connections: it creates them, and each sends one message
//! when it ends. The listener chooses between accepting, these messages and the signal to stop.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use lisle::channel::{Receiver, Sender};
use lisle::net::{TcpListener, TcpStream};
use lisle::sync::Condition;
use lisle::time::after;
use lisle::{Event, choose, fiber};

use super::connection;
use super::descriptors::Shares;
use super::notice::notice;
use super::shard::Shared;

/// The first pause after accepting has failed. Each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Accepts until `stop` is signalled, and then waits until the last connection has ended. Returns
/// the number of refused connections.
pub(crate) fn run(sockets: Vec<TcpListener>, shards: Vec<Shared>, limits: Shares, stop: &Condition) -> u64 {
    let most = limits.connections + limits.refusals;
    let (ended, ends) = lisle::channel::named("ends of connections", most);
    let busy = vec![0; shards.len()];
    let mut listener = Listener {
        shards,
        name: "connection".into(),
        limits,
        ended,
        busy,
        live: 0,
        refusals: 0,
        refused: 0,
        next: 0,
    };
    listener.accept(&sockets, &ends, stop);
    // From here on no client can connect, while the remaining connections finish.
    drop(sockets);
    while listener.live + listener.refusals > 0 {
        let Ok(end) = ends.recv() else { break };
        listener.ended(end);
    }
    listener.refused
}

/// The message that a connection has ended.
#[derive(Debug, Clone, Copy)]
struct End {
    domain: usize,
    /// `true` if the connection was over the limit.
    refusal: bool,
}

/// Sends the message when the connection's fiber ends, also if it panics or is unwound.
struct EndGuard {
    ended: Sender<End>,
    end: End,
}

impl Drop for EndGuard {
    fn drop(&mut self) {
        // The channel has room for one message from each possible connection, so this neither waits
        // nor fails. If the server has given up the listener, the count is not needed any more.
        let _ = self.ended.try_send(self.end);
    }
}

struct Listener {
    shards: Vec<Shared>,
    /// The name of the fibers that the listener spawns, allocated once.
    name: Arc<str>,
    limits: Shares,
    ended: Sender<End>,
    /// The number of connections of each domain.
    busy: Vec<usize>,
    live: usize,
    refusals: usize,
    refused: u64,
    /// The domain at which the search for the least busy one begins, so equally busy domains are
    /// used in turn.
    next: usize,
}

/// The causes for which the listener wakes up.
enum Next {
    Accepted(io::Result<(TcpStream, SocketAddr)>),
    Ended(Result<End, lisle::channel::RecvError>),
    TryAgain,
    Stop,
}

impl Listener {
    fn accept(&mut self, sockets: &[TcpListener], ends: &Receiver<End>, stop: &Condition) {
        let accept: Vec<_> = sockets.iter().map(TcpListener::accept_evt).collect();
        let accept = choose(&accept[..]).wrap(Next::Accepted);
        // Set while accepting fails.
        let mut pause = None;
        loop {
            let ended = ends.recv_evt().wrap(Next::Ended);
            let stopped = stop.wait_evt().wrap(|()| Next::Stop);
            let next = match pause {
                None => choose((&accept, ended, stopped)).sync(),
                Some(pause) => choose((after(pause).wrap(|()| Next::TryAgain), ended, stopped)).sync(),
            };
            let accepted = match next {
                Next::Stop => return,
                Next::Ended(Ok(end)) => {
                    self.ended(end);
                    continue;
                }
                Next::Ended(Err(_)) => return,
                Next::Accepted(accepted) => accepted,
                Next::TryAgain => match accept.poll() {
                    Some(Next::Accepted(accepted)) => accepted,
                    _ => {
                        pause = None;
                        continue;
                    }
                },
            };
            match accepted {
                Ok((stream, peer)) => {
                    if pause.take().is_some() {
                        notice(format_args!("lisle: accepting again"));
                    }
                    self.start(stream, peer);
                }
                Err(error) if is_of_the_connection(&error) => {}
                Err(error) => {
                    if pause.is_none() {
                        notice(format_args!("lisle: cannot accept for now: {error}"));
                    }
                    pause = Some(pause.map_or(FIRST_PAUSE, |pause: Duration| (pause * 2).min(LONGEST_PAUSE)));
                }
            }
        }
    }

    fn start(&mut self, stream: TcpStream, peer: SocketAddr) {
        // A socket for both versions of IP reports IPv4 addresses as IPv6 addresses.
        let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
        let domain = self.least_busy();
        let shard = Shared::clone(&self.shards[domain]);
        if self.live < self.limits.connections {
            self.live += 1;
            self.busy[domain] += 1;
            let guard = EndGuard { ended: self.ended.clone(), end: End { domain, refusal: false } };
            self.fiber(domain).spawn(move || {
                let _guard = guard;
                connection::serve(stream, peer, &shard);
            });
            return;
        }
        self.refused += 1;
        if self.refusals < self.limits.refusals {
            self.refusals += 1;
            let guard = EndGuard { ended: self.ended.clone(), end: End { domain, refusal: true } };
            self.fiber(domain).spawn(move || {
                let _guard = guard;
                connection::refuse(stream, peer, &shard);
            });
        }
    }

    fn fiber(&self, domain: usize) -> fiber::Builder {
        fiber::Builder::new().name(Arc::clone(&self.name)).domain(domain)
    }

    fn ended(&mut self, end: End) {
        if end.refusal {
            self.refusals -= 1;
        } else {
            self.live -= 1;
            self.busy[end.domain] -= 1;
        }
    }

    fn least_busy(&mut self) -> usize {
        let count = self.busy.len();
        let domain = (self.next..self.next + count)
            .map(|domain| domain % count)
            .min_by_key(|domain| self.busy[*domain])
            .unwrap_or(0);
        self.next = (domain + 1) % count;
        domain
    }
}

/// Returns `true` for an error of only the connection that was about to be accepted. Such an error
/// says nothing about the next connection (accept(2)).
fn is_of_the_connection(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(
        Errno::from_io_error(error),
        Some(
            Errno::CONNABORTED
                | Errno::INTR
                | Errno::PROTO
                | Errno::PERM
                | Errno::NETDOWN
                | Errno::NOPROTOOPT
                | Errno::HOSTDOWN
                | Errno::HOSTUNREACH
                | Errno::NETUNREACH
                | Errno::OPNOTSUPP
                | Errno::NONET
        )
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_out_is_not_an_error_of_the_connection() {
        for code in [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE, rustix::io::Errno::NOMEM] {
            assert!(!is_of_the_connection(&code.into()));
        }
        assert!(is_of_the_connection(&rustix::io::Errno::CONNABORTED.into()));
    }
}
