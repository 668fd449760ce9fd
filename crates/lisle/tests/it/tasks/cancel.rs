//! Cancelling: the future is dropped where the task waits, or where it waits next.

use super::{Counted, Then, come_back, everywhere, until};
use crate::support::{on_domains, scaled, watched};
use lisle::time::sleep;
use lisle::{Event, PanicPolicy, Runtime, channel, spawn_task, task};
use std::future::pending;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A value that cannot be a message by itself, since it cannot be cloned.
type Lent<T> = Arc<Mutex<Option<T>>>;

#[test]
fn one_that_waits_is_dropped() {
    everywhere(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let held = Counted::new(&count);
        let task = spawn_task(async move {
            pending::<()>().await;
            drop(held);
        });
        task.cancel();
        task.cancel();
        let error = task.join().unwrap_err();
        assert!(error.is_cancelled() && !error.is_panic());
        assert_eq!(count.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn what_it_waited_for_goes_to_another() {
    everywhere(|| {
        let (tx, rx) = channel();
        let first = spawn_task({
            let rx = rx.clone();
            async move { rx.recv_evt().await.unwrap() }
        });
        let second = spawn_task(async move { rx.recv_evt().await.unwrap() });
        first.cancel();
        assert!(first.join().unwrap_err().is_cancelled());
        tx.send(1).unwrap();
        assert_eq!(second.join().unwrap(), 1);
    });
}

#[test]
fn one_that_has_ended_keeps_its_result() {
    everywhere(|| {
        let task = spawn_task(come_back());
        until(|| task.is_finished());
        task.cancel();
        task.join().unwrap();
        let never_waits = spawn_task(async { 1 });
        until(|| never_waits.is_finished());
        never_waits.cancel();
        assert_eq!(never_waits.join().unwrap(), 1);
    });
}

/// A running task continues until it waits, or to its end.
#[test]
fn one_that_runs_is_not_stopped() {
    on_domains(|| {
        let (own, owns) = channel::<Lent<task::Reified<Arc<task::TaskHandle<u32>>>>>();
        for waits in [false, true] {
            let owner = own.clone();
            let body = async move {
                let wanted = Mutex::new(None);
                let own = task::reify(|me| *wanted.lock().unwrap() = Some(me));
                let mut own = std::pin::pin!(own);
                assert!(super::polled(own.as_mut()).await.is_pending());
                let me = wanted.lock().unwrap().take();
                owner.send_evt(Arc::new(Mutex::new(me))).await.unwrap();
                let handle = own.await.unwrap();
                handle.cancel();
                if waits {
                    come_back().await;
                    unreachable!("it is cancelled");
                }
                4
            };
            let handle = Arc::new(spawn_task(body));
            owns.recv().unwrap().lock().unwrap().take().unwrap().prepare(handle.clone()).ready().unwrap();
            let outcome = handle.join_evt().sync();
            if waits {
                assert!(outcome.unwrap_err().is_cancelled());
            } else {
                assert_eq!(outcome.unwrap(), 4);
            }
        }
    });
}

/// A queued task: it has been woken or has not begun.
#[test]
fn one_that_is_queued_is_dropped() {
    for domains in [1, 3] {
        let _watched = watched();
        Runtime::builder().domains(domains).run(|| {
            let count = Arc::new(AtomicUsize::new(0));
            for _ in 0..scaled(2_000, 500) {
                let (tx, rx) = channel::<()>();
                let held = Counted::new(&count);
                let woken = spawn_task(async move {
                    rx.recv_evt().await.unwrap();
                    drop(held);
                });
                let held = Counted::new(&count);
                let inflated = spawn_task(async move {
                    task::inflate().await;
                    drop(held);
                });
                tx.send(()).unwrap();
                woken.cancel();
                inflated.cancel();
                for task in [woken, inflated] {
                    assert!(task.join().err().is_none_or(|error| error.is_cancelled()));
                }
                assert_eq!(count.load(Ordering::SeqCst), 0);
            }
        });
    }
}

/// A future's destructor may wait for a performer on the same domain.
#[test]
fn a_destructor_that_blocks() {
    on_domains(|| {
        let (tx, rx) = channel::<u32>();
        let (got, gots) = channel();
        let receives = move || got.send(rx.recv().unwrap()).unwrap();
        let then = Then(receives);
        let task = spawn_task(async move {
            let _then = then;
            pending::<()>().await;
        });
        task.cancel();
        assert!(!task.is_finished());
        tx.send(3).unwrap();
        assert_eq!(gots.recv(), Ok(3));
        assert!(task.join().unwrap_err().is_cancelled());
    });
}

#[test]
fn a_destructor_that_panics() {
    for domains in [1, 2, 8] {
        let _watched = watched();
        Runtime::builder().domains(domains).panic_policy(PanicPolicy::Ignore).run(|| {
            for i in 0..20 {
                let task = spawn_task(async move {
                    let _then = Then(|| resume_unwind(Box::new("dropped")));
                    if i % 2 == 0 {
                        pending::<()>().await;
                    } else {
                        sleep_long().await;
                    }
                });
                task.cancel();
                assert!(task.join().unwrap_err().is_cancelled());
            }
        });
    }
}

async fn sleep_long() {
    lisle::time::after(Duration::from_secs(3_600)).await;
}

/// The task is cancelled at the moment of a wake, from another thread.
#[test]
fn a_cancellation_meets_a_wake() {
    on_domains(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let mut cancelled = 0;
        let rounds = scaled(20_000, 3_000);
        for _ in 0..rounds {
            let (tx, rx) = channel::<Counted>();
            let task = Arc::new(spawn_task(async move { rx.recv_evt().await }));
            let cancels = lisle::spawn({
                let task = task.clone();
                move || task.cancel()
            });
            let held = Counted::new(&count);
            let sends = lisle::spawn(move || tx.send(held).is_ok());
            cancels.join().unwrap();
            let sent = sends.join().unwrap();
            match task.join_evt().sync() {
                Ok(_) => assert!(sent),
                Err(error) => {
                    assert!(error.is_cancelled());
                    cancelled += 1;
                }
            }
            drop(task);
            assert_eq!(count.load(Ordering::SeqCst), 0);
        }
        assert!(cancelled <= rounds);
    });
}

/// A performer that spins and waits in between cancels it.
#[test]
fn one_that_yields_for_ever_ends() {
    on_domains(|| {
        let runs = Arc::new(AtomicBool::new(false));
        let says = runs.clone();
        let task = spawn_task(async move {
            loop {
                says.store(true, Ordering::SeqCst);
                task::yield_now().await;
            }
        });
        until(|| runs.swap(false, Ordering::SeqCst));
        sleep(Duration::from_micros(100));
        task.cancel();
        let outcome: Result<(), _> = task.join();
        assert!(outcome.unwrap_err().is_cancelled());
    });
}
