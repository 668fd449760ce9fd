//! Wait sets: a standing choice behaves like a choice, performance after performance.

use crate::support::{Cx, Random, Semaphore, on_domains, scaled, worlds};
use lisle::channel::{Receiver, RecvError, Sender, bounded};
use lisle::event::{Nack, WaitSet, guard, with_nack};
use lisle::time::after;
use lisle::{Event, always, channel, choose, never};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

worlds!(
    an_empty_set_is_never_ready,
    each_message_of_many_channels_comes_once,
    a_set_of_rendezvous_channels_meets_polled_senders_only_while_it_waits,
    sources_of_one_set_do_not_meet_each_other,
    two_sets_meet,
    a_set_in_a_choice_takes_nothing_if_it_loses,
    sources_that_are_ready_are_served_in_turn,
    a_closed_channel_is_learnt_by_every_set,
    guards_run_once_a_value_and_nacks_are_sent_on_removal,
    tokens_granted_to_a_set_are_conserved,
    timers_tick,
    a_timer_is_found_by_polls_and_beside_what_is_always_ready,
    a_promise_is_kept_to_a_set,
    stages_go_on_in_a_set,
    a_source_that_is_a_choice,
    a_set_may_be_a_source_of_another,
    a_set_nobody_performs_holds_nobody_back,
    a_sender_that_makes_its_message_in_a_set_beside_a_receiver,
    parties_of_a_barrier_in_sets_and_choices,
);

async fn an_empty_set_is_never_ready(cx: Cx) {
    let mut set = WaitSet::<u32>::new();
    assert!(set.poll().is_none());
    let waited = choose((set.evt().wrap(|_| false), after(Duration::from_millis(1)).wrap(|()| true)));
    assert!(cx.sync(waited).await);
}

type Ends = (Vec<Sender<usize>>, Vec<Receiver<usize>>);

fn channels(count: usize) -> Ends {
    (0..count).map(|i| bounded(i % 3)).unzip()
}

async fn each_message_of_many_channels_comes_once(cx: Cx) {
    let (count, rounds) = (scaled(64, 24), scaled(300, 40));
    let (senders, receivers) = channels(count);
    let performers: Vec<_> = (0..4)
        .map(|me| {
            let senders = senders.clone();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(me as u64);
                for i in 0..rounds {
                    let number = me * rounds + i;
                    cx.sync(senders[random.below(senders.len())].send_evt(number)).await.unwrap();
                }
            })
        })
        .collect();
    drop(senders);
    let mut seen = vec![0; 4 * rounds];
    {
        let mut set = WaitSet::new();
        for rx in &receivers {
            set.insert(rx.recv_evt());
        }
        while !set.is_empty() {
            match cx.sync(set.evt()).await {
                (_, Ok(number)) => seen[number] += 1,
                (key, Err(RecvError)) => assert!(set.remove(key) && !set.contains(key)),
            }
        }
    }
    assert!(seen.iter().all(|&times| times == 1), "{seen:?}");
    cx.join_all(performers).await;
}

async fn a_set_of_rendezvous_channels_meets_polled_senders_only_while_it_waits(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let (ask, asked) = channel::<()>();
    let sender = {
        let tx = tx.clone();
        cx.spawn(move |cx| async move {
            cx.sync(asked.recv_evt()).await.unwrap();
            // The set waits now or will wait in a moment.
            let mut refused = 0_u64;
            while tx.try_send(7).is_err() {
                refused += 1;
                cx.yield_now().await;
            }
            refused
        })
    };
    let mut set = WaitSet::new();
    set.insert(rx.recv_evt());
    assert!(set.poll().is_none());
    assert!(tx.try_send(1).is_err(), "nobody waits");
    cx.sync(ask.send_evt(())).await.unwrap();
    assert_eq!(cx.sync(set.evt()).await.1, Ok(7));
    assert!(tx.try_send(1).is_err(), "nobody waits any more");
    cx.join(sender).await;
}

