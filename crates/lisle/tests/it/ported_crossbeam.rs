//! Behaviours from `crossbeam-channel`'s own tests, of its selection and its channels without room,
//! in every world and in our own words.
//!
//! Origin: the files `zero.rs`, `select.rs`, `select_macro.rs`, `after.rs` and `thread_locals.rs`
//! in <https://github.com/crossbeam-rs/crossbeam/tree/master/crossbeam-channel/tests> (MIT or
//! Apache-2.0). None of their text is here. Not taken over: `same_channel` and `tick`, which have
//! no counterpart; behaviours that differ by design (a `select!` here is a choice of events, and an
//! `after` begins with each performance); and the destructors of thread-locals, which are in
//! `outside.rs`.

use crate::support::{Cx, Random, scaled, worlds};
use lisle::channel::{RecvError, SendError, TryRecvError, TrySendError, bounded};
use lisle::time::{after, at};
use lisle::{Event, always, channel, choose, never};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

worlds!(
    zero_has_no_room,
    zero_hands_every_message_over,
    zero_closes_on_both_sides,
    the_expression_of_a_message_may_receive,
    a_default_is_taken_if_nothing_is_ready,
    closed_ends_are_ready,
    a_choice_is_unblocked_from_either_side,
    loops_of_polls_meet_choices,
    clones_of_ends_wait_like_the_originals,
    alternatives_of_one_channel_may_repeat,
    sending_and_receiving_on_one_channel_does_not_pair_with_itself,
    performers_match_in_pairs_with_one_left_over,
    channels_through_channels,
    polls_are_linearizable,
    two_performers_with_timeouts_lose_nothing,
    stress_of_receives_and_sends_mixed,
    timers_shared_by_many_fire_for_each,
    a_channel_is_fair_among_its_choosers,
);

async fn zero_has_no_room(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    assert_eq!((tx.capacity(), tx.len(), rx.len()), (0, 0, 0));
    assert!(tx.is_empty() && rx.is_empty());
    assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    let sender = cx.spawn(move |cx| async move {
        for i in 0..100 {
            cx.sync(tx.send_evt(i)).await.unwrap();
            assert_eq!(tx.len(), 0);
        }
    });
    for i in 0..100 {
        assert_eq!(cx.sync(rx.recv_evt()).await, Ok(i));
        assert_eq!(rx.len(), 0, "also while a sender waits");
    }
    cx.join(sender).await;
}

/// One to one, and many to many. Each message is received once.
async fn zero_hands_every_message_over(cx: Cx) {
    let count = scaled(5_000, 500);
    let (tx, rx) = channel::<usize>();
    let seen: Arc<Vec<AtomicUsize>> = Arc::new((0..count).map(|_| AtomicUsize::new(0)).collect());
    let receivers = [(); 4].map(|()| {
        let (rx, seen) = (rx.clone(), seen.clone());
        cx.spawn(move |cx| async move {
            while let Ok(i) = cx.sync(rx.recv_evt()).await {
                seen[i].fetch_add(1, Ordering::SeqCst);
            }
        })
    });
    let senders = [(); 4].map(|()| {
        let tx = tx.clone();
        cx.spawn(move |cx| async move {
            for i in 0..count {
                cx.sync(tx.send_evt(i)).await.unwrap();
            }
        })
    });
    cx.join_all(senders).await;
    drop(tx);
    cx.join_all(receivers).await;
    assert!(seen.iter().all(|seen| seen.load(Ordering::SeqCst) == 4));
}

async fn zero_closes_on_both_sides(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let sender = cx.spawn(move |cx| async move { (cx.sync(tx.send_evt(7)).await, tx) });
    drop(rx);
    let (outcome, tx) = cx.join(sender).await;
    assert_eq!(outcome, Err(SendError(7)));
    assert_eq!(tx.try_send(8), Err(TrySendError::Closed(8)));

    let (tx, rx) = channel::<u32>();
    let receiver = cx.spawn(move |cx| async move { (cx.sync(rx.recv_evt()).await, rx) });
    drop(tx);
    let (outcome, rx) = cx.join(receiver).await;
    assert_eq!(outcome, Err(RecvError));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
}

async fn the_expression_of_a_message_may_receive(cx: Cx) {
    let (tx, rx) = bounded::<u32>(4);
    tx.try_send(1).unwrap();
    tx.try_send(2).unwrap();
    let made = tx.send_with_evt(|| rx.try_recv().unwrap() + rx.try_recv().unwrap() + 10);
    cx.sync(choose((made, never()))).await.unwrap();
    assert_eq!(rx.try_recv(), Ok(13));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
}

