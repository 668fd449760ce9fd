//! A swap channel that survives its clients: two clients that meet exchange their values, both or
//! neither.
//!
//! Run it with `cargo run -p lisle --example swap_channel`.
//!
//! After the first example of Flatt and Findler, *Kill-safe synchronization abstractions* (PLDI
//! 2004). There, a client that goes away at the wrong moment may leave its partner's value without
//! a receiver. Here, the manager lets the first client commit *while its answer is still being
//! made*, and makes that answer only if the second client takes its own. If the second client does
//! not, the first continues to wait as before.

use lisle::kill_safe::{self, ClientGone, Reply, Request, Requests, Server, ServerGone};
use lisle::time::{after, sleep};
use lisle::{Event, choose};
use std::panic::resume_unwind;
use std::time::Duration;

/// A handle to the channel. Clones share the channel.
#[derive(Clone)]
pub(crate) struct SwapChannel<T> {
    server: Server<T, T>,
}

impl<T: Clone + Send + 'static> SwapChannel<T> {
    pub(crate) fn new() -> Self {
        SwapChannel { server: kill_safe::start(manage) }
    }

    /// Returns the event of giving `value` away and getting another value.
    pub(crate) fn swap_evt(&self, value: T) -> impl Event<Output = Result<T, ServerGone>> + '_ {
        self.server.request_evt(value)
    }
}

fn manage<T: Clone + Send>(requests: Requests<T, T>) {
    let mut first = None;
    while let Some((one, other)) = pair(&requests, &mut first) {
        first = swap(one, other);
    }
}

/// Waits until there are two clients. One of them may be there already. Returns `None` if there
/// will be no more.
fn pair<T: Clone + Send>(
    requests: &Requests<T, T>,
    first: &mut Option<Request<T, T>>,
) -> Option<(Request<T, T>, Request<T, T>)> {
    enum Step<T> {
        Next(Option<Request<T, T>>),
        Gone,
    }
    loop {
        let gone = first.as_ref().map(|first| first.reply().gone_evt().wrap(|()| Step::Gone));
        match choose((gone, requests.next_evt().wrap(Step::Next))).sync() {
            Step::Gone => *first = None,
            Step::Next(None) => return None,
            Step::Next(Some(next)) => match first.take() {
                Some(first) => return Some((first, next)),
                None => *first = Some(next),
            },
        }
    }
}

/// Lets two clients exchange their values. If one of them has gone away, returns the other.
fn swap<T: Clone + Send>(one: Request<T, T>, other: Request<T, T>) -> Option<Request<T, T>> {
    // The two swap roles, so the client that was not ready is then waited for.
    let (mut one, mut other) = (one, other);
    loop {
        match swap_now(&one, &other) {
            Swapped::Both => return None,
            Swapped::OneGone => return Some(other),
            Swapped::OtherGone => return Some(one),
            Swapped::OtherAbsent => std::mem::swap(&mut one, &mut other),
        }
    }
}

#[derive(Clone, Copy)]
enum Swapped {
    Both,
    OneGone,
    OtherGone,
    /// The other client does not wait for its answer yet: it is still preparing its choice.
    OtherAbsent,
}

/// The reason why the answer cannot be made.
struct NoAnswer(Swapped);

fn swap_now<T: Clone + Send>(one: &Request<T, T>, other: &Request<T, T>) -> Swapped {
    let refuse = |reason| resume_unwind(Box::new(NoAnswer(reason)));
    let exchange = |reply: &Reply<T>| {
        reply
            .offer_with_evt(|| match other.reply().offer_evt(one.arg().clone()).poll() {
                Some(Ok(())) => other.arg().clone(),
                Some(Err(_)) => refuse(Swapped::OtherGone),
                None => refuse(Swapped::OtherAbsent),
            })
            .wrap(|offered| match offered {
                Ok(()) => Swapped::Both,
                // Its future was dropped between its commit and its next poll. The other client has
                // swapped.
                Err(ClientGone(Some(_))) => Swapped::Both,
                Err(ClientGone(None)) => Swapped::OneGone,
            })
            .wrap_panic(|panic| match panic.downcast::<NoAnswer>() {
                Ok(reason) => reason.0,
                Err(panic) => resume_unwind(panic),
            })
            .sync()
    };
    exchange(one.reply())
}

fn main() {
    lisle::run(|| {
        let channel = SwapChannel::new();
        let peers: Vec<_> = ["tea", "coffee"]
            .map(|drink| {
                let channel = channel.clone();
                lisle::spawn(move || println!("{drink} for {}", channel.swap_evt(drink).sync().unwrap()))
            })
            .into();
        for peer in peers {
            peer.join().unwrap();
        }

        // A client that gives up has given nothing away: the next two clients meet each other.
        let impatient =
            choose((channel.swap_evt("water").wrap(Some), after(Duration::from_millis(5)).wrap(|()| None)));
        assert_eq!(impatient.sync(), None);
        let other = channel.clone();
        let peer = lisle::spawn(move || other.swap_evt("juice").sync());
        sleep(Duration::from_millis(1));
        assert_eq!(channel.swap_evt("milk").sync(), Ok("juice"));
        assert_eq!(peer.join().unwrap(), Ok("milk"));
        println!("water was not swapped");
    });
}