async fn sources_of_one_set_do_not_meet_each_other(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let mut set = WaitSet::new();
    set.insert(tx.send_evt(1).wrap(|sent| sent.map(|()| 0).ok()));
    set.insert(rx.recv_evt().wrap(Result::ok));
    assert!(set.poll().is_none());
    let gave_up = choose((set.evt().wrap(|_| false), after(Duration::from_millis(2)).wrap(|()| true)));
    assert!(cx.sync(gave_up).await);
    // The choice that contains the set does not communicate with it, either.
    let also = choose((
        set.evt().wrap(|_| 0),
        rx.recv_evt().wrap(|_| 1),
        after(Duration::from_millis(2)).wrap(|()| 2),
    ));
    assert_eq!(cx.sync(also).await, 2);
    let partner = {
        let rx = rx.clone();
        cx.spawn(move |cx| async move { cx.sync(rx.recv_evt()).await })
    };
    assert_eq!(cx.sync(set.evt()).await.1, Some(0));
    assert_eq!(cx.join(partner).await, Ok(1));
}

async fn two_sets_meet(cx: Cx) {
    let rounds = scaled(2_000, 200);
    let (senders, receivers): Ends = (0..4).map(|_| channel()).unzip();
    let partner = cx.spawn(move |cx| async move {
        let mut set = WaitSet::new();
        for (index, tx) in senders.iter().enumerate() {
            set.insert(tx.send_evt(index));
        }
        for _ in 0..rounds {
            cx.sync(set.evt()).await.1.unwrap();
        }
    });
    let mut set = WaitSet::new();
    for rx in &receivers {
        set.insert(rx.recv_evt());
    }
    let mut received = 0;
    while let Ok(number) = cx.sync(set.evt()).await.1 {
        assert!(number < 4);
        received += 1;
    }
    cx.join(partner).await;
    assert_eq!(received, rounds);
}

async fn a_set_in_a_choice_takes_nothing_if_it_loses(cx: Cx) {
    let rounds = scaled(2_000, 200);
    let (tx, rx) = channel::<usize>();
    let (other_tx, other) = channel::<usize>();
    let sender = |tx: Sender<usize>| {
        cx.spawn(move |cx| async move {
            for i in 0..rounds {
                cx.sync(tx.send_evt(i)).await.unwrap();
            }
        })
    };
    let (a, b) = (sender(tx), sender(other_tx));
    let mut set = WaitSet::new();
    set.insert(rx.recv_evt());
    let (mut next, mut next_other, mut closed) = (0, 0, [false; 2]);
    while closed != [true; 2] {
        let event = choose((
            (!closed[0]).then(|| set.evt().wrap(|(_, got)| (0, got))),
            (!closed[1]).then(|| other.recv_evt().wrap(|got| (1, got))),
        ));
        match cx.sync(event).await {
            (0, Ok(i)) => next += usize::from(i == next),
            (_, Ok(i)) => next_other += usize::from(i == next_other),
            (which, Err(RecvError)) => closed[which] = true,
        }
    }
    assert_eq!((next, next_other), (rounds, rounds), "lost, doubled or out of order");
    cx.join(a).await;
    cx.join(b).await;
}

async fn sources_that_are_ready_are_served_in_turn(cx: Cx) {
    let mut set = WaitSet::new();
    for i in 0..5 {
        set.insert(always(i));
    }
    set.insert(never());
    let mut times = [0; 5];
    for _ in 0..50 {
        times[cx.sync(set.evt()).await.1] += 1;
    }
    assert_eq!(times, [10; 5]);
}

async fn a_closed_channel_is_learnt_by_every_set(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let waiting = Arc::new(AtomicUsize::new(0));
    let performers: Vec<_> = (0..4)
        .map(|_| {
            let (rx, waiting) = (rx.clone(), waiting.clone());
            cx.spawn(move |cx| async move {
                let mut set = WaitSet::new();
                set.insert(rx.recv_evt());
                set.insert(rx.recv_evt());
                waiting.fetch_add(1, Ordering::Relaxed);
                assert_eq!(cx.sync(set.evt()).await.1, Err(RecvError));
                assert_eq!(cx.sync(set.evt()).await.1, Err(RecvError));
            })
        })
        .collect();
    cx.until(|| waiting.load(Ordering::Relaxed) == 4).await;
    tx.close();
    cx.join_all(performers).await;
}

