//! Tasks that borrow.

use super::{Then, come_back, everywhere};
use crate::support::on_domains;
use lisle::fiber::scope;
use lisle::{Event, channel};
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn they_borrow_and_the_scope_waits_for_them() {
    everywhere(|| {
        let numbers: Vec<usize> = (0..100).collect();
        let sum = AtomicUsize::new(0);
        let (tx, rx) = channel::<usize>();
        scope(|scope| {
            for chunk in numbers.chunks(10) {
                // A dropped handle lets the task continue.
                drop(scope.spawn_task(async {
                    sum.fetch_add(rx.recv_evt().await.unwrap(), Ordering::SeqCst);
                    sum.fetch_add(chunk.iter().sum(), Ordering::SeqCst);
                }));
            }
            scope.spawn_task(async { sum.fetch_add(1, Ordering::SeqCst) }).join().unwrap();
            scope.spawn(|| (0..10).for_each(|_| tx.send(1_000).unwrap()));
        });
        assert_eq!(sum.into_inner(), 4_950 + 1 + 10_000);
    });
}

#[test]
fn results_may_borrow() {
    everywhere(|| {
        let words = [String::from("one"), String::from("two")];
        let longest = scope(|scope| {
            let tasks: Vec<_> = words
                .iter()
                .map(|word| {
                    scope.spawn_task(async {
                        come_back().await;
                        word.as_str()
                    })
                })
                .collect();
            // One result is taken, and the other is not.
            let first = tasks[0].join_evt().sync().unwrap().len();
            assert!(tasks[0].is_finished());
            first
        });
        assert_eq!(longest, 3);
    });
}

#[test]
fn a_panic_that_nobody_joins_is_noted() {
    everywhere(|| {
        for waits in [false, true] {
            let ended = AtomicUsize::new(0);
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                scope(|scope| {
                    scope.spawn_task(async {
                        come_back().await;
                        ended.fetch_add(1, Ordering::SeqCst);
                    });
                    let panics = scope.spawn_task(async {
                        if waits {
                            come_back().await;
                        }
                        resume_unwind(Box::new("inside")) as ()
                    });
                    drop(panics);
                });
            }));
            assert!(outcome.is_err());
            assert_eq!(ended.into_inner(), 1, "all have ended");
            // If it is joined, the panic belongs to the joiner.
            let error = scope(|scope| {
                let panics = scope.spawn_task(async {
                    if waits {
                        come_back().await;
                    }
                    resume_unwind(Box::new("inside")) as ()
                });
                panics.join().unwrap_err()
            });
            assert!(error.is_panic());
        }
    });
}

#[test]
fn a_scope_that_panics_waits() {
    everywhere(|| {
        let borrowed = Mutex::new(0);
        let (tx, rx) = channel::<()>();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            scope(|scope| {
                for _ in 0..10 {
                    scope.spawn_task(async {
                        rx.recv_evt().await.unwrap();
                        *borrowed.lock().unwrap() += 1;
                    });
                }
                scope.spawn(|| (0..10).for_each(|_| tx.send(()).unwrap()));
                resume_unwind(Box::new(5)) as ()
            });
        }));
        assert_eq!(*outcome.unwrap_err().downcast::<i32>().unwrap(), 5);
        assert_eq!(borrowed.into_inner().unwrap(), 10);
    });
}

#[test]
fn they_are_cancelled() {
    everywhere(|| {
        let dropped = AtomicUsize::new(0);
        scope(|scope| {
            let tasks: Vec<_> = (0..10)
                .map(|_| {
                    let then = Then(|| _ = dropped.fetch_add(1, Ordering::SeqCst));
                    scope.spawn_task(async move {
                        let _then = then;
                        pending::<()>().await;
                    })
                })
                .collect();
            for task in &tasks {
                assert!(!task.is_finished());
                task.cancel();
            }
            let first = tasks.into_iter().next().unwrap();
            assert!(first.join().unwrap_err().is_cancelled());
        });
        assert_eq!(dropped.into_inner(), 10);
    });
}

/// A scope inside a task waits in place for the fibers and tasks inside the scope.
#[test]
fn a_scope_within_a_task() {
    on_domains(|| {
        let sum = lisle::spawn_task(async {
            come_back().await;
            let numbers = [1, 2, 3];
            let (tx, rx) = channel::<i32>();
            let sum = scope(|scope| {
                for number in &numbers {
                    scope.spawn_task(async { tx.send_evt(*number).await.unwrap() });
                }
                numbers.iter().map(|_| rx.recv().unwrap()).sum::<i32>()
            });
            come_back().await;
            sum + numbers[0]
        });
        assert_eq!(sum.join().unwrap(), 7);
    });
}
