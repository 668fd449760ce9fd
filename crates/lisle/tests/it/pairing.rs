//! Performers that may each be either side of an exchange: each finds a partner, and none finds
//! itself.

use crate::support::{Cx, Random, scaled, worlds};
use lisle::channel::{Receiver, Sender};
use lisle::time::after;
use lisle::{Event, channel, choose};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

worlds!(
    two_choices_on_one_channel_pair_off,
    fifty_five_performers_and_a_plain_sender_pair_off,
    sending_and_receiving_in_random_order_never_deadlocks,
    crossed_choices_over_two_channels_meet,
);

/// Returns an event that gives `Some` of the received message, or `None` if `message` was sent.
fn either<'a, T: Clone + Send + Sync>(
    ends: &'a (Sender<T>, Receiver<T>),
    message: T,
) -> impl Event<Output = Option<T>> + Send + Sync + use<'a, T> {
    let (tx, rx) = ends;
    choose((
        rx.recv_evt().wrap(|received| Some(received.expect("the channel stays open"))),
        tx.send_evt(message).wrap(|sent| {
            sent.expect("the channel stays open");
            None
        }),
    ))
}

/// Case 5.
async fn two_choices_on_one_channel_pair_off(cx: Cx) {
    let rounds = scaled(20_000, 2_000);
    let ends = channel::<usize>();
    let performers = [(); 2].map(|()| {
        let ends = ends.clone();
        cx.spawn(move |cx| async move {
            let mut outcomes = Vec::with_capacity(rounds);
            for round in 0..rounds {
                outcomes.push(cx.sync(either(&ends, round)).await);
            }
            outcomes
        })
    });
    let outcomes = cx.join_all(performers).await;
    for (round, pair) in outcomes[0].iter().zip(&outcomes[1]).enumerate() {
        assert!(
            matches!(pair, (Some(got), None) | (None, Some(got)) if *got == round),
            "round {round}: {pair:?}"
        );
    }
}

/// Case 17.
async fn fifty_five_performers_and_a_plain_sender_pair_off(cx: Cx) {
    for _ in 0..scaled(20, 4) {
        let ends = channel::<usize>();
        let mut performers: Vec<_> = (0..55)
            .map(|id| {
                let ends = ends.clone();
                cx.spawn(move |cx| async move { cx.sync(either(&ends, id)).await })
            })
            .collect();
        let (tx, _rx) = ends;
        performers.push(cx.spawn(move |cx| async move {
            cx.sync(tx.send_evt(55)).await.unwrap();
            None
        }));
        let outcomes = cx.join_all(performers).await;
        let mut received: Vec<_> = outcomes.iter().flatten().copied().collect();
        received.sort_unstable();
        received.dedup();
        assert_eq!(received.len(), 28, "28 pairs, each with one receiver");
        for (id, got) in outcomes.iter().enumerate() {
            assert_ne!(*got, Some(id), "received its own");
            assert_eq!(got.is_none(), received.contains(&id), "whoever sent was received from");
        }
    }
}

/// Case 19.
async fn sending_and_receiving_in_random_order_never_deadlocks(cx: Cx) {
    let ends = channel::<usize>();
    let performers = [0, 1].map(|id| {
        let ends = ends.clone();
        cx.spawn(move |cx| async move {
            let mut random = Random::new(id as u64 + 1);
            let (tx, rx) = &ends;
            let mut received = 0;
            for _ in 0..1_000 {
                let receive = rx.recv_evt().wrap(|received| received.ok());
                let send = tx.send_evt(id).wrap(|_| None);
                let got = match random.below(2) {
                    0 => cx.sync(choose((receive, send))).await,
                    _ => cx.sync(choose((send, receive))).await,
                };
                assert_ne!(got, Some(id), "received its own");
                received += usize::from(got.is_some());
            }
            received
        })
    });
    assert_eq!(cx.join_all(performers).await.iter().sum::<usize>(), 1_000);
}

/// Four performers wait on two channels, each with both sides. The claims that two-sided choices
/// make on each other must neither block in a cycle nor both succeed.
async fn crossed_choices_over_two_channels_meet(cx: Cx) {
    let target = scaled(50_000, 4_000);
    let exchanged = Arc::new(AtomicUsize::new(0));
    let (a, b) = (channel::<usize>(), channel::<usize>());
    let performers = [0, 1, 2, 3].map(|id| {
        let (a, b, exchanged) = (a.clone(), b.clone(), exchanged.clone());
        cx.spawn(move |cx| async move {
            let mut balance = 0_isize;
            while exchanged.load(Ordering::Relaxed) < target {
                // A performer that is left over when the others have stopped looks at the count
                // again.
                let left_over = after(Duration::from_millis(5)).wrap(|()| None);
                let (a, b) = (either(&a, id).wrap(Some), either(&b, id).wrap(Some));
                let outcome = match id % 2 {
                    0 => cx.sync(choose((a, b, left_over))).await,
                    _ => cx.sync(choose((left_over, b, a))).await,
                };
                let Some(got) = outcome else { continue };
                assert_ne!(got, Some(id), "received its own");
                balance += if got.is_some() { 1 } else { -1 };
                exchanged.fetch_add(1, Ordering::Relaxed);
            }
            balance
        })
    });
    let total = cx.join_all(performers).await.iter().sum::<isize>();
    assert_eq!(total, 0, "each exchange has one sender and one receiver");
}
