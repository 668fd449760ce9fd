//! Messages, counted: whatever is cancelled, dropped or timed out at whatever moment, each is
//! somewhere, and once.
//!
//! A choice between several things loses nothing. A dropped future may drop a message, if a sender
//! on another thread has handed it over and the executor has not polled again: the future had the
//! value, like a function that has returned. Where nothing runs between the last poll and the drop
//! there is no such moment, so on a current-thread runtime a dropped future has received nothing.

use crate::support::{Cx, Task, executors, runtime, scaled, vary};
use crate::watch::watched;
use futures::future::{Either, select};
use lisle::channel::{Receiver, Sender, bounded};
use lisle::time::after;
use lisle::{Event, channel, choose};
use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

executors!(
    messages_are_dropped_once,
    timeouts_by_choice_lose_nothing,
    a_dropped_receive_drops_what_it_was_given,
    a_dropped_send_has_sent_or_not,
    cancelled_tasks_conserve_messages,
);

/// The fates of the messages of a test.
#[derive(Debug, Default)]
struct Ledger {
    made: AtomicUsize,
    dropped: AtomicUsize,
}

/// A message that says so when it is made, cloned, and dropped.
#[derive(Debug)]
struct Message {
    id: usize,
    ledger: Arc<Ledger>,
}

impl Message {
    fn new(id: usize, ledger: &Arc<Ledger>) -> Self {
        ledger.made.fetch_add(1, Ordering::Relaxed);
        Message { id, ledger: ledger.clone() }
    }
}

impl Clone for Message {
    fn clone(&self) -> Self {
        Message::new(self.id, &self.ledger)
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        self.ledger.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

impl Ledger {
    fn is_even(&self) -> bool {
        self.made.load(Ordering::SeqCst) == self.dropped.load(Ordering::SeqCst)
    }
}

/// A moment of random length, a few turns of the executor or a bit of time.
async fn a_moment(cx: Cx) {
    match vary(16) {
        0 => cx.sleep(Duration::from_micros(vary(300) as u64)).await,
        turns => {
            for _ in 0..turns / 2 {
                cx.yield_now().await;
            }
        }
    }
}

/// `future`'s value, unless a moment is over before: then the future is dropped.
async fn for_a_moment<F: Future>(cx: Cx, future: F) -> Option<F::Output> {
    match select(pin!(future), pin!(a_moment(cx))).await {
        Either::Left((value, _)) => Some(value),
        Either::Right(_) => None,
    }
}

/// Case 20.
async fn messages_are_dropped_once(cx: Cx) {
    let ledger = Arc::new(Ledger::default());
    for capacity in [0, 1, 4] {
        let (tx, rx) = if capacity == 0 { channel() } else { bounded(capacity) };
        let tasks = (0..6).map(|id| {
            let (tx, rx, ledger): (Sender<Message>, Receiver<Message>, _) =
                (tx.clone(), rx.clone(), ledger.clone());
            cx.spawn(async move {
                for round in 0..scaled(1_000, 100) {
                    match vary(6) {
                        0 => drop(tx.try_send(Message::new(round, &ledger))),
                        1 => drop(for_a_moment(cx, tx.send_evt(Message::new(round, &ledger)).future()).await),
                        2 => drop(
                            for_a_moment(cx, tx.send_with_evt(|| Message::new(round, &ledger)).future())
                                .await,
                        ),
                        3 => drop(rx.try_recv()),
                        4 => drop(for_a_moment(cx, rx.recv_evt().future()).await),
                        _ => lisle::select! {
                            await;
                            _ = tx.send_evt(Message::new(id, &ledger)) => (),
                            _ = rx.recv_evt() => (),
                            () = after(Duration::from_micros(100)) => (),
                        },
                    }
                }
            })
        });
        let tasks: Vec<_> = tasks.collect();
        cx.join_all(tasks).await;
        drop((tx, rx));
        assert!(ledger.is_even(), "{ledger:?}");
    }
}

/// Starts senders of `count` messages in all, which close the channel by their end.
fn senders(cx: Cx, tx: &Sender<Message>, ledger: &Arc<Ledger>, count: usize) -> Vec<Task<()>> {
    let each = count / 4;
    (0..4)
        .map(|sender| {
            let (tx, ledger) = (tx.clone(), ledger.clone());
            cx.spawn(async move {
                for n in 0..each {
                    tx.send_evt(Message::new(sender * each + n, &ledger)).await.unwrap();
                    if n % 7 == 0 {
                        a_moment(cx).await;
                    }
                }
            })
        })
        .collect()
}

/// Case 16, by messages: every timeout loses, or takes nothing.
async fn timeouts_by_choice_lose_nothing(cx: Cx) {
    let count = scaled(40_000, 4_000);
    let ledger = Arc::new(Ledger::default());
    let (tx, rx) = channel::<Message>();
    let senders = senders(cx, &tx, &ledger, count);
    drop(tx);
    let receivers = [(); 4].map(|()| {
        let rx = rx.clone();
        cx.spawn(async move {
            let (mut ids, mut timeouts) = (Vec::new(), 0);
            loop {
                lisle::select! {
                    await;
                    message = rx.recv_evt() => match message {
                        Ok(message) => ids.push(message.id),
                        Err(_) => return (ids, timeouts),
                    },
                    () = after(Duration::from_micros(vary(50) as u64)) => timeouts += 1,
                }
            }
        })
    });
    let received = cx.join_all(receivers).await;
    cx.join_all(senders).await;
    let mut ids: Vec<_> = received.iter().flat_map(|(ids, _)| ids).copied().collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..count).collect::<Vec<_>>());
    assert!(received.iter().any(|(_, timeouts)| *timeouts > 0), "no timeout was ever first");
    assert!(ledger.is_even(), "{ledger:?}");
}

