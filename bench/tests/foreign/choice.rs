//! Choices that are awaited.

use crate::support::{Cx, executors, scaled, vary};
use lisle::channel::bounded;
use lisle::event::guard;
use lisle::time::after;
use lisle::{Event, always, channel, choose, never};
use std::time::Duration;

executors!(
    a_choice_does_not_talk_to_itself,
    a_guarded_event_among_ten,
    ready_events_share_the_wins,
    a_post_at_the_moment_of_a_timeout_is_not_lost,
    each_of_four_equal_branches_wins,
    two_sided_choices_use_both_channels,
    guards_run_for_each_performance,
    stages_compete,
    a_select_awaits,
);

const HOUR: Duration = Duration::from_secs(3_600);

/// Case 4.
async fn a_choice_does_not_talk_to_itself(_: Cx) {
    let (tx, rx) = channel::<u32>();
    let either = || choose((rx.recv_evt().wrap(|_| 'r'), tx.send_evt(100).wrap(|_| 's')));
    assert_eq!(either().poll(), None);
    for _ in 0..10 {
        assert_eq!(choose((either(), after(Duration::from_millis(1)).wrap(|()| 't'))).await, 't');
    }
}

/// Case 8.
async fn a_guarded_event_among_ten(_: Cx) {
    let (_tx, rx) = channel::<u32>();
    let silent = || rx.recv_evt().wrap(|_| 0);
    let value = choose((
        silent(),
        silent(),
        silent(),
        never(),
        after(HOUR).wrap(|()| 0),
        guard(|| always(40)).wrap(|n| n + 2),
        never(),
        silent(),
        silent(),
        silent(),
    ));
    assert_eq!(value.await, 42);
}

/// Case 14.
async fn ready_events_share_the_wins(_: Cx) {
    let (mut two, mut three) = ([0; 2], [0; 3]);
    for _ in 0..1_000 {
        two[choose((always(0), always(1))).await] += 1;
        three[choose((always(0), choose((always(1), always(2))))).await] += 1;
    }
    assert!(two.iter().all(|wins| (200..=800).contains(wins)), "{two:?}");
    assert!(three[1..].iter().all(|wins| (100..=500).contains(wins)), "{three:?}");
}

/// Case 16: the timeout of the library's clock, and one of the executor's that comes through a
/// channel.
async fn a_post_at_the_moment_of_a_timeout_is_not_lost(cx: Cx) {
    let (post, token) = bounded::<()>(1);
    let (begin, begins) = channel::<()>();
    let poster = cx.spawn(async move {
        while begins.recv_evt().await.is_ok() {
            for _ in 0..vary(8) {
                cx.yield_now().await;
            }
            post.try_send(()).unwrap();
        }
    });
    let mut in_time = 0;
    for _ in 0..scaled(5_000, 500) {
        begin.send_evt(()).await.unwrap();
        let timeout = after(Duration::from_micros(vary(20) as u64));
        if choose((token.recv_evt().wrap(|token| token.is_ok()), timeout.wrap(|()| false))).await {
            in_time += 1;
        } else {
            token.recv_evt().await.unwrap();
        }
    }
    drop(begin);
    poster.join().await;
    assert!(token.is_empty(), "a token was posted twice");
    assert!(in_time > 0, "no token has ever come in time");
}

/// Case 18.
async fn each_of_four_equal_branches_wins(cx: Cx) {
    let (tx, rx) = channel::<()>();
    let sender = cx.spawn(async move { while tx.send_evt(()).await.is_ok() {} });
    let mut seen = [false; 4];
    while seen.contains(&false) {
        let place = |place: usize| rx.recv_evt().wrap(move |_| place);
        seen[choose([0, 1, 2, 3].map(place)).await] = true;
    }
    rx.close();
    sender.join().await;
}

/// Case 18, its second half.
async fn two_sided_choices_use_both_channels(cx: Cx) {
    let rounds = scaled(10_000, 1_000);
    let (left, lefts) = channel::<()>();
    let (right, rights) = channel::<()>();
    let sender = cx.spawn(async move {
        let mut wins = [0; 2];
        for _ in 0..rounds {
            lisle::select! {
                await;
                sent = left.send_evt(()) => wins[usize::from(sent.is_err())] += 1,
                sent = right.send_evt(()) => wins[usize::from(sent.is_ok())] += 1,
            }
        }
        wins
    });
    let mut wins = [0; 2];
    for _ in 0..rounds {
        lisle::select! {
            await;
            got = lefts.recv_evt() => wins[usize::from(got.is_err())] += 1,
            got = rights.recv_evt() => wins[usize::from(got.is_ok())] += 1,
        }
    }
    assert_eq!(sender.join().await, wins);
    assert!(wins.iter().all(|&wins| wins >= rounds / 4), "{wins:?}");
}

async fn guards_run_for_each_performance(cx: Cx) {
    let (tx, rx) = bounded::<usize>(1);
    let made = std::sync::atomic::AtomicUsize::new(0);
    let count = || made.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
    let event = guard(|| {
        let made = count();
        rx.recv_evt().wrap(move |got| (got.unwrap(), made))
    });
    for n in 1..=3 {
        let sender = {
            let tx = tx.clone();
            cx.spawn(async move { tx.send_evt(n).await })
        };
        assert_eq!((&event).future().await, (n, n));
        sender.join().await.unwrap();
    }
}

/// `replace`: the first stage has happened, the second competes on.
async fn stages_compete(cx: Cx) {
    let (limits, limit) = channel::<Duration>();
    let (tx, rx) = channel::<u32>();
    for in_time in [false, true] {
        let sender = {
            let (limits, tx) = (limits.clone(), tx.clone());
            cx.spawn(async move {
                limits.send_evt(if in_time { HOUR } else { Duration::from_millis(1) }).await.unwrap();
                if in_time {
                    tx.send_evt(1).await.unwrap();
                }
            })
        };
        let timeout = limit.recv_evt().replace(|limit| after(limit.unwrap()));
        let got = choose((rx.recv_evt().wrap(Result::ok), timeout.wrap(|()| None))).await;
        assert_eq!(got.is_some(), in_time);
        sender.join().await;
    }
}

async fn a_select_awaits(cx: Cx) {
    let (numbers, number) = channel::<u32>();
    let (texts, text) = channel::<&'static str>();
    let sender = cx.spawn(async move {
        numbers.send_evt(1).await.unwrap();
        texts.send_evt("two").await.unwrap();
        (numbers, texts)
    });
    let mut seen = Vec::new();
    for turn in 0..4 {
        seen.push(lisle::select! {
            await;
            biased;
            n = number.recv_evt() => n.unwrap().to_string(),
            text = text.recv_evt(), if turn > 0 => {
                cx.sleep(Duration::from_millis(1)).await;
                text.unwrap().to_owned()
            }
            () = after(Duration::from_millis(1)), if turn > 1 => "nothing".to_owned(),
        });
    }
    assert_eq!(seen, ["1", "two", "nothing", "nothing"]);
    drop(sender.join().await);
    let closed = lisle::select! { await; n = number.recv_evt() => n.is_err(), default => false };
    assert!(closed);
}
