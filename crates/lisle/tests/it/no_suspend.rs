//! `fiber::no_suspend`: nothing waits inside it, wherever it is called.

use crate::support::{Cx, on_domains, scaled, watched, worlds};
use lisle::par::{self, prelude::*};
use lisle::sync::{Barrier, Condition, IVar, Mutex, Once, OnceCell, WaitGroup};
use lisle::time::{after, sleep};
use lisle::{Event, Runtime, always, channel, choose, fiber, never, select, spawn, spawn_task};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Returns the message of the panic in `f`.
#[track_caller]
fn panics<R>(f: impl FnOnce() -> R) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else { panic!("it did not panic") };
    *panic.downcast::<String>().expect("a message")
}

/// Returns the message with which `f` is refused inside `no_suspend`.
#[track_caller]
fn refused<R>(f: impl FnOnce() -> R) -> String {
    let text = panics(|| fiber::no_suspend(f));
    assert!(text.contains("inside `no_suspend`, called at crates/lisle/tests/it/no_suspend.rs:"), "{text}");
    text
}

async fn waiting_panics_and_names_both_places(cx: Cx) {
    let (tx, rx) = channel::named::<u32>("numbers", 0);
    let line = line!() + 1;
    let text = panics(|| fiber::no_suspend(|| rx.recv()));
    assert!(text.contains(&format!("it/no_suspend.rs:{line}:")), "{text}");
    assert!(text.contains("receive from channel 'numbers' (made at "), "{text}");
    // It has left nothing behind, and the next wait works as usual.
    assert!(tx.try_send(1).is_err());
    let sender = cx.spawn(|cx| async move { cx.sync(tx.into_send_evt(2)).await });
    assert_eq!(cx.sync(rx.recv_evt()).await, Ok(2));
    cx.join(sender).await.unwrap();
}

async fn every_way_of_waiting_is_refused(_: Cx) {
    let (tx, rx) = channel::<u32>();
    assert!(refused(|| tx.send(1)).contains("send to a channel"));
    assert!(refused(|| rx.recv_timeout(Duration::from_secs(60))).contains("receive from a channel"));
    assert!(refused(|| sleep(Duration::from_secs(60))).contains("wait for a point in time"));
    let either = choose((rx.recv_evt().wrap(|_| ()), after(Duration::from_secs(60))));
    let text = refused(|| either.sync());
    assert!(text.contains("receive from a channel") && text.contains(", or "), "{text}");
    refused(|| select! { _ = rx.recv_evt() => (), _ = never::<()>() => () });
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    assert!(refused(|| drop(mutex.lock())).contains("lock a mutex"));
    drop(guard);
    drop(mutex.lock());
    assert!(refused(|| IVar::<u32>::new().get_evt().boxed().sync().to_string()).contains("IVar"));
    // The report names the caller of `default` as the place where a primitive was made.
    let (cell, once, group) = (OnceCell::<u32>::default(), Once::default(), WaitGroup::default());
    let _member = group.enter();
    let barrier = Barrier::default();
    let (party, _other) = (barrier.enrol(), barrier.enrol());
    let waits = [
        refused(|| cell.get_evt().boxed().sync().to_string()),
        refused(|| once.done_evt().sync().to_owned()),
        refused(|| group.wait()),
        refused(|| party.wait()),
    ];
    for text in waits {
        assert!(text.contains("(made at crates/lisle/tests/it/no_suspend.rs:"), "{text}");
    }
    assert!(refused(fiber::yield_now).contains("yield (at "));
    assert!(refused(|| lisle::blocking(|| ())).contains("wait for a blocking call (made at "));
    assert!(
        refused(|| lisle::future::block_on(rx.recv_evt().future())).contains("wait for a future (made at ")
    );
    assert!(refused(|| lisle::run(|| ())).contains("run a runtime (started at "));
    // A wait at its end could not be refused any more.
    let spawned = AtomicBool::new(false);
    let text = refused(|| fiber::scope(|scope| drop(scope.spawn(|| spawned.store(true, Ordering::Relaxed)))));
    assert!(text.contains("wait for a fiber or task of a scope (spawned at "), "{text}");
    refused(|| fiber::scope(|scope| drop(scope.spawn_task(async {}))));
    assert!(!spawned.load(Ordering::Relaxed));
}

