//! Deadlines that go down the calls: `time::with_deadline`.

mod boundaries;
mod catching;
mod for_others;
mod scopes;

use crate::support::{on_domains, watched};
use lisle::channel::bounded;
use lisle::sync::{Mutex, Semaphore};
use lisle::time::{DeadlinePassed, after, deadline, sleep, with_deadline, without_deadline};
use lisle::{Event, Runtime, channel, choose, never};
use std::cell::Cell;
use std::io;
use std::time::{Duration, Instant};

/// Soon, but after all that a test does at once.
const SOON: Duration = Duration::from_millis(2);
/// Longer than a test may take.
const LONG: Duration = Duration::from_secs(1000);

/// Runs `case` on a plain thread, in a fiber, and in place in a task.
fn everywhere(case: fn()) {
    let _watched = watched();
    case();
    Runtime::builder().domains(1).run(case);
    Runtime::builder().domains(2).run(move || {
        let fibers: Vec<_> = (0..8).map(|_| lisle::spawn(case)).collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        lisle::spawn_task(async move { case() }).join().unwrap();
        let (tx, rx) = bounded::<()>(0);
        let later = lisle::spawn_task(async move {
            rx.recv_evt().await.unwrap();
            case();
        });
        tx.send(()).unwrap();
        later.join().unwrap();
    });
}

#[test]
fn every_wait_below_ends() {
    everywhere(|| {
        let (tx, rx) = channel::<u32>();
        let locked = Mutex::new(());
        let guard = locked.lock();
        let empty = Semaphore::new(0);
        let waits: [(&str, &dyn Fn()); 8] = [
            ("a receive", &|| assert!(rx.recv().is_err())),
            ("a send", &|| tx.send(1).unwrap()),
            ("a sleep", &|| sleep(LONG)),
            ("a lock", &|| drop(locked.lock())),
            ("a semaphore", &|| empty.wait()),
            ("never", &|| never::<()>().sync()),
            ("a choice", &|| choose((rx.recv_evt().wrap(drop), after(LONG), never())).sync()),
            ("a fiber's end", &|| drop(lisle::spawn(|| never::<()>().sync()).join())),
        ];
        for (what, wait) in waits {
            for within in [Duration::ZERO, SOON] {
                let began = Instant::now();
                assert_eq!(with_deadline(within, wait), Err(DeadlinePassed), "{what}");
                assert!(began.elapsed() >= within, "{what} ended early");
                assert_eq!(with_deadline(began, wait), Err(DeadlinePassed), "{what}");
            }
        }
        drop(guard);
        assert!(rx.try_recv().is_err(), "a message was sent after all");
        assert_eq!(with_deadline(LONG, || *locked.lock()), Ok(()));
    });
}

#[test]
fn what_need_not_wait_is_done() {
    everywhere(|| {
        let (tx, rx) = bounded(2);
        let done = with_deadline(Duration::ZERO, || {
            tx.send(1).unwrap();
            tx.send(2).unwrap();
            (rx.recv().unwrap(), rx.recv_evt().poll().unwrap().unwrap(), rx.try_recv().is_err())
        });
        assert_eq!(done, Ok((1, 2, true)));
        assert_eq!(with_deadline(Duration::MAX, || 7), Ok(7));
        assert_eq!(with_deadline(LONG, || sleep(Duration::from_micros(1))), Ok(()));
        // It ends with its call.
        assert_eq!(with_deadline(SOON, || ()), Ok(()));
        sleep(2 * SOON);
        assert!(rx.try_recv().is_err());
    });
}

#[test]
fn the_outermost_that_has_passed_ends_its_call() {
    everywhere(|| {
        // The inner one is earlier.
        let outer = with_deadline(LONG, || {
            assert_eq!(with_deadline(SOON, || sleep(LONG)), Err(DeadlinePassed));
            sleep(Duration::from_micros(1)); // the outer one has not passed
            5
        });
        assert_eq!(outer, Ok(5));
        // The outer one is earlier.
        let after_inner = Cell::new(false);
        let outer = with_deadline(SOON, || {
            let inner = with_deadline(LONG, || sleep(LONG));
            after_inner.set(true);
            inner
        });
        assert_eq!((outer, after_inner.get()), (Err(DeadlinePassed), false));
        // All have passed.
        let outer = with_deadline(Duration::ZERO, || {
            let inner = with_deadline(Duration::ZERO, || with_deadline(LONG, || sleep(LONG)));
            after_inner.set(true);
            inner
        });
        assert_eq!((outer, after_inner.get()), (Err(DeadlinePassed), false));
    });
}

