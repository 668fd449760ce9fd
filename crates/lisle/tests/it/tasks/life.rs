//! The life of a task, from spawn to join.

use super::{Counted, come_back, everywhere, until};
use crate::support::{Executor, block_on, on_domains, scaled, watched};
use lisle::time::after;
use lisle::{Event, Runtime, channel, choose, spawn_task, task};
use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn one_that_does_not_wait_has_ended_when_it_is_spawned() {
    everywhere(|| {
        let mut inline = 0;
        for i in 0..100 {
            let ran = Arc::new(AtomicUsize::new(0));
            let runs = ran.clone();
            let task = spawn_task(async move {
                runs.fetch_add(1, Ordering::Relaxed);
                i
            });
            if task.is_inline() {
                inline += 1;
                assert_eq!(ran.load(Ordering::Relaxed), 1);
                assert!(task.is_finished());
                task.cancel();
            }
            assert_eq!(task.join().unwrap(), i);
        }
        assert!(inline > 0);
    });
}

#[test]
fn one_that_waits_is_joined_by_anybody() {
    everywhere(|| {
        let waits = || {
            let (tx, rx) = channel();
            let task = spawn_task(async move { rx.recv_evt().await.unwrap() + 1 });
            assert!(!task.is_inline() && !task.is_finished());
            (tx, task)
        };
        let (tx, task) = waits();
        tx.send(1).unwrap();
        assert_eq!(task.join().unwrap(), 2);
        let (tx, task) = waits();
        let joins = lisle::spawn(|| task.join().unwrap());
        tx.send(2).unwrap();
        assert_eq!(joins.join().unwrap(), 3);
        let (tx, task) = waits();
        let joins = std::thread::spawn(|| task.join().unwrap());
        tx.send(3).unwrap();
        until(|| joins.is_finished());
        assert_eq!(joins.join().unwrap(), 4);
        let (tx, task) = waits();
        let joins = spawn_task(async { task.await.unwrap() });
        tx.send(4).unwrap();
        assert_eq!(joins.join().unwrap(), 5);
        let (tx, task) = waits();
        let fiber = lisle::spawn(move || tx.send(5).unwrap());
        let joins = spawn_task(async move {
            fiber.join_evt().await.unwrap();
            (&task).await.unwrap()
        });
        assert_eq!(joins.join().unwrap(), 6);
    });
    let _watched = watched();
    let executor = Executor::new(2);
    let (tx, rx) = channel();
    let (sum, sums) = channel();
    for i in 0..100 {
        let rx = rx.clone();
        let task = spawn_task(async move { rx.recv_evt().await.unwrap() });
        let sum = sum.clone();
        executor.spawn(async move { sum.send_evt(task.await.unwrap()).await.unwrap() });
        assert_eq!(block_on(spawn_task(ready(i)).into_future()).unwrap(), i);
    }
    let sender = std::thread::spawn(move || (0..100).for_each(|i| tx.send(i).unwrap()));
    assert_eq!((0..100).map(|_| sums.recv().unwrap()).sum::<usize>(), 4_950);
    sender.join().unwrap();
}

#[test]
fn the_result_is_had_once() {
    everywhere(|| {
        let (tx, rx) = channel();
        let later = spawn_task(async move { rx.recv_evt().await.unwrap() });
        tx.send(1).unwrap();
        for task in [later, spawn_task(async { 1 })] {
            assert_eq!(task.join_evt().sync().unwrap(), 1);
            let error = task.join_evt().sync().unwrap_err();
            assert!(!error.is_panic() && !error.is_cancelled());
            assert!(error.to_string().contains("a task (spawned at"), "{error}");
            assert!(task.is_finished());
        }
    });
}

#[test]
fn of_many_joiners_one_has_the_result() {
    on_domains(|| {
        for inline in [true, false] {
            let (tx, rx) = channel();
            let task = Arc::new(spawn_task(async move {
                if !inline {
                    rx.recv_evt().await.unwrap();
                }
                Box::new(3)
            }));
            let joiners: Vec<_> = (0..20)
                .map(|i| {
                    let task = task.clone();
                    let joins = async move { task.join_evt().await.is_ok() };
                    if i % 2 == 0 {
                        lisle::spawn(|| lisle::future::block_on(joins))
                    } else {
                        lisle::spawn(|| spawn_task(joins).join().unwrap())
                    }
                })
                .collect();
            assert!(tx.send(()).is_ok() || inline);
            drop(task);
            let got = joiners.into_iter().map(|joiner| joiner.join().unwrap());
            assert_eq!(got.filter(|&got| got).count(), 1);
        }
    });
}

#[test]
fn a_join_that_loses_takes_nothing() {
    everywhere(|| {
        let (tx, rx) = channel();
        let task = spawn_task(async move { rx.recv_evt().await.unwrap() });
        for _ in 0..10 {
            let soon = after(Duration::from_micros(10)).wrap(|()| None);
            assert_eq!(choose((task.join_evt().wrap(Result::ok), soon)).sync(), None);
        }
        assert!(task.join_evt().poll().is_none());
        tx.send(7).unwrap();
        assert_eq!(task.join().unwrap(), 7);
    });
}

/// A detached task continues, and its result is dropped wherever it ends.
#[test]
fn a_detached_one_goes_on() {
    everywhere(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let (tx, rx) = channel::<()>();
        let (done, dones) = channel();
        for i in 0..50 {
            let (rx, done, held) = (rx.clone(), done.clone(), Counted::new(&count));
            let task = spawn_task(async move {
                rx.recv_evt().await.unwrap();
                done.send_evt(i).await.unwrap();
                held
            });
            if i % 2 == 0 {
                drop(task);
            } else {
                lisle::spawn(move || drop(task)).join().unwrap();
            }
            drop(spawn_task(ready(Counted::new(&count))));
        }
        (0..50).for_each(|_| tx.send(()).unwrap());
        assert_eq!((0..50).map(|_| dones.recv().unwrap()).sum::<usize>(), 1_225);
        until(|| count.load(Ordering::SeqCst) == 0);
    });
}

