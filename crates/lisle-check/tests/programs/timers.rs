//! Timers: each outcome that the order of their firing decides is found, and no impossible one.

use crate::found::outcomes as seen_in;
use lisle::sync::Mutex;
use lisle::time::{after, sleep, ticker};
use lisle::{Event, channel, choose, spawn, spawn_task};
use lisle_check::Checker;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// Shows that a sleep is not over. In an exploration in which somebody does that each timer holds
/// up those that are due later, whatever it decides.
fn keeps_the_order() {
    let mut never = pin!(after(seconds(1_000_000)).into_future());
    assert!(never.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

/// Returns the outcomes of a program. Asserts that they are the same if all timers keep their
/// order, that chance finds no others, and that tokens of both explorations give the same results
/// again.
#[track_caller]
fn comes_to<P: Fn() -> String + Send + Sync + Copy + 'static>(program: P) -> BTreeSet<String> {
    let ordered = move || {
        keeps_the_order();
        program()
    };
    let all = results(Checker::new(), program);
    assert_eq!(all, results(Checker::new(), ordered), "without the order, and with it");
    for chance in [Checker::new().random(1), Checker::new().priorities(2, 3)] {
        let by_chance = results(chance.executions(300), ordered);
        assert!(by_chance.is_subset(&all), "{by_chance:?} are not all of {all:?}");
    }
    let free = results(Checker::new().random(3).executions(300), program);
    assert!(free.is_subset(&all), "{free:?} are not all of {all:?}");
    all
}

#[track_caller]
fn results<P: Fn() -> String + Send + Sync + Clone + 'static>(
    checker: Checker,
    program: P,
) -> BTreeSet<String> {
    let outcomes = checker.outcomes(program.clone());
    assert!(outcomes.verdict().failure().is_none(), "{}", outcomes.verdict());
    for outcome in outcomes.iter() {
        let again = Checker::new().replay(&outcome.token()).unwrap().outcomes(program.clone());
        let again: Vec<_> = again.iter().map(|outcome| outcome.result().clone()).collect();
        assert_eq!(again, [outcome.result().clone()], "the token {}", outcome.token());
    }
    outcomes.iter().map(|outcome| outcome.result().clone()).collect()
}

fn are<const N: usize>(found: &BTreeSet<String>, expected: [&str; N]) {
    assert_eq!(found, &BTreeSet::from(expected.map(String::from)));
}

/// Returns the text that fibers write which first sleep for these times.
fn written_after<const N: usize>(durations: [u64; N]) -> String {
    let written = Arc::new(Mutex::new(String::new()));
    let fibers = durations.map(|duration| {
        let written = written.clone();
        spawn(move || {
            sleep(seconds(duration));
            *written.lock() += &duration.to_string();
        })
    });
    let _ = fibers.map(|fiber| fiber.join().unwrap());
    written.lock().clone()
}

/// Begins a future before a signal, after which `then` runs elsewhere. Returns both results.
fn begun_before<T: Debug + Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
    then: impl FnOnce() -> String + Send + 'static,
) -> String {
    let (signal, signalled) = channel::bounded(1);
    let other = spawn(move || {
        signalled.recv().unwrap();
        then()
    });
    let task = spawn_task(async move {
        let mut future = pin!(future);
        let mut signal = Some(signal);
        poll_fn(|context| {
            let polled = future.as_mut().poll(context);
            if let Some(signal) = signal.take() {
                assert!(polled.is_pending());
                signal.try_send(()).unwrap();
            }
            polled
        })
        .await
    });
    let output = task.join().unwrap();
    format!("{output:?} {}", other.join().unwrap())
}

/// Returns `true` if the first of two futures ends first; it is asked first.
async fn is_first(one: impl Future, other: impl Future) -> bool {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| match one.as_mut().poll(context) {
        Poll::Ready(_) => Poll::Ready(true),
        Poll::Pending => other.as_mut().poll(context).map(|_| false),
    })
    .await
}

mod counts {
    use super::*;

    #[track_caller]
    fn count(program: impl Fn() + Send + Sync + 'static) -> (u64, u64) {
        let verdict = Checker::new().executions(50_000).explore(program);
        println!("{verdict}");
        assert!(verdict.is_exhaustive(), "{verdict}");
        (verdict.counts().complete, verdict.counts().redundant)
    }

    fn sleep_and_join<const N: usize>(durations: [u64; N]) {
        let _ = durations.map(|duration| spawn(move || sleep(seconds(duration)))).map(|f| f.join().unwrap());
    }

    #[test]
    fn sleeps_that_nobody_tells_apart_are_one_execution() {
        assert_eq!(count(|| sleep_and_join([1; 6])), (1, 0));
        assert_eq!(count(|| sleep_and_join([1, 2, 3, 4, 5, 6])), (1, 0));
        // Their steps after the timeouts come in any order.
        assert_eq!(count(|| drop(written_after([1, 2, 3]))), (6, 0));
    }

