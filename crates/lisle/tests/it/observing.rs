//! Observing a channel without taking anything: whether it is ready, and whether it is closed.

use crate::support::{Cx, scaled, watched, worlds};
use lisle::channel::{Multicast, TryRecvError, bounded, unbounded};
use lisle::event::WaitSet;
use lisle::rpc::rpc;
use lisle::sync::Condition;
use lisle::time::after;
use lisle::{Event, channel, choose, never};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

worlds!(
    readiness_is_what_it_says,
    whoever_waits_for_readiness_is_told,
    all_watchers_are_told_and_one_is_faster,
    what_is_ready_goes_through_channels_of_any_kind,
    readiness_takes_nothing_and_leaves_nothing,
    nobody_makes_himself_ready,
    two_that_wait_for_each_other_to_be_ready_wait,
    readiness_in_a_wait_set,
    a_maker_makes_nothing_ready,
    all_waiters_for_the_end_are_told,
    the_end_of_each_kind,
    ends_of_one_channel_know_each_other,
);

async fn readiness_is_what_it_says(cx: Cx) {
    for capacity in [0, 2] {
        let (tx, rx) = bounded::<usize>(capacity);
        for message in 0..capacity {
            assert_eq!(tx.send_ready_evt().poll(), Some(()));
            assert_eq!(rx.recv_ready_evt().poll(), if message == 0 { None } else { Some(()) });
            tx.try_send(message).unwrap();
        }
        assert_eq!(tx.send_ready_evt().poll(), None);
        let sender = {
            let tx = tx.clone();
            cx.spawn(move |cx| async move { cx.sync(tx.send_evt(9)).await.is_ok() })
        };
        cx.sync(rx.recv_ready_evt()).await;
        for _ in 0..=capacity {
            cx.sync(rx.recv_ready_evt()).await;
            cx.sync(rx.recv_evt()).await.unwrap();
        }
        assert!(cx.join(sender).await);
        assert_eq!(rx.recv_ready_evt().poll(), None);
        assert!(tx.close());
        cx.sync(rx.recv_ready_evt()).await;
        cx.sync(tx.send_ready_evt()).await;
        assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    }
}

/// Each round succeeds by the observed readiness alone: only these two performers use the channel.
async fn whoever_waits_for_readiness_is_told(cx: Cx) {
    let rounds = scaled(2_000, 300);
    for capacity in [0, 1, 3] {
        let (tx, rx) = bounded::<usize>(capacity);
        let sender = cx.spawn(move |cx| async move {
            for message in 0..rounds {
                cx.sync(tx.send_evt(message)).await.unwrap();
            }
        });
        for message in 0..rounds {
            cx.sync(rx.recv_ready_evt()).await;
            assert_eq!(rx.try_recv(), Ok(message));
        }
        cx.join(sender).await;
        let (tx, rx) = bounded::<usize>(capacity);
        let receiver = cx.spawn(move |cx| async move {
            for message in 0..rounds {
                assert_eq!(cx.sync(rx.recv_evt()).await, Ok(message));
            }
        });
        for message in 0..rounds {
            cx.sync(choose((tx.send_ready_evt(), never()))).await;
            tx.try_send(message).unwrap();
        }
        cx.join(receiver).await;
    }
}

/// The pattern of crossbeam's users: several wait, one is faster, and the others look again.
async fn all_watchers_are_told_and_one_is_faster(cx: Cx) {
    let messages = scaled(2_000, 200);
    let (tx, rx) = bounded::<usize>(0);
    let receivers: Vec<_> = (0..4)
        .map(|_| {
            let rx = rx.clone();
            cx.spawn(move |cx| async move {
                let mut received = 0;
                loop {
                    cx.sync(rx.recv_ready_evt()).await;
                    match rx.try_recv() {
                        Ok(_) => received += 1,
                        Err(TryRecvError::Closed) => return received,
                        Err(_) => cx.yield_now().await,
                    }
                }
            })
        })
        .collect();
    for message in 0..messages {
        cx.sync(tx.send_evt(message)).await.unwrap();
    }
    drop(tx);
    assert_eq!(cx.join_all(receivers).await.iter().sum::<usize>(), messages);
}