async fn a_default_is_taken_if_nothing_is_ready(cx: Cx) {
    let (tx, rx) = bounded::<u32>(1);
    let (other, others) = channel::<u32>();
    let choice = choose((rx.recv_evt(), others.recv_evt()));
    assert_eq!(choice.poll(), None);
    let timeout = || after(Duration::from_millis(1)).wrap(|()| Ok(0));
    assert_eq!(cx.sync(choose((&choice, timeout()))).await, Ok(0));
    tx.try_send(5).unwrap();
    assert_eq!(cx.sync(choose((&choice, timeout()))).await, Ok(5));
    assert_eq!(choice.poll(), None);
    drop(other);
    assert_eq!(choice.poll(), Some(Err(RecvError)));
    // A choice with a default and nothing else.
    assert_eq!(choose(Vec::<lisle::event::Never<u32>>::new()).poll(), None);
    assert_eq!(cx.sync(choose([always(9)])).await, 9);
}

async fn closed_ends_are_ready(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let (_open, opens) = channel::<u32>();
    let closer = cx.spawn(move |_| async move { drop(tx) });
    assert_eq!(cx.sync(choose((opens.recv_evt(), rx.recv_evt()))).await, Err(RecvError));
    cx.join(closer).await;
    assert_eq!(choose((opens.recv_evt(), rx.recv_evt())).poll(), Some(Err(RecvError)));
    let (tx, rx) = bounded::<u32>(1);
    tx.try_send(1).unwrap();
    let sending = tx.clone();
    let sender = cx.spawn(move |cx| async move { cx.sync(choose((never(), sending.send_evt(2)))).await });
    cx.yield_now().await;
    drop(rx);
    assert_eq!(cx.join(sender).await, Err(SendError(2)));
    assert_eq!(tx.send_evt(3).poll(), Some(Err(SendError(3))));
}

async fn a_choice_is_unblocked_from_either_side(cx: Cx) {
    for round in 0..scaled(500, 50) {
        let (left, lefts) = bounded::<usize>(round % 2);
        let (right, rights) = channel::<usize>();
        let partner = cx.spawn(move |cx| async move {
            if round % 3 == 0 {
                cx.sync(left.send_evt(round)).await.unwrap();
                None
            } else {
                Some(cx.sync(rights.recv_evt()).await)
            }
        });
        // The other ends of its channels may be gone by then, which makes the other alternative
        // ready as well.
        let event = choose((
            lefts.recv_evt().wrap(|got| got.ok()),
            right.send_evt(round).wrap(|sent| sent.err().map(|_| usize::MAX)),
        ));
        let mine = cx.sync(event).await;
        match cx.join(partner).await {
            Some(Ok(got)) => assert_eq!((got, mine), (round, None)),
            Some(Err(_)) => assert_eq!(mine, None, "the partner's other end went first"),
            None => assert!(mine == Some(round) || mine == Some(usize::MAX)),
        }
    }
}

async fn loops_of_polls_meet_choices(cx: Cx) {
    let rounds = scaled(300, 30);
    let (left, lefts) = channel::<usize>();
    let (right, rights) = channel::<usize>();
    let (done, dones) = channel::<()>();
    let chooser = cx.spawn(move |cx| async move {
        let mut seen = [0; 2];
        for _ in 0..2 * rounds {
            let got = choose((lefts.recv_evt().wrap(|_| 0), rights.recv_evt().wrap(|_| 1)));
            seen[cx.sync(got).await] += 1;
        }
        cx.sync(done.send_evt(())).await.unwrap();
        seen
    });
    let mut sent = 0;
    for (tx, i) in [(&left, 0), (&right, 1)].into_iter().cycle().take(2 * rounds) {
        cx.until(|| tx.try_send(i).is_ok()).await;
        sent += 1;
    }
    cx.sync(dones.recv_evt()).await.unwrap();
    assert_eq!(cx.join(chooser).await, [rounds; 2]);
    assert_eq!(sent, 2 * rounds);
}

async fn clones_of_ends_wait_like_the_originals(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let (clone, rx_clone) = (tx.clone(), rx.clone());
    drop((clone, rx_clone));
    let receivers = [(); 3].map(|()| {
        let rx = rx.clone();
        cx.spawn(move |cx| async move { cx.sync(choose((rx.recv_evt(), rx.recv_evt()))).await.unwrap() })
    });
    drop(rx);
    for i in 0..3 {
        cx.sync(tx.clone().send_evt(i)).await.unwrap();
    }
    let mut got = cx.join_all(receivers).await;
    got.sort_unstable();
    assert_eq!(got, [0, 1, 2]);
    assert_eq!(cx.sync(tx.send_evt(3)).await, Err(SendError(3)), "all receivers have gone");
}