/// Every message that was sent is received, or was dropped with a future.
async fn a_dropped_receive_drops_what_it_was_given(cx: Cx) {
    let count = scaled(40_000, 4_000);
    let ledger = Arc::new(Ledger::default());
    let (tx, rx) = channel::<Message>();
    let senders = senders(cx, &tx, &ledger, count);
    drop(tx);
    let receivers = [(); 4].map(|()| {
        let rx = rx.clone();
        cx.spawn(async move {
            let (mut ids, mut dropped) = (Vec::new(), 0);
            loop {
                match for_a_moment(cx, rx.recv_evt().future()).await {
                    Some(Ok(message)) => ids.push(message.id),
                    Some(Err(_)) => return (ids, dropped),
                    None => dropped += 1,
                }
            }
        })
    });
    let received = cx.join_all(receivers).await;
    // No sender has lost its message to nobody: each was told that it was taken.
    cx.join_all(senders).await;
    let dropped: usize = received.iter().map(|(_, dropped)| dropped).sum();
    let ids: Vec<_> = received.iter().flat_map(|(ids, _)| ids).copied().collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "a message was received twice");
    assert!(ids.len() <= count && ids.len() + dropped >= count, "lost by no dropped future");
    assert!(dropped > 0, "no future was ever dropped");
    if cx.is_single_threaded() {
        assert_eq!(ids.len(), count, "nothing can happen between a poll and a drop");
    }
    assert!(ledger.is_even(), "{ledger:?}");
}

/// Whether a dropped send has sent is not known to the sender, but it is one of the two.
async fn a_dropped_send_has_sent_or_not(cx: Cx) {
    let count = scaled(20_000, 2_000);
    let ledger = Arc::new(Ledger::default());
    let (tx, rx) = channel::<Message>();
    let senders = [0, 1].map(|sender| {
        let (tx, ledger) = (tx.clone(), ledger.clone());
        cx.spawn(async move {
            let mut sent = HashSet::new();
            for n in 0..count {
                let id = 2 * n + sender;
                if for_a_moment(cx, tx.send_evt(Message::new(id, &ledger)).future()).await.is_some() {
                    sent.insert(id);
                }
            }
            sent
        })
    });
    drop(tx);
    let mut received = HashSet::new();
    while let Ok(message) = rx.recv_evt().await {
        assert!(received.insert(message.id), "received twice");
        if vary(3) == 0 {
            a_moment(cx).await;
        }
    }
    let sent: HashSet<_> = cx.join_all(senders).await.into_iter().flatten().collect();
    assert!(sent.is_subset(&received), "sent, and not received");
    if cx.is_single_threaded() {
        assert_eq!(sent, received, "nothing can happen between a poll and a drop");
    }
    assert!(ledger.is_even(), "{ledger:?}");
}