async fn what_is_ready_goes_through_channels_of_any_kind(cx: Cx) {
    let (numbers, number) = channel::<u32>();
    let (mails, mail) = unbounded::<&str>();
    let news = Multicast::<String>::new();
    let port = news.port();
    let sender = cx.spawn(move |cx| async move {
        mails.send("mail").unwrap();
        cx.yield_now().await;
        news.send("news".to_string()).unwrap();
        cx.sync(numbers.send_evt(7)).await.unwrap();
    });
    let mut seen = (0, 0, 0);
    while seen != (1, 1, 1) {
        let ready = [number.recv_ready_evt(), mail.recv_ready_evt(), port.recv_ready_evt()];
        let which =
            choose(ready.into_iter().enumerate().map(|(i, evt)| evt.wrap(move |()| i)).collect::<Vec<_>>());
        match cx.sync(which).await {
            0 => seen.0 += usize::from(number.try_recv() == Ok(7)),
            1 => seen.1 += usize::from(mail.try_recv() == Ok("mail")),
            _ => seen.2 += usize::from(port.try_recv().as_deref() == Ok("news")),
        }
        // An event of an ended channel is ready forever.
        if seen.1 == 1 || seen.2 == 1 {
            cx.yield_now().await;
        }
    }
    cx.join(sender).await;
    assert_eq!(mail.recv_ready_evt().poll(), Some(()), "closed");
    assert_eq!(port.recv_ready_evt().poll(), Some(()), "closed");
}

async fn readiness_takes_nothing_and_leaves_nothing(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let (mails, mail) = unbounded::<u32>();
    for _ in 0..20 {
        let short = after(Duration::from_micros(50)).wrap(|()| "time");
        let all = choose((
            rx.recv_ready_evt().wrap(|()| "ready"),
            tx.send_ready_evt().wrap(|()| "ready"),
            mail.recv_ready_evt().wrap(|()| "ready"),
            rx.closed_evt().wrap(|()| "closed"),
            tx.closed_evt().wrap(|()| "closed"),
            mails.closed_evt().wrap(|()| "closed"),
            short,
        ));
        assert_eq!(cx.sync(all).await, "time");
    }
    // There is no receiver that would take a message.
    assert!(tx.try_send(1).is_err());
    mails.send(2).unwrap();
    cx.sync(mail.recv_ready_evt()).await;
    cx.sync(mail.recv_ready_evt()).await;
    assert_eq!(mail.try_recv(), Ok(2));
    assert_eq!(mail.recv_ready_evt().poll(), None);
}

/// A choice of sending and of being ready to receive does not see itself, whatever others do to the
/// channel in the meantime.
async fn nobody_makes_himself_ready(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let stop = Arc::new(Condition::new());
    let pokes = {
        let (tx, rx, stop) = (tx.clone(), rx.clone(), stop.clone());
        cx.spawn(move |cx| async move {
            for _ in 0..100 {
                // Waits to make a message, comes and goes.
                let short = after(Duration::from_micros(20)).wrap(|()| ());
                cx.sync(choose((rx.recv_ready_evt().replace(|()| never::<()>()), short))).await;
                assert!(tx.send_timeout(0, Duration::ZERO).is_err());
                cx.yield_now().await;
            }
            stop.signal();
        })
    };
    let own = |way: u32| match way {
        0 => {
            choose((tx.send_evt(1).wrap(|_| "sent").boxed(), rx.recv_ready_evt().wrap(|()| "ready").boxed()))
        }
        _ => choose((
            rx.recv_evt().wrap(|_| "received").boxed(),
            tx.send_ready_evt().wrap(|()| "ready").boxed(),
        )),
    };
    // The other performer may be seen to send, but it never waits for long.
    let rounds = AtomicUsize::new(0);
    loop {
        let which = rounds.fetch_add(1, Ordering::Relaxed) as u32 % 2;
        let stopped = stop.wait_evt().wrap(|()| "stopped");
        match cx.sync(choose((own(which), stopped))).await {
            "stopped" => break,
            "ready" => cx.yield_now().await,
            other => assert_eq!(other, "received", "a sender that waits not at all"),
        }
    }
    cx.join(pokes).await;
    assert!(rounds.load(Ordering::Relaxed) < 50_000, "it has woken itself");
    let short = || after(Duration::from_millis(1)).wrap(|()| "time");
    for way in [0, 1] {
        assert_eq!(own(way).poll(), None);
        assert_eq!(cx.sync(choose((own(way), short()))).await, "time");
    }
}