async fn what_need_not_wait_is_allowed(cx: Cx) {
    let (tx, rx) = channel::bounded::<u32>(2);
    let fiber = cx.spawn(|_| async { 7 });
    assert_eq!(cx.join(fiber).await, 7);
    fiber::no_suspend(|| {
        tx.send(1).unwrap();
        tx.try_send(2).unwrap();
        assert!(tx.try_send(3).is_err());
        assert_eq!(choose((rx.recv_evt(), never())).sync(), Ok(1));
        assert_eq!(rx.recv(), Ok(2));
        // This holds for any number of failures.
        (0..1_000).for_each(|_| assert!(rx.try_recv().is_err()));
        assert_eq!(always(3).sync(), 3);
        fiber::checkpoint();
        drop(Mutex::new(()).lock());
        let unused = fiber::scope(|_| 4);
        assert_eq!(unused, 4);
        // A task that begins inside is a part of it until the task waits, and that does not make
        // the caller wait.
        let task = spawn_task({
            let rx = rx.clone();
            async move { rx.recv_evt().await }
        });
        assert!(!task.is_finished());
        tx.send(5).unwrap();
        task
    })
    .join()
    .unwrap()
    .unwrap();
}

async fn it_ends_with_the_call(cx: Cx) {
    let fenced = || catch_unwind(fiber::yield_now).is_err();
    assert!(fiber::no_suspend(|| fiber::no_suspend(fenced) && fenced()));
    assert!(!fenced());
    // A panic goes through it, and one that was caught inside leaves it in force.
    let text = panics(|| fiber::no_suspend(|| fiber::no_suspend(|| panic!("{}", "mine"))));
    assert_eq!(text, "mine");
    assert!(!fenced());
    assert!(fiber::no_suspend(|| {
        assert!(catch_unwind(|| fiber::no_suspend(|| panic!("mine"))).is_err());
        fenced()
    }));
    assert!(!fenced());
    // Other fibers are not affected, even if they are spawned inside.
    let (tx, rx) = channel();
    let child = fiber::no_suspend(|| cx.spawn(|cx| async move { cx.sync(rx.recv_evt()).await }));
    cx.sync(tx.send_evt(1)).await.unwrap();
    assert_eq!(cx.join(child).await, Ok(1));
}

/// A partner may be faster than the refusal. Then the event has happened and is not lost.
async fn a_message_is_taken_or_refused(cx: Cx) {
    const COUNT: usize = 100;
    let (tx, rx) = channel();
    let sender = cx.spawn(|cx| async move {
        for i in 0..COUNT {
            cx.sync(tx.send_evt(i)).await.unwrap();
        }
    });
    let other = Condition::new();
    for i in 0..COUNT {
        loop {
            let taken = catch_unwind(AssertUnwindSafe(|| {
                let either = choose((rx.recv_evt(), other.wait_evt().wrap(|()| unreachable!())));
                fiber::no_suspend(|| if i % 2 == 0 { rx.recv() } else { either.sync() })
            }));
            match taken {
                Ok(message) => break assert_eq!(message, Ok(i)),
                Err(_) => cx.sync(after(Duration::from_micros(50))).await,
            }
        }
    }
    cx.join(sender).await;
}

