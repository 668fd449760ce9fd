//! Among several ready alternatives, chance decides: none is starved. The bounds are so wide that a
//! fair choice breaks them less than once in 10^20 runs.

use crate::support::{Cx, scaled, worlds};
use lisle::channel::bounded;
use lisle::{Event, always, channel, choose};

worlds!(
    each_of_two_ready_events_wins_its_share,
    each_leaf_of_a_nested_choice_wins_its_share,
    each_of_two_full_buffers_is_received_from,
    each_place_of_a_repeated_alternative_wins,
    two_sided_choices_use_both_channels,
);

const ROUNDS: usize = 1_000;

/// Case 14.
async fn each_of_two_ready_events_wins_its_share(cx: Cx) {
    let mut wins = [0; 2];
    for _ in 0..ROUNDS {
        wins[cx.sync(choose((always(0), always(1)))).await] += 1;
    }
    assert!(wins.iter().all(|wins| (200..=800).contains(wins)), "{wins:?}");
}

/// Case 14, nested.
async fn each_leaf_of_a_nested_choice_wins_its_share(cx: Cx) {
    let leaf = always::<usize>;
    let mut wins = [0; 5];
    for _ in 0..ROUNDS {
        wins[cx.sync(choose((leaf(0), choose((leaf(1), leaf(2)))))).await] += 1;
        wins[3 + cx.sync(choose(vec![leaf(0), leaf(1)])).await] += 1;
    }
    assert!((200..=800).contains(&wins[0]), "{wins:?}");
    assert!(wins[1..3].iter().all(|wins| (100..=500).contains(wins)), "{wins:?}");
    assert!(wins[3..].iter().all(|wins| (200..=800).contains(wins)), "{wins:?}");
}

async fn each_of_two_full_buffers_is_received_from(cx: Cx) {
    let channels = [0, 1].map(|_| bounded::<()>(ROUNDS));
    for (tx, _) in &channels {
        (0..ROUNDS).for_each(|_| tx.try_send(()).unwrap());
    }
    let event = choose((channels[0].1.recv_evt().wrap(|_| 0), channels[1].1.recv_evt().wrap(|_| 1)));
    let mut wins = [0; 2];
    for _ in 0..ROUNDS {
        wins[cx.sync(&event).await] += 1;
    }
    assert!(wins.iter().all(|wins| (200..=800).contains(wins)), "{wins:?}");
    assert_eq!([0, 1].map(|i| ROUNDS - channels[i].1.len()), wins);
}

/// Case 18: the same branch four times, met when ready and met when waiting.
async fn each_place_of_a_repeated_alternative_wins(cx: Cx) {
    let (tx, rx) = channel::<()>();
    let place = |place: usize| rx.recv_evt().wrap(move |received| received.map(|()| place));
    let event = choose([0, 1, 2, 3].map(place));
    let sender = cx.spawn(move |cx| async move { while cx.sync(tx.send_evt(())).await.is_ok() {} });
    let mut seen = [false; 4];
    while seen.contains(&false) {
        seen[cx.sync(&event).await.unwrap()] = true;
    }
    rx.close();
    cx.join(sender).await;
}

/// Case 18: both sides choose, so the side that comes second meets two waiting partners.
async fn two_sided_choices_use_both_channels(cx: Cx) {
    // This is enough for a quarter to be far from a half, even if the tests are scaled down.
    let rounds = scaled(10_000, 2_000).max(400);
    let (left, lefts) = channel::<()>();
    let (right, rights) = channel::<()>();
    let sender = cx.spawn(move |cx| async move {
        let event = choose((left.send_evt(()).wrap(|_| 0), right.send_evt(()).wrap(|_| 1)));
        let mut wins = [0; 2];
        for _ in 0..rounds {
            wins[cx.sync(&event).await] += 1;
        }
        wins
    });
    let event = choose((lefts.recv_evt().wrap(|_| 0), rights.recv_evt().wrap(|_| 1)));
    let mut wins = [0; 2];
    for _ in 0..rounds {
        wins[cx.sync(&event).await] += 1;
    }
    assert_eq!(cx.join(sender).await, wins);
    assert!(wins.iter().all(|&wins| wins >= rounds / 4), "{wins:?}");
}