async fn two_that_wait_for_each_other_to_be_ready_wait(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let other = {
        let tx = tx.clone();
        cx.spawn(move |cx| async move {
            let ready = tx.send_ready_evt().wrap(|()| true);
            cx.sync(choose((ready, after(Duration::from_millis(20)).wrap(|()| false)))).await
        })
    };
    let ready = rx.recv_ready_evt().wrap(|()| true);
    assert!(!cx.sync(choose((ready, after(Duration::from_millis(20)).wrap(|()| false)))).await);
    assert!(!cx.join(other).await);
    drop(tx);
}

async fn readiness_in_a_wait_set(cx: Cx) {
    let rounds = scaled(1_000, 100);
    let channels: Vec<_> = (0..4).map(|_| channel::<usize>()).collect();
    let senders: Vec<_> = channels
        .iter()
        .map(|(tx, _)| {
            let tx = tx.clone();
            cx.spawn(move |cx| async move {
                for message in 0..rounds {
                    cx.sync(tx.send_evt(message)).await.unwrap();
                }
            })
        })
        .collect();
    let receivers: Vec<_> = channels.iter().map(|(_, rx)| rx.clone()).collect();
    let mut received = [0; 4];
    {
        // One channel that is never closed is in the set, too.
        let (_never, open) = channel::<u32>();
        let mut set = WaitSet::new();
        let keys: Vec<_> = receivers.iter().map(|rx| set.insert(rx.recv_ready_evt())).collect();
        set.insert(open.closed_evt());
        while received.iter().sum::<usize>() < 4 * rounds {
            let (key, ()) = cx.sync(set.evt()).await;
            let which = keys.iter().position(|known| *known == key).expect("the other is open");
            while let Ok(message) = receivers[which].try_recv() {
                assert_eq!(message, received[which]);
                received[which] += 1;
            }
        }
    }
    cx.join_all(senders).await;
    assert!(channels.iter().all(|(_, rx)| rx.recv_ready_evt().poll().is_none()));
}

/// A message that would be made for a waiting receiver does not count as ready for an observer.
async fn a_maker_makes_nothing_ready(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let maker = {
        let tx = tx.clone();
        cx.spawn(move |cx| async move { cx.sync(tx.send_with_evt(|| 5)).await.is_ok() })
    };
    let ready = || rx.recv_ready_evt().wrap(|()| true);
    let short = || after(Duration::from_millis(2)).wrap(|()| false);
    assert!(!cx.sync(choose((ready(), short()))).await);
    assert_eq!(cx.sync(rx.recv_evt()).await, Ok(5));
    assert!(cx.join(maker).await);
    // But it fills a buffer.
    let (tx, rx) = bounded::<u32>(1);
    let looks = {
        let rx = rx.clone();
        cx.spawn(move |cx| async move {
            cx.sync(rx.recv_ready_evt()).await;
            rx.try_recv()
        })
    };
    cx.sync(tx.send_with_evt(|| 6)).await.unwrap();
    assert_eq!(cx.join(looks).await, Ok(6));
}

