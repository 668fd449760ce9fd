//! `select!`: the behaviour of `choose`, with bodies, and the abilities of bodies.

use crate::support::{Cx, Random, Semaphore, scaled, worlds};
use lisle::channel::bounded;
use lisle::event::{guard, with_nack};
use lisle::sync::IVar;
use lisle::time::after;
use lisle::{Event, always, channel, choose, never};
use std::sync::Arc;
use std::time::Duration;

worlds!(
    a_select_does_not_talk_to_itself,
    two_selects_on_one_channel_pair_off,
    the_posted_one_of_three_is_taken_once,
    a_guarded_event_among_ten,
    the_shorter_of_two_timers_wins,
    the_same_semaphore_twice_is_taken_once,
    ready_arms_share_the_wins,
    each_of_four_equal_arms_wins,
    a_post_at_the_moment_of_a_timeout_is_not_lost,
    everybody_pairs_off_and_nobody_with_itself,
    sending_and_receiving_never_deadlocks,
    a_swap_exchanges_both_values,
    arms_of_different_types,
    twelve_arms,
    bodies_steer_the_loop_around_them,
    bodies_return_and_propagate_errors,
    bodies_share_what_they_change,
    a_body_may_wait,
    when_a_body_begins_the_losers_are_gone,
    conditions_switch_arms_off,
    a_default_is_taken_if_nothing_is_ready,
    a_biased_select_prefers_the_first,
    events_are_evaluated_once_from_left_to_right,
    names_of_the_caller_are_the_callers,
    a_pipeline_ends_when_its_input_does,
);

/// `select!` in this world's way. Both ways are compiled for each use.
macro_rules! select {
    ($cx:ident; $($arms:tt)*) => {
        if $cx.is_future() {
            lisle::select! { await; $($arms)* }
        } else {
            lisle::select! { $($arms)* }
        }
    };
}

const HOUR: Duration = Duration::from_secs(3_600);
const ROUNDS: usize = 1_000;

/// Case 4.
async fn a_select_does_not_talk_to_itself(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    for _ in 0..10 {
        let outcome = select! { cx;
            _ = rx.recv_evt() => 'r',
            _ = tx.send_evt(1) => 's',
            _ = tx.send_with_evt(|| 2) => 'm',
            () = after(Duration::from_millis(1)) => 't',
        };
        assert_eq!(outcome, 't');
        let polled =
            lisle::select! { _ = rx.recv_evt() => true, _ = tx.send_evt(1) => true, default => false };
        assert!(!polled);
    }
}

/// Case 5.
async fn two_selects_on_one_channel_pair_off(cx: Cx) {
    let rounds = scaled(20_000, 1_000);
    let ends = channel::<usize>();
    let performers = [(); 2].map(|()| {
        let (tx, rx) = ends.clone();
        cx.spawn(move |cx| async move {
            let mut outcomes = Vec::with_capacity(rounds);
            for round in 0..rounds {
                outcomes.push(select! { cx;
                    received = rx.recv_evt() => Some(received.unwrap()),
                    sent = tx.send_evt(round) => {
                        sent.unwrap();
                        None
                    }
                });
            }
            outcomes
        })
    });
    let outcomes = cx.join_all(performers).await;
    for (round, pair) in outcomes[0].iter().zip(&outcomes[1]).enumerate() {
        assert!(matches!(pair, (Some(got), None) | (None, Some(got)) if *got == round), "{round}: {pair:?}");
    }
}

/// Case 7.
async fn the_posted_one_of_three_is_taken_once(cx: Cx) {
    let [a, b, c] = [0; 3].map(Semaphore::new);
    for (place, semaphore) in [&a, &b, &c].into_iter().enumerate() {
        semaphore.post();
        let taken = select! { cx;
            () = a.take_evt() => 0,
            taken = choose((b.take_evt().wrap(|()| 1), c.take_evt().wrap(|()| 2))) => taken,
        };
        assert_eq!(taken, place);
        let left = lisle::select! {
            () = a.take_evt() => true,
            () = b.take_evt() => true,
            () = c.take_evt() => true,
            default => false,
        };
        assert!(!left, "one post, two takes");
    }
}