#[test]
fn the_time_that_is_left() {
    everywhere(|| {
        assert_eq!(deadline(), None);
        let at = Instant::now() + LONG;
        with_deadline(at, || {
            assert_eq!(deadline(), Some(at));
            with_deadline(at + LONG, || assert_eq!(deadline(), Some(at))).unwrap();
            with_deadline(at - SOON, || assert_eq!(deadline(), Some(at - SOON))).unwrap();
            with_deadline(Duration::MAX, || assert_eq!(deadline(), Some(at))).unwrap();
            without_deadline(|| assert_eq!(deadline(), None));
            assert_eq!(deadline(), Some(at));
        })
        .unwrap();
        assert_eq!(with_deadline(Duration::MAX, deadline), Ok(None));
    });
}

#[test]
fn a_call_without_those_around_it() {
    everywhere(|| {
        let reached = Cell::new(0);
        let outer = with_deadline(Duration::ZERO, || {
            without_deadline(|| {
                sleep(Duration::from_micros(1));
                reached.set(1);
                assert_eq!(with_deadline(SOON, || sleep(LONG)), Err(DeadlinePassed));
                sleep(Duration::from_micros(1));
                reached.set(2);
            });
            sleep(LONG);
        });
        assert_eq!((outer, reached.get()), (Err(DeadlinePassed), 2));
    });
}

#[test]
fn no_message_is_lost_at_the_moment_of_a_deadline() {
    const MESSAGES: u32 = 2_000;
    on_domains(|| {
        let (tx, rx) = channel();
        let sender = lisle::spawn(move || (0..MESSAGES).for_each(|i| tx.send(i).unwrap()));
        let mut received = Vec::new();
        while received.len() < MESSAGES as usize {
            let within = Duration::from_micros(received.len() as u64 % 200);
            received.extend(with_deadline(within, || rx.recv().unwrap()));
        }
        sender.join().unwrap();
        assert_eq!(received, (0..MESSAGES).collect::<Vec<_>>());
    });
    // The same between plain threads.
    let _watched = watched();
    let (tx, rx) = channel();
    let sender = std::thread::spawn(move || (0..MESSAGES).for_each(|i| tx.send(i).unwrap()));
    let mut received = Vec::new();
    while received.len() < MESSAGES as usize {
        let within = Duration::from_micros(received.len() as u64 % 200);
        received.extend(with_deadline(within, || rx.recv().unwrap()));
    }
    sender.join().unwrap();
    assert_eq!(received, (0..MESSAGES).collect::<Vec<_>>());
}

#[test]
fn many_fibers_have_deadlines_at_once() {
    on_domains(|| {
        let (_tx, rx) = channel::<u32>();
        let fibers: Vec<_> = (0..500)
            .map(|i| {
                let rx = rx.clone();
                lisle::spawn(move || with_deadline(Duration::from_micros(i * 10), || rx.recv()).is_err())
            })
            .collect();
        assert!(fibers.into_iter().all(|fiber| fiber.join().unwrap()));
    });
}

#[test]
fn it_becomes_an_io_error() {
    let _watched = watched();
    let late = || -> io::Result<()> { Ok(with_deadline(Duration::ZERO, || sleep(LONG))?) };
    let error = late().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert!(error.get_ref().unwrap().is::<DeadlinePassed>());
    assert_eq!(error.to_string(), "the deadline has passed");
}

#[test]
fn a_runtime_can_end_below_a_deadline() {
    let _watched = watched();
    let runtime = Runtime::builder().domains(2).start().unwrap();
    let (tx, begun) = channel();
    let waits = runtime.spawn(move || {
        with_deadline(LONG, || {
            tx.send(()).unwrap();
            sleep(LONG);
        })
    });
    begun.recv().unwrap();
    assert!(runtime.shutdown(Duration::MAX).is_clean());
    assert!(waits.join().unwrap_err().is_cancelled());
}