/// The handle is dropped at the moment of the end.
#[test]
fn what_ends_as_its_handle_goes_is_dropped_once() {
    on_domains(|| {
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..scaled(20_000, 3_000) {
            let (tx, rx) = channel();
            let held = Counted::new(&count);
            let task = spawn_task(async move {
                rx.recv_evt().await.unwrap();
                held
            });
            let sends = lisle::spawn(move || tx.send(()).unwrap());
            let drops = lisle::spawn(move || drop(task));
            sends.join().unwrap();
            drops.join().unwrap();
        }
        until(|| count.load(Ordering::SeqCst) == 0);
    });
}

async fn held<T: Send>(value: T, waits: bool) -> T {
    if waits {
        come_back().await;
    }
    value
}

#[repr(align(256))]
#[derive(Clone, Copy, PartialEq, Debug)]
struct Aligned([u8; 300]);

#[repr(align(4096))]
#[derive(Clone, Copy, PartialEq, Debug)]
struct Page(u8);

fn returns<T: Send + Clone + PartialEq + std::fmt::Debug + 'static>(value: T) {
    for waits in [false, true] {
        let tasks: Vec<_> = (0..4).map(|_| spawn_task(held(value.clone(), waits))).collect();
        for task in tasks {
            let got = Box::new(task.join().unwrap());
            assert_eq!((&raw const *got).addr() % align_of::<T>(), 0);
            assert!(*got == value);
        }
        // A large result of a small future, and a small result of a large future.
        let small = spawn_task(held((), waits));
        assert!(
            value
                == *Box::new(
                    spawn_task({
                        let value = Box::new(value.clone());
                        async move { small.await.map(|()| *value).unwrap() }
                    })
                    .join()
                    .unwrap()
                )
        );
        let large = value.clone();
        let own = spawn_task(async move {
            let place = (&raw const large).addr();
            come_back().await;
            // It does not move, and is aligned.
            place == (&raw const large).addr() && place.is_multiple_of(align_of::<T>())
        });
        assert!(own.join().unwrap());
    }
}

#[test]
fn futures_and_results_of_any_size_and_alignment() {
    let _watched = watched();
    let all = || {
        returns(());
        returns(1_u8);
        returns([7_u8; 100]);
        returns(String::from("text"));
        for _ in 0..3 {
            returns([3_u64; 200]);
            returns([1_u8; 10_000]);
            returns(Aligned([4; 300]));
            returns(Page(5));
        }
        returns(vec![Aligned([1; 300]); 3]);
    };
    Runtime::builder().domains(2).stack_size(4 << 20).run(all);
    Runtime::builder().domains(1).stack_size(4 << 20).run(|| returns([9_u8; 100_000]));
    let thread = std::thread::Builder::new().stack_size(16 << 20);
    let outside = move || {
        all();
        returns([9_u8; 15_000]);
    };
    thread.spawn(outside).unwrap().join().unwrap();
}

#[test]
fn a_message_goes_around_a_ring() {
    on_domains(|| {
        let (first, mut next) = channel::<usize>();
        let tasks: Vec<_> = (0..100)
            .map(|i| {
                let (tx, rx) = channel();
                let from = std::mem::replace(&mut next, rx);
                let body = async move {
                    while let Ok(n) = from.recv_evt().await {
                        if tx.send_evt(n + 1).await.is_err() {
                            break;
                        }
                    }
                };
                // Now and then one of them is a fiber.
                if i % 7 == 0 {
                    spawn_task(async move {
                        lisle::spawn(|| lisle::future::block_on(body)).join_evt().await.unwrap()
                    })
                } else {
                    spawn_task(body)
                }
            })
            .collect();
        for round in 0..scaled(500, 100) {
            first.send(round).unwrap();
            assert_eq!(next.recv(), Ok(round + 100));
        }
        drop((first, next));
        tasks.into_iter().for_each(|task| task.join().unwrap());
    });
}

/// A task that blocks in place stops the stack on which it runs, and nothing else.
#[test]
fn one_that_blocks_in_place_does_not_stop_its_domain() {
    on_domains(|| {
        let (tx, rx) = channel::<usize>();
        let (go, gone) = channel::<()>();
        // They run on runners, since they have waited.
        let blocked: Vec<_> = (0..20)
            .map(|_| {
                let (rx, gone) = (rx.clone(), gone.clone());
                spawn_task(async move {
                    gone.recv_evt().await.unwrap();
                    let first = rx.recv().unwrap();
                    come_back().await;
                    first + rx.recv().unwrap()
                })
            })
            .collect();
        (0..20).for_each(|_| go.send(()).unwrap());
        // Other tasks still run here.
        let echo = spawn_task(async {
            for _ in 0..10 {
                task::yield_now().await;
            }
            "there"
        });
        assert_eq!(echo.join().unwrap(), "there");
        (0..40).for_each(|i| tx.send(i).unwrap());
        let sum: usize = blocked.into_iter().map(|task| task.join().unwrap()).sum();
        assert_eq!(sum, 780);
    });
}

#[test]
fn a_task_that_never_goes_on_is_none_to_wait_for() {
    on_domains(|| {
        let never = spawn_task(pending::<()>());
        assert!(!never.is_finished() && never.join_evt().poll().is_none());
        drop(spawn_task(pending::<()>()));
    });
}
