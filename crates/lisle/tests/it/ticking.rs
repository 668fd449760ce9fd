//! Tickers: regular ticks, each for one of the waiters. Behaviour that depends on exact times is
//! tested in virtual time, next to the module.

use crate::support::{Cx, worlds};
use lisle::event::WaitSet;
use lisle::time::{MissedTicks, Ticker, after, ticker, ticker_at};
use lisle::{Event, Runtime, choose, never};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

worlds!(
    ticks_do_not_drift,
    ticks_are_shared_out,
    a_tick_is_one_of_several_alternatives,
    a_tick_that_is_not_taken_stays,
    what_is_missed_is_skipped_or_made_up_for,
    a_reset_reaches_the_waiters,
    a_huge_period_never_ends,
    ticks_in_a_wait_set,
);

const MILLI: Duration = Duration::from_millis(1);

fn is_on_time(tick: Instant, first: Instant, period: Duration) -> bool {
    tick.duration_since(first).as_nanos().is_multiple_of(period.as_nanos())
}

async fn ticks_do_not_drift(cx: Cx) {
    let start = Instant::now();
    let ticker = ticker(MILLI);
    let first = cx.sync(ticker.tick_evt()).await;
    assert!(first >= start + MILLI);
    let mut last = first;
    for _ in 0..20 {
        let tick = cx.sync(ticker.tick_evt()).await;
        assert!(tick <= Instant::now(), "never early");
        assert!(tick > last && is_on_time(tick, first, MILLI));
        last = tick;
    }
}

async fn ticks_are_shared_out(cx: Cx) {
    let start = Instant::now();
    let ticker = Arc::new(ticker(Duration::from_micros(300)).missed(MissedTicks::Burst));
    let takers: Vec<_> = (0..4)
        .map(|_| {
            let ticker = ticker.clone();
            cx.spawn(move |cx| async move {
                let mut ticks = Vec::new();
                for _ in 0..10 {
                    ticks.push(cx.sync(ticker.tick_evt()).await);
                }
                ticks
            })
        })
        .collect();
    let mut ticks: Vec<_> = cx.join_all(takers).await.concat();
    ticks.sort_unstable();
    assert!(ticks[0] >= start + ticker.period());
    for (n, tick) in (0..).zip(&ticks) {
        assert_eq!(*tick, ticks[0] + ticker.period() * n, "none twice, and none left out");
    }
}

async fn a_tick_is_one_of_several_alternatives(cx: Cx) {
    let ticker = ticker(MILLI);
    let long = ticker_at(Instant::now() + Duration::from_secs(3600), MILLI);
    let (tx, rx) = lisle::channel::bounded::<u32>(1);
    for _ in 0..5 {
        let either = choose((
            ticker.tick_evt().wrap(|_| "tick"),
            rx.recv_evt().wrap(|_| "message"),
            long.tick_evt().wrap(|_| "late"),
        ));
        assert_eq!(cx.sync(either).await, "tick");
    }
    tx.try_send(1).unwrap();
    let biased =
        lisle::event::choose_biased((rx.recv_evt().wrap(|_| true), ticker.tick_evt().wrap(|_| false)));
    assert!(cx.sync(biased).await);
    // A future that is dropped while it waits has taken nothing and is not waited for.
    let mut waits = Box::pin(long.tick_evt().future());
    assert!(crate::support::poll_once(waits.as_mut()).is_pending());
    drop(waits);
    long.reset_at(Instant::now());
    cx.sync(long.tick_evt()).await;
}

async fn a_tick_that_is_not_taken_stays(cx: Cx) {
    let ticker = ticker(MILLI);
    cx.sync(after(2 * MILLI)).await;
    for _ in 0..3 {
        let loses = lisle::event::choose_biased((lisle::always(0), ticker.tick_evt().wrap(|_| 1)));
        assert_eq!(cx.sync(loses).await, 0);
    }
    assert!(ticker.tick_evt().poll().is_some());
}