async fn alternatives_of_one_channel_may_repeat(cx: Cx) {
    // This is enough for each place to win once, even if the tests are scaled down.
    let count = scaled(2_000, 200).max(100);
    let (tx, rx) = bounded::<usize>(2);
    let sender = cx.spawn(move |cx| async move {
        for i in 0..count {
            cx.sync(choose((tx.send_evt(i), tx.send_evt(i), tx.send_evt(i)))).await.unwrap();
        }
    });
    let mut seen = [0; 3];
    for i in 0..count {
        let place = |place: usize| rx.recv_evt().wrap(move |got| (place, got));
        let (place, got) = cx.sync(choose([0, 1, 2].map(place))).await;
        assert_eq!(got, Ok(i), "each message once, in order");
        seen[place] += 1;
    }
    cx.join(sender).await;
    assert!(seen.iter().all(|seen| *seen > 0), "{seen:?}");
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
}

async fn sending_and_receiving_on_one_channel_does_not_pair_with_itself(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let both = || choose((tx.send_evt(1).wrap(|_| 's'), rx.recv_evt().wrap(|_| 'r')));
    assert_eq!(both().poll(), None);
    let time = after(Duration::from_millis(1)).wrap(|()| 't');
    assert_eq!(cx.sync(choose((both(), both(), time))).await, 't');
    // With a buffer in between, it takes the message that it has sent before.
    let (tx, rx) = bounded::<u32>(1);
    let both = || choose((tx.send_evt(1).wrap(|_| 's'), rx.recv_evt().wrap(|_| 'r')));
    for _ in 0..10 {
        assert_eq!(cx.sync(both()).await, 's');
        assert_eq!(cx.sync(both()).await, 'r');
    }
}

async fn performers_match_in_pairs_with_one_left_over(cx: Cx) {
    for _ in 0..scaled(30, 4) {
        let ends = channel::<usize>();
        let performers: Vec<_> = (0..if cx.is_light() { 44 } else { 12 })
            .map(|me| {
                let (tx, rx) = ends.clone();
                cx.spawn(move |cx| async move {
                    let event = choose((
                        rx.recv_evt().wrap(|got| Some(got.unwrap())),
                        tx.send_evt(me).wrap(|_| None),
                    ));
                    let got = cx.sync(event).await;
                    assert_ne!(got, Some(me), "it has met itself");
                    got
                })
            })
            .collect();
        let odd = ends.0.clone();
        let odd = cx.spawn(move |cx| async move { cx.sync(odd.send_evt(1_000)).await });
        // One more performer receives, so all of them pair off.
        let last = cx.sync(ends.1.recv_evt()).await.unwrap();
        let mut got: Vec<usize> = cx.join_all(performers).await.into_iter().flatten().chain([last]).collect();
        cx.join(odd).await.unwrap();
        let all = got.len();
        got.sort_unstable();
        got.dedup();
        assert_eq!(got.len(), all, "a message was received twice");
        assert!(got.contains(&1_000));
    }
}

async fn channels_through_channels(cx: Cx) {
    struct Next(lisle::channel::Receiver<Next>);
    for capacity in [0, 1] {
        let count = scaled(2_000, 200);
        let (mut tx, mut rx) = bounded::<Next>(capacity);
        let sender = cx.spawn(move |cx| async move {
            for _ in 0..count {
                let (next, received) = bounded(capacity);
                let message = std::sync::Mutex::new(Some(Next(received)));
                let send = tx.send_with_evt(|| message.lock().unwrap().take().expect("made once"));
                assert!(cx.sync(choose((send, never()))).await.is_ok());
                tx = next;
            }
        });
        for _ in 0..count {
            rx = cx.sync(choose((rx.recv_evt(), never()))).await.ok().unwrap().0;
        }
        cx.join(sender).await;
        assert!(cx.sync(rx.recv_evt()).await.is_err());
    }
}

