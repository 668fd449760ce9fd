//! Mailboxes: senders never wait anywhere, nothing is lost, and closed ends are values.

use crate::support::{Cx, Random, block_on, scaled, worlds};
use lisle::channel::{
    MailReceiver, MailSender, RecvError, RecvTimeoutError, SendError, TryRecvError, unbounded,
};
use lisle::event::guard;
use lisle::time::after;
use lisle::{Event, always, channel, choose, never};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

worlds!(
    messages_wait_for_a_receiver_in_order,
    receivers_are_served_in_order,
    it_sends_where_nobody_may_wait,
    a_loser_has_taken_nothing,
    dropped_futures_have_taken_nothing,
    every_waiting_receiver_learns_of_the_end,
    the_last_ends_close,
    a_close_that_races_with_messages_loses_none,
    messages_are_dropped_once,
    every_message_arrives_once,
);

/// Polls a future with a waker that does nothing.
fn polled<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

async fn messages_wait_for_a_receiver_in_order(cx: Cx) {
    let count = scaled(100_000, 10_000);
    let (tx, rx) = unbounded();
    assert!(tx.is_empty() && rx.is_empty());
    for i in 0..count {
        tx.send(i).unwrap();
    }
    assert_eq!((tx.len(), rx.len()), (count, count));
    for i in 0..count {
        let received = match i % 4 {
            0 => cx.sync(rx.recv_evt()).await,
            1 => Ok(rx.try_recv().unwrap()),
            2 => Ok(rx.recv_timeout(Duration::from_secs(3_600)).unwrap()),
            _ => cx.sync(choose((never(), rx.recv_evt()))).await,
        };
        assert_eq!(received, Ok(i));
    }
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(rx.recv_evt().poll(), None);
    if !cx.is_future() {
        assert_eq!(rx.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    }
    tx.send(1).unwrap();
    drop(tx);
    assert_eq!(rx.recv_timeout(Duration::ZERO), Ok(1));
    assert_eq!(rx.recv_timeout(Duration::from_secs(3_600)), Err(RecvTimeoutError::Closed));
}

async fn receivers_are_served_in_order(_: Cx) {
    let (tx, rx) = unbounded();
    let mut receivers: Vec<_> = (0..5).map(|_| Box::pin(rx.recv_evt().future())).collect();
    for receiver in &mut receivers {
        assert!(polled(receiver.as_mut()).is_pending());
    }
    for i in 0..6 {
        tx.send(i).unwrap();
    }
    assert_eq!(rx.len(), 1);
    for (i, receiver) in receivers.iter_mut().enumerate().rev() {
        assert_eq!(polled(receiver.as_mut()), Poll::Ready(Ok(i)));
    }
    assert_eq!(rx.try_recv(), Ok(5));
}

/// Sends in a destructor, in a destructor that a panic runs, in a guard, and in a wrap.
async fn it_sends_where_nobody_may_wait(cx: Cx) {
    struct Last(MailSender<&'static str>, &'static str);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.send(self.1).unwrap();
        }
    }
    let (tx, rx) = unbounded();
    drop(Last(tx.clone(), "dropped"));
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _last = Last(tx.clone(), "unwound");
        panic!("on purpose");
    }));
    assert!(unwound.is_err());
    let guarded = guard(|| {
        tx.send("guard").unwrap();
        always(()).wrap(|()| tx.send("wrap").unwrap())
    });
    cx.sync(choose((guarded, never()))).await;
    let performer = {
        let tx = tx.clone();
        cx.spawn(move |_| async move {
            let _last = Last(tx, "performer");
            panic!("on purpose");
        })
    };
    assert!(cx.join_caught::<()>(performer).await.is_err());
    for expected in ["dropped", "unwound", "guard", "wrap", "performer"] {
        assert_eq!(cx.sync(rx.recv_evt()).await, Ok(expected));
    }
}

async fn a_loser_has_taken_nothing(cx: Cx) {
    let (tx, rx) = unbounded();
    for i in 0..scaled(500, 100) {
        tx.send(i).unwrap();
        let won = cx.sync(choose((rx.recv_evt().wrap(Some), always(None)))).await;
        assert_eq!(won.unwrap_or_else(|| Ok(rx.try_recv().unwrap())), Ok(i));
        let timeout = after(Duration::from_micros(20)).wrap(|()| None);
        assert_eq!(cx.sync(choose((rx.recv_evt().wrap(Some), timeout))).await, None);
    }
}

async fn dropped_futures_have_taken_nothing(cx: Cx) {
    let (tx, rx) = unbounded();
    {
        let mut alone = pin!(rx.recv_evt().future());
        let mut chosen = pin!(choose((never(), rx.recv_evt())).future());
        assert!(polled(alone.as_mut()).is_pending());
        assert!(polled(chosen.as_mut()).is_pending());
    }
    tx.send(1).unwrap();
    assert_eq!(rx.len(), 1);
    assert_eq!(cx.sync(rx.recv_evt()).await, Ok(1));
    tx.send(2).unwrap();
    assert_eq!(block_on(async { rx.recv_evt().await }), Ok(2));
}