async fn guards_run_once_a_value_and_nacks_are_sent_on_removal(cx: Cx) {
    let forced = Arc::new(AtomicUsize::new(0));
    let (nacks_tx, nacks) = bounded::<Nack>(16);
    let (tx, rx) = bounded::<u32>(4);
    let mut set = WaitSet::new();
    let counted = guard({
        let (forced, rx) = (forced.clone(), rx.clone());
        move || {
            forced.fetch_add(1, Ordering::Relaxed);
            rx.clone().into_recv_evt().wrap(Result::unwrap)
        }
    });
    set.insert(counted);
    let key = set.insert(with_nack(move |nack| {
        nacks_tx.try_send(nack).unwrap();
        never::<u32>()
    }));
    for _ in 0..3 {
        assert!(set.poll().is_none());
    }
    assert_eq!(forced.load(Ordering::Relaxed), 1, "one performance over several polls");
    tx.try_send(1).unwrap();
    tx.try_send(2).unwrap();
    assert_eq!(cx.sync(set.evt()).await.1, 1);
    assert_eq!(cx.sync(set.evt()).await.1, 2);
    assert_eq!(forced.load(Ordering::Relaxed), 2);
    let nack = nacks.try_recv().unwrap();
    assert!(nacks.try_recv().is_err() && !nack.is_lost(), "that source still waits");
    assert!(set.remove(key) && !set.remove(key));
    cx.sync(&nack).await;
    assert!(set.poll().is_none());
    assert_eq!(forced.load(Ordering::Relaxed), 3);
}

async fn tokens_granted_to_a_set_are_conserved(cx: Cx) {
    let rounds = scaled(2_000, 200);
    let semaphores: Arc<[Semaphore; 3]> = Arc::new([0; 3].map(Semaphore::new));
    let performers: Vec<_> = (0..3)
        .map(|me| {
            let semaphores = semaphores.clone();
            cx.spawn(move |cx| async move {
                let mut set = WaitSet::new();
                for semaphore in semaphores.iter() {
                    set.insert(semaphore.take_evt());
                }
                let mut random = Random::new(me);
                for _ in 0..rounds {
                    if random.below(3) == 0 {
                        // This fails most of the time.
                        let patience = after(Duration::from_micros(random.below(200) as u64));
                        let took = choose((set.evt().wrap(|_| true), patience.wrap(|()| false)));
                        if cx.sync(took).await {
                            continue;
                        }
                    }
                    cx.sync(set.evt()).await;
                }
            })
        })
        .collect();
    let mut random = Random::new(17);
    for _ in 0..3 * rounds {
        semaphores[random.below(3)].post();
        if random.below(4) == 0 {
            cx.yield_now().await;
        }
    }
    cx.join_all(performers).await;
    assert!(semaphores.iter().all(|semaphore| semaphore.take_evt().poll().is_none()));
}

async fn timers_tick(cx: Cx) {
    let mut set = WaitSet::new();
    set.insert(after(Duration::from_secs(3_600)));
    let tick = set.insert(after(Duration::from_millis(1)));
    for _ in 0..5 {
        assert_eq!(cx.sync(set.evt()).await, (tick, ()));
    }
}

/// The timer has expired while no performer waited on the set.
async fn a_timer_is_found_by_polls_and_beside_what_is_always_ready(cx: Cx) {
    let mut set = WaitSet::new();
    set.insert(after(Duration::from_millis(1)).wrap(|()| "timer"));
    let mut polls = 0;
    while set.poll().is_none() {
        polls += 1;
        assert!(polls < 60_000, "the timer is never seen");
        cx.sync(after(Duration::from_millis(1))).await;
    }
    set.insert(always("ready"));
    while cx.sync(set.evt()).await.1 != "timer" {
        cx.yield_now().await;
    }
}

async fn a_promise_is_kept_to_a_set(cx: Cx) {
    let rounds = scaled(500, 50);
    let (tx, rx) = channel::<usize>();
    let sender = cx.spawn(move |cx| async move {
        for i in 0..rounds {
            cx.sync(tx.send_with_evt(move || i)).await.unwrap();
        }
    });
    let mut set = WaitSet::new();
    set.insert(rx.recv_evt());
    for i in 0..rounds {
        assert_eq!(cx.sync(set.evt()).await.1, Ok(i));
    }
    assert_eq!(cx.sync(set.evt()).await.1, Err(RecvError));
    cx.join(sender).await;
}

async fn stages_go_on_in_a_set(cx: Cx) {
    let (tx, rx) = bounded::<u64>(1);
    let mut set = WaitSet::new();
    set.insert(rx.recv_evt().replace(|n| after(Duration::from_millis(n.unwrap())).wrap(move |()| n)));
    for n in 0..5 {
        tx.try_send(n).unwrap();
        assert_eq!(cx.sync(set.evt()).await.1, Ok(n));
    }
}

