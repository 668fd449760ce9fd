//! Behaviours from the tests of other event libraries, in every world and in our own words. The
//! cases of the other modules and the ported suites of Go and `crossbeam-channel` do not have them.
//!
//! Origins, none of whose text is here: Racket's `collects/tests/racket/sync.rktl` in
//! <https://github.com/racket/racket> (MIT or Apache-2.0); Guile Fibers' `tests/` in
//! <https://github.com/wingo/fibers> (LGPL 3 or later); Hopac's `Tests/` in
//! <https://github.com/Hopac/Hopac> (MIT); OCaml's `testsuite/tests/lib-systhreads/` (`testA.ml`,
//! `sieve.ml`, `eventchannel` examples of `Event`) in <https://github.com/ocaml/ocaml> (LGPL 2.1
//! with linking exception); Kotlin's `selects/` tests in
//! <https://github.com/Kotlin/kotlinx.coroutines> (Apache-2.0).

use crate::support::{Cx, Semaphore, scaled, worlds};
use lisle::channel::{RecvError, bounded};
use lisle::event::{BoxEvent, Nack, choose_biased, guard, with_nack};
use lisle::sync::{Condition, IVar};
use lisle::time::after;
use lisle::{Event, always, channel, choose, never};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

worlds!(
    racket_an_event_that_gives_itself_away,
    racket_a_replacement_is_polled_with_its_siblings,
    racket_nacks_of_nested_guards_are_told_once_each,
    racket_a_wrapped_choice_of_wrapped_choices,
    fibers_a_rendezvous_in_both_directions,
    fibers_a_condition_and_a_channel_in_one_choice,
    fibers_a_timer_wrapped_in_a_choice_with_ready_ones,
    hopac_an_alternative_given_by_a_guard_of_an_ivar,
    hopac_a_nack_that_carries_a_request_back,
    ocaml_concurrent_adders,
    ocaml_abort_is_called_by_the_losers_only,
    ocaml_poll_of_a_list,
    kotlin_a_biased_select_prefers_the_first_clause,
    kotlin_select_loops_until_all_are_closed,
    kotlin_a_timeout_of_zero_wins_over_what_waits,
);

/// The value of an event may be an event, which is performed next.
async fn racket_an_event_that_gives_itself_away(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let sender = cx.spawn(move |cx| async move {
        for i in 0..4 {
            cx.sync(tx.send_evt(i)).await.unwrap();
        }
    });
    let receive = rx.recv_evt();
    let itself = (&receive).wrap(|got| (got, &receive));
    let (first, again) = cx.sync(choose((never(), itself))).await;
    assert_eq!((first, cx.sync(again).await), (Ok(0), Ok(1)));
    assert_eq!(cx.sync((&receive).replace(|_| &receive)).await, Ok(3));
    cx.join(sender).await;
}

async fn racket_a_replacement_is_polled_with_its_siblings(cx: Cx) {
    let semaphore = Semaphore::new(0);
    let made = AtomicUsize::new(0);
    let replaced = || {
        always(()).replace(|()| {
            made.fetch_add(1, Ordering::SeqCst);
            semaphore.take_evt().wrap(|()| 1)
        })
    };
    assert_eq!(choose((replaced(), never())).poll(), None);
    assert_eq!(choose((replaced(), replaced())).poll(), None);
    assert_eq!(made.load(Ordering::SeqCst), 3);
    semaphore.post();
    assert_eq!(choose((never(), replaced())).poll(), Some(1));
    let time = after(Duration::from_millis(1)).wrap(|()| 2);
    assert_eq!(cx.sync(choose((replaced(), time))).await, 2);
    semaphore.post();
    assert_eq!(cx.sync(choose((replaced(), time))).await, 1);
}