/// Case 8.
async fn a_guarded_event_among_ten(cx: Cx) {
    let (_tx, rx) = channel::<&str>();
    let value = select! { cx;
        _ = rx.recv_evt() => 0,
        _ = rx.recv_evt() => 1,
        _ = never::<u8>() => 2,
        () = after(HOUR) => 3,
        value = guard(|| always(40).wrap(|value| value + 2)) => value,
        _ = never::<String>() => 5,
        _ = never::<()>() => 6,
        _ = rx.recv_evt() => 7,
        _ = rx.recv_evt() => 8,
        () = after(HOUR) => 9,
    };
    assert_eq!(value, 42);
}

/// Case 9.
async fn the_shorter_of_two_timers_wins(cx: Cx) {
    let (short, long) = (after(Duration::from_millis(2)), after(HOUR));
    assert_eq!(select! { cx; () = short => 's', () = long => 'l' }, 's');
    assert_eq!(select! { cx; () = long => 'l', () = short => 's' }, 's');
}

/// Case 11.
async fn the_same_semaphore_twice_is_taken_once(cx: Cx) {
    let semaphore = Semaphore::new(0);
    let mut ran = 0;
    for round in 0..100 {
        semaphore.post();
        select! { cx;
            () = semaphore.take_evt() => ran += 1,
            () = semaphore.take_evt() => ran += 1,
        }
        assert_eq!(ran, round + 1);
        assert_eq!(semaphore.take_evt().poll(), None);
    }
}

/// Case 14.
async fn ready_arms_share_the_wins(cx: Cx) {
    let (mut two, mut three) = ([0; 2], [0; 3]);
    for _ in 0..ROUNDS {
        select! { cx; () = always(()) => two[0] += 1, () = always(()) => two[1] += 1 }
        select! { cx;
            () = always(()) => three[0] += 1,
            place = choose((always(1), always(2))) => three[place] += 1,
        }
    }
    assert!(two.iter().all(|wins| (200..=800).contains(wins)), "{two:?}");
    assert!((200..=800).contains(&three[0]), "{three:?}");
    assert!(three[1..].iter().all(|wins| (100..=500).contains(wins)), "{three:?}");
}

/// Case 18.
async fn each_of_four_equal_arms_wins(cx: Cx) {
    let (tx, rx) = channel::<()>();
    let sender = cx.spawn(move |cx| async move { while cx.sync(tx.send_evt(())).await.is_ok() {} });
    let mut seen = [false; 4];
    while seen.contains(&false) {
        select! { cx;
            _ = rx.recv_evt() => seen[0] = true,
            _ = rx.recv_evt() => seen[1] = true,
            _ = rx.recv_evt() => seen[2] = true,
            _ = rx.recv_evt() => seen[3] = true,
        }
    }
    rx.close();
    cx.join(sender).await;
}

/// Case 16.
async fn a_post_at_the_moment_of_a_timeout_is_not_lost(cx: Cx) {
    let semaphore = Arc::new(Semaphore::new(0));
    let (tx, rx) = channel::<()>();
    let poster = {
        let semaphore = semaphore.clone();
        cx.spawn(move |cx| async move {
            while cx.sync(rx.recv_evt()).await.is_ok() {
                cx.sync(after(Duration::from_micros(50))).await;
                semaphore.post();
            }
        })
    };
    for _ in 0..scaled(2_000, 200) {
        cx.sync(tx.send_evt(())).await.unwrap();
        let timed_out = select! { cx;
            () = semaphore.take_evt() => false,
            () = after(Duration::from_micros(50)) => true,
        };
        if timed_out {
            cx.sync(semaphore.take_evt()).await;
        }
    }
    drop(tx);
    cx.join(poster).await;
    assert_eq!(semaphore.take_evt().poll(), None);
}

