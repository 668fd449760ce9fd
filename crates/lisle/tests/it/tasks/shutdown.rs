//! The fate of tasks when their runtime ends.

use super::{Counted, Then, come_back, until};
use crate::support::{scaled, watched};
use lisle::{Event, Runtime, channel, spawn_task, task};
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

fn start(domains: usize) -> Runtime {
    Runtime::builder().domains(domains).stall_report(None).start().unwrap()
}

#[test]
fn those_that_wait_are_dropped_and_their_joiners_told() {
    let _watched = watched();
    for domains in [1, 2, 8] {
        let count = Arc::new(AtomicUsize::new(0));
        let runtime = start(domains);
        let (tx, rx) = channel::<()>();
        let tasks = runtime.run(|| {
            let mut tasks: Vec<_> = (0..100)
                .map(|i| {
                    let (held, rx) = (Counted::new(&count), rx.clone());
                    spawn_task(async move {
                        match i % 4 {
                            0 => pending().await,
                            1 => drop(rx.recv_evt().await),
                            2 => lisle::time::after(Duration::from_secs(3_600)).await,
                            _ => loop {
                                task::yield_now().await;
                            },
                        }
                        drop(held);
                    })
                })
                .collect();
            let first = tasks.pop().unwrap();
            tasks.push(spawn_task(async move { drop(first.await) }));
            tasks
        });
        assert!(runtime.shutdown(MINUTE).is_clean());
        assert_eq!(count.load(Ordering::SeqCst), 0);
        for task in tasks {
            assert!(task.is_finished());
            if let Err(error) = task.join() {
                assert!(!error.is_panic() && error.is_cancelled(), "{error}");
                assert!(error.to_string().contains("a task (spawned at"), "{error}");
            }
        }
        drop(tx);
    }
}

