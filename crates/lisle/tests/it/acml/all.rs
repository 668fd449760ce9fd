//! `choose_all`, and `scatter` and `gather`, which are built from it: all parts happen, in any
//! order.

use super::{Dropped, counter, soon};
use crate::support::{Cx, Random, scaled, worlds};
use lisle::channel::{SendError, bounded};
use lisle::event::{WaitSet, guard, with_nack};
use lisle::{Event, always, channel, choose, never};
use lisle::{
    channel::{gather, scatter},
    event::choose_all,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

worlds!(
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
);

async fn all_is_waited_for_at_the_same_time(cx: Cx) {
    for count in [1, 2, 7, 40] {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| channel()).unzip();
        // The messages come from last to first, each after the previous one has been taken.
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
    // Of one channel both would receive, and the message could be for the other.
    let (tx, rx) = channel();
    let (other, waits) = channel::<u32>();
    let panics = {
        let rx = rx.clone();
        let waits = waits.clone();
        cx.spawn(move |cx| async move {
            let bad = rx.recv_evt().wrap(|_| -> u32 { panic!("in a wrap") });
            cx.sync(choose_all((bad, waits.recv_evt()))).await.0
        })
    };
    cx.sync(tx.send_evt(1)).await.unwrap();
    let panic = cx.join_caught(panics).await.unwrap_err();
    assert_eq!(*panic.downcast_ref::<&str>().unwrap(), "in a wrap");
    assert!(tx.try_send(2).is_err() && other.try_send(2).is_err(), "nobody is left in a queue");
    let handled = choose_all([rx.recv_evt().wrap(|_| -> u32 { panic!("in a wrap") }).wrap_panic(|_| 3)]);
    drop(tx.send_async(4));
    assert_eq!(cx.sync(handled).await, [3]);
}

/// All performers send to and receive from all others at the same time, in rounds. Nothing is lost
/// and nothing hangs.
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