async fn a_source_that_is_a_choice(cx: Cx) {
    let rounds = scaled(1_000, 100);
    let (senders, receivers): Ends = (0..6).map(|i| bounded(i % 2)).unzip();
    let performers: Vec<_> = senders
        .iter()
        .cloned()
        .map(|tx| {
            cx.spawn(move |cx| async move {
                for i in 0..rounds {
                    cx.sync(tx.send_evt(i)).await.unwrap();
                }
            })
        })
        .collect();
    let mut set = WaitSet::new();
    for pair in receivers.chunks(2) {
        set.insert(choose((pair[0].recv_evt(), pair[1].recv_evt())));
    }
    for _ in 0..6 * rounds {
        cx.sync(set.evt()).await.1.unwrap();
    }
    assert!(set.poll().is_none());
    drop(senders);
    assert_eq!(cx.sync(set.evt()).await.1, Err(RecvError));
    drop(set);
    cx.join_all(performers).await;
}

async fn a_set_may_be_a_source_of_another(cx: Cx) {
    let rounds = scaled(1_000, 100);
    let (senders, receivers): Ends = (0..6).map(|i| bounded(i % 2)).unzip();
    let performers: Vec<_> = senders
        .iter()
        .cloned()
        .map(|tx| {
            cx.spawn(move |cx| async move {
                for i in 0..rounds {
                    cx.sync(tx.send_evt(i)).await.unwrap();
                }
            })
        })
        .collect();
    let mut inner = [WaitSet::new(), WaitSet::new()];
    for (i, rx) in receivers.iter().enumerate() {
        inner[i % 2].insert(rx.recv_evt());
    }
    let [a, b] = &mut inner;
    // It does not communicate with the choice around it, either.
    let (tx, rx) = channel::<usize>();
    let mut set = WaitSet::new();
    set.insert(a.evt().wrap(|(_, got)| got));
    set.insert(b.evt().wrap(|(_, got)| got));
    set.insert(rx.recv_evt());
    let mut sum = 0;
    for _ in 0..6 * rounds {
        let event =
            choose((set.evt().wrap(|(_, got)| got.unwrap()), tx.send_evt(0).wrap(|_| unreachable!())));
        sum += cx.sync(event).await;
    }
    assert_eq!(sum, 6 * rounds * (rounds - 1) / 2);
    assert!(set.poll().is_none());
    drop(set);
    cx.join_all(performers).await;
}

async fn a_set_nobody_performs_holds_nobody_back(cx: Cx) {
    let semaphore = lisle::sync::Semaphore::new(1);
    let mut set = WaitSet::new();
    set.insert(semaphore.wait_many_evt(2));
    assert!(set.poll().is_none());
    cx.sync(semaphore.wait_evt()).await;
    semaphore.post_many(2);
    cx.sync(set.evt()).await;
}

async fn a_sender_that_makes_its_message_in_a_set_beside_a_receiver(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let mut set = WaitSet::new();
    set.insert(tx.send_with_evt(|| 1).wrap(|sent| sent.is_ok()));
    for _ in 0..10 {
        let event = set.evt();
        let both = choose((
            (&event).wrap(|_| "the set"),
            rx.recv_evt().wrap(|_| "the receiver"),
            after(Duration::from_micros(500)).wrap(|()| "neither"),
        ));
        assert_eq!(cx.sync(both).await, "neither", "it does not talk to itself");
    }
    let partner = {
        let rx = rx.clone();
        cx.spawn(move |cx| async move { cx.sync(rx.recv_evt()).await })
    };
    assert!(cx.sync(set.evt()).await.1);
    assert_eq!(cx.join(partner).await, Ok(1));
}

async fn parties_of_a_barrier_in_sets_and_choices(cx: Cx) {
    let rounds = scaled(1_000, 100) as u64;
    let barrier = lisle::sync::Barrier::new();
    let alone = barrier.enrol();
    {
        let mut set = WaitSet::new();
        set.insert(alone.wait_evt());
        assert_eq!(set.poll().unwrap().1.number(), 0, "who is alone has not to wait");
    }
    let parties: Vec<_> = (0..4).map(|_| barrier.enrol()).collect();
    drop(alone);
    let performers: Vec<_> = parties
        .into_iter()
        .enumerate()
        .map(|(i, party)| {
            cx.spawn(move |cx| async move {
                let (_tx, rx) = channel::<u32>();
                let mut set = WaitSet::new();
                set.insert(party.wait_evt());
                for number in 1..rounds {
                    let round = match i {
                        0 => cx.sync(party.wait_evt()).await,
                        1 => cx.sync(set.evt()).await.1,
                        2 => {
                            let event = set.evt();
                            let choice = choose((
                                rx.recv_evt().wrap(|_| None),
                                (&event).wrap(|(_, round)| Some(round)),
                            ));
                            cx.sync(choice).await.unwrap()
                        }
                        _ => {
                            let choice = choose((rx.recv_evt().wrap(|_| None), party.wait_evt().wrap(Some)));
                            cx.sync(choice).await.unwrap()
                        }
                    };
                    assert_eq!(round.number(), number);
                }
            })
        })
        .collect();
    cx.join_all(performers).await;
}