async fn all_waiters_for_the_end_are_told(cx: Cx) {
    for round in 0..3 {
        let (tx, rx) = bounded::<usize>(4);
        let waits: Vec<_> = (0..12)
            .map(|i| {
                let (tx, rx) = (tx.clone(), rx.clone());
                cx.spawn(move |cx| async move {
                    match i % 4 {
                        0 => cx.sync(tx.closed_evt()).await,
                        1 => cx.sync(rx.closed_evt()).await,
                        2 => cx.sync(choose((tx.closed_evt(), never()))).await,
                        _ => cx.sync(choose((rx.closed_evt(), tx.closed_evt()))).await,
                    }
                    assert!(tx.is_closed() && rx.is_closed());
                })
            })
            .collect();
        cx.yield_now().await;
        for message in 0..4 {
            tx.try_send(message).unwrap();
            assert_eq!((tx.closed_evt().poll(), rx.closed_evt().poll()), (None, None));
        }
        // The performers hold both ends, so a close must be explicit.
        assert!(if round == 0 { tx.close() } else { rx.close() });
        cx.join_all(waits).await;
        assert_eq!(rx.len(), 4, "nothing was taken");
    }
}

async fn the_end_of_each_kind(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let sender = cx.spawn(move |cx| async move { cx.sync(tx.closed_evt()).await });
    let (tx, other) = channel::<u32>();
    let receiver = cx.spawn(move |cx| async move { cx.sync(other.closed_evt()).await });
    let (mails, mail) = unbounded::<u32>();
    let mails = cx.spawn(move |cx| async move { cx.sync(mails.closed_evt()).await });
    let (more, other_mail) = unbounded::<u32>();
    let mailed = cx.spawn(move |cx| async move { cx.sync(other_mail.closed_evt()).await });
    let news = Multicast::<u32>::new();
    let port = news.port();
    let ported = cx.spawn(move |cx| async move { cx.sync(port.closed_evt()).await });
    let (caller, entry) = rpc::<u32, u32>();
    let called = cx.spawn(move |cx| async move { cx.sync(caller.closed_evt()).await });
    cx.yield_now().await;
    drop((rx, tx, mail, more, news, entry));
    cx.join_all(vec![sender, receiver, mails, mailed, ported, called]).await;
    let news = Multicast::<u32>::new();
    assert_eq!(news.closed_evt().poll(), None);
    news.close();
    cx.sync(news.closed_evt()).await;
}

async fn ends_of_one_channel_know_each_other(cx: Cx) {
    cx.yield_now().await;
    let ((tx, rx), (other, _)) = (channel::<u32>(), channel::<u32>());
    assert!(tx.same_channel(&tx) && tx.same_channel(&tx.clone()) && rx.same_channel(&rx.clone()));
    assert!(tx.same_channel(&rx) && rx.same_channel(&tx));
    assert!(!tx.same_channel(&other) && !rx.same_channel(&other));
    let (mails, mail) = unbounded::<u32>();
    assert!(mails.same_channel(&mail) && mail.same_channel(&mails.clone()));
    assert!(!mails.same_channel(&tx) && !tx.same_channel(&mail));
    let news = Multicast::<u32>::new();
    assert!(news.same_channel(&news.port()) && news.port().same_channel(&news.clone()));
    assert!(!news.port().same_channel(&Multicast::<u32>::new()));
}

/// An observer and a taker at both ends race with a close.
#[test]
fn a_close_wakes_the_watchers_for_readiness() {
    let _watched = watched();
    for round in 0..scaled(2_000, 200) {
        let (tx, rx) = bounded::<u32>(round % 2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !rx.is_closed() {
                    rx.recv_ready_evt().sync();
                    let _ = rx.try_recv();
                }
            });
            scope.spawn(|| {
                while !tx.is_closed() {
                    tx.send_ready_evt().sync();
                    let _ = tx.try_send(1);
                }
            });
            scope.spawn(|| tx.close());
        });
    }
}
