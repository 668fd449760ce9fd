//! Asynchronous events: what has begun ends once, in order, and whatever is cancelled loses nothing.

use crate::support::{Cx, Random, scaled, worlds};
use lisle::channel::{SendError, bounded, channel};
use lisle::event::{WaitSet, guard, with_nack};
use lisle::parasite::{
    AsyncRecvError, AsyncSendError, TimeoutError, choose_all, gather, race, rush, scatter, timeout, yield_now,
};
use lisle::time::after;
use lisle::{Event, Runtime, always, choose, never};
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

worlds!(
    sends_that_one_begins_arrive_in_order,
    a_fast_sender_is_held_back,
    a_send_that_was_not_chosen_has_not_begun,
    a_send_goes_on_without_its_handle,
    a_send_is_taken_back_or_taken,
    a_closed_channel_gives_all_sends_back,
    a_send_at_once_has_ended,
    receives_that_one_begins_are_served_in_order,
    a_dropped_receive_loses_no_later_message,
    a_receive_is_cancelled_or_has_its_message,
    a_receive_of_a_closed_channel_ends,
    both_ends_may_be_asynchronous,
    all_is_waited_for_at_the_same_time,
    all_of_nothing_has_happened,
    all_of_many_kinds,
    all_that_loses_has_taken_what_had_happened,
    all_with_guards_and_nacks,
    all_in_all,
    all_in_a_wait_set,
    a_panic_in_one_of_all_goes_on,
    all_against_all,
    scattered_and_gathered,
    the_first_wins_and_the_others_go,
    a_contender_that_ends_at_once_is_the_last_to_begin,
    a_dropped_race_is_cancelled,
    nobody_wins_an_empty_race,
    the_panic_of_the_first_is_the_answer,
    a_race_is_decided_once,
    losers_of_a_rush_go_on,
    in_time_or_not,
);

/// Counts how often clones of it are dropped.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn counter() -> (Arc<AtomicUsize>, impl Fn() -> Dropped) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    (count, move || Dropped(counted.clone()))
}

fn soon() -> impl Event<Output = ()> + Send + Sync {
    after(Duration::from_millis(2))
}

async fn sends_that_one_begins_arrive_in_order(cx: Cx) {
    let (count, producers) = (scaled(5_000, 500), 3);
    for capacity in [0, 2] {
        let (tx, rx) = bounded(capacity);
        let performers: Vec<_> = (0..producers)
            .map(|id| {
                let tx = tx.clone();
                cx.spawn(move |cx| async move {
                    for i in 0..count {
                        drop(cx.sync(tx.send_async_evt((id, i))).await);
                    }
                })
            })
            .collect();
        drop(tx);
        let mut next = [0; 3];
        while let Ok((id, i)) = cx.sync(rx.recv_evt()).await {
            assert_eq!(i, next[id], "of sender {id}");
            next[id] += 1;
        }
        assert_eq!(next, [count; 3]);
        cx.join_all(performers).await;
    }
}

async fn a_fast_sender_is_held_back(cx: Cx) {
    let (tx, rx) = channel();
    let sends: Vec<_> = (0..64).map(|i| tx.send_async_evt(i).poll().expect("64 may be under way")).collect();
    assert!(tx.send_async_evt(64).poll().is_none());
    assert!(sends.iter().all(|send| !send.has_ended()));
    let last = {
        let tx = tx.clone();
        cx.spawn(move |cx| async move {
            let send = cx.sync(tx.send_async_evt(64)).await;
            drop(tx);
            cx.sync(&send).await
        })
    };
    for i in 0..65 {
        assert_eq!(cx.sync(rx.recv_evt()).await, Ok(i));
    }
    assert_eq!(cx.join(last).await, Ok(()));
    for send in sends {
        assert_eq!(cx.sync(&send).await, Ok(()));
        assert_eq!(cx.sync(&send).await, Ok(()), "again");
    }
    // All leave has been given back.
    let sends: Vec<_> = (0..64).map(|i| tx.send_async_evt(i).poll().expect("64 may be under way")).collect();
    assert!(tx.send_async_evt(64).poll().is_none());
    drop((tx, rx));
    for (i, send) in sends.iter().enumerate() {
        assert_eq!(cx.sync(send).await, Err(AsyncSendError::Closed(i)));
    }
}