/// A message is in one of two buffers at any time. A performer that polls both finds it, unless
/// another holds it.
async fn polls_are_linearizable(cx: Cx) {
    let rounds = scaled(5_000, 500);
    let performers = {
        let (first, second) = (bounded::<()>(1), bounded::<()>(1));
        first.0.try_send(()).unwrap();
        [0, 1].map(|me| {
            let (first, second) = (first.clone(), second.clone());
            let turned = me == 1;
            cx.spawn(move |cx| async move {
                for _ in 0..rounds {
                    let either = choose((first.1.recv_evt(), second.1.recv_evt()));
                    cx.sync(either).await.unwrap();
                    // It holds the only message: no other performer can have put another.
                    assert!(first.1.try_recv().is_err() && second.1.try_recv().is_err());
                    let back = if turned { &first.0 } else { &second.0 };
                    back.try_send(()).expect("both are empty");
                    cx.yield_now().await;
                }
            })
        })
    };
    cx.join_all(performers).await;
}

async fn two_performers_with_timeouts_lose_nothing(cx: Cx) {
    let count = scaled(100, 20);
    let (tx, rx) = bounded::<usize>(2);
    let timeout = |random: &mut Random| after(Duration::from_micros(random.below(400) as u64));
    let sender = cx.spawn(move |cx| async move {
        let mut random = Random::new(1);
        for i in 0..count {
            while !cx
                .sync(choose((
                    tx.send_evt(i).wrap(|sent| sent.is_ok()),
                    timeout(&mut random).wrap(|()| false),
                )))
                .await
            {}
        }
    });
    let mut random = Random::new(2);
    for i in 0..count {
        let got = loop {
            let event = choose((rx.recv_evt().wrap(|got| got.ok()), timeout(&mut random).wrap(|()| None)));
            if let Some(got) = cx.sync(event).await {
                break got;
            }
        };
        assert_eq!(got, i);
    }
    cx.join(sender).await;
}

async fn stress_of_receives_and_sends_mixed(cx: Cx) {
    let (count, room) = (scaled(5_000, 500), 3);
    let (input, inputs) = bounded::<usize>(room);
    let (output, outputs) = channel::<usize>();
    let feeder = cx.spawn(move |cx| async move {
        for i in 0..count {
            cx.sync(input.send_evt(i)).await.unwrap();
        }
    });
    let drain = cx.spawn(move |cx| async move {
        for i in 0..count {
            assert_eq!(cx.sync(outputs.recv_evt()).await, Ok(i));
        }
    });
    let (mut received, mut sent) = (0, 0);
    while sent < count {
        let event = choose((
            (received < count).then(|| inputs.recv_evt().wrap(Result::ok)),
            output.send_evt(sent).wrap(|sent| sent.map_or(Some(usize::MAX), |()| None)),
        ));
        match cx.sync(event).await {
            Some(i) => {
                assert_eq!(i, received);
                received += 1;
            }
            None => sent += 1,
        }
    }
    if received < count {
        // The feeder is released. It has sent everything only if the remaining messages are in the
        // buffer.
        drop(inputs);
        assert!(cx.join_caught(feeder).await.is_err() || count - received <= room);
    } else {
        cx.join(feeder).await;
    }
    cx.join(drain).await;
}

async fn timers_shared_by_many_fire_for_each(cx: Cx) {
    let begun = Instant::now();
    let moment = begun + Duration::from_millis(5);
    let event = at(moment);
    let sleepers: Vec<_> = (0..8)
        .map(|i| {
            cx.spawn(move |cx| async move {
                match i % 2 {
                    0 => cx.sync(event).await,
                    _ => cx.sync(choose((never(), event, event))).await,
                }
                Instant::now()
            })
        })
        .collect();
    assert!(cx.join_all(sleepers).await.iter().all(|woken| *woken >= moment));
    assert_eq!(event.poll(), Some(()));
    assert_eq!(event.poll(), Some(()));
    let soon = after(Duration::from_millis(2));
    for _ in 0..2 {
        let begun = Instant::now();
        cx.sync(soon).await;
        assert!(begun.elapsed() >= Duration::from_millis(2), "each performance begins anew");
    }
}

async fn a_channel_is_fair_among_its_choosers(cx: Cx) {
    let rounds = 1_000;
    let buffers = [0, 1, 2].map(|_| bounded::<()>(rounds));
    for (tx, _) in &buffers {
        (0..rounds).for_each(|_| tx.try_send(()).unwrap());
    }
    let mut hits = [0; 5];
    for _ in 0..rounds {
        let receive = |i: usize| buffers[i].1.recv_evt().wrap(move |_| i);
        let event =
            choose((receive(0), receive(1), receive(2), after(Duration::ZERO).wrap(|()| 3), always(4)));
        hits[cx.sync(event).await] += 1;
    }
    assert!(hits.iter().all(|hits| *hits >= rounds / 5 / 4), "{hits:?}");
}