    #[test]
    fn timeouts_at_one_time_do_not_depend_on_each_other() {
        let timeouts = |count: u64| {
            (0..count).for_each(|_| {
                let (tx, rx) = channel::<u32>();
                assert!(rx.recv_timeout(seconds(1)).is_err());
                drop(tx);
            });
        };
        assert_eq!(count(move || timeouts(4)), (1, 0));
        // Each timeout comes before its message or after it. Its fiber begins to wait before the
        // message, after it, or later, because other fibers have let time pass.
        for (fibers, executions, observed) in [(1, 6, 5), (2, 52, 41), (3, 744, 605)] {
            let messages = move || {
                let waits = (0..fibers).map(|_| {
                    let (tx, rx) = channel::bounded(1);
                    let limited = rx.clone();
                    let waits = spawn(move || limited.recv_timeout(seconds(1)).is_ok());
                    (spawn(move || tx.send(1).unwrap()), waits, rx)
                });
                for (sends, waits, _rx) in waits.collect::<Vec<_>>() {
                    sends.join().unwrap();
                    let _ = waits.join().unwrap();
                }
            };
            let verdict = Checker::new().observed().explore(messages);
            assert!(verdict.is_exhaustive(), "{verdict}");
            assert_eq!((verdict.counts().complete, verdict.observed()), (executions, Some(observed)));
        }
    }
}

#[test]
fn what_is_done_after_sleeps_is_done_in_any_order() {
    are(&comes_to(|| written_after([1, 10])), ["110", "101"]);
    are(&comes_to(|| written_after([0, 10])), ["010", "100"]);
    assert_eq!(comes_to(|| written_after([1, 2, 2])).len(), 3);
}

#[test]
fn a_timeout_may_come_before_or_after_a_message() {
    let late = comes_to(|| {
        let (tx, rx) = channel();
        let sends = spawn(move || {
            sleep(seconds(10));
            tx.send(1).is_ok()
        });
        let received = rx.recv_timeout(seconds(1)).ok();
        drop(rx);
        format!("{received:?} {}", sends.join().unwrap())
    });
    // The receiver may begin to wait when the sender has slept.
    are(&late, ["None false", "Some(1) true"]);
    let channels = comes_to(|| {
        let (tx, rx) = channel::bounded(2);
        let takes = [1, 2].map(|limit| {
            let rx = rx.clone();
            spawn(move || rx.recv_timeout(seconds(limit)).ok())
        });
        sleep(seconds(3));
        tx.send(7).unwrap();
        format!("{:?}", takes.map(|takes| takes.join().unwrap()))
    });
    are(&channels, ["[None, None]", "[Some(7), None]", "[None, Some(7)]"]);
}

/// A wait that has begun before the signal times out before a wait that begins after it.
#[test]
fn what_has_begun_before_ends_before() {
    let choice = comes_to(|| {
        let (tx, rx) = channel::<u32>();
        let receives = async move {
            choose((rx.recv_evt().wrap(|got| got.is_ok()), after(seconds(1)).wrap(|()| false))).await
        };
        begun_before(receives, move || {
            sleep(seconds(10));
            tx.try_send(1).is_ok().to_string()
        })
    });
    are(&choice, ["false false"]);
    let sleeps = comes_to(|| {
        let (tx, rx) = channel::<u32>();
        let first =
            async move { is_first(after(seconds(1)).into_future(), rx.recv_evt().into_future()).await };
        begun_before(first, move || {
            sleep(seconds(10));
            tx.try_send(1).is_ok().to_string()
        })
    });
    // The sleep is over, but the other future may be there still.
    are(&sleeps, ["true false", "true true"]);
    let shorter = comes_to(|| {
        let (tx, rx) = channel::bounded(1);
        let first =
            async move { is_first(after(seconds(10)).into_future(), rx.recv_evt().into_future()).await };
        begun_before(first, move || {
            sleep(seconds(1));
            tx.try_send(1).is_ok().to_string()
        })
    });
    // Both may be over before the task goes on, or the task before the other goes on.
    are(&shorter, ["false true", "true true", "true false"]);
}

/// The record of such a sleep has no name.
#[test]
fn a_sleep_on_the_heap_keeps_the_order() {
    let found = comes_to(|| {
        let (tx, rx) = channel::<u32>();
        let first = async move {
            let sleeps: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(after(seconds(1)).into_future());
            is_first(sleeps, Box::pin(rx.recv_evt().into_future())).await
        };
        begun_before(first, move || {
            sleep(seconds(10));
            tx.try_send(1).is_ok().to_string()
        })
    });
    assert!(found.iter().all(|found| found.starts_with("true")), "{found:?}");
}