async fn a_send_that_was_not_chosen_has_not_begun(cx: Cx) {
    let (tx, rx) = channel();
    let full: Vec<_> = (0..64).map(|i| tx.send_async(i)).collect();
    let event = choose((tx.send_async_evt(99).wrap(Some), soon().wrap(|()| None)));
    assert!(cx.sync(event).await.is_none());
    for i in 0..64 {
        assert_eq!(cx.sync(rx.recv_evt()).await, Ok(i));
    }
    for send in &full {
        assert_eq!(cx.sync(send).await, Ok(()));
    }
    // Receives that begin in a choice that loses do not exist.
    for _ in 0..20 {
        match cx.sync(choose((rx.recv_async_evt().wrap(Some), always(()).wrap(|()| None)))).await {
            Some(receive) => receive.cancel(),
            None => assert!(tx.try_send(1).is_err()),
        }
    }
}

async fn a_send_goes_on_without_its_handle(cx: Cx) {
    let (tx, rx) = channel();
    drop(tx.send_async("alone"));
    drop(tx);
    assert_eq!(cx.sync(rx.recv_evt()).await, Ok("alone"));
    assert!(cx.sync(rx.recv_evt()).await.is_err());
}

async fn a_send_is_taken_back_or_taken(cx: Cx) {
    let (tx, rx) = channel();
    for i in 0..scaled(3_000, 300) {
        let send = tx.send_async(i);
        let receiver = {
            let rx = rx.clone();
            cx.spawn(move |cx| async move {
                cx.yield_now().await;
                rx.try_recv().ok()
            })
        };
        if i % 2 == 0 {
            cx.yield_now().await;
        }
        send.cancel();
        let sent = cx.sync(&send).await;
        let received = cx.join(receiver).await;
        match sent {
            Ok(()) => assert_eq!(received, Some(i)),
            Err(AsyncSendError::Cancelled(message)) => {
                assert_eq!((message, received), (i, None));
                assert_eq!(cx.sync(&send).await, Err(AsyncSendError::Taken));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

async fn a_closed_channel_gives_all_sends_back(cx: Cx) {
    let (tx, rx) = channel();
    let sends: Vec<_> = (0..10).map(|i| tx.send_async(i.to_string())).collect();
    drop(rx);
    for (i, send) in sends.into_iter().enumerate() {
        let error = cx.sync(&send).await.unwrap_err();
        assert_eq!(error, AsyncSendError::Closed(i.to_string()));
        assert_eq!(error.into_inner(), Some(i.to_string()));
        assert_eq!(cx.sync(&send).await.unwrap_err().into_inner(), None);
    }
    let late = tx.send_async("late".into());
    assert_eq!(cx.sync(&late).await, Err(AsyncSendError::Closed("late".into())));
}

async fn a_send_at_once_has_ended(cx: Cx) {
    let (tx, rx) = bounded(1);
    let sent = tx.send_async(1);
    assert!(sent.has_ended());
    sent.cancel();
    assert_eq!(cx.sync(&sent).await, Ok(()));
    let receive = rx.recv_async();
    assert!(receive.has_ended());
    assert_eq!(cx.sync(&receive).await, Ok(1));
    assert_eq!(cx.sync(&receive).await, Err(AsyncRecvError::Taken));
}

async fn receives_that_one_begins_are_served_in_order(cx: Cx) {
    let count = scaled(500, 100);
    let (tx, rx) = channel();
    let receives: Vec<_> = (0..count).map(|_| rx.recv_async()).collect();
    let sender = cx.spawn(move |cx| async move {
        for i in 0..count {
            cx.sync(tx.send_evt(i)).await.unwrap();
        }
    });
    for (i, receive) in receives.iter().enumerate() {
        assert_eq!(cx.sync(receive).await, Ok(i));
    }
    cx.join(sender).await;
}

async fn a_dropped_receive_loses_no_later_message(cx: Cx) {
    let (tx, rx) = channel();
    for i in 0..scaled(1_000, 100) {
        drop(rx.recv_async());
        assert!(tx.try_send(i).is_err(), "nobody receives");
        let [one, other] = [(); 2].map(|()| rx.recv_async());
        drop(one);
        tx.try_send(i).unwrap();
        assert_eq!(cx.sync(&other).await, Ok(i));
    }
}

async fn a_receive_is_cancelled_or_has_its_message(cx: Cx) {
    let (tx, rx) = channel();
    for i in 0..scaled(3_000, 300) {
        let receive = rx.recv_async();
        let sender = {
            let tx = tx.clone();
            cx.spawn(move |cx| async move {
                cx.yield_now().await;
                tx.try_send(i).is_ok()
            })
        };
        if i % 2 == 0 {
            cx.yield_now().await;
        }
        receive.cancel();
        let received = cx.sync(&receive).await;
        match cx.join(sender).await {
            true => assert_eq!(received, Ok(i)),
            false => assert_eq!(received, Err(AsyncRecvError::Cancelled)),
        }
    }
}

async fn a_receive_of_a_closed_channel_ends(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let receive = rx.recv_async();
    drop(tx);
    assert_eq!(cx.sync(&receive).await, Err(AsyncRecvError::Closed));
    assert_eq!(cx.sync(&receive).await, Err(AsyncRecvError::Closed));
    assert_eq!(cx.sync(&rx.recv_async()).await, Err(AsyncRecvError::Closed));
}

async fn both_ends_may_be_asynchronous(cx: Cx) {
    let count = scaled(3_000, 300);
    let (tx, rx) = channel();
    let sender = cx.spawn(move |cx| async move {
        for i in 0..count {
            drop(cx.sync(tx.send_async_evt(i)).await);
        }
    });
    for i in 0..count {
        let receive = cx.sync(rx.recv_async_evt()).await;
        assert_eq!(cx.sync(&receive).await, Ok(i));
    }
    cx.join(sender).await;
}

async fn all_is_waited_for_at_the_same_time(cx: Cx) {
    for count in [1, 2, 7, 40] {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| channel()).unzip();
        // From last to first, each after the one before has been taken.
        let partner = cx.spawn(move |cx| async move {
            for (i, tx) in senders.iter().enumerate().rev() {
                cx.sync(tx.send_evt(i)).await.unwrap();
            }
        });
        let events: Vec<_> = receivers.iter().map(|rx| rx.recv_evt().wrap(Result::unwrap)).collect();
        assert_eq!(cx.sync(choose_all(events)).await, (0..count).collect::<Vec<_>>());
        cx.join(partner).await;
    }
}

async fn all_of_nothing_has_happened(cx: Cx) {
    assert_eq!(cx.sync(choose_all(Vec::<lisle::event::Always<u32>>::new())).await, []);
    let none: [lisle::event::Never<()>; 0] = [];
    assert_eq!(cx.sync(choose((choose_all(none).wrap(|[]| 1), never()))).await, 1);
    assert_eq!(choose_all([never::<()>()]).poll(), None);
}

async fn all_of_many_kinds(cx: Cx) {
    let (tx, rx) = bounded(1);
    let (other, _kept) = bounded(1);
    tx.send("message").unwrap();
    let event = choose_all((rx.recv_evt(), other.send_evt(7), soon(), always('c')));
    assert_eq!(cx.sync(event).await, (Ok("message"), Ok(()), (), 'c'));
    let boxed: Box<[_]> = Box::new([always(1), always(2)]);
    assert_eq!(cx.sync(choose_all(boxed)).await, [1, 2]);
    let list = [always(1), always(2)];
    assert_eq!(cx.sync(choose_all(&list[..])).await, vec![1, 2]);
    assert_eq!(cx.sync(choose_all(list)).await, [1, 2]);
}

async fn all_that_loses_has_taken_what_had_happened(cx: Cx) {
    let (dropped, counted) = counter();
    let (tx, rx) = bounded(2);
    let (_open, empty) = channel::<Dropped>();
    tx.send(counted()).unwrap();
    let both = choose_all((rx.recv_evt(), empty.recv_evt()));
    let event = choose((both.wrap(|_| true), soon().wrap(|()| false)));
    assert!(!cx.sync(&event).await);
    assert_eq!((dropped.load(Ordering::Relaxed), rx.len()), (1, 0), "it had happened");
    tx.send(counted()).unwrap();
    assert!(event.poll().is_none());
    assert_eq!((dropped.load(Ordering::Relaxed), rx.len()), (2, 0), "so it had in the poll");
    drop(event);
    let neither = choose((choose_all((empty.recv_evt(), empty.recv_evt())).wrap(|_| true), always(false)));
    assert!(!cx.sync(&neither).await);
}

async fn all_with_guards_and_nacks(cx: Cx) {
    let (nacks, nack) = bounded(8);
    let made = AtomicUsize::new(0);
    let event = |ready: bool| {
        let nacks = &nacks;
        with_nack(move |nack| {
            nacks.try_send(nack).unwrap();
            choose([if ready { always(()).boxed() } else { never().boxed() }])
        })
    };
    let counted = guard(|| {
        made.fetch_add(1, Ordering::Relaxed);
        always(())
    });
    cx.sync(choose_all((event(true), event(true), &counted))).await;
    assert!((0..2).all(|_| nack.try_recv().unwrap().is_taken()));
    let loses = choose((choose_all((event(true), event(false), &counted)).wrap(|_| ()), soon()));
    cx.sync(loses).await;
    let fates = [(); 2].map(|()| nack.try_recv().unwrap().is_taken());
    assert_eq!(fates, [true, false], "the one had happened, the other is told");
    assert_eq!(made.load(Ordering::Relaxed), 2);
}

async fn all_in_all(cx: Cx) {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..4).map(|_| channel()).unzip();
    let partner = cx.spawn(move |cx| async move {
        for i in [2, 0, 3, 1] {
            cx.sync(senders[i].send_evt(i)).await.unwrap();
        }
    });
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| receivers[i].recv_evt());
    let event = choose_all((choose_all([a, b]), choose_all((c, choose((never(), d))))));
    assert_eq!(cx.sync(event).await, ([Ok(0), Ok(1)], (Ok(2), Ok(3))));
    cx.join(partner).await;
}

async fn all_in_a_wait_set(cx: Cx) {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..4).map(|_| channel()).unzip();
    let partner = cx.spawn(move |cx| async move {
        for i in [3, 0, 1, 2] {
            cx.sync(senders[i].send_evt(i)).await.unwrap();
        }
    });
    let mut set = WaitSet::new();
    for pair in receivers.chunks(2) {
        set.insert(choose_all(pair.iter().map(|rx| rx.recv_evt().wrap(Result::unwrap)).collect::<Vec<_>>()));
    }
    let (first, values) = cx.sync(set.evt()).await;
    assert_eq!(values, [0, 1]);
    set.remove(first);
    assert_eq!(cx.sync(set.evt()).await.1, [2, 3]);
    drop(set);
    cx.join(partner).await;
}

