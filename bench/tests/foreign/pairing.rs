//! Tasks that may each be either side of an exchange.

use crate::support::{Cx, executors, scaled, vary};
use lisle::{Event, channel, choose};

executors!(
    two_choices_on_one_channel_pair_off,
    fifty_five_tasks_and_a_plain_sender_pair_off,
    sending_and_receiving_in_random_order_never_deadlocks,
);

/// Case 5.
async fn two_choices_on_one_channel_pair_off(cx: Cx) {
    let rounds = scaled(20_000, 1_000);
    let ends = channel::<usize>();
    let tasks = [(); 2].map(|()| {
        let (tx, rx) = ends.clone();
        cx.spawn(async move {
            let mut outcomes = Vec::with_capacity(rounds);
            for round in 0..rounds {
                let event = choose((rx.recv_evt().wrap(Result::ok), tx.send_evt(round).wrap(|_| None)));
                outcomes.push(event.await);
            }
            outcomes
        })
    });
    let outcomes = cx.join_all(tasks).await;
    for (round, pair) in outcomes[0].iter().zip(&outcomes[1]).enumerate() {
        assert!(matches!(pair, (Some(got), None) | (None, Some(got)) if *got == round), "{round}: {pair:?}");
    }
}

/// Case 17.
async fn fifty_five_tasks_and_a_plain_sender_pair_off(cx: Cx) {
    let (tx, rx) = channel::<usize>();
    let mut tasks: Vec<_> = (0..55)
        .map(|id| {
            let (tx, rx) = (tx.clone(), rx.clone());
            cx.spawn(async move {
                lisle::select! { await; _ = tx.send_evt(id) => None, got = rx.recv_evt() => got.ok() }
            })
        })
        .collect();
    tasks.push(cx.spawn(async move { tx.send_evt(55).await.map(|()| None).unwrap() }));
    let outcomes = cx.join_all(tasks).await;
    let mut received: Vec<_> = outcomes.iter().flatten().copied().collect();
    received.sort_unstable();
    received.dedup();
    assert_eq!(received.len(), 28, "28 pairs, each with one receiver");
    for (id, got) in outcomes.iter().enumerate() {
        assert_ne!(*got, Some(id), "received its own");
        assert_eq!(got.is_none(), received.contains(&id), "each sender's message was received");
    }
}

/// Case 19.
async fn sending_and_receiving_in_random_order_never_deadlocks(cx: Cx) {
    let ends = channel::<usize>();
    let tasks = [0, 1].map(|id| {
        let (tx, rx) = ends.clone();
        cx.spawn(async move {
            let mut received = 0;
            for _ in 0..1_000 {
                let (receive, send) = (rx.recv_evt().wrap(Result::ok), tx.send_evt(id).wrap(|_| None));
                let got = match vary(2) {
                    0 => choose((receive, send)).await,
                    _ => choose((send, receive)).await,
                };
                assert_ne!(got, Some(id), "received its own");
                received += usize::from(got.is_some());
            }
            received
        })
    });
    assert_eq!(cx.join_all(tasks).await.iter().sum::<usize>(), 1_000);
}
