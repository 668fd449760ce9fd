//! Leaving the spawner's stack, on request or after a long turn, and the statistics.

use super::{at_last, come_back, everywhere, until};
use crate::support::{on_domains, scaled, watched};
use lisle::time::after;
use lisle::{Event, Runtime, Statistics, channel, choose, spawn_task, statistics, task};
use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

#[test]
fn one_that_inflates_goes_on_beside_its_spawner() {
    everywhere(|| {
        let task = spawn_task(async {
            task::inflate().await;
            task::inflate().await;
            task::yield_now().await;
            1
        });
        assert!(!task.is_inline());
        assert_eq!(task.join().unwrap(), 1);
    });
    let _watched = watched();
    // The spawner keeps its domain until the task has run, so the task can only run on another one.
    Runtime::builder().domains(2).run(|| {
        let here = std::thread::current().id();
        let has_run = Arc::new(AtomicBool::new(false));
        let runs = has_run.clone();
        let elsewhere = spawn_task(async move {
            task::inflate().await;
            runs.store(true, Ordering::SeqCst);
            std::thread::current().id()
        });
        // A call on the handle would let other fibers run.
        while !has_run.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        assert_ne!(elsewhere.join().unwrap(), here);
        assert_eq!(statistics().inflations, 1);
    });
}

/// `yield_now` lets others run first, and is not an inflation.
#[test]
fn one_that_yields_lets_others_run() {
    let _watched = watched();
    let attempt = || {
        let turns = Arc::new(AtomicUsize::new(0));
        let tasks = [(); 2].map(|()| {
            let turns = turns.clone();
            spawn_task(async move {
                let mut seen = Vec::new();
                for _ in 0..10 {
                    seen.push(turns.fetch_add(1, Ordering::SeqCst));
                    task::yield_now().await;
                }
                seen
            })
        });
        let seen = tasks.map(|task| task.join().unwrap());
        statistics().inflations == 0
            && seen.iter().flat_map(|turns| turns.windows(2)).all(|turns| turns[1] > turns[0] + 1)
    };
    assert!(at_last(|| Runtime::builder().domains(1).run(attempt)));
}

/// A task whose inflation was polled next to an event that was ready has not left, and neither does
/// the next task in its place.
#[test]
fn an_inflation_that_loses_is_none() {
    let _watched = watched();
    let attempt = || {
        for _ in 0..2 {
            let loses = spawn_task(async {
                let mut inflates = pin!(task::inflate());
                poll_fn(|context| {
                    assert!(inflates.as_mut().poll(context).is_pending());
                    Poll::Ready(())
                })
                .await;
            });
            loses.join().unwrap();
        }
        let (tx, rx) = channel::<()>();
        let waits = [(); 2].map(|()| {
            let rx = rx.clone();
            spawn_task(async move { rx.recv_evt().await.unwrap() })
        });
        (0..2).for_each(|_| tx.send(()).unwrap());
        waits.into_iter().for_each(|task| task.join().unwrap());
        let seen = statistics();
        (seen.reifications, seen.inflations) == (2, 0)
    };
    assert!(at_last(|| Runtime::builder().domains(1).run(attempt)));
}

/// Spawns tasks that compute until one of them is found at its await to have taken long. The event
/// is ready.
fn until_one_is_inflated() {
    let before = statistics().inflations;
    while statistics().inflations == before {
        let (tx, rx) = lisle::channel::bounded(1);
        tx.send(1).unwrap();
        let task = spawn_task(async move {
            // As long as is needed for a tick, but no longer than the tick can take.
            let start = std::time::Instant::now();
            while start.elapsed() < Duration::from_millis(15) {
                std::hint::spin_loop();
            }
            rx.recv_evt().await.unwrap()
        });
        assert_eq!(task.join().unwrap(), 1);
    }
}

#[test]
fn one_that_takes_long_is_inflated_at_its_await() {
    on_domains(until_one_is_inflated);
}

/// The spawner of a task that takes long has the next ten tasks queued, and no more.
#[test]
fn the_next_ten_are_queued() {
    let _watched = watched();
    let attempt = || {
        until_one_is_inflated();
        let inline: Vec<bool> = (0..12).map(|_| spawn_task(async {}).is_inline()).collect();
        inline == [[false; 10].as_slice(), &[true; 2]].concat()
    };
    for domains in [1, 2] {
        assert!(at_last(|| Runtime::builder().domains(domains).run(attempt)));
        // The same holds for a task that spawns. It has a count of its own.
        let within_one = || {
            let spawns = spawn_task(async move {
                let succeeds = attempt();
                come_back().await;
                succeeds
            });
            spawns.join().unwrap()
        };
        assert!(at_last(|| Runtime::builder().domains(domains).run(within_one)));
    }
}