/// Whole tasks are cancelled, in the middle of whatever they do.
async fn cancelled_tasks_conserve_messages(cx: Cx) {
    let ledger = Arc::new(Ledger::default());
    let (tx, rx) = bounded::<Message>(2);
    let received = Arc::new(AtomicUsize::new(0));
    for round in 0..scaled(2_000, 200) {
        let tasks: Vec<_> = (0..4)
            .map(|task| {
                let (tx, rx, ledger, received) = (tx.clone(), rx.clone(), ledger.clone(), received.clone());
                cx.spawn(async move {
                    loop {
                        match task % 2 {
                            0 => tx.send_evt(Message::new(round, &ledger)).await.unwrap(),
                            _ => {
                                choose((rx.recv_evt(), rx.recv_evt())).await.unwrap();
                                received.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        // A task can be cancelled where it is pending, and events that are ready
                        // are not.
                        if vary(8) == 0 {
                            cx.yield_now().await;
                        }
                    }
                })
            })
            .collect();
        a_moment(cx).await;
        for task in tasks {
            let none: Option<()> = task.cancel().await;
            assert!(none.is_none());
        }
    }
    assert!(received.load(Ordering::Relaxed) > 0, "no task has ever received");
    drop((tx, rx));
    assert!(ledger.is_even(), "{ledger:?}");
}

/// tokio's own timeout around an event's future, thousands of times, on one thread: in order, none
/// missing. Each side stops now and then until the other's timeout has been over once more.
#[test]
fn tokios_timeout_loses_nothing_on_one_thread() {
    async fn one_more(timeouts: &AtomicUsize) {
        let before = timeouts.load(Ordering::Relaxed);
        while timeouts.load(Ordering::Relaxed) == before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    let _watched = watched();
    let count = scaled(8_000, 2_000);
    let patience = || Duration::from_micros(vary(1_500) as u64);
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
        let (tx, rx) = channel::<usize>();
        let timeouts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let sender = {
            let timeouts = timeouts.clone();
            tokio::spawn(async move {
                for n in 0..count {
                    while tokio::time::timeout(patience(), tx.send_evt(n)).await.is_err() {
                        timeouts[0].fetch_add(1, Ordering::Relaxed); // it has not been sent
                    }
                    if n % 64 == 0 {
                        one_more(&timeouts[1]).await;
                    }
                }
            })
        };
        let mut expected = 0;
        loop {
            match tokio::time::timeout(patience(), rx.recv_evt()).await {
                Ok(Ok(n)) => {
                    assert_eq!(n, expected);
                    expected += 1;
                    if n % 64 == 32 {
                        one_more(&timeouts[0]).await;
                    }
                }
                Ok(Err(_)) => break,
                Err(_) => drop(timeouts[1].fetch_add(1, Ordering::Relaxed)),
            }
        }
        assert_eq!(expected, count);
        sender.await.unwrap();
    });
}

/// The same on two workers, with a choice in the place of the future that may be dropped after its
/// commit.
#[test]
fn a_timeout_of_tokios_may_be_chosen_without_loss() {
    let _watched = watched();
    let count = scaled(8_000, 2_000);
    runtime(2).block_on(async {
        let (tx, rx) = channel::<usize>();
        let (tick, ticks) = bounded::<()>(1);
        let ticker = tokio::spawn(async move {
            let mut interval = tokio::time::interval(Duration::from_millis(1));
            while tick.send_evt(()).await.is_ok() {
                interval.tick().await;
            }
        });
        let sender = tokio::spawn(async move {
            for n in 0..count {
                tx.send_evt(n).await.unwrap();
                if n % 64 == 0 {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            }
        });
        let (mut expected, mut ticked) = (0, 0);
        loop {
            lisle::select! {
                await;
                message = rx.recv_evt() => match message {
                    Ok(n) => {
                        assert_eq!(n, expected);
                        expected += 1;
                    }
                    Err(_) => break,
                },
                _ = ticks.recv_evt() => ticked += 1,
            }
        }
        assert_eq!(expected, count);
        assert!(ticked > 0);
        drop(ticks);
        sender.await.unwrap();
        ticker.await.unwrap();
    });
}