/// Case 17.
async fn everybody_pairs_off_and_nobody_with_itself(cx: Cx) {
    let (tx, rx) = channel::<usize>();
    let mut performers: Vec<_> = (0..55)
        .map(|id| {
            let (tx, rx) = (tx.clone(), rx.clone());
            cx.spawn(move |cx| async move {
                select! { cx;
                    sent = tx.send_evt(id) => sent.map(|()| None).unwrap(),
                    received = rx.recv_evt() => received.ok(),
                }
            })
        })
        .collect();
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

/// Case 19.
async fn sending_and_receiving_never_deadlocks(cx: Cx) {
    let ends = channel::<usize>();
    let performers = [0, 1].map(|id| {
        let (tx, rx) = ends.clone();
        cx.spawn(move |cx| async move {
            let mut random = Random::new(id as u64 + 1);
            let mut received = 0;
            for _ in 0..1_000 {
                let got = match random.below(2) {
                    0 => select! { cx; got = rx.recv_evt() => got.ok(), _ = tx.send_evt(id) => None },
                    _ => select! { cx; _ = tx.send_evt(id) => None, got = rx.recv_evt() => got.ok() },
                };
                assert_ne!(got, Some(id), "received its own");
                received += usize::from(got.is_some());
            }
            received
        })
    });
    assert_eq!(cx.join_all(performers).await.iter().sum::<usize>(), 1_000);
}

/// Case 24: each performer offers its value with a cell for the other's value, and takes an offer
/// if one comes first.
async fn a_swap_exchanges_both_values(cx: Cx) {
    let ends = channel::<(usize, Arc<IVar<usize>>)>();
    let performers = [0, 1].map(|id| {
        let (tx, rx) = ends.clone();
        cx.spawn(move |cx| async move {
            for round in 0..scaled(5_000, 500) {
                let mine = 2 * round + id;
                let answer = Arc::new(IVar::new());
                let theirs = select! { cx;
                    offer = rx.recv_evt() => {
                        let (theirs, answer) = offer.unwrap();
                        answer.put(mine).unwrap();
                        theirs
                    }
                    sent = tx.send_evt((mine, answer.clone())) => {
                        sent.unwrap();
                        *cx.sync(answer.get_evt()).await
                    }
                };
                assert_eq!(theirs, mine ^ 1);
            }
        })
    });
    cx.join_all(performers).await;
}

async fn arms_of_different_types(cx: Cx) {
    let (numbers, number) = bounded::<u32>(1);
    let (texts, text) = bounded::<String>(1);
    numbers.send(3).unwrap();
    texts.send("four".to_owned()).unwrap();
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(select! { cx;
            number = number.recv_evt() => number.unwrap().to_string(),
            text = text.recv_evt() => text.unwrap(),
            () = after(Duration::from_millis(1)) => String::from("nothing"),
        });
    }
    seen[..2].sort();
    assert_eq!(seen, ["3", "four", "nothing"]);
}

/// There are twelve arms of twelve types. Each is ready once.
async fn twelve_arms(cx: Cx) {
    let (_tx, rx) = channel::<u32>();
    let ready = |place: usize, turn: usize| (place == turn).then(|| always(place));
    for turn in 0..12 {
        let taken = select! { cx;
            n = ready(0, turn) => n,
            n = ready(1, turn).wrap(|n| n as u8) => usize::from(n),
            n = always(2_u16), if turn == 2 => usize::from(n),
            n = always("three"), if turn == 3 => n.len() - 2,
            n = choose((ready(4, turn), rx.recv_evt().wrap(|_| 99))) => n,
            n = ready(5, turn).wrap(|n| [n]) => n[0],
            (n, ()) = ready(6, turn).wrap(|n| (n, ())) => n,
            n = choose([ready(7, turn)]) => n,
            n = choose(vec![ready(8, turn)]) => n,
            n = ready(9, turn).boxed() => n,
            n = guard(|| ready(10, turn)) => n,
            n = with_nack(|_| ready(11, turn)) => n,
        };
        assert_eq!(taken, turn);
    }
}

