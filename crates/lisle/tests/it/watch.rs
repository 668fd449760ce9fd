//! Values of which only the latest counts: no watcher misses the last one, sees one twice, or waits
//! for one that is there.

use crate::support::{Cx, Random, block_on, scaled, worlds};
use lisle::sync::{Watch, WatchClosed};
use lisle::time::after;
use lisle::{Event, always, channel, choose, never};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

worlds!(
    a_watcher_sees_the_latest_value_once,
    what_is_seen_without_waiting_counts_if_it_says_so,
    every_waiter_sees_a_change,
    a_value_is_waited_for,
    a_condition_may_wait,
    a_condition_that_panics_changes_nothing,
    updates_add_up,
    an_update_that_panics_keeps_the_old_value,
    a_loser_has_seen_nothing,
    dropped_futures_have_seen_nothing,
    every_waiting_watcher_learns_of_the_end,
    a_value_goes_when_nobody_holds_it,
    nobody_misses_the_last_value_in_a_storm,
);

/// Polls a future with a waker that does nothing.
fn polled<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

async fn a_watcher_sees_the_latest_value_once(cx: Cx) {
    let watch = Watch::new(0);
    let watcher = watch.watcher();
    assert_eq!((*watcher.get(), watcher.has_changed()), (0, false));
    assert!(watcher.changed_evt().poll().is_none(), "it has seen the first value");
    assert_eq!(*watch.set(1), 0);
    assert_eq!(*watch.set(2), 1);
    assert_eq!(watch.version(), 2);
    let late = watch.watcher();
    let clone = watcher.clone();
    assert!(watcher.has_changed() && clone.has_changed() && !late.has_changed());
    for watcher in [watcher, clone] {
        assert_eq!(cx.sync(watcher.changed_evt()).await.as_deref(), Ok(&2));
        assert!(watcher.changed_evt().poll().is_none());
        assert!(!watcher.has_changed());
    }
    assert!(late.changed_evt().poll().is_none());
    watch.set(3);
    assert_eq!(late.changed().as_deref(), Ok(&3));
}

async fn what_is_seen_without_waiting_counts_if_it_says_so(cx: Cx) {
    let watch = Watch::new("a");
    let watcher = watch.watcher();
    watch.set("b");
    assert_eq!(*watcher.get(), "b");
    assert!(watcher.has_changed());
    assert_eq!(*watcher.see(), "b");
    assert!(!watcher.has_changed());
    watch.set("c");
    assert_eq!(cx.sync(watcher.changed_evt()).await.as_deref(), Ok(&"c"));
}

async fn every_waiter_sees_a_change(cx: Cx) {
    let watch = Watch::new(0);
    let (begin, begun) = channel::<()>();
    let watchers: Vec<_> = (0..if cx.is_light() { 100 } else { 16 })
        .map(|i| {
            let (watcher, begin) = (watch.watcher(), begin.clone());
            cx.spawn(move |cx| async move {
                cx.sync(begin.send_evt(())).await.unwrap();
                match i % 3 {
                    0 => cx.sync(watcher.changed_evt()).await,
                    1 => cx.sync(choose((never(), watcher.changed_evt()))).await,
                    _ => cx.sync(watcher.wait_for_evt(|value| *value > 0)).await,
                }
            })
        })
        .collect();
    for _ in &watchers {
        cx.sync(begun.recv_evt()).await.unwrap();
    }
    cx.yield_now().await;
    watch.set(1);
    assert!(cx.join_all(watchers).await.iter().all(|seen| seen.as_deref() == Ok(&1)));
}

async fn a_value_is_waited_for(cx: Cx) {
    let watch = Watch::new(0);
    let watcher = watch.watcher();
    // The current value is checked although it was seen.
    assert_eq!(cx.sync(watcher.wait_for_evt(|value| *value == 0)).await.as_deref(), Ok(&0));
    let waiter = {
        let watcher = watcher.clone();
        cx.spawn(move |cx| async move {
            let even = watcher.wait_for_evt(|value| *value > 90 && value % 2 == 0);
            let timeout = after(Duration::from_secs(3_600)).wrap(|()| panic!("it never came"));
            let value = cx.sync(choose((even, timeout))).await;
            (value, watcher.see())
        })
    };
    for i in 1..=100 {
        watch.set(i);
        if i % 3 == 0 {
            cx.yield_now().await;
        }
    }
    let (value, latest) = cx.join(waiter).await;
    let value = *value.unwrap();
    assert!(value > 90 && value % 2 == 0 && *latest >= value);
    // A value that was refused was not seen.
    assert!(watcher.wait_for_evt(|value| *value > 100).poll().is_none());
    assert!(watcher.has_changed());
    assert_eq!(watcher.wait_for(|value| *value == 100).as_deref(), Ok(&100));
    assert!(!watcher.has_changed());
}