async fn a_panic_in_one_of_all_goes_on(cx: Cx) {
    let (tx, rx) = channel();
    let panics = {
        let rx = rx.clone();
        cx.spawn(move |cx| async move {
            let bad = rx.recv_evt().wrap(|_| -> u32 { panic!("in a wrap") });
            cx.sync(choose_all((bad, rx.recv_evt()))).await.0
        })
    };
    cx.sync(tx.send_evt(1)).await.unwrap();
    let panic = cx.join_caught(panics).await.unwrap_err();
    assert_eq!(*panic.downcast_ref::<&str>().unwrap(), "in a wrap");
    assert!(tx.try_send(2).is_err(), "nobody is left in the queue");
    let handled = choose_all([rx.recv_evt().wrap(|_| -> u32 { panic!("in a wrap") }).wrap_panic(|_| 3)]);
    drop(tx.send_async(4));
    assert_eq!(cx.sync(handled).await, [3]);
}

/// Everybody sends to and receives from everybody, all at once, in rounds: nothing is lost and nothing is stuck.
async fn all_against_all(cx: Cx) {
    let (peers, rounds) = (3, scaled(300, 40));
    let channels: Arc<Vec<_>> = Arc::new((0..peers * peers).map(|_| channel::<usize>()).collect());
    let performers: Vec<_> = (0..peers)
        .map(|me| {
            let channels = channels.clone();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(me as u64);
                for round in 0..rounds {
                    let others = || (0..peers).filter(|&other| other != me);
                    let sends = others().map(|to| {
                        channels[me * peers + to].0.send_evt(round).wrap(|sent| {
                            sent.unwrap();
                            None
                        })
                    });
                    let receives = others()
                        .map(|from| channels[from * peers + me].1.recv_evt().wrap(|message| message.ok()));
                    let mut events: Vec<_> =
                        sends.map(Event::boxed).chain(receives.map(Event::boxed)).collect();
                    let first = random.below(events.len());
                    events.rotate_left(first);
                    let got = cx.sync(choose_all(events)).await;
                    assert_eq!(got.into_iter().flatten().collect::<Vec<_>>(), vec![round; peers - 1]);
                }
            })
        })
        .collect();
    cx.join_all(performers).await;
}

