//! Condition variables: no wake is lost, even if waiters give up or are dropped.

use crate::support::{Cx, Random, poll_once, scaled, worlds};
use lisle::sync::{Condvar, Mutex};
use lisle::time::after;
use lisle::{Event, choose};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

worlds!(
    one_notification_wakes_one,
    all_are_woken,
    a_bounded_queue_of_many,
    waiting_for_a_while,
    a_notification_before_the_wait_counts,
    what_is_not_used_is_passed_on,
    a_storm_of_notifications_and_time_limits,
);

/// A mutex and its condition variable.
#[derive(Default)]
struct Shared<T> {
    value: Mutex<T>,
    changed: Condvar,
}

/// Waits in this world's way until `take` returns a value.
async fn wait_for<T: Send, R>(
    cx: &Cx,
    shared: &Shared<T>,
    mut take: impl FnMut(&mut T) -> Option<R> + Send,
) -> R {
    let mut guard = cx.sync(shared.value.lock_evt()).await;
    loop {
        if let Some(taken) = take(&mut guard) {
            return taken;
        }
        guard = if cx.is_future() {
            cx.sync(shared.changed.wait_evt(guard)).await
        } else {
            shared.changed.wait(guard)
        };
    }
}

async fn one_notification_wakes_one(cx: Cx) {
    let waiters = 6;
    let shared = Arc::new(Shared::<usize>::default());
    let (done, finished) = lisle::channel::bounded::<()>(waiters);
    let all: Vec<_> = (0..waiters)
        .map(|_| {
            let (shared, done) = (shared.clone(), done.clone());
            cx.spawn(move |cx| async move {
                wait_for(&cx, &shared, |tokens| {
                    *tokens = tokens.checked_sub(1)?;
                    Some(())
                })
                .await;
                cx.sync(done.send_evt(())).await.unwrap();
            })
        })
        .collect();
    for _ in 0..waiters {
        *cx.sync(shared.value.lock_evt()).await += 1;
        shared.changed.notify_one();
        cx.sync(finished.recv_evt()).await.unwrap();
        assert!(finished.is_empty(), "one token, two takers");
    }
    cx.join_all(all).await;
}

async fn all_are_woken(cx: Cx) {
    for _ in 0..scaled(50, 10) {
        let shared = Arc::new(Shared::<bool>::default());
        let all: Vec<_> = (0..8)
            .map(|_| {
                let shared = shared.clone();
                cx.spawn(move |cx| async move { wait_for(&cx, &shared, |open| open.then_some(())).await })
            })
            .collect();
        cx.yield_now().await;
        *cx.sync(shared.value.lock_evt()).await = true;
        shared.changed.notify_all();
        cx.join_all(all).await;
    }
}

/// Producers and consumers share one condition variable for both sides. A lost wake would stop them
/// for good.
async fn a_bounded_queue_of_many(cx: Cx) {
    let (pairs, each) = (4, scaled(2_000, 300));
    let shared = Arc::new(Shared::<VecDeque<usize>>::default());
    let producers: Vec<_> = (0..pairs)
        .map(|_| {
            let shared = shared.clone();
            cx.spawn(move |cx| async move {
                for i in 0..each {
                    wait_for(&cx, &shared, |queue| (queue.len() < 2).then(|| queue.push_back(i))).await;
                    shared.changed.notify_all();
                }
                0
            })
        })
        .collect();
    let consumers: Vec<_> = (0..pairs)
        .map(|_| {
            let shared = shared.clone();
            cx.spawn(move |cx| async move {
                let mut sum = 0;
                for _ in 0..each {
                    sum += wait_for(&cx, &shared, VecDeque::pop_front).await;
                    shared.changed.notify_all();
                }
                sum
            })
        })
        .collect();
    cx.join_all(producers).await;
    let sum: usize = cx.join_all(consumers).await.iter().sum();
    assert_eq!(sum, pairs * (each * (each - 1) / 2));
}