async fn racket_nacks_of_nested_guards_are_told_once_each(cx: Cx) {
    let nacks = Mutex::new(Vec::<(u32, Nack)>::new());
    let note = |name: u32, nack: Nack| nacks.lock().unwrap().push((name, nack));
    let event = choose((
        guard(|| with_nack(|nack| (note(1, nack), guard(|| with_nack(|nack| (note(2, nack), never()).1))).1)),
        with_nack(|nack| {
            note(3, nack);
            choose((always(3), with_nack(|nack| (note(4, nack), never()).1)))
        }),
    ));
    for _ in 0..10 {
        assert_eq!(cx.sync(&event).await, 3);
        for (name, nack) in std::mem::take(&mut *nacks.lock().unwrap()) {
            assert_eq!((nack.is_taken(), nack.poll().is_some()), (name == 3, name != 3), "nack {name}");
        }
    }
}

async fn racket_a_wrapped_choice_of_wrapped_choices(cx: Cx) {
    fn tree(depth: u32, ready: u32) -> BoxEvent<'static, u32> {
        match depth {
            0 => (ready == 0).then(|| always(0)).boxed(),
            _ => {
                let side = |bit: u32| {
                    let here = ready >> (depth - 1) & 1 == bit;
                    let below = if here { ready & !(1 << (depth - 1)) } else { u32::MAX >> 1 };
                    tree(depth - 1, below).wrap(move |n| n | bit << (depth - 1)).boxed()
                };
                choose((side(0), side(1))).wrap(|n| n).boxed()
            }
        }
    }
    for ready in 0..32 {
        let event = tree(5, ready);
        assert_eq!(cx.sync(&event).await, ready);
        assert_eq!(event.poll(), Some(ready));
    }
}

async fn fibers_a_rendezvous_in_both_directions(cx: Cx) {
    let rounds = scaled(2_000, 200);
    let (ping, pings) = channel::<usize>();
    let (pong, pongs) = channel::<usize>();
    let echo = cx.spawn(move |cx| async move {
        while let Ok(i) = cx.sync(choose((pings.recv_evt(), never()))).await {
            cx.sync(choose((never(), pong.send_evt(i + 1)))).await.unwrap();
        }
    });
    for i in 0..rounds {
        cx.sync(ping.send_evt(i)).await.unwrap();
        assert_eq!(cx.sync(pongs.recv_evt()).await, Ok(i + 1));
    }
    drop(ping);
    cx.join(echo).await;
    assert_eq!(cx.sync(pongs.recv_evt()).await, Err(RecvError));
}

async fn fibers_a_condition_and_a_channel_in_one_choice(cx: Cx) {
    let condition = Arc::new(Condition::new());
    let (tx, rx) = channel::<u32>();
    let performers: Vec<_> = (0..6)
        .map(|_| {
            let (condition, rx) = (condition.clone(), rx.clone());
            cx.spawn(move |cx| async move {
                let mut received = 0;
                let event = choose((rx.recv_evt().wrap(Result::ok), condition.wait_evt().wrap(|()| None)));
                while cx.sync(&event).await.is_some() {
                    received += 1;
                }
                received
            })
        })
        .collect();
    for i in 0..60 {
        cx.sync(tx.send_evt(i)).await.unwrap();
    }
    assert!(condition.signal());
    assert_eq!(cx.join_all(performers).await.into_iter().sum::<usize>(), 60);
}

async fn fibers_a_timer_wrapped_in_a_choice_with_ready_ones(cx: Cx) {
    let long = after(Duration::from_secs(3_600)).wrap(|()| 0);
    for _ in 0..100 {
        assert_eq!(cx.sync(choose((long, always(1), long))).await, 1);
    }
    let short = after(Duration::from_millis(1)).wrap(|()| 2);
    assert_eq!(cx.sync(choose((long.wrap(|n| n), choose((long, choose((short, long))))))).await, 2);
}

async fn hopac_an_alternative_given_by_a_guard_of_an_ivar(cx: Cx) {
    let cell = Arc::new(IVar::<u32>::new());
    let read = guard(|| match cell.try_get() {
        Some(value) => always(*value).boxed(),
        None => cell.get_evt().wrap(|value| *value).boxed(),
    });
    assert_eq!(read.poll(), None);
    let filling = cell.clone();
    let filler = cx.spawn(move |_| async move { filling.put(5).unwrap() });
    assert_eq!(cx.sync(choose((&read, never()))).await, 5);
    cx.join(filler).await;
    assert_eq!(read.poll(), Some(5));
}