async fn loops_run_as_they_are_written(_: Cx) {
    fiber::no_suspend(|| {
        for _ in 0..scaled(100, 10) {
            assert_eq!((0..100_000_u64).into_par_iter().sum::<u64>(), 4_999_950_000);
        }
        assert_eq!(par::join(|| fibonacci(12), || fibonacci(13)), (144, 233));
        let jobs = par::scope(|s| {
            let promises = (0..100).map(|i| s.spawn(move || fibonacci(i % 10))).collect::<Vec<_>>();
            promises.into_iter().map(|promise| promise.wait()).sum::<u64>()
        });
        assert_eq!(jobs, 880);
    });
}

fn fibonacci(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = par::join(|| fibonacci(n - 1), || fibonacci(n - 2));
    a + b
}

worlds! {
    waiting_panics_and_names_both_places, every_way_of_waiting_is_refused, what_need_not_wait_is_allowed,
    it_ends_with_the_call, a_message_is_taken_or_refused, loops_run_as_they_are_written,
}

/// Calls that would let other fibers run do not: no other fiber runs until `no_suspend` ends.
#[test]
fn nobody_else_runs_meanwhile() {
    let _watched = watched();
    Runtime::builder().domains(1).run(|| {
        let ran = Arc::new(AtomicBool::new(false));
        let runs = ran.clone();
        let other = spawn(move || runs.store(true, Ordering::Relaxed));
        let (tx, rx) = channel::<u32>();
        fiber::no_suspend(|| {
            for _ in 0..100_000 {
                assert!(rx.try_recv().is_err() && rx.recv_evt().poll().is_none() && tx.try_send(1).is_err());
            }
            assert!(!ran.load(Ordering::Relaxed));
        });
        other.join().unwrap();
    });
}

/// The other domains are idle for long, and yet they take nothing.
#[test]
fn halves_and_tasks_stay_on_their_thread() {
    let _watched = watched();
    fn computes_for_long() {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(60) {
            std::hint::spin_loop();
        }
    }
    Runtime::builder().domains(2).run(|| {
        fiber::no_suspend(|| {
            let here = thread::current().id();
            let ((), there) = par::join(computes_for_long, || thread::current().id());
            assert_eq!(there, here);
            let there = par::scope(|s| {
                let promise = s.spawn(|| thread::current().id());
                computes_for_long();
                promise.wait()
            });
            assert_eq!(there, here);
        });
    });
}

/// A job that another domain runs has to be waited for. The wait is refused, and the scope waits
/// for the job at its end.
#[test]
fn a_promise_of_a_task_that_runs_elsewhere_is_refused() {
    let _watched = watched();
    Runtime::builder().domains(2).run(|| {
        let [began, may_end] = [(); 2].map(|()| AtomicBool::new(false));
        par::scope(|s| {
            let promise = s.spawn(|| {
                began.store(true, Ordering::Relaxed);
                while !may_end.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            while !began.load(Ordering::Relaxed) {
                // A spawn checks whether an idle domain wants a job.
                let _ = s.spawn(std::thread::yield_now);
            }
            let text = refused(|| promise.wait());
            assert!(text.contains("wait for another domain to end a job"), "{text}");
            may_end.store(true, Ordering::Relaxed);
        });
    });
}

/// The rule applies to every caller, also inside a runtime's `run` from a plain thread.
#[test]
fn a_runtime_is_neither_run_nor_waited_for() {
    let _watched = watched();
    let runtime = Runtime::builder().domains(1).start().unwrap();
    assert!(refused(|| runtime.run(|| ())).contains("wait for a fiber (spawned at "));
    assert_eq!(runtime.run(|| 1), 1);
}

#[test]
fn a_task_that_begins_in_it_may_wait_in_place_later() {
    on_domains(|| {
        let (tx, rx) = channel::<u32>();
        let task = fiber::no_suspend(|| {
            spawn_task(async move {
                let first = catch_unwind(AssertUnwindSafe(|| rx.recv())).is_err();
                let second = rx.recv_evt().await;
                (first, second, rx.recv())
            })
        });
        tx.send(1).unwrap();
        tx.send(2).unwrap();
        assert_eq!(task.join().unwrap(), (true, Ok(1), Ok(2)));
    });
}
