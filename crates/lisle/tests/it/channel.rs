//! Sending and receiving: operations that succeed, operations that fail, and the state after a
//! performer is cancelled.

use crate::support::{Cx, scaled, worlds};
use lisle::channel::{RecvError, RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError, bounded};
use lisle::{Event, channel, choose};
use std::time::Duration;

worlds!(
    a_poll_gives_what_a_sender_brings,
    a_polled_send_leaves_no_message_behind,
    a_cancelled_receiver_is_withdrawn,
    a_cancelled_sender_is_withdrawn,
    a_rendezvous_send_ends_when_the_message_is_taken,
    a_buffer_keeps_order_and_blocks_when_full,
    timeouts_give_the_message_back,
    what_can_be_done_at_once_is_done_without_any_time,
    many_senders_and_receivers_lose_nothing,
    the_maker_of_a_message_may_itself_receive,
    a_maker_that_panics_costs_the_receiver_nothing,
    a_maker_runs_only_if_its_send_wins,
);

/// Case 1.
async fn a_poll_gives_what_a_sender_brings(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    assert_eq!(rx.recv_evt().poll(), None);
    let sender = cx.spawn(move |cx| async move { cx.sync(tx.send_evt(7)).await });
    let mut received = None;
    cx.until(|| {
        received = rx.recv_evt().poll();
        received.is_some()
    })
    .await;
    assert_eq!(received, Some(Ok(7)));
    assert_eq!(cx.join(sender).await, Ok(()));
    assert_eq!(rx.recv_evt().poll(), Some(Err(RecvError)), "the only sender is gone");
}

/// Case 2.
async fn a_polled_send_leaves_no_message_behind(_: Cx) {
    let (tx, rx) = channel::<u32>();
    assert_eq!(tx.send_evt(1).poll(), None);
    assert_eq!(tx.try_send(2), Err(TrySendError::Full(2)));
    assert_eq!(tx.send_with_evt(|| unreachable!("nobody receives")).poll(), None);
    assert_eq!(choose([tx.send_evt(3), tx.send_evt(4)]).poll(), None);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
}

/// Case 3.
async fn a_cancelled_receiver_is_withdrawn(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let (cancel, cancelled) = channel::<()>();
    let receiver = cx.spawn(|cx| async move {
        let event = choose((rx.recv_evt().wrap(|_| 'r'), cancelled.recv_evt().wrap(|_| 'c')));
        assert_eq!(cx.sync(event).await, 'c');
        rx
    });
    cx.sync(cancel.send_evt(())).await.unwrap();
    let rx = cx.join(receiver).await;
    assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
}

/// Case 3, from the other side.
async fn a_cancelled_sender_is_withdrawn(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let (cancel, cancelled) = channel::<()>();
    let sender = cx.spawn(|cx| async move {
        let event = choose((
            tx.send_evt(1).wrap(|_| 's'),
            tx.send_with_evt(|| 2).wrap(|_| 's'),
            cancelled.recv_evt().wrap(|_| 'c'),
        ));
        assert_eq!(cx.sync(event).await, 'c');
        tx
    });
    cx.sync(cancel.send_evt(())).await.unwrap();
    let tx = cx.join(sender).await;
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(tx.try_send(3), Err(TrySendError::Full(3)));
}

async fn a_rendezvous_send_ends_when_the_message_is_taken(cx: Cx) {
    let (tx, rx) = channel::<usize>();
    let (report, sent) = bounded::<usize>(100);
    let sender = cx.spawn(move |cx| async move {
        for i in 0..100 {
            cx.sync(tx.send_evt(i)).await.unwrap();
            cx.sync(report.send_evt(i)).await.unwrap();
        }
    });
    for i in 0..100 {
        assert!(sent.len() <= i, "a send ended before its message was taken");
        assert_eq!(cx.sync(rx.recv_evt()).await, Ok(i));
    }
    cx.join(sender).await;
    assert_eq!(sent.len(), 100);
}

async fn a_buffer_keeps_order_and_blocks_when_full(cx: Cx) {
    let (tx, rx) = bounded::<usize>(3);
    let count = scaled(20_000, 2_000);
    let sender = cx.spawn(move |cx| async move {
        for i in 0..count {
            cx.sync(tx.send_evt(i)).await.unwrap();
        }
    });
    cx.until(|| rx.len() == 3).await;
    for i in 0..count {
        assert!(rx.len() <= 3);
        assert_eq!(cx.sync(rx.recv_evt()).await, Ok(i));
    }
    cx.join(sender).await;
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
}