/// A storage lends one thing at a time. A borrower that has gone before it was served gets nothing,
/// and nothing is lost with it.
async fn hopac_a_nack_that_carries_a_request_back(cx: Cx) {
    let rounds = scaled(200, 30);
    let (ask, asks) = bounded::<(lisle::channel::Sender<u32>, Nack)>(100);
    let (back, backs) = bounded::<u32>(100);
    let storage = cx.spawn(move |cx| async move {
        let mut things = vec![7];
        let mut lent = 0;
        loop {
            let returned = || backs.recv_evt().wrap(|thing| (thing.ok(), None));
            let asked = (!things.is_empty()).then(|| asks.recv_evt().wrap(|asked| (None, asked.ok())));
            match cx.sync(choose((returned(), asked))).await {
                (Some(thing), _) => things.push(thing),
                (_, Some((reply, gone))) => {
                    let thing = things.pop().expect("one is there");
                    let lend = reply.send_evt(thing).wrap(|sent| sent.is_ok());
                    match cx.sync(choose((lend, gone.wrap(|()| false)))).await {
                        true => lent += 1,
                        false => things.push(thing),
                    }
                }
                (None, None) => {
                    // All borrowers have gone. The last things that they returned may still be in
                    // the buffer.
                    things.extend(backs.iter());
                    return (things, lent);
                }
            }
        }
    });
    let borrowers = [0, 1, 2].map(|me| {
        let (ask, back) = (ask.clone(), back.clone());
        cx.spawn(move |cx| async move {
            let mut had = 0;
            for round in 0..rounds {
                let (reply, replies) = channel::<u32>();
                let borrow = with_nack(|gone| {
                    ask.send((reply.clone(), gone)).unwrap();
                    replies.recv_evt().wrap(Result::ok)
                });
                let leave = match (me + round) % 3 {
                    0 => never().boxed(),
                    1 => always(None).boxed(),
                    _ => after(Duration::from_micros(round as u64)).wrap(|()| None).boxed(),
                };
                if let Some(thing) = cx.sync(choose((borrow, leave))).await {
                    had += 1;
                    assert_eq!(thing, 7);
                    cx.sync(back.send_evt(thing)).await.unwrap();
                }
            }
            had
        })
    });
    let had: usize = cx.join_all(borrowers).await.into_iter().sum();
    drop((ask, back));
    let (things, lent) = cx.join(storage).await;
    assert_eq!((things, lent), (vec![7], had));
}

/// Adders each read two numbers from either of two channels and send their sum.
async fn ocaml_concurrent_adders(cx: Cx) {
    let inputs = [0, 1].map(|_| channel::<u64>());
    let (sum, sums) = channel::<u64>();
    let adders = [(); 3].map(|()| {
        let [(_, left), (_, right)] = inputs.clone();
        let sum = sum.clone();
        cx.spawn(move |cx| async move {
            let either = choose((left.recv_evt(), right.recv_evt()));
            while let Ok(first) = cx.sync(&either).await {
                let Ok(second) = cx.sync(&either).await else { return Some(first) };
                cx.sync(sum.send_evt(first + second)).await.unwrap();
            }
            None
        })
    });
    drop(sum);
    let feeders = inputs.map(|(tx, _)| {
        cx.spawn(move |cx| async move {
            for i in 1..=30 {
                cx.sync(tx.send_evt(i)).await.unwrap();
            }
            // Both at once, so no adder finds one closed and the other open.
            tx
        })
    });
    let collector = cx.spawn(move |cx| async move {
        let mut total = 0;
        while let Ok(sum) = cx.sync(sums.recv_evt()).await {
            total += sum;
        }
        total
    });
    let ends = cx.join_all(feeders).await;
    for tx in &ends {
        tx.close();
    }
    let rest: u64 = cx.join_all(adders).await.into_iter().flatten().sum();
    assert_eq!(cx.join(collector).await + rest, 2 * 30 * 31 / 2);
}