async fn scattered_and_gathered(cx: Cx) {
    let (work, jobs): (Vec<_>, Vec<_>) = (0..5).map(|_| channel::<usize>()).unzip();
    let (answers, answer): (Vec<_>, Vec<_>) = (0..5).map(|_| channel::<usize>()).unzip();
    let workers: Vec<_> = jobs
        .into_iter()
        .zip(answers)
        .map(|(job, answer)| {
            cx.spawn(move |cx| async move {
                while let Ok(n) = cx.sync(job.recv_evt()).await {
                    cx.sync(answer.send_evt(n * n)).await.unwrap();
                }
            })
        })
        .collect();
    for round in 0..20 {
        let sent = cx.sync(scatter(&work, round..round + 5)).await;
        assert_eq!(sent, [Ok(()); 5]);
        let got = cx.sync(gather(&answer)).await;
        assert_eq!(got, (round..round + 5).map(|n| Ok(n * n)).collect::<Vec<_>>());
    }
    for values in [4, 6] {
        assert!(catch_unwind(AssertUnwindSafe(|| drop(scatter(&work, 0..values)))).is_err());
    }
    work[0].close();
    let sent = cx.sync(scatter(&work, 0..5)).await;
    assert_eq!(sent[0], Err(SendError(0)));
    assert!(sent[1..].iter().all(Result::is_ok));
    cx.sync(gather(&answer[1..])).await;
    drop(work);
    cx.join_all(workers).await;
}