#[test]
fn a_set_goes_from_thread_to_thread_between_performances() {
    let (senders, receivers) = channels(10);
    let mut set = WaitSet::new();
    for rx in receivers {
        let rx: &'static Receiver<usize> = Box::leak(Box::new(rx));
        set.insert(rx.recv_evt());
    }
    set.insert(after(Duration::from_secs(3_600)).wrap(|()| Err(RecvError)));
    for (i, tx) in senders.iter().enumerate() {
        set = std::thread::scope(|scope| {
            let taker = scope.spawn(move || {
                let mut set = set;
                assert_eq!(set.sync().1, Ok(i));
                set
            });
            tx.send(i).unwrap();
            taker.join().unwrap()
        });
    }
}

#[test]
#[should_panic(expected = "performed twice at a time")]
fn a_choice_of_a_set_with_itself_is_refused() {
    let mut set = WaitSet::new();
    set.insert(always(1));
    let event = set.evt();
    choose((&event, &event)).sync();
}

#[test]
fn a_panic_in_a_wrap_loses_one_value_and_no_more() {
    let (tx, rx) = bounded::<u32>(4);
    let mut set = WaitSet::new();
    set.insert(rx.recv_evt().wrap(|n| if n == Ok(1) { panic!("one") } else { n }));
    (0..3).for_each(|n| tx.send(n).unwrap());
    assert_eq!(set.sync().1, Ok(0));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| set.sync())).is_err());
    assert_eq!(set.sync().1, Ok(2));
    assert!(set.poll().is_none());
}

#[test]
fn a_future_of_a_set_dropped_at_any_moment_loses_nothing() {
    let rounds = scaled(20_000, 2_000);
    let (tx, rx) = channel::<usize>();
    std::thread::scope(|scope| {
        scope.spawn(move || (0..rounds).for_each(|i| tx.send(i).unwrap()));
        let mut set = WaitSet::new();
        set.insert(rx.recv_evt());
        let mut next = 0;
        let mut random = Random::new(5);
        loop {
            let got = {
                let mut future = std::pin::pin!(set.evt().future());
                let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
                let mut polls = random.below(4);
                loop {
                    match future.as_mut().poll(&mut cx) {
                        std::task::Poll::Ready((_, got)) => break Some(got),
                        std::task::Poll::Pending if polls == 0 => break None,
                        std::task::Poll::Pending => polls -= 1,
                    }
                    (0..random.below(100)).for_each(|_| std::hint::spin_loop());
                }
            };
            match got {
                Some(Ok(i)) => {
                    assert_eq!(i, next);
                    next += 1;
                }
                Some(Err(RecvError)) => break,
                None => {}
            }
        }
        assert_eq!(next, rounds);
    });
}

#[test]
fn a_fiber_that_is_interrupted_while_it_waits_on_a_set_takes_nothing() {
    on_domains(|| {
        let (tx, rx) = channel::<u32>();
        let rx = Arc::new(rx);
        {
            let runtime_rx = rx.clone();
            std::thread::spawn(move || {
                lisle::Runtime::builder().domains(1).run(|| {
                    let waiting = Arc::new(AtomicUsize::new(0));
                    let seen = waiting.clone();
                    lisle::spawn(move || {
                        let mut set = WaitSet::new();
                        set.insert(runtime_rx.recv_evt());
                        seen.store(1, Ordering::Relaxed);
                        set.sync()
                    });
                    while waiting.load(Ordering::Relaxed) == 0 {
                        lisle::fiber::yield_now();
                    }
                });
            })
            .join()
            .unwrap();
        }
        assert!(tx.try_send(1).is_err(), "the fiber has gone and left nothing behind");
        drop(rx);
        assert!(tx.is_closed());
    });
}