/// The function runs while nothing is published.
async fn a_condition_may_wait(cx: Cx) {
    let watch = Watch::new(1);
    let watcher = watch.watcher();
    let (tx, rx) = lisle::channel::bounded(1);
    let patient = watcher.wait_for_evt(|value| {
        tx.send(*value).unwrap();
        rx.recv().unwrap() == 2
    });
    let setter = cx.spawn(move |cx| async move {
        cx.yield_now().await;
        watch.set(2);
    });
    assert_eq!(cx.sync(choose((never(), patient))).await.as_deref(), Ok(&2));
    cx.join(setter).await;
}

async fn a_condition_that_panics_changes_nothing(cx: Cx) {
    let watch = Watch::new(1);
    let watcher = watch.watcher();
    watch.set(2);
    let broken = || watcher.wait_for_evt(|_| panic!("in a condition"));
    assert!(catch_unwind(AssertUnwindSafe(|| broken().poll())).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| choose((never(), broken())).poll())).is_err());
    assert!(watcher.has_changed());
    assert_eq!(cx.sync(watcher.changed_evt()).await.as_deref(), Ok(&2));
}

async fn updates_add_up(cx: Cx) {
    let watch = Watch::new(0);
    let rounds = scaled(2_000, 300);
    let performers: Vec<_> = (0..6)
        .map(|_| {
            let watch = watch.clone();
            cx.spawn(move |cx| async move {
                for i in 0..rounds {
                    watch.update(|value| value + 1);
                    if i % 8 == 0 {
                        cx.yield_now().await;
                    }
                }
            })
        })
        .collect();
    cx.join_all(performers).await;
    assert_eq!((*watch.get(), watch.version()), (6 * rounds, 6 * rounds as u64));
}

/// Case 34, for the latest value.
async fn an_update_that_panics_keeps_the_old_value(_: Cx) {
    let watch = Watch::new(1);
    let watcher = watch.watcher();
    let updated = catch_unwind(AssertUnwindSafe(|| watch.update(|_| panic!("in an update"))));
    assert!(updated.is_err());
    assert_eq!((*watch.get(), watch.version(), watcher.has_changed()), (1, 0, false));
    assert_eq!(*watch.update(|value| value + 1), 1);
    assert_eq!(*watcher.get(), 2);
}

async fn a_loser_has_seen_nothing(cx: Cx) {
    let watch = Watch::new(0);
    let watcher = watch.watcher();
    for i in 1..scaled(500, 100) {
        watch.set(i);
        let won = cx.sync(choose((watcher.changed_evt().wrap(Some), always(None)))).await;
        assert_eq!(won.unwrap_or_else(|| watcher.changed()).as_deref(), Ok(&i));
        let timeout = || after(Duration::from_micros(20)).wrap(|()| None);
        assert!(cx.sync(choose((watcher.changed_evt().wrap(Some), timeout()))).await.is_none());
        let never = watcher.wait_for_evt(|value| *value == usize::MAX).wrap(Some);
        assert!(cx.sync(choose((never, timeout()))).await.is_none());
    }
}

/// This includes futures that were woken for the change and did not get to look.
async fn dropped_futures_have_seen_nothing(cx: Cx) {
    let watch = Watch::new(0);
    let watcher = watch.watcher();
    {
        let mut alone = pin!(watcher.changed_evt().future());
        let mut chosen = pin!(choose((never(), watcher.changed_evt())).future());
        let mut waiting = pin!(watcher.wait_for_evt(|value| *value == 1).future());
        assert!(polled(alone.as_mut()).is_pending());
        assert!(polled(chosen.as_mut()).is_pending());
        assert!(polled(waiting.as_mut()).is_pending());
        watch.set(1);
    }
    assert_eq!(cx.sync(watcher.changed_evt()).await.as_deref(), Ok(&1));
    watch.set(2);
    assert_eq!(block_on(async { watcher.changed_evt().await }).as_deref(), Ok(&2));
    assert_eq!(block_on(async { watcher.wait_for_evt(|value| *value == 2).await }).as_deref(), Ok(&2));
}