async fn the_first_wins_and_the_others_go(cx: Cx) {
    let (dropped, counted) = counter();
    let (tx, rx) = channel::<u32>();
    let [one, other] = [counted(), counted()];
    let answer = race((
        async move {
            let _one = one;
            pending().await
        },
        async move { rx.recv_evt().await.unwrap() },
        async move {
            let _other = other;
            never::<u32>().await
        },
    ));
    assert!(!answer.is_decided());
    assert!(cx.sync(choose(((&answer).wrap(|_| false), soon().wrap(|()| true)))).await);
    cx.sync(tx.send_evt(5)).await.unwrap();
    assert_eq!(cx.sync(&answer).await.unwrap(), 5);
    assert!(cx.sync(&answer).await.is_err(), "it is taken");
    cx.until(|| dropped.load(Ordering::Relaxed) == 2).await;
}

async fn a_contender_that_ends_at_once_is_the_last_to_begin(cx: Cx) {
    let begun = Arc::new(AtomicUsize::new(0));
    let contender = |value: Option<u32>| {
        let begun = begun.clone();
        async move {
            begun.fetch_add(1, Ordering::Relaxed);
            match value {
                Some(value) => value,
                None => pending().await,
            }
        }
    };
    let answer = race(vec![contender(None), contender(Some(1)), contender(Some(2))]);
    // Unless it was queued: then somebody else may be faster.
    let won = cx.sync(&answer).await.unwrap();
    assert!(won == 1 && begun.load(Ordering::Relaxed) == 2 || !cx.is_light(), "{won}");
}

async fn a_dropped_race_is_cancelled(cx: Cx) {
    let (dropped, counted) = counter();
    let contenders = [counted(), counted()].map(|token| async move {
        let _token = token;
        pending::<()>().await;
    });
    drop(race(contenders));
    cx.until(|| dropped.load(Ordering::Relaxed) == 2).await;
}