async fn what_is_missed_is_skipped_or_made_up_for(cx: Cx) {
    // The library treats all times before its first look at the clock alike.
    cx.sync(after(12 * MILLI)).await;
    let start = Instant::now() - 10 * MILLI;
    let skips = ticker_at(start, MILLI);
    let before = Instant::now();
    assert_eq!(cx.sync(skips.tick_evt()).await, start);
    let next = cx.sync(skips.tick_evt()).await;
    assert!(next > before && is_on_time(next, start, MILLI));
    let bursts = ticker_at(start, MILLI).missed(MissedTicks::Burst);
    for n in 0..=10 {
        assert_eq!(bursts.tick_evt().poll(), Some(start + MILLI * n));
    }
    let delays = ticker_at(start, MILLI).missed(MissedTicks::Delay);
    let before = Instant::now();
    assert_eq!(cx.sync(delays.tick_evt()).await, start);
    assert!(cx.sync(delays.tick_evt()).await >= before + MILLI);
}

async fn a_reset_reaches_the_waiters(cx: Cx) {
    let day = Duration::from_secs(24 * 3600);
    let (ticker, done) = (Arc::new(ticker(day)), Arc::new(AtomicUsize::new(0)));
    let waits: Vec<_> = (0..3)
        .map(|_| {
            let (ticker, done) = (ticker.clone(), done.clone());
            cx.spawn(move |cx| async move {
                cx.sync(ticker.tick_evt()).await;
                done.fetch_add(1, Ordering::SeqCst);
            })
        })
        .collect();
    cx.yield_now().await;
    // Each reset makes at least one tick.
    cx.until(|| {
        ticker.reset_at(Instant::now());
        done.load(Ordering::SeqCst) == 3
    })
    .await;
    cx.join_all(waits).await;
    ticker.reset();
    assert_eq!(ticker.tick_evt().poll(), None);
}

async fn a_huge_period_never_ends(cx: Cx) {
    for period in [Duration::MAX, Duration::from_nanos(u64::MAX), Duration::from_nanos(u64::MAX - 1)] {
        for missed in [MissedTicks::Skip, MissedTicks::Burst, MissedTicks::Delay] {
            let never_ticks = ticker(period).missed(missed);
            let short = after(MILLI).wrap(|()| true);
            assert!(cx.sync(choose((never_ticks.tick_evt().wrap(|_| false), short, never()))).await);
            never_ticks.reset();
            assert_eq!(never_ticks.tick_evt().poll(), None);
            let once = ticker_at(Instant::now(), period).missed(missed);
            cx.sync(once.tick_evt()).await;
            assert_eq!(once.tick_evt().poll(), None);
        }
    }
}

async fn ticks_in_a_wait_set(cx: Cx) {
    let tickers: [Ticker; 3] = [1, 2, 3].map(|n| ticker(n * MILLI));
    let mut set = WaitSet::new();
    let keys = tickers.each_ref().map(|ticker| set.insert(ticker.tick_evt()));
    let mut counts = [0; 3];
    while counts.contains(&0) || counts.iter().sum::<u32>() < 20 {
        let (key, tick) = cx.sync(set.evt()).await;
        assert!(tick <= Instant::now());
        counts[keys.iter().position(|known| *known == key).unwrap()] += 1;
    }
}

#[test]
fn a_period_of_zero_is_refused_where_it_is_given() {
    let made: [fn() -> Ticker; 2] = [|| ticker(Duration::ZERO), || ticker_at(Instant::now(), Duration::ZERO)];
    for make in made {
        let panic = catch_unwind(AssertUnwindSafe(make)).unwrap_err();
        let text = panic.downcast_ref::<&str>().unwrap();
        assert!(text.contains("the period of a ticker is zero"), "{text}");
    }
}

/// A fiber that waits for a tick waits for time, so this is not a deadlock.
#[test]
fn a_tick_wakes_the_only_fiber() {
    let _watched = crate::support::watched();
    let ticks = Runtime::builder().domains(1).closed_world(true).try_run(|| {
        let ticker = ticker(Duration::from_millis(150)).named("beat");
        [(); 3].map(|()| ticker.tick())
    });
    assert!(ticks.unwrap().is_sorted());
}