async fn waiting_for_a_while(cx: Cx) {
    let shared = Arc::new(Shared::<u32>::default());
    let short = Duration::from_millis(2);
    let start = Instant::now();
    let guard = cx.sync(shared.value.lock_evt()).await;
    let limit = after(short).wrap(|()| None);
    assert!(cx.sync(choose((shared.changed.wait_evt(guard).wrap(Some), limit))).await.is_none());
    assert!(start.elapsed() >= short);
    assert!(shared.value.try_lock().is_some(), "who gave up does not have it");
    if cx.is_future() {
        return;
    }
    let (guard, notified) = shared.changed.wait_timeout(shared.value.lock(), short);
    assert!(!notified && shared.value.try_lock().is_none());
    let (guard, ceased) = shared.changed.wait_timeout_while(guard, short, |value| *value == 0);
    assert!(!ceased);
    drop(guard);
    let setter = {
        let shared = shared.clone();
        cx.spawn(move |cx| async move {
            *cx.sync(shared.value.lock_evt()).await = 5;
            shared.changed.notify_one();
        })
    };
    let ages = Duration::from_secs(3_600);
    let (guard, ceased) = shared.changed.wait_timeout_while(shared.value.lock(), ages, |value| *value == 0);
    assert_eq!((*guard, ceased), (5, true));
    drop(guard);
    cx.join(setter).await;
}

/// The event counts from its creation.
async fn a_notification_before_the_wait_counts(cx: Cx) {
    let changed = Condvar::new();
    let before = changed.notified_evt();
    assert!(before.poll().is_none());
    changed.notify_one();
    let later = changed.notified_evt();
    cx.sync(before).await;
    cx.sync(before).await;
    assert!(later.poll().is_none());
    changed.notify_all();
    cx.sync(later).await;
}

/// A future that is notified and dropped passes the notification on, also when it already waits for
/// the mutex.
async fn what_is_not_used_is_passed_on(cx: Cx) {
    for round in 0..scaled(300, 60) {
        let shared = Arc::new(Shared::<bool>::default());
        let guard = cx.sync(shared.value.lock_evt()).await;
        let mut first = Box::pin(shared.changed.wait_evt(guard).future());
        assert!(poll_once(first.as_mut()).is_pending());
        let second = {
            let shared = shared.clone();
            cx.spawn(move |cx| async move { wait_for(&cx, &shared, |set| set.then_some(())).await })
        };
        if round % 4 != 0 {
            cx.yield_now().await;
        }
        let mut guard = cx.sync(shared.value.lock_evt()).await;
        *guard = true;
        shared.changed.notify_one();
        if round % 2 == 0 {
            assert!(poll_once(first.as_mut()).is_pending(), "the mutex is not free");
        }
        drop(guard);
        drop(first);
        cx.join(second).await;
    }
}

/// Takers of tokens give up now and then, and each token is announced once. In the end every token
/// has been taken, and no taker waits forever.
async fn a_storm_of_notifications_and_time_limits(cx: Cx) {
    let each = scaled(2_000, 300);
    let shared = Arc::new(Shared::<usize>::default());
    let takers: Vec<_> = (0..4)
        .map(|id| {
            let shared = shared.clone();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(id + 7);
                let mut taken = 0;
                while taken < each {
                    let mut guard = cx.sync(shared.value.lock_evt()).await;
                    if *guard > 0 {
                        *guard -= 1;
                        taken += 1;
                        continue;
                    }
                    let notified = shared.changed.notified_evt();
                    drop(guard);
                    if random.below(2) == 0 {
                        cx.sync(notified).await;
                    } else {
                        let limit = after(Duration::from_micros(random.below(200) as u64));
                        cx.sync(choose((notified, limit))).await;
                    }
                }
            })
        })
        .collect();
    let givers: Vec<_> = (0..4)
        .map(|_| {
            let shared = shared.clone();
            cx.spawn(move |cx| async move {
                for _ in 0..each {
                    *cx.sync(shared.value.lock_evt()).await += 1;
                    shared.changed.notify_one();
                    cx.yield_now().await;
                }
            })
        })
        .collect();
    cx.join_all(givers).await;
    cx.join_all(takers).await;
    assert_eq!(*shared.value.try_lock().expect("all have gone"), 0);
}