async fn nobody_wins_an_empty_race(cx: Cx) {
    let nobody = race(Vec::<std::future::Ready<u32>>::new());
    assert!(cx.sync(choose(((&nobody).wrap(|_| false), soon().wrap(|()| true)))).await);
    assert!(nobody.poll().is_none());
    assert!(rush(Vec::<std::future::Ready<u32>>::new()).poll().is_none());
}

async fn the_panic_of_the_first_is_the_answer(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let bad = race((async move { panic!("{}", rx.recv_evt().await.unwrap()) }, pending::<()>()));
    cx.sync(tx.send_evt(5)).await.unwrap();
    let panic = cx.sync(&bad).await.unwrap_err().into_panic().unwrap();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "5");
    let bad = timeout(Duration::from_secs(3_600), async { panic!("late") });
    let error = cx.sync(&bad).await.map(|(): ()| ()).unwrap_err();
    assert!(matches!(error, TimeoutError::Ended(error) if error.is_panic()));
}

/// Contenders that all may end at the same moment: one answer, and every token is accounted for.
async fn a_race_is_decided_once(cx: Cx) {
    for i in 0..scaled(500, 80) {
        let (dropped, counted) = counter();
        let (tx, rx) = channel::<usize>();
        let contenders: Vec<_> = (0..3)
            .map(|_| {
                let (rx, token) = (rx.clone(), counted());
                async move {
                    let _token = token;
                    rx.recv_evt().await.ok()
                }
            })
            .collect();
        let answer = race(contenders);
        let senders: Vec<_> = (0..2)
            .map(|id| {
                let tx = tx.clone();
                cx.spawn(move |cx| async move { drop(cx.sync(tx.send_async_evt(10 * i + id)).await) })
            })
            .collect();
        let won = cx.sync(&answer).await.unwrap().unwrap();
        assert_eq!(won / 10, i);
        cx.join_all(senders).await;
        drop((tx, rx));
        cx.until(|| dropped.load(Ordering::Relaxed) == 3).await;
    }
}

async fn losers_of_a_rush_go_on(cx: Cx) {
    let (done, finished) = bounded(3);
    let contender = |turns: usize| {
        let done = done.clone();
        async move {
            for _ in 0..turns {
                yield_now().await;
            }
            done.send_evt(turns).await.unwrap();
            turns
        }
    };
    let first = rush([contender(20), contender(1), contender(10)]);
    assert!([1, 10, 20].contains(&cx.sync(&first).await.unwrap()));
    drop(first);
    drop(rush((contender(30), contender(40))));
    let mut all = Vec::new();
    for _ in 0..5 {
        all.push(cx.sync(finished.recv_evt()).await.unwrap());
    }
    all.sort_unstable();
    assert_eq!(all, [1, 10, 20, 30, 40]);
}

async fn in_time_or_not(cx: Cx) {
    let long = Duration::from_secs(3_600);
    let soon = timeout(long, async { 7 });
    assert_eq!(cx.sync(&soon).await.unwrap(), 7);
    assert!(matches!(cx.sync(&soon).await, Err(TimeoutError::Ended(_))), "it is taken");
    let (tx, rx) = channel::<u32>();
    let later = timeout(long, rx.clone().into_recv_evt());
    cx.sync(tx.send_evt(8)).await.unwrap();
    assert_eq!(cx.sync(&later).await.unwrap(), Ok(8));
    let (dropped, counted) = counter();
    let token = counted();
    let never = timeout(Duration::from_millis(1), async move {
        let _token = token;
        pending::<()>().await;
    });
    assert!(matches!(cx.sync(&never).await, Err(TimeoutError::Elapsed)));
    cx.until(|| dropped.load(Ordering::Relaxed) == 1).await;
    let token = counted();
    drop(timeout(long, async move {
        let _token = token;
        pending::<()>().await;
    }));
    cx.until(|| dropped.load(Ordering::Relaxed) == 2).await;
}

/// The parasites that a race cancels are queued when the runtime begins to stop.
#[test]
fn what_is_cancelled_as_its_runtime_stops_ends() {
    for _ in 0..scaled(400, 100) {
        let runtime = Runtime::builder().domains(3).start().expect("a runtime starts");
        runtime.run(|| drop(race([(); 4].map(|()| pending::<()>()))));
        assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    }
}