/// `wrap_abort`: a function runs if another alternative is chosen, in a performer that waits for
/// the nack.
async fn ocaml_abort_is_called_by_the_losers_only(cx: Cx) {
    let aborted = Arc::new([0; 3].map(AtomicUsize::new));
    let (watch, watched) = bounded::<(usize, Nack)>(3);
    let semaphores = [0; 3].map(Semaphore::new);
    semaphores[1].post();
    let event = choose([0, 1, 2].map(|i| {
        let (watch, semaphores) = (&watch, &semaphores);
        with_nack(move |nack| {
            watch.try_send((i, nack)).unwrap();
            semaphores[i].take_evt().wrap(move |()| i)
        })
    }));
    assert_eq!(cx.sync(&event).await, 1);
    let watchers: Vec<_> = std::iter::from_fn(|| watched.try_recv().ok())
        .map(|(i, nack)| {
            let aborted = aborted.clone();
            cx.spawn(move |cx| async move {
                if !nack.is_taken() {
                    cx.sync(nack).await;
                    aborted[i].fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    cx.join_all(watchers).await;
    assert_eq!(aborted.each_ref().map(|count| count.load(Ordering::SeqCst)), [1, 0, 1]);
}

async fn ocaml_poll_of_a_list(cx: Cx) {
    let ends: Vec<_> = (0..5).map(|_| channel::<usize>()).collect();
    let list = || choose(ends.iter().map(|(_, rx)| rx.recv_evt()).collect::<Vec<_>>());
    assert_eq!(list().poll(), None);
    for (i, (tx, _)) in ends.iter().enumerate() {
        let tx = tx.clone();
        let sender = cx.spawn(move |cx| async move { cx.sync(tx.send_evt(i)).await });
        let mut got = None;
        cx.until(|| (got = list().poll(), got.is_some()).1).await;
        assert_eq!(got, Some(Ok(i)));
        cx.join(sender).await.unwrap();
        assert_eq!(list().poll(), None);
    }
}

async fn kotlin_a_biased_select_prefers_the_first_clause(cx: Cx) {
    let (first, firsts) = bounded::<u32>(10);
    let (second, seconds) = bounded::<u32>(10);
    for i in 0..10 {
        first.try_send(i).unwrap();
        second.try_send(100 + i).unwrap();
    }
    let event = choose_biased((firsts.recv_evt(), seconds.recv_evt()));
    for i in 0..10 {
        assert_eq!(cx.sync(&event).await, Ok(i));
    }
    assert_eq!(cx.sync(&event).await, Ok(100));
    first.try_send(50).unwrap();
    assert_eq!(cx.sync(&event).await, Ok(50), "the first goes first again");
}

async fn kotlin_select_loops_until_all_are_closed(cx: Cx) {
    let (result, results) = bounded::<u32>(64);
    let ends: Vec<_> = (0..3).map(bounded::<u32>).collect();
    let txs: Vec<_> = ends.iter().map(|(tx, _)| tx.clone()).collect();
    let producer = cx.spawn(move |cx| async move {
        for i in 0..60 {
            cx.sync(txs[i % 3].send_evt(i as u32)).await.unwrap();
        }
        for tx in &txs {
            tx.close();
        }
    });
    let mut open = [true; 3];
    while open.contains(&true) {
        let event =
            choose([0, 1, 2].map(|i| open[i].then(|| ends[i].1.recv_evt().wrap(move |got| (i, got)))));
        match cx.sync(event).await {
            (_, Ok(value)) => result.try_send(value).unwrap(),
            (i, Err(_)) => open[i] = false,
        }
    }
    cx.join(producer).await;
    drop(result);
    let mut got: Vec<u32> = results.iter().collect();
    got.sort_unstable();
    assert_eq!(got, (0..60).collect::<Vec<_>>());
}

async fn kotlin_a_timeout_of_zero_wins_over_what_waits(cx: Cx) {
    let (_tx, rx) = channel::<u32>();
    for _ in 0..20 {
        let event = choose((rx.recv_evt().wrap(|_| 'r'), after(Duration::ZERO).wrap(|()| 't')));
        assert_eq!(cx.sync(event).await, 't');
    }
    let event = choose_biased((always('a'), after(Duration::ZERO).wrap(|()| 't')));
    assert_eq!(cx.sync(event).await, 'a');
}