async fn timeouts_give_the_message_back(_: Cx) {
    let (tx, rx) = channel::<String>();
    let short = Duration::from_millis(2);
    assert_eq!(rx.recv_timeout(short), Err(RecvTimeoutError::Timeout));
    assert_eq!(tx.send_timeout("a".into(), short), Err(SendTimeoutError::Timeout("a".into())));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    rx.close();
    assert_eq!(rx.recv_timeout(short), Err(RecvTimeoutError::Closed));
    assert_eq!(tx.send_timeout("b".into(), short), Err(SendTimeoutError::Closed("b".into())));
}

/// A timeout of zero is a poll that reports why it failed.
async fn what_can_be_done_at_once_is_done_without_any_time(_: Cx) {
    let (tx, rx) = bounded::<usize>(1);
    for i in 0..50 {
        assert_eq!(tx.send_timeout(i, Duration::ZERO), Ok(()));
        assert_eq!(rx.recv_timeout(Duration::ZERO), Ok(i));
        assert_eq!(rx.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    }
}

/// No message is lost, none is taken twice, and the messages that one receiver gets from one sender
/// come in order.
async fn many_senders_and_receivers_lose_nothing(cx: Cx) {
    const PERFORMERS: usize = 4;
    let count = scaled(5_000, 400);
    for capacity in [0, 1, 7] {
        let (tx, rx) = bounded::<(usize, usize)>(capacity);
        let senders: Vec<_> = (0..PERFORMERS)
            .map(|id| {
                let tx = tx.clone();
                cx.spawn(move |cx| async move {
                    for i in 0..count {
                        cx.sync(tx.send_evt((id, i))).await.unwrap();
                    }
                })
            })
            .collect();
        drop(tx);
        let receivers: Vec<_> = (0..PERFORMERS)
            .map(|_| {
                let rx = rx.clone();
                cx.spawn(move |cx| async move {
                    let mut received = vec![Vec::new(); PERFORMERS];
                    while let Ok((id, i)) = cx.sync(rx.recv_evt()).await {
                        received[id].push(i);
                    }
                    received
                })
            })
            .collect();
        cx.join_all(senders).await;
        let received = cx.join_all(receivers).await;
        for id in 0..PERFORMERS {
            let mut all: Vec<usize> = Vec::new();
            for of_receiver in &received {
                assert!(of_receiver[id].is_sorted(), "out of order through capacity {capacity}");
                all.extend(&of_receiver[id]);
            }
            all.sort_unstable();
            assert!(all.into_iter().eq(0..count), "lost or doubled through capacity {capacity}");
        }
    }
}

/// Case 21.
async fn the_maker_of_a_message_may_itself_receive(cx: Cx) {
    for capacity in [0, 1] {
        let (words, word) = channel::<String>();
        let (tx, rx) = bounded::<String>(capacity);
        let source = cx.spawn(move |cx| async move {
            for i in 0..50 {
                cx.sync(words.send_evt(i.to_string())).await.unwrap();
            }
        });
        let relay = cx.spawn(move |cx| async move {
            for _ in 0..50 {
                cx.sync(tx.send_with_evt(|| word.recv().unwrap() + "!")).await.unwrap();
            }
        });
        for i in 0..50 {
            assert_eq!(cx.sync(rx.recv_evt()).await, Ok(format!("{i}!")));
        }
        cx.join(source).await;
        cx.join(relay).await;
    }
}

async fn a_maker_that_panics_costs_the_receiver_nothing(cx: Cx) {
    for capacity in [0, 1] {
        let (tx, rx) = bounded::<u32>(capacity);
        let receiver = cx.spawn(move |cx| async move { cx.sync(rx.recv_evt()).await });
        let failing = {
            let tx = tx.clone();
            cx.spawn(move |cx| async move {
                // This panic prints no message, because it is intended.
                cx.sync(tx.send_with_evt(|| std::panic::resume_unwind(Box::new("no message")))).await
            })
        };
        let outcome = cx.join_caught(failing).await;
        assert_eq!(*outcome.unwrap_err().downcast::<&str>().unwrap(), "no message");
        cx.sync(tx.send_evt(5)).await.unwrap();
        assert_eq!(cx.join(receiver).await, Ok(5));
    }
}

async fn a_maker_runs_only_if_its_send_wins(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let (other, others) = bounded::<u32>(1);
    let maker = cx.spawn(move |cx| async move {
        let lost = choose((
            tx.send_with_evt(|| unreachable!("the other branch has won")).wrap(|_| None),
            others.recv_evt().wrap(|received| received.ok()),
        ));
        assert_eq!(cx.sync(lost).await, Some(9));
        cx.sync(tx.send_with_evt(|| 10)).await
    });
    cx.sync(other.send_evt(9)).await.unwrap();
    // A receiver that came too early would let the first choice win by its sending branch.
    cx.until(|| other.is_empty()).await;
    assert_eq!(cx.sync(rx.recv_evt()).await, Ok(10));
    assert_eq!(cx.join(maker).await, Ok(()));
}