/// Case 48. The last value is seen first.
async fn every_waiting_watcher_learns_of_the_end(cx: Cx) {
    let watch = Watch::new(0);
    let unseen = watch.watcher();
    watch.set(1);
    let (begin, begun) = channel::<()>();
    let waiting: Vec<_> = (0..6)
        .map(|i| {
            let (watcher, begin) = (watch.watcher(), begin.clone());
            cx.spawn(move |cx| async move {
                cx.sync(begin.send_evt(())).await.unwrap();
                match i % 3 {
                    0 => cx.sync(watcher.changed_evt()).await,
                    1 => cx.sync(watcher.wait_for_evt(|value| *value > 1)).await,
                    _ => cx.sync(choose((watcher.changed_evt(), never(), watcher.changed_evt()))).await,
                }
            })
        })
        .collect();
    for _ in &waiting {
        cx.sync(begun.recv_evt()).await.unwrap();
    }
    cx.yield_now().await;
    let clone = watch.clone();
    drop(watch);
    assert!(!unseen.is_closed());
    drop(clone);
    assert!(unseen.is_closed());
    assert!(cx.join_all(waiting).await.iter().all(|seen| *seen == Err(WatchClosed)));
    assert_eq!(unseen.wait_for(|value| *value > 1), Err(WatchClosed));
    assert_eq!(unseen.changed().as_deref(), Ok(&1));
    assert_eq!((unseen.changed(), unseen.changed()), (Err(WatchClosed), Err(WatchClosed)));
    assert_eq!(unseen.wait_for(|value| *value == 1).as_deref(), Ok(&1));
    assert_eq!(*unseen.get(), 1);
}

async fn a_value_goes_when_nobody_holds_it(_: Cx) {
    let token = Arc::new(());
    let watch = Watch::new(token.clone());
    let held = watch.get();
    drop(watch.set(token.clone()));
    assert_eq!(Arc::strong_count(&token), 3);
    drop(held);
    assert_eq!(Arc::strong_count(&token), 2);
    let watcher = watch.watcher();
    drop(watch);
    assert_eq!(Arc::strong_count(&token), 2);
    drop(watcher);
    assert_eq!(Arc::strong_count(&token), 1);
}

/// Writers, and watchers that wait in all ways. The values that each watcher sees grow, and end
/// with the last value.
async fn nobody_misses_the_last_value_in_a_storm(cx: Cx) {
    let count = scaled(3_000, 400);
    let watch = Watch::new(0);
    let watchers: Vec<_> = (0..6)
        .map(|id| {
            let watcher = watch.watcher();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(id + 48);
                let mut last = 0;
                loop {
                    let timeout = || after(Duration::from_micros(100)).wrap(|()| None);
                    let wanted = last + 1 + random.below(5);
                    let seen = match random.below(4) {
                        0 => watcher.changed_evt().poll(),
                        1 => Some(cx.sync(watcher.changed_evt()).await),
                        2 => cx.sync(choose((watcher.changed_evt().wrap(Some), timeout()))).await,
                        _ => {
                            let wanted = watcher.wait_for_evt(|value| *value >= wanted);
                            cx.sync(choose((wanted.wrap(|value| value.ok().map(Ok)), timeout()))).await
                        }
                    };
                    match seen {
                        Some(Ok(value)) => {
                            assert!(*value > last, "{value} after {last}");
                            last = *value;
                        }
                        Some(Err(WatchClosed)) => return last,
                        None => cx.yield_now().await,
                    }
                }
            })
        })
        .collect();
    let writers = [0, 1].map(|_| {
        let watch = watch.clone();
        cx.spawn(move |cx| async move {
            for i in 0..count {
                watch.update(|value| value + 1);
                if i % 7 == 0 {
                    cx.yield_now().await;
                }
            }
        })
    });
    drop(watch);
    cx.join_all(writers).await;
    assert!(cx.join_all(watchers).await.iter().all(|last| *last == 2 * count));
}
