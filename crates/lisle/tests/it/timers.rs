//! Time as an event.

use crate::support::{Cx, Random, scaled, worlds};
use lisle::time::{after, at};
use lisle::{Event, channel, choose};
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

worlds!(
    the_past_and_the_present_fire_at_once,
    a_timer_is_never_early,
    each_performance_starts_the_time_anew,
    many_timers_all_fire_and_none_early,
    timers_that_lose_leave_nothing_that_fires,
    an_unreachable_future_waits,
    a_timeout_beyond_the_clock_is_never,
);

/// Case 37.
async fn the_past_and_the_present_fire_at_once(cx: Cx) {
    let now = Instant::now();
    assert_eq!(at(now).poll(), Some(()));
    assert_eq!(after(Duration::ZERO).poll(), Some(()));
    let past = now.checked_sub(Duration::from_secs(1)).unwrap_or(now);
    assert_eq!(at(past).poll(), Some(()));
    cx.sync(at(past)).await;
    cx.sync(after(Duration::ZERO)).await;
    let (_tx, rx) = channel::<()>();
    assert!(!cx.sync(choose((rx.recv_evt().wrap(|_| true), at(past).wrap(|()| false)))).await);
}

async fn a_timer_is_never_early(cx: Cx) {
    for micros in [1, 60, 999, 1_000, 3_333, 20_000] {
        let wait = Duration::from_micros(micros);
        let begun = Instant::now();
        assert_eq!(after(wait).poll(), None);
        cx.sync(after(wait)).await;
        assert!(begun.elapsed() >= wait);
        let moment = Instant::now() + wait;
        cx.sync(at(moment)).await;
        assert!(Instant::now() >= moment);
        assert_eq!(at(moment).poll(), Some(()));
    }
}

async fn each_performance_starts_the_time_anew(cx: Cx) {
    let wait = Duration::from_millis(3);
    let event = after(wait);
    for _ in 0..3 {
        let begun = Instant::now();
        cx.sync(event).await;
        assert!(begun.elapsed() >= wait);
    }
}

/// Case 37: the deadlines are spread over all levels of the wheel that can be reached in a test.
async fn many_timers_all_fire_and_none_early(cx: Cx) {
    let count = if cx.is_light() { scaled(10_000, 2_000) } else { 60 };
    let begun = Instant::now();
    let mut random = Random::new(37);
    let sleepers: Vec<_> = (0..count)
        .map(|_| {
            let deadline = begun + Duration::from_micros(random.below(400_000) as u64);
            cx.spawn(move |cx| async move {
                cx.sync(at(deadline)).await;
                assert!(Instant::now() >= deadline, "too early");
            })
        })
        .collect();
    cx.join_all(sleepers).await;
}

/// Performers withdraw timers from a wheel while others are armed and fire.
async fn timers_that_lose_leave_nothing_that_fires(cx: Cx) {
    let rounds = scaled(2_000, 300);
    let performers = [0, 1, 2, 3].map(|id| {
        cx.spawn(move |cx| async move {
            let mut random = Random::new(id);
            let (tx, rx) = lisle::channel::bounded::<usize>(1);
            let mut timeouts = 0;
            for i in 0..rounds {
                let ready = random.below(4) != 0;
                if ready {
                    tx.try_send(i).unwrap();
                }
                let wait = Duration::from_micros(random.below(100) as u64 + 1);
                let timeout = after(wait).wrap(|()| None);
                let hour = after(Duration::from_secs(3_600)).wrap(|()| unreachable!("an hour is long"));
                let received = rx.recv_evt().wrap(|received| Some(received.unwrap()));
                match cx.sync(choose((timeout, received, hour))).await {
                    Some(received) => assert_eq!(received, i),
                    None => {
                        assert!(!ready, "a message was there");
                        timeouts += 1;
                    }
                }
            }
            timeouts
        })
    });
    assert!(cx.join_all(performers).await.into_iter().all(|timeouts| timeouts < rounds));
}

/// A duration that does not fit into the clock means the end of time, not its beginning.
async fn an_unreachable_future_waits(cx: Cx) {
    let order = Arc::new(Mutex::new(Vec::new()));
    let (tx, rx) = channel::<()>();
    let waiter = {
        let order = order.clone();
        cx.spawn(move |cx| async move {
            let never = after(Duration::MAX).wrap(|()| order.lock().unwrap().push("time"));
            let message = rx.recv_evt().wrap(|_| order.lock().unwrap().push("message"));
            cx.sync(choose((never, message))).await;
        })
    };
    cx.sync(tx.send_evt(())).await.unwrap();
    cx.join(waiter).await;
    assert_eq!(*order.lock().unwrap(), ["message"]);
}

/// Each operation with a timeout treats the longest duration as no timeout.
async fn a_timeout_beyond_the_clock_is_never(cx: Cx) {
    cx.go_apart().await;
    let (tx, rx) = channel::<u32>();
    let (mutex, changed) = (Arc::new(lisle::sync::Mutex::new(0)), Arc::new(lisle::sync::Condvar::new()));
    let sender = {
        let (mutex, changed) = (mutex.clone(), changed.clone());
        cx.spawn(move |cx| async move {
            cx.sync(after(Duration::from_millis(1))).await;
            tx.send_timeout(1, Duration::MAX).unwrap();
            *mutex.lock_timeout(Duration::MAX).unwrap() = 3;
            changed.notify_one();
        })
    };
    assert_eq!(rx.recv_timeout(Duration::MAX), Ok(1));
    let (value, _) = changed.wait_timeout_while(mutex.lock(), Duration::MAX, |value| *value == 0);
    assert_eq!(*value, 3);
    drop(value);
    cx.join(sender).await;
    // The last instant that the clock can represent is not the present, either.
    let mut last = Instant::now();
    for span in (0..=62).rev().map(|power| Duration::from_secs(1 << power)) {
        last = last.checked_add(span).unwrap_or(last);
    }
    assert_eq!(at(last).poll(), None);
    let soon = after(Duration::from_millis(1)).wrap(|()| true);
    assert!(cx.sync(choose((at(last).wrap(|()| false), soon))).await);
}