/// Case 48.
async fn every_waiting_receiver_learns_of_the_end(cx: Cx) {
    for by_receiver in [false, true] {
        let (tx, rx) = unbounded::<u32>();
        let (begin, begun) = channel::<()>();
        let waiting: Vec<_> = (0..6)
            .map(|i| {
                let (rx, begin) = (rx.clone(), begin.clone());
                cx.spawn(move |cx| async move {
                    cx.sync(begin.send_evt(())).await.unwrap();
                    match i % 2 {
                        0 => cx.sync(rx.recv_evt()).await,
                        _ => cx.sync(choose((rx.recv_evt(), never(), rx.recv_evt()))).await,
                    }
                })
            })
            .collect();
        for _ in &waiting {
            cx.sync(begun.recv_evt()).await.unwrap();
        }
        cx.yield_now().await;
        assert!(if by_receiver { rx.close() } else { tx.close() });
        assert!(!tx.close() && !rx.close());
        assert!(tx.is_closed() && rx.is_closed());
        assert!(cx.join_all(waiting).await.iter().all(|received| *received == Err(RecvError)));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
        assert_eq!(tx.send(1), Err(SendError(1)));
    }
}

async fn the_last_ends_close(cx: Cx) {
    let (tx, rx) = unbounded();
    let clone = tx.clone();
    clone.send(1).unwrap();
    drop(tx);
    assert!(!rx.is_closed());
    let receiver = cx.spawn(move |cx| async move {
        [cx.sync(rx.recv_evt()).await, cx.sync(rx.recv_evt()).await, cx.sync(rx.recv_evt()).await]
    });
    clone.send(2).unwrap();
    drop(clone);
    assert_eq!(cx.join(receiver).await, [Ok(1), Ok(2), Err(RecvError)]);

    let (tx, rx) = unbounded();
    let clone = rx.clone();
    drop(rx);
    tx.send(3).unwrap();
    drop(clone);
    assert_eq!(tx.send(4), Err(SendError(4)));
    assert_eq!(tx.len(), 0, "what nobody can receive is dropped");
}

async fn a_close_that_races_with_messages_loses_none(cx: Cx) {
    for round in 0..scaled(500, 60) {
        let (tx, rx) = unbounded();
        let senders = [0, 1].map(|_| {
            let tx = tx.clone();
            cx.spawn(move |cx| async move {
                let mut sent = 0;
                // Nothing slows the senders down, so they stop by themselves if the close is late.
                while sent < 300 && tx.send(()).is_ok() {
                    sent += 1;
                    cx.yield_now().await;
                }
                sent
            })
        });
        let closing = rx.clone();
        let receiver = cx.spawn(move |cx| async move {
            let mut received = 0;
            while cx.sync(rx.recv_evt()).await.is_ok() {
                received += 1;
            }
            received
        });
        for _ in 0..round % 7 {
            cx.yield_now().await;
        }
        closing.close();
        let sent: usize = cx.join_all(senders).await.iter().sum();
        assert_eq!(cx.join(receiver).await, sent);
    }
}

/// The messages are received, refused, granted to a future that is dropped, or left behind.
async fn messages_are_dropped_once(_: Cx) {
    let token = Arc::new(());
    let (tx, rx) = unbounded();
    for _ in 0..100 {
        tx.send(token.clone()).unwrap();
    }
    drop(rx.iter().take(10).collect::<Vec<_>>());
    assert_eq!(Arc::strong_count(&token), 91);
    drop(rx.clone());
    assert_eq!(Arc::strong_count(&token), 91, "a receiver is left");
    drop(rx);
    assert_eq!(Arc::strong_count(&token), 1);
    drop(tx.send(token.clone()));
    assert_eq!(Arc::strong_count(&token), 1);

    let (tx, rx) = unbounded();
    {
        let mut granted = pin!(rx.recv_evt().future());
        assert!(polled(granted.as_mut()).is_pending());
        tx.send(token.clone()).unwrap();
        assert_eq!((rx.len(), Arc::strong_count(&token)), (0, 2));
    }
    assert_eq!(Arc::strong_count(&token), 1);
}

/// All performers send to all. Each sent message has been received exactly once or is still there.
/// Messages from one sender to one receiver come in order.
async fn every_message_arrives_once(cx: Cx) {
    let mailboxes: Arc<[(MailSender<u64>, MailReceiver<u64>)]> = [(); 3].map(|()| unbounded()).into();
    let performers: Vec<_> = (0..8_u64)
        .map(|id| {
            let mailboxes = mailboxes.clone();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(id + 17);
                let (mut sent, mut received) = (Vec::new(), Vec::new());
                let mut last = [[0; 8]; 3];
                for round in 1..=scaled(10_000, 1_000) as u64 {
                    let (tx, _) = &mailboxes[random.below(3)];
                    if random.below(2) == 0 {
                        let message = round * 8 + id;
                        tx.send(message).unwrap();
                        sent.push(message);
                        continue;
                    }
                    let mut arms: Vec<_> = (0..1 + random.below(3))
                        .map(|_| {
                            let i = random.below(3);
                            mailboxes[i].1.recv_evt().wrap(move |message| Some((i, message.unwrap()))).boxed()
                        })
                        .collect();
                    arms.push(after(Duration::from_micros(100)).wrap(|()| None).boxed());
                    let outcome = match random.below(4) {
                        0 => choose(arms).poll().flatten(),
                        _ => cx.sync(choose(arms)).await,
                    };
                    if let Some((mailbox, message)) = outcome {
                        let last = &mut last[mailbox][(message % 8) as usize];
                        assert!(*last < message, "the messages of one sender have changed places");
                        *last = message;
                        received.push(message);
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
    for (_, rx) in &*mailboxes {
        received.extend(std::iter::from_fn(|| rx.try_recv().ok()));
    }
    sent.sort_unstable();
    received.sort_unstable();
    assert!(sent == received, "sent {}, received {}", sent.len(), received.len());
    assert!(!sent.is_empty());
}