/// The counts are exact for a small program on one domain.
#[test]
fn statistics_are_exact() {
    let _watched = watched();
    let program = || {
        for _ in 0..5 {
            spawn_task(async {}).join().unwrap();
        }
        let (tx, rx) = channel::<u32>();
        let held = [0_u8; 200];
        let large = spawn_task(async move {
            let got = rx.recv_evt().await.unwrap();
            got + u32::from(held[got as usize])
        });
        let (small, smalls) = channel::<u32>();
        let small_one = spawn_task(async move { smalls.recv_evt().await.unwrap() });
        tx.send(3).unwrap();
        small.send(4).unwrap();
        assert_eq!((large.join().unwrap(), small_one.join().unwrap()), (3, 4));
        let before = statistics();
        let leaves = [(); 2].map(|()| spawn_task(task::inflate()));
        leaves.into_iter().for_each(|task| task.join().unwrap());
        let fiber = lisle::spawn(|| ());
        fiber.join().unwrap();
        (before, statistics())
    };
    let counts = |seen: &Statistics| {
        [seen.fibers, seen.tasks, seen.communications, seen.reifications, seen.inflations, seen.migrations]
    };
    let seen = Cell::new((Statistics::default(), Statistics::default()));
    let is_exact = at_last(|| {
        let (before, after) = Runtime::builder().domains(1).run(program);
        seen.set((before, after));
        (counts(&before), counts(&after)) == ([1, 7, 2, 2, 0, 0], [2, 9, 2, 4, 2, 0])
    });
    let (before, after) = seen.get();
    assert!(is_exact, "{before}\n{after}");
    assert!(before.largest_task >= 400 && before.largest_task < 1_024, "{before}");
    assert!(before.reified_bytes > before.largest_task && before.reified_bytes < 2 * before.largest_task);
    assert_eq!(before.mean_task(), before.reified_bytes as f64 / 2.0);
    assert_eq!(after.largest_task, before.largest_task);
    assert!(
        after
            .to_string()
            .contains("2 fibers, 9 tasks (4 reified, 2 inflated, 0 migrations), 2 communications"),
        "{after}"
    );
}

/// Each is counted once, on any number of domains.
#[test]
fn statistics_add_up() {
    let _watched = watched();
    let count = scaled(2_000, 500);
    let runtime = Runtime::builder().domains(3).start().unwrap();
    runtime.run(|| {
        let spawners: Vec<_> = (0..4)
            .map(|_| {
                lisle::spawn(move || {
                    for _ in 0..count {
                        let (tx, rx) = channel();
                        let task = spawn_task(async move { rx.recv_evt().await });
                        tx.send(()).unwrap();
                        task.join().unwrap().unwrap();
                        spawn_task(async {}).join().unwrap();
                    }
                })
            })
            .collect();
        spawners.into_iter().for_each(|spawner| spawner.join().unwrap());
    });
    let expected = 4 * count as u64;
    // A domain publishes its counts before it sleeps.
    until(|| runtime.statistics().communications >= expected && runtime.statistics().tasks >= 2 * expected);
    let seen = runtime.statistics();
    assert_eq!((seen.tasks, seen.communications), (2 * expected, expected));
    assert!((expected..=2 * expected).contains(&seen.reifications));
    // The number of inflations depends on the ticks. None is counted twice.
    assert!(seen.inflations <= seen.reifications);
}

/// Timers and choices work in tasks as everywhere.
#[test]
fn timers_and_choices() {
    everywhere(|| {
        let tasks: Vec<_> = (0..50)
            .map(|i| {
                spawn_task(async move {
                    let (_tx, rx) = channel::<u64>();
                    let soon = after(Duration::from_micros(i * 20)).wrap(move |()| i);
                    choose((rx.recv_evt().wrap(Result::unwrap), soon)).await
                })
            })
            .collect();
        let sum: u64 = tasks.into_iter().map(|task| task.join().unwrap()).sum();
        assert_eq!(sum, 1_225);
    });
}
