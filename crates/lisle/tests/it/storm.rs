//! All against all: performers of every kind, on channels of every kind, with choices of random
//! arms. In the end each sent message has been received exactly once, or is still buffered.

use crate::support::{Cx, Random, scaled, worlds};
use lisle::channel::{Receiver, Sender, bounded};
use lisle::event::BoxEvent;
use lisle::time::after;
use lisle::{Event, choose};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

worlds!(every_message_arrives_once);

const CAPACITIES: [usize; 4] = [0, 0, 1, 5];
const PERFORMERS: u64 = 8;

type Channel = (Sender<u64>, Receiver<u64>);

#[derive(Clone, Copy)]
enum Outcome {
    Sent(u64),
    Received(u64),
    Nothing,
}

/// Returns one arm of a choice: any operation on any channel.
fn arm<'a>(
    channels: &'a [Channel],
    random: &mut Random,
    fresh: &'a (impl Fn() -> u64 + Sync),
) -> BoxEvent<'a, Outcome> {
    let (tx, rx) = &channels[random.below(channels.len())];
    match random.below(7) {
        0..=2 => rx.recv_evt().wrap(|received| Outcome::Received(received.unwrap())).boxed(),
        3 | 4 => {
            let message = fresh();
            tx.send_evt(message).wrap(move |sent| (sent.unwrap(), Outcome::Sent(message)).1).boxed()
        }
        5 => {
            let made = AtomicU64::new(0);
            let made = Arc::new(made);
            let of_maker = made.clone();
            let make = move || {
                let message = fresh();
                of_maker.store(message, Ordering::Relaxed);
                message
            };
            let sent = move |sent: Result<(), _>| {
                assert!(sent.is_ok());
                Outcome::Sent(made.load(Ordering::Relaxed))
            };
            tx.send_with_evt(make).wrap(sent).boxed()
        }
        _ => {
            let wait = Duration::from_micros(random.below(200) as u64);
            after(wait).wrap(|()| Outcome::Nothing).boxed()
        }
    }
}

async fn every_message_arrives_once(cx: Cx) {
    let rounds = scaled(10_000, 1_000);
    let channels: Arc<[Channel]> = CAPACITIES.map(bounded).into();
    let performers: Vec<_> = (0..PERFORMERS)
        .map(|id| {
            let channels = channels.clone();
            cx.spawn(move |cx| async move {
                let counter = AtomicU64::new(id);
                let fresh = || counter.fetch_add(PERFORMERS, Ordering::Relaxed);
                let mut random = Random::new(id + 7);
                let (mut sent, mut received) = (Vec::new(), Vec::new());
                for _ in 0..rounds {
                    let mut arms: Vec<_> =
                        (0..random.below(5)).map(|_| arm(&channels, &mut random, &fresh)).collect();
                    // A performer that finds no partner any more continues.
                    arms.push(after(Duration::from_millis(1)).wrap(|()| Outcome::Nothing).boxed());
                    let outcome = match random.below(4) {
                        0 => choose(arms).poll().unwrap_or(Outcome::Nothing),
                        _ => cx.sync(choose(arms)).await,
                    };
                    match outcome {
                        Outcome::Sent(message) => sent.push(message),
                        Outcome::Received(message) => received.push(message),
                        Outcome::Nothing => {}
                    }
                }
                (sent, received)
            })
        })
        .collect();
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    for (its_sent, its_received) in cx.join_all(performers).await {
        sent.extend(its_sent);
        received.extend(its_received);
    }
    for (_, rx) in &*channels {
        received.extend(std::iter::from_fn(|| rx.try_recv().ok()));
    }
    sent.sort_unstable();
    received.sort_unstable();
    assert!(sent == received, "sent {}, received {}", sent.len(), received.len());
    assert!(!sent.is_empty());
}
