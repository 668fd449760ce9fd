//! Tasks of two executors, fibers and plain threads on one channel.

use crate::support::{runtime, scaled};
use crate::watch::watched;
use lisle::channel::{Receiver, Sender};
use lisle::event::{Nack, with_nack};
use lisle::time::after;
use lisle::{Event, Runtime, channel, choose, never};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

/// One performer of each kind.
struct Worlds {
    fibers: Runtime,
    tokio: tokio::runtime::Runtime,
}

/// How a performer waits.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Fiber,
    Thread,
    Tokio,
    Smol,
}

const KINDS: [Kind; 4] = [Kind::Fiber, Kind::Thread, Kind::Tokio, Kind::Smol];

impl Kind {
    /// Performs `event` as this kind does. The future's type is hidden, or the compiler would have
    /// to show for every spawned one that its bounds hold whatever the lifetimes in `E`
    /// (rust-lang/rust#110338).
    fn sync<'a, E: Event + Send + 'a>(
        self,
        event: E,
    ) -> Pin<Box<dyn Future<Output = E::Output> + Send + 'a>> {
        match self {
            Kind::Fiber | Kind::Thread => Box::pin(async move { event.sync() }),
            Kind::Tokio | Kind::Smol => Box::pin(event.future()),
        }
    }
}

/// Runs a future that never suspends, since it waits in place.
fn at_once<F: Future>(future: F) -> F::Output {
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("it waits in place"),
    }
}

impl Worlds {
    fn new() -> Self {
        let fibers = Runtime::builder().domains(2).stall_report(None).start().unwrap();
        Worlds { fibers, tokio: runtime(2) }
    }

    /// Starts a performer, and returns a receiver of its value.
    fn spawn<F, T>(&self, kind: Kind, performer: F) -> Receiver<T>
    where
        F: Future<Output = T> + Send + 'static,
        T: Clone + Send + 'static,
    {
        let (tx, rx) = lisle::channel::bounded(1);
        let run = async move { tx.try_send(performer.await).map_err(drop).expect("there is room") };
        match kind {
            Kind::Fiber => drop(self.fibers.spawn(move || at_once(run))),
            Kind::Thread => drop(thread::spawn(move || at_once(run))),
            Kind::Tokio => drop(self.tokio.spawn(run)),
            Kind::Smol => smol::spawn(run).detach(),
        }
        rx
    }
}

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

#[test]
fn all_kinds_meet_on_one_channel() {
    let _watched = watched();
    let each = scaled(20_000, 2_000);
    let worlds = Worlds::new();
    let (tx, rx) = channel::<usize>();
    let senders: Vec<_> = (0..8)
        .map(|performer| {
            let (kind, tx) = (KINDS[performer % 4], tx.clone());
            let send: Boxed<()> = Box::pin(async move {
                for n in 0..each {
                    kind.sync(tx.send_evt(performer * each + n)).await.unwrap();
                }
            });
            worlds.spawn(kind, send)
        })
        .collect();
    let receivers: Vec<_> = (0..8)
        .map(|performer| {
            let (kind, rx) = (KINDS[performer / 2], rx.clone());
            let receive: Boxed<Vec<usize>> = Box::pin(async move {
                let mut got = Vec::new();
                while let Ok(n) = kind.sync(rx.recv_evt()).await {
                    got.push(n);
                }
                got
            });
            worlds.spawn(kind, receive)
        })
        .collect();
    drop((tx, rx));
    for sender in senders {
        sender.recv().unwrap();
    }
    let mut all: Vec<_> = receivers.iter().flat_map(|receiver| receiver.recv().unwrap()).collect();
    all.sort_unstable();
    assert_eq!(all, (0..8 * each).collect::<Vec<_>>());
    assert!(worlds.fibers.shutdown(Duration::from_secs(60)).is_clean());
}

/// All offer and ask at once; a performer that is left over when the others have ended gives up by
/// timeout.
#[test]
fn all_kinds_exchange_with_each_other() {
    fn exchange(
        kind: Kind,
        (tx, rx): (Sender<usize>, Receiver<usize>),
        id: usize,
        rounds: usize,
    ) -> Boxed<(usize, usize)> {
        Box::pin(async move {
            let (mut sent, mut received) = (0, 0);
            while sent + received < rounds {
                let event = choose((
                    rx.recv_evt().wrap(|got| Some(Some(got.unwrap()))),
                    tx.send_evt(id).wrap(|_| Some(None)),
                    after(Duration::from_millis(200)).wrap(|()| None),
                ));
                match kind.sync(event).await {
                    Some(Some(got)) => {
                        assert_ne!(got, id, "received its own");
                        received += 1;
                    }
                    Some(None) => sent += 1,
                    None => break,
                }
            }
            (sent, received)
        })
    }
    let _watched = watched();
    let worlds = Worlds::new();
    let ends = channel::<usize>();
    let rounds = scaled(20_000, 2_000);
    let performers: Vec<_> = (0..8)
        .map(|id| worlds.spawn(KINDS[id % 4], exchange(KINDS[id % 4], ends.clone(), id, rounds)))
        .collect();
    let counts: Vec<_> = performers.iter().map(|performer| performer.recv().unwrap()).collect();
    let (sent, received) = counts.iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    assert_eq!(sent, received, "{counts:?}");
    assert!(sent >= rounds, "{counts:?}");
    assert!(worlds.fibers.shutdown(Duration::from_secs(60)).is_clean());
}

/// A server of each kind learns that clients of each kind have gone, or have taken their answer.
#[test]
fn nacks_cross_worlds() {
    type Request = (Sender<usize>, Nack);
    fn serve(kind: Kind, requests: Receiver<Request>) -> Boxed<usize> {
        Box::pin(async move {
            let mut served = 0;
            while let Ok((reply, nack)) = kind.sync(requests.recv_evt()).await {
                let reply = choose((reply.send_evt(7).wrap(|sent| sent.is_ok()), nack.wrap(|()| false)));
                served += usize::from(kind.sync(reply).await);
            }
            served
        })
    }
    fn ask(kind: Kind, requests: Sender<Request>, patient: bool) -> Boxed<bool> {
        Box::pin(async move {
            let (reply, replies) = channel::<usize>();
            let request = with_nack(|nack| {
                requests.try_send((reply.clone(), nack)).expect("there is room for all");
                replies.recv_evt()
            });
            let alternative = match patient {
                true => never().boxed(),
                false => after(Duration::ZERO).boxed(),
            };
            kind.sync(choose((request.wrap(|answer| answer == Ok(7)), alternative.wrap(|()| false)))).await
        })
    }
    let _watched = watched();
    let worlds = Worlds::new();
    let clients = scaled(1_000, 100);
    for server in KINDS {
        let (requests, requested) = lisle::channel::bounded(4 * clients);
        let server = worlds.spawn(server, serve(server, requested));
        let asked: Vec<_> = (0..4 * clients)
            .map(|n| worlds.spawn(KINDS[n % 4], ask(KINDS[n % 4], requests.clone(), n % 3 == 0)))
            .collect();
        drop(requests);
        let answered = asked.iter().filter(|asked| asked.recv().unwrap()).count();
        assert_eq!(server.recv(), Ok(answered));
        assert!(answered >= 4 * clients / 3);
    }
    assert!(worlds.fibers.shutdown(Duration::from_secs(60)).is_clean());
}
