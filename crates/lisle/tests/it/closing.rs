//! A channel that closes while performers wait: all of them learn it, none hangs, and nothing is
//! lost.

use crate::support::{Cx, scaled, worlds};
use lisle::channel::{RecvError, SendError, SendWithError, TryRecvError, TrySendError, bounded};
use lisle::{Event, channel, choose, never};

worlds!(
    every_waiting_receiver_learns_it,
    every_waiting_sender_gets_its_message_back,
    dropping_the_last_end_closes,
    what_is_buffered_outlives_the_senders,
    a_close_that_races_with_messages_loses_none,
    closing_twice_says_so,
);

/// Case 48: plain receivers, and receivers in choices.
async fn every_waiting_receiver_learns_it(cx: Cx) {
    for capacity in [0, 2] {
        let (tx, rx) = bounded::<u32>(capacity);
        let waiting: Vec<_> = (0..6)
            .map(|i| {
                let rx = rx.clone();
                cx.spawn(move |cx| async move {
                    match i % 2 {
                        0 => cx.sync(rx.recv_evt()).await,
                        _ => cx.sync(choose((rx.recv_evt(), never(), rx.recv_evt()))).await,
                    }
                })
            })
            .collect();
        cx.yield_now().await;
        assert!(tx.close());
        assert!(cx.join_all(waiting).await.iter().all(|received| *received == Err(RecvError)));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    }
}

/// Case 48, from the other side, also with senders that would have made their message.
async fn every_waiting_sender_gets_its_message_back(cx: Cx) {
    for capacity in [0, 1] {
        let (tx, rx) = bounded::<u32>(capacity);
        for message in 0..capacity as u32 {
            tx.try_send(message).unwrap();
        }
        let waiting: Vec<_> = (0..6)
            .map(|i| {
                let tx = tx.clone();
                cx.spawn(move |cx| async move {
                    let make = tx.send_with_evt(|| unreachable!("nobody receives"));
                    match i % 3 {
                        0 => cx.sync(tx.send_evt(i)).await,
                        1 => cx.sync(choose((tx.send_evt(i), never()))).await,
                        _ => cx.sync(choose((never(), make))).await.map_err(|refused| {
                            assert_eq!(refused, SendWithError::Closed(None));
                            SendError(i)
                        }),
                    }
                })
            })
            .collect();
        cx.yield_now().await;
        assert!(rx.close());
        for (i, outcome) in cx.join_all(waiting).await.into_iter().enumerate() {
            assert_eq!(outcome, Err(SendError(i as u32)));
        }
        assert_eq!(tx.try_send(9), Err(TrySendError::Closed(9)));
        for message in 0..capacity as u32 {
            assert_eq!(rx.try_recv(), Ok(message), "what was buffered can still be received");
        }
        assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    }
}

async fn dropping_the_last_end_closes(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let clone = tx.clone();
    let receiver = cx.spawn(move |cx| async move { cx.sync(rx.recv_evt()).await });
    drop(tx);
    assert!(!clone.is_closed());
    drop(clone);
    assert_eq!(cx.join(receiver).await, Err(RecvError));

    let (tx, rx) = channel::<u32>();
    let clone = rx.clone();
    let sender = cx.spawn(move |cx| async move { cx.sync(tx.send_evt(1)).await });
    drop(rx);
    assert!(!clone.is_closed());
    drop(clone);
    assert_eq!(cx.join(sender).await, Err(SendError(1)));
}

async fn what_is_buffered_outlives_the_senders(cx: Cx) {
    let (tx, rx) = bounded::<u32>(8);
    let sender = cx.spawn(move |cx| async move {
        for i in 0..8 {
            cx.sync(tx.send_evt(i)).await.unwrap();
        }
    });
    cx.join(sender).await;
    for i in 0..8 {
        assert_eq!(cx.sync(rx.recv_evt()).await, Ok(i));
    }
    assert_eq!(cx.sync(rx.recv_evt()).await, Err(RecvError));
}

/// Each send either succeeded or was refused, and both sides agree which.
async fn a_close_that_races_with_messages_loses_none(cx: Cx) {
    for round in 0..scaled(500, 60) {
        let (tx, rx) = bounded::<u32>(round % 3);
        let senders = [0, 1].map(|id| {
            let tx = tx.clone();
            cx.spawn(move |cx| async move {
                let mut sent = 0;
                loop {
                    let outcome = match id {
                        0 => cx.sync(tx.send_evt(0)).await.is_ok(),
                        _ => cx.sync(choose((tx.send_with_evt(|| 1), never()))).await.is_ok(),
                    };
                    if !outcome {
                        return sent;
                    }
                    sent += 1;
                }
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

async fn closing_twice_says_so(_: Cx) {
    let (tx, rx) = channel::<u32>();
    assert!(tx.close());
    assert!(!rx.close());
    assert!(rx.is_closed() && tx.is_closed());
    assert_eq!(tx.send_evt(1).poll(), Some(Err(SendError(1))));
    assert_eq!(rx.recv_evt().poll(), Some(Err(RecvError)));
}