async fn bodies_steer_the_loop_around_them(cx: Cx) {
    let (tx, rx) = bounded::<u32>(10);
    (0..10).for_each(|n| tx.send(n).unwrap());
    let mut odd = Vec::new();
    let last = 'outer: loop {
        for _ in 0..3 {
            select! { cx;
                n = rx.recv_evt() => {
                    let n = n.unwrap();
                    if n % 2 == 0 {
                        continue 'outer;
                    }
                    odd.push(n);
                    if n == 7 {
                        break 'outer n;
                    }
                }
                () = after(HOUR) => unreachable!("the buffer is not empty"),
            }
        }
    };
    assert_eq!((last, &odd[..], rx.len()), (7, &[1, 3, 5, 7][..], 2));
}

async fn bodies_return_and_propagate_errors(cx: Cx) {
    async fn sum(cx: &Cx, rx: lisle::channel::Receiver<&str>) -> Result<u32, std::num::ParseIntError> {
        let mut sum = 0;
        loop {
            sum += select! { cx;
                text = rx.recv_evt() => match text {
                    Ok(text) => text.parse::<u32>()?,
                    Err(_) => return Ok(sum),
                },
                _ = never::<()>() => 0,
            };
        }
    }
    for (texts, result) in [(&["1", "2"][..], Some(3)), (&["1", "x", "2"], None)] {
        let (tx, rx) = bounded(texts.len());
        texts.iter().for_each(|text| tx.send(*text).unwrap());
        drop(tx);
        assert_eq!(sum(&cx, rx).await.ok(), result);
    }
}

/// Several bodies, and an event before them, use one `&mut`.
async fn bodies_share_what_they_change(cx: Cx) {
    let (tx, rx) = bounded::<usize>(1);
    let mut log = vec![0];
    let list = &mut log;
    while list.len() < 6 {
        select! { cx;
            sent = tx.send_evt(list.len()) => {
                sent.unwrap();
                list.push(100);
            }
            n = rx.recv_evt() => list.push(n.unwrap()),
        }
    }
    assert_eq!(log, [0, 100, 1, 100, 3, 100]);
}

async fn a_body_may_wait(cx: Cx) {
    let (first, firsts) = channel::<u32>();
    let (second, seconds) = channel::<u32>();
    let receiver = cx.spawn(move |cx| async move {
        select! { cx;
            n = firsts.recv_evt() => n.unwrap() + cx.sync(seconds.recv_evt()).await.unwrap(),
            n = seconds.recv_evt(), if false => n.unwrap(),
        }
    });
    cx.sync(first.send_evt(40)).await.unwrap();
    cx.sync(second.send_evt(2)).await.unwrap();
    assert_eq!(cx.join(receiver).await, 42);
}

/// Cases 3 and 26: no partner finds the losers, their nacks are ready, and the values that they
/// borrowed may be changed.
async fn when_a_body_begins_the_losers_are_gone(cx: Cx) {
    let mut ends = channel::<u32>();
    let (nacks, nack) = bounded(1);
    let (release, released) = channel::<()>();
    let releaser = cx.spawn(move |cx| async move { cx.sync(release.send_evt(())).await });
    select! { cx;
        _ = ends.1.recv_evt() => unreachable!("nobody sends"),
        () = with_nack(|nack| {
            nacks.send(nack).unwrap();
            never()
        }) => unreachable!(),
        _ = released.recv_evt() => {
            assert!(ends.0.try_send(1).is_err(), "a loser still waits");
            assert!(nack.recv().unwrap().is_lost());
            ends = channel();
        }
    }
    assert!(ends.1.is_empty());
    cx.join(releaser).await.unwrap();
}

async fn conditions_switch_arms_off(cx: Cx) {
    let (tx, rx) = bounded::<u32>(4);
    let mut slot = None;
    let mut seen = Vec::new();
    for n in 0..10 {
        select! { cx;
            sent = tx.send_evt(n), if slot.is_none() && n < 8 => {
                sent.unwrap();
                slot = Some(n);
            }
            // This is not evaluated while there is nothing to unwrap.
            ready = always(slot.unwrap()), if slot.is_some() => {
                assert_eq!(rx.try_recv(), Ok(ready));
                seen.push(ready);
                slot = None;
            }
            () = after(Duration::ZERO), if n >= 8 => (),
        }
    }
    assert_eq!(seen, [0, 2, 4, 6]);
    let idle = lisle::select! { n = always(1), if false => n, default => 2 };
    assert_eq!(idle, 2);
}

