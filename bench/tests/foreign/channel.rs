//! Channels between tasks.

use crate::support::{Cx, executors, scaled};
use lisle::channel::{TryRecvError, TrySendError, bounded};
use lisle::time::after;
use lisle::{Event, channel, choose, never};
use std::time::Duration;

executors!(
    a_polled_receive_finds_a_sender_once_there_is_one,
    a_polled_send_leaves_no_message_behind,
    what_is_cancelled_is_withdrawn,
    ping_pong,
    a_buffer_keeps_its_order,
    answers_come_in_time_or_not_at_all,
    all_learn_that_a_channel_is_closed,
);

/// Case 1.
async fn a_polled_receive_finds_a_sender_once_there_is_one(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    assert_eq!(rx.recv_evt().poll(), None);
    let sender = cx.spawn(async move { tx.send_evt(1).await });
    let mut got = None;
    cx.until(|| {
        got = rx.recv_evt().poll();
        got.is_some()
    })
    .await;
    assert_eq!((got, sender.join().await), (Some(Ok(1)), Ok(())));
}

/// Case 2.
async fn a_polled_send_leaves_no_message_behind(_: Cx) {
    let (tx, rx) = channel::<u32>();
    assert_eq!(tx.send_evt(1).poll(), None);
    assert_eq!(tx.send_with_evt(|| unreachable!("nobody receives")).poll(), None);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
}

/// Case 3.
async fn what_is_cancelled_is_withdrawn(cx: Cx) {
    for choice in [false, true] {
        let (tx, rx) = channel::<u32>();
        let (begun, begins) = channel::<()>();
        let receiver = {
            let (rx, begun) = (rx.clone(), begun.clone());
            cx.spawn(async move {
                begun.send_evt(()).await.unwrap();
                match choice {
                    true => choose((rx.recv_evt(), never())).await,
                    false => rx.recv_evt().await,
                }
            })
        };
        begins.recv_evt().await.unwrap();
        // On one worker it has begun to wait; on two it may be about to.
        cx.yield_now().await;
        assert_eq!(receiver.cancel().await, None);
        assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)), "somebody still receives");

        let sender = {
            let tx = tx.clone();
            cx.spawn(async move {
                begun.send_evt(()).await.unwrap();
                match choice {
                    true => choose((tx.send_evt(2), never())).await,
                    false => tx.send_evt(2).await,
                }
            })
        };
        begins.recv_evt().await.unwrap();
        cx.yield_now().await;
        assert_eq!(sender.cancel().await, None);
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty), "somebody still sends");
    }
}

async fn ping_pong(cx: Cx) {
    let (ping, pings) = channel::<usize>();
    let (pong, pongs) = channel::<usize>();
    let echo = cx.spawn(async move {
        while let Ok(n) = pings.recv_evt().await {
            pong.send_evt(n + 1).await.unwrap();
        }
    });
    for n in 0..scaled(50_000, 2_000) {
        ping.send_evt(n).await.unwrap();
        assert_eq!(pongs.recv_evt().await, Ok(n + 1));
    }
    drop(ping);
    echo.join().await;
    assert!(pongs.recv_evt().await.is_err());
}

/// Case 25, its first half: a buffer built from choice.
async fn a_buffer_keeps_its_order(cx: Cx) {
    let count = scaled(20_000, 1_000);
    let (tx, input) = channel::<usize>();
    let (output, rx) = channel::<usize>();
    let sender = cx.spawn(async move {
        for n in 0..count {
            tx.send_evt(n).await.unwrap();
        }
    });
    let buffer = cx.spawn(async move {
        let mut queue = std::collections::VecDeque::new();
        let mut open = true;
        while open || !queue.is_empty() {
            lisle::select! {
                await;
                message = input.recv_evt(), if open && queue.len() < 5 => match message {
                    Ok(message) => queue.push_back(message),
                    Err(_) => open = false,
                },
                sent = output.send_evt(queue[0]), if !queue.is_empty() => {
                    sent.unwrap();
                    queue.pop_front();
                }
            }
        }
    });
    for expected in 0..count {
        assert_eq!(rx.recv_evt().await, Ok(expected));
    }
    assert!(rx.recv_evt().await.is_err());
    sender.join().await;
    buffer.join().await;
}

/// A choice with the library's timeout, against an answer that comes after a sleep of the
/// executor's, or only when the timeout is over.
async fn answers_come_in_time_or_not_at_all(cx: Cx) {
    let (ask, asked) = channel::<bool>();
    let (late, released) = channel::<()>();
    let (answer, answers) = bounded::<()>(1);
    let server = cx.spawn(async move {
        while let Ok(in_time) = asked.recv_evt().await {
            match in_time {
                true => cx.sleep(Duration::from_millis(1)).await,
                false => released.recv_evt().await.unwrap(),
            }
            answer.send_evt(()).await.unwrap();
        }
    });
    for in_time in [true, false, true] {
        ask.send_evt(in_time).await.unwrap();
        let patience = if in_time { Duration::from_secs(3_600) } else { Duration::from_millis(2) };
        let answered =
            choose((answers.recv_evt().wrap(|answer| answer.is_ok()), after(patience).wrap(|()| false)))
                .await;
        assert_eq!(answered, in_time);
        if !answered {
            late.send_evt(()).await.unwrap();
            answers.recv_evt().await.unwrap();
        }
    }
    drop(ask);
    server.join().await;
}

/// Case 48.
async fn all_learn_that_a_channel_is_closed(cx: Cx) {
    for dropped in [false, true] {
        let (tx, rx) = channel::<u32>();
        let receivers: Vec<_> = (0..8)
            .map(|n| {
                let rx = rx.clone();
                cx.spawn(async move {
                    match n % 2 {
                        0 => rx.recv_evt().await.is_err(),
                        _ => lisle::select! { await; got = rx.recv_evt() => got.is_err(), n = never::<bool>() => n },
                    }
                })
            })
            .collect();
        cx.sleep(Duration::from_millis(1)).await;
        match dropped {
            true => drop(tx),
            false => assert!(rx.close()),
        }
        assert_eq!(cx.join_all(receivers).await, [true; 8]);

        let (tx, rx) = channel::<u32>();
        let senders: Vec<_> = (0..8)
            .map(|n| {
                let tx = tx.clone();
                cx.spawn(async move {
                    let sent = match n % 2 {
                        0 => tx.send_evt(n).await,
                        _ => choose((tx.send_evt(n), never())).await,
                    };
                    sent.map_err(|error| error.into_inner())
                })
            })
            .collect();
        cx.sleep(Duration::from_millis(1)).await;
        match dropped {
            true => drop(rx),
            false => assert!(tx.close()),
        }
        let backs: Vec<_> = (0..8).map(Err).collect();
        assert_eq!(cx.join_all(senders).await, backs, "each has its message back");
    }
}