/// The time is proportional to the number of tasks. If a domain looked at all of them after every
/// few that have ended, a minute would not be enough and most would be left.
#[test]
fn very_many_are_dropped_in_time() {
    let _watched = watched();
    let count = Arc::new(AtomicUsize::new(0));
    let runtime = start(2);
    runtime.run(|| {
        for _ in 0..scaled(1_000_000, 200_000) {
            let held = Counted::new(&count);
            drop(spawn_task(async move {
                pending::<()>().await;
                drop(held);
            }));
        }
    });
    assert!(runtime.shutdown(MINUTE).is_clean());
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

/// The joiners, a thread and a future, learn it while they wait.
#[test]
fn joiners_elsewhere_are_woken() {
    let _watched = watched();
    for domains in [1, 3] {
        let runtime = start(domains);
        let tasks = runtime.run(|| [(); 2].map(|()| spawn_task(pending::<()>())));
        let [first, second] = tasks;
        let waits = std::thread::spawn(move || first.join().unwrap_err().is_cancelled());
        let awaits = spawn_task(async move { second.await.unwrap_err().is_panic() });
        assert!(runtime.shutdown(MINUTE).is_clean());
        assert!(waits.join().unwrap());
        assert!(!awaits.join().unwrap());
    }
}

/// Tasks that block in place are unwound as fibers are.
#[test]
fn those_that_block_in_place_are_unwound() {
    let _watched = watched();
    for domains in [1, 2] {
        let count = Arc::new(AtomicUsize::new(0));
        let runtime = start(domains);
        let (tx, rx) = channel::<()>();
        let blocked = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = runtime.run(|| {
            (0..10)
                .map(|_| {
                    let (held, rx, blocked) = (Counted::new(&count), rx.clone(), blocked.clone());
                    spawn_task(async move {
                        come_back().await;
                        blocked.fetch_add(1, Ordering::SeqCst);
                        let _ = rx.recv();
                        drop(held);
                    })
                })
                .collect()
        });
        until(|| blocked.load(Ordering::SeqCst) == 10);
        assert!(runtime.shutdown(MINUTE).is_clean());
        assert_eq!(count.load(Ordering::SeqCst), 0);
        for task in tasks {
            let error = task.join().unwrap_err();
            assert!(!error.is_panic(), "{error}");
        }
        drop(tx);
    }
}

/// A fiber is interrupted while a task that it has just spawned blocks on its stack. Both end.
#[test]
fn a_spawner_is_unwound_with_the_task_on_its_stack() {
    let _watched = watched();
    for domains in [1, 2] {
        let count = Arc::new(AtomicUsize::new(0));
        let runtime = start(domains);
        let (tx, rx) = channel::<()>();
        let held = [Counted::new(&count), Counted::new(&count), Counted::new(&count)];
        let fiber = runtime.spawn(move || {
            let [own, tasks, inner] = held;
            let task = spawn_task(async move {
                let nested = spawn_task(async move {
                    let _ = rx.recv();
                    drop(inner);
                });
                drop((tasks, nested));
            });
            drop((own, task));
        });
        until(|| !runtime.waiting().fibers.is_empty());
        assert!(runtime.shutdown(MINUTE).is_clean());
        // If the task was queued, the fiber has not waited.
        let _ = fiber.join();
        assert_eq!(count.load(Ordering::SeqCst), 0);
        drop(tx);
    }
}

/// Destructors of dropped values may wait, spawn and wake.
#[test]
fn destructors_do_what_they_like() {
    let _watched = watched();
    for domains in [1, 3] {
        let ran = Arc::new(AtomicUsize::new(0));
        let runtime = start(domains);
        runtime.run(|| {
            for i in 0..30 {
                let ran = ran.clone();
                let then = Then(move || {
                    ran.fetch_add(1, Ordering::SeqCst);
                    match i % 3 {
                        0 => lisle::time::after(Duration::from_millis(1)).sync(),
                        1 => assert_eq!(spawn_task(async { 1 }).join().unwrap(), 1),
                        _ => drop(spawn_task(pending::<()>())),
                    }
                });
                drop(spawn_task(async move {
                    let _then = then;
                    pending::<()>().await;
                }));
            }
        });
        assert!(runtime.shutdown(MINUTE).is_clean());
        assert_eq!(ran.load(Ordering::SeqCst), 30);
    }
}

/// `drain` waits for tasks as for fibers.
#[test]
fn draining_waits_for_tasks() {
    let _watched = watched();
    for domains in [1, 2, 8] {
        let ended = Arc::new(AtomicUsize::new(0));
        let ends = ended.clone();
        Runtime::builder().domains(domains).drain(true).run(move || {
            let (tx, rx) = channel::<u32>();
            for i in 0..50 {
                let (ends, rx) = (ends.clone(), rx.clone());
                drop(spawn_task(async move {
                    match i % 4 {
                        0 => task::inflate().await,
                        1 => lisle::time::after(Duration::from_millis(2)).await,
                        2 => drop(rx.recv_evt().await),
                        _ => {
                            come_back().await;
                            lisle::time::sleep(Duration::from_millis(1));
                        }
                    }
                    ends.fetch_add(1, Ordering::SeqCst);
                }));
            }
            drop(spawn_task(async move { while tx.send_evt(1).await.is_ok() {} }));
            drop(rx);
        });
        assert_eq!(ended.load(Ordering::SeqCst), 50);
    }
}

/// A waker is used after its task and its runtime have ended, and after another task has taken its
/// place.
#[test]
fn a_waker_outlives_its_task_and_its_runtime() {
    let _watched = watched();
    let wakers = Arc::new(Mutex::new(Vec::<Waker>::new()));
    let stop = Arc::new(AtomicBool::new(false));
    let hammers: Vec<_> = (0..2)
        .map(|_| {
            let (wakers, stop) = (wakers.clone(), stop.clone());
            std::thread::spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    let all = wakers.lock().unwrap().clone();
                    all.iter().for_each(Waker::wake_by_ref);
                    std::thread::yield_now();
                }
            })
        })
        .collect();
    for round in 0..scaled(100, 30) {
        let runtime = start(1 + round % 3);
        let tasks: Vec<_> = runtime.run(|| {
            (0..20)
                .map(|i| {
                    let wakers = wakers.clone();
                    let (tx, rx) = channel();
                    let task = spawn_task(async move {
                        poll_fn(|context| {
                            let mut wakers = wakers.lock().unwrap();
                            if wakers.len() < 100 {
                                wakers.push(context.waker().clone());
                            }
                            Poll::Ready(())
                        })
                        .await;
                        if i % 2 == 0 {
                            return rx.recv_evt().await.unwrap();
                        }
                        pending().await
                    });
                    if i % 2 == 0 {
                        tx.send(i).unwrap();
                    }
                    task
                })
                .collect()
        });
        let mut tasks = tasks.into_iter().enumerate();
        if round % 2 == 0 {
            for (i, task) in tasks.by_ref().filter(|(i, _)| i % 2 == 0) {
                assert_eq!(task.join().unwrap(), i);
            }
        }
        if round % 4 < 2 {
            assert!(runtime.shutdown(MINUTE).is_clean());
        } else {
            drop(runtime);
        }
    }
    stop.store(true, Ordering::SeqCst);
    hammers.into_iter().for_each(|hammer| hammer.join().unwrap());
}
