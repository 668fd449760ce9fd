//! `race`, `rush` and `timeout`: the first contender to end gives the answer. The others are
//! cancelled or continue.

use super::{counter, soon};
use crate::support::{Cx, scaled, worlds};
use lisle::channel::bounded;
use lisle::task::{TimeoutError, race, rush, timeout, yield_now};
use lisle::{Event, Runtime, channel, choose, never};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

worlds!(
    the_first_wins_and_the_others_go,
    a_contender_that_ends_at_once_is_the_last_to_begin,
    a_dropped_race_is_cancelled,
    nobody_wins_an_empty_race,
    the_panic_of_the_first_is_the_answer,
    a_race_is_decided_once,
    losers_of_a_rush_go_on,
    in_time_or_not,
);

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
    let mut seen = Vec::new();
    // A few attempts: if a contender was queued, another one may be faster.
    while seen.len() < 50 && !seen.contains(&(1, 2)) {
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
        let won = cx.sync(&answer).await.unwrap();
        seen.push((won, begun.load(Ordering::Relaxed)));
    }
    assert!(seen.contains(&(1, 2)) || !cx.is_light(), "{seen:?}");
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

/// All contenders may end at the same moment. There is one answer, and every token is accounted
/// for.
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

/// The tasks that a race cancels are queued when the runtime begins to stop.
#[test]
fn what_is_cancelled_as_its_runtime_stops_ends() {
    for _ in 0..scaled(400, 100) {
        let runtime = Runtime::builder().domains(3).start().expect("a runtime starts");
        runtime.run(|| drop(race([(); 4].map(|()| pending::<()>()))));
        assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    }
}
