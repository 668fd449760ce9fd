//! Case 20: messages are dropped exactly once, sent or not, in every interleaving.

use crate::support::{Cx, Random, scaled, worlds};
use lisle::channel::{Receiver, Sender, bounded};
use lisle::time::after;
use lisle::{Event, choose};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

worlds!(every_message_is_dropped_once, messages_left_in_a_buffer_are_dropped_once);

/// The messages that exist. It records a message that is dropped twice or was never made.
#[derive(Default)]
struct Ledger {
    state: Mutex<(u64, HashSet<u64>, usize)>,
}

struct Message {
    id: u64,
    /// Memory for an address sanitizer to check.
    body: Box<u64>,
    ledger: Arc<Ledger>,
}

impl Message {
    fn new(ledger: &Arc<Ledger>) -> Self {
        let (last, live, _) = &mut *ledger.state.lock().unwrap();
        *last += 1;
        live.insert(*last);
        Message { id: *last, body: Box::new(*last), ledger: ledger.clone() }
    }
}

impl Clone for Message {
    fn clone(&self) -> Self {
        Message::new(&self.ledger)
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        let (_, live, wrong) = &mut *self.ledger.state.lock().unwrap();
        if !live.remove(&self.id) || *self.body != self.id {
            *wrong += 1;
        }
    }
}

fn short(random: &mut Random) -> Duration {
    Duration::from_micros(random.below(200) as u64)
}

async fn send_somehow(cx: &Cx, tx: &Sender<Message>, ledger: &Arc<Ledger>, random: &mut Random) {
    let message = Message::new(ledger);
    match random.below(6) {
        0 => drop(cx.sync(tx.send_evt(message)).await),
        1 => drop(tx.try_send(message)),
        2 => drop(tx.send_timeout(message, short(random))),
        3 => {
            let timeout = after(short(random)).wrap(|()| Ok(()));
            drop(cx.sync(choose((tx.send_evt(message), timeout))).await);
        }
        4 => drop(cx.sync(tx.send_with_evt(|| Message::new(ledger))).await),
        _ => drop(tx.send_with_evt(|| Message::new(ledger)).poll()),
    }
}

async fn receive_somehow(cx: &Cx, rx: &Receiver<Message>, random: &mut Random) {
    match random.below(4) {
        0 => drop(cx.sync(rx.recv_evt()).await),
        1 => drop(rx.try_recv()),
        2 => drop(rx.recv_timeout(short(random))),
        _ => {
            let timeout = after(short(random)).wrap(|()| None);
            drop(
                cx.sync(choose((rx.recv_evt().wrap(Result::ok), timeout, rx.recv_evt().wrap(Result::ok))))
                    .await,
            );
        }
    }
}

async fn every_message_is_dropped_once(cx: Cx) {
    for round in 0..scaled(100, 12) {
        let ledger = Arc::new(Ledger::default());
        let (tx, rx) = bounded::<Message>([0, 1, 4][round % 3]);
        let senders = [0, 1, 2].map(|id| {
            let (tx, ledger) = (tx.clone(), ledger.clone());
            cx.spawn(move |cx| async move {
                let mut random = Random::new((round * 10 + id) as u64);
                while !tx.is_closed() {
                    send_somehow(&cx, &tx, &ledger, &mut random).await;
                }
            })
        });
        let receivers = [4, 5, 6].map(|id| {
            let rx = rx.clone();
            cx.spawn(move |cx| async move {
                let mut random = Random::new((round * 10 + id) as u64);
                while !rx.is_closed() {
                    receive_somehow(&cx, &rx, &mut random).await;
                }
            })
        });
        // The count of messages shows that enough has happened.
        cx.until(|| ledger.state.lock().unwrap().0 > 200).await;
        tx.close();
        cx.join_all(senders).await;
        cx.join_all(receivers).await;
        drop((tx, rx));
        let (_, live, wrong) = &*ledger.state.lock().unwrap();
        assert_eq!((live.len(), *wrong), (0, 0));
    }
}

async fn messages_left_in_a_buffer_are_dropped_once(cx: Cx) {
    let ledger = Arc::new(Ledger::default());
    let (tx, rx) = bounded(4);
    let sender = {
        let ledger = ledger.clone();
        cx.spawn(move |cx| async move {
            for _ in 0..6 {
                // The last two find no room, and come back when the receiver is dropped.
                drop(cx.sync(tx.send_evt(Message::new(&ledger))).await);
            }
            tx
        })
    };
    cx.until(|| rx.len() == 4).await;
    drop(rx);
    let tx = cx.join(sender).await;
    assert!(tx.is_empty(), "nobody is left to receive them");
    let (_, live, wrong) = &*ledger.state.lock().unwrap();
    assert_eq!((live.len(), *wrong), (0, 0));
}