#[test]
fn a_task_that_sleeps_is_cancelled_before_or_after() {
    let found = comes_to(|| {
        let (tx, rx) = channel::bounded(1);
        let sleeps = spawn_task(async move {
            after(seconds(1)).await;
            tx.try_send(1).unwrap();
        });
        sleep(seconds(10));
        sleeps.cancel();
        format!("{:?} {}", sleeps.join().is_ok(), rx.try_recv().is_ok())
    });
    // It is cancelled after its time is over and before it goes on.
    are(&found, ["false false", "true true"]);
    let begun = comes_to(|| {
        let (signal, signalled) = channel::bounded(1);
        let sleeps = spawn_task(async move {
            let mut sleep = pin!(after(seconds(1)).into_future());
            let mut signal = Some(signal);
            poll_fn(|context| {
                let polled = sleep.as_mut().poll(context);
                if let Some(signal) = signal.take() {
                    signal.try_send(()).unwrap();
                }
                polled
            })
            .await;
        });
        signalled.recv().unwrap();
        sleep(seconds(10));
        sleeps.cancel();
        sleeps.join().is_ok().to_string()
    });
    are(&begun, ["false", "true"]);
}

/// The limit inside is the longer one.
#[test]
fn limits_within_limits() {
    let nested = comes_to(|| {
        let (tx, rx) = channel::bounded(1);
        let limited = spawn_task(async move {
            let inner =
                async { is_first(rx.recv_evt().into_future(), after(seconds(2)).into_future()).await };
            let mut inner = pin!(inner);
            let mut outer = pin!(after(seconds(1)).into_future());
            poll_fn(|context| match inner.as_mut().poll(context) {
                Poll::Ready(is_first) => Poll::Ready(if is_first { "message" } else { "inner" }),
                Poll::Pending => outer.as_mut().poll(context).map(|()| "outer"),
            })
            .await
        });
        sleep(seconds(1));
        format!("{} {}", tx.try_send(1).is_ok(), limited.join().unwrap())
    });
    // All three may have come when the task goes on, and it looks in this order.
    are(&nested, ["true message", "true inner", "false inner", "true outer", "false outer"]);
}

#[test]
fn the_shorter_time_of_a_choice_wins() {
    let either = comes_to(|| {
        let (tx, rx) = channel::bounded::<u32>(1);
        let waits = spawn(move || {
            choose((
                rx.recv_evt().wrap(|_| "message"),
                after(seconds(1)).wrap(|()| "early"),
                after(seconds(2)).wrap(|()| "late"),
            ))
            .sync()
        });
        sleep(seconds(3));
        let _ = tx.try_send(1);
        waits.join().unwrap().to_owned()
    });
    // The receiver may begin to wait when the message is there.
    are(&either, ["message", "early"]);
}

#[test]
fn a_ticker_ticks_while_others_sleep() {
    let found = comes_to(|| {
        let ticker = Arc::new(ticker(seconds(2)));
        let written = Arc::new(Mutex::new(String::new()));
        let of_other = written.clone();
        let sleeps = spawn(move || {
            sleep(seconds(3));
            *of_other.lock() += "s";
        });
        for _ in 0..2 {
            ticker.tick();
            *written.lock() += "t";
        }
        sleeps.join().unwrap();
        written.lock().clone()
    });
    are(&found, ["tst", "tts", "stt"]);
    let looks = comes_to(|| {
        let ticker = ticker(seconds(2));
        let looked = (0..3).map(|_| {
            sleep(seconds(1));
            ticker.tick_evt().poll().is_some()
        });
        format!("{:?}", looked.collect::<Vec<_>>())
    });
    are(&looks, ["[false, true, false]"]);
}

#[test]
fn what_never_comes_is_no_timer() {
    assert_eq!(
        seen_in(Checker::new(), || {
            let (tx, rx) = channel::<u32>();
            let waits = spawn(move || choose((rx.recv_evt().wrap(|_| ()), after(Duration::MAX))).sync());
            sleep(Duration::ZERO);
            drop(tx);
            waits.join().unwrap();
        })
        .1
        .counts()
        .redundant,
        0
    );
    let verdict = Checker::new().explore(|| sleep(Duration::MAX));
    assert!(verdict.failure().is_some(), "{verdict}");
}

/// A failure that is found before the program looks at the order of timers comes again in another
/// process.
#[test]
fn a_failure_among_sleeps_comes_again() {
    let program = |looks: bool| {
        move || {
            if looks {
                keeps_the_order();
            }
            assert_ne!(written_after([1, 2, 3]), "312");
        }
    };
    for looks in [false, true] {
        for checker in [Checker::new(), Checker::new().random(1), Checker::new().priorities(1, 3)] {
            let verdict = checker.explore(program(looks));
            let token = verdict.failure().expect("it is one of six orders").token();
            let again = Checker::new().replay(&token).unwrap().explore(program(looks));
            let text = again.failure().expect("it is the same schedule").to_string();
            assert!(text.contains("312"), "{text}");
        }
    }
}

#[test]
fn the_time_is_read_before_or_after_it_passes() {
    let found = comes_to(|| {
        let begun = lisle::time::now();
        let read = [1, 10].map(|duration| {
            spawn(move || {
                sleep(seconds(duration));
                (lisle::time::now() - begun).as_secs()
            })
        });
        format!("{:?}", read.map(|read| read.join().unwrap()))
    });
    // A fiber may begin late, and may go on late.
    are(&found, ["[1, 10]", "[10, 10]", "[1, 11]", "[11, 11]", "[11, 10]"]);
}