async fn a_default_is_taken_if_nothing_is_ready(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let look = || {
        lisle::select! {
            n = rx.recv_evt() => Some(n.unwrap()),
            () = after(HOUR) => unreachable!(),
            default => None,
        }
    };
    assert_eq!(look(), None);
    let sender = cx.spawn(move |cx| async move { cx.sync(tx.send_evt(5)).await });
    let got = loop {
        match look() {
            Some(got) => break got,
            None => cx.yield_now().await,
        }
    };
    assert_eq!(got, 5);
    cx.join(sender).await.unwrap();
    assert_eq!(select! { cx; n = always(1) => n, default => 2 }, 1);
    assert_eq!(select! { cx; n = never() => n, default => 2, }, 2);
}

async fn a_biased_select_prefers_the_first(cx: Cx) {
    let (work, works) = bounded::<usize>(10);
    let (stop, stops) = bounded::<()>(1);
    (0..10).for_each(|n| work.send(n).unwrap());
    let mut done = 0;
    loop {
        select! { cx;
            biased;
            _ = stops.recv_evt() => break,
            n = works.recv_evt() => {
                assert_eq!(n, Ok(done));
                done += 1;
                if done == 5 {
                    stop.send(()).unwrap();
                }
            }
            _ = never::<()>() => (),
        }
    }
    assert_eq!((done, works.len()), (5, 5));
    let polled =
        lisle::select! { biased; n = never() => n, n = always(1) => n, n = always(2) => n, default => 3 };
    assert_eq!(polled, 1);
}

async fn events_are_evaluated_once_from_left_to_right(cx: Cx) {
    let mut order = Vec::new();
    let mut note = |place: usize, is: bool| {
        order.push(place);
        is
    };
    let value = select! { cx;
        n = { note(1, true); never::<usize>() }, if note(0, true) => n,
        n = { note(9, true); always(9) }, if note(2, false) => n,
        n = always(usize::from(note(3, true))) => n + 10,
        n = choose((never::<usize>(), { note(4, true); never() })) => n,
    };
    assert_eq!((value, &order[..]), (11, &[0, 1, 2, 3, 4][..]));
}

/// The macro's own names do not conflict with the caller's.
async fn names_of_the_caller_are_the_callers(cx: Cx) {
    #[allow(dead_code, reason = "none of these is to be taken for the library's")]
    mod names {
        pub(super) enum Option {
            Some,
            None,
        }
        pub(super) struct Event;
        pub(super) fn choose() {}
    }
    #[allow(unused_imports, reason = "as above")]
    use names::{Event, Option, Option::None, Option::Some, choose};
    let (output, value, choice, event) = (1, 2, 3, 4);
    let sum = select! { cx;
        biased;
        () = never::<()>(), if output == 1 => 0,
        n = always(5), if value == 2 => n + output + value + choice + event,
    };
    assert_eq!(sum, 15);
    let polled = lisle::select! { value = always(value) => value + output, default => 0 };
    assert_eq!(polled, 3);
}

/// One performer with an input, an output and a queue works between two others. Its directions are
/// switched on and off.
async fn a_pipeline_ends_when_its_input_does(cx: Cx) {
    let count = scaled(20_000, 1_000);
    let (tx, input) = channel::<usize>();
    let (output, rx) = channel::<usize>();
    let sender = cx.spawn(move |cx| async move {
        for n in 0..count {
            cx.sync(tx.send_evt(n)).await.unwrap();
        }
    });
    let buffer = cx.spawn(move |cx| async move {
        let mut queue = std::collections::VecDeque::new();
        let mut open = true;
        while open || !queue.is_empty() {
            select! { cx;
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
    let mut expected = 0;
    while let Ok(n) = cx.sync(rx.recv_evt()).await {
        assert_eq!(n, expected);
        expected += 1;
    }
    assert_eq!(expected, count);
    cx.join(sender).await;
    cx.join(buffer).await;
}
