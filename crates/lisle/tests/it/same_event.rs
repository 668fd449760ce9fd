//! Case 45: an event is a value. If several performers perform the same event at once, it behaves
//! like several events.

use crate::support::{Semaphore, block_on, on_domains, scaled, watched};
use lisle::fiber::scope;
use lisle::time::after;
use lisle::{Event, channel, choose};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Threads and futures perform one and the same choice.
#[test]
fn one_choice_from_many_at_once() {
    const PERFORMERS: usize = 4;
    let _watched = watched();
    let count = scaled(10_000, 1_000);
    let (tx, rx) = channel::<usize>();
    let semaphore = Semaphore::new(0);
    let event = choose((
        rx.recv_evt().wrap(|received| received.unwrap()),
        semaphore.take_evt().wrap(|()| 1),
        after(Duration::from_secs(3_600)).wrap(|()| unreachable!("an hour is long")),
    ));
    let sum = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for performer in 0..PERFORMERS {
            let (event, sum) = (&event, &sum);
            scope.spawn(move || {
                for _ in 0..count {
                    let got = if performer % 2 == 0 { event.sync() } else { block_on((&event).future()) };
                    sum.fetch_add(got, Ordering::Relaxed);
                }
            });
        }
        for i in 0..count * PERFORMERS {
            if i % 2 == 0 {
                tx.send(1).unwrap();
            } else {
                semaphore.post();
            }
        }
    });
    assert_eq!(sum.into_inner(), count * PERFORMERS);
    assert_eq!(event.poll(), None);
}

/// Fibers of several domains perform one and the same choice, and so do a thread and a future.
#[test]
fn one_choice_from_many_fibers_at_once() {
    const PERFORMERS: usize = 8;
    let count = scaled(5_000, 300);
    on_domains(|| {
        let (tx, rx) = channel::<usize>();
        let semaphore = Semaphore::new(0);
        let event = choose((
            rx.recv_evt().wrap(|received| received.unwrap()),
            semaphore.take_evt().wrap(|()| 1),
            after(Duration::from_secs(3_600)).wrap(|()| unreachable!("an hour is long")),
        ));
        let sum = AtomicUsize::new(0);
        let perform = |awaited: bool| {
            for _ in 0..count {
                let got = if awaited { block_on((&event).future()) } else { event.sync() };
                sum.fetch_add(got, Ordering::Relaxed);
            }
        };
        std::thread::scope(|threads| {
            threads.spawn(|| perform(false));
            threads.spawn(|| perform(true));
            scope(|fibers| {
                for _ in 2..PERFORMERS {
                    fibers.spawn(|| perform(false));
                }
                for i in 0..count * PERFORMERS {
                    if i % 2 == 0 {
                        tx.send(1).unwrap();
                    } else {
                        semaphore.post();
                    }
                }
            });
        });
        assert_eq!(sum.into_inner(), count * PERFORMERS);
        assert_eq!(event.poll(), None);
    });
}

/// Every fiber that performs one timer event has its own time.
#[test]
fn one_timer_event_from_many_fibers() {
    let wait = Duration::from_millis(4);
    let event = after(wait);
    on_domains(|| {
        let fibers = [0, 1, 2, 3].map(|_| {
            lisle::spawn(move || {
                let begun = Instant::now();
                event.sync();
                event.sync();
                assert!(begun.elapsed() >= 2 * wait);
            })
        });
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
}

/// Two futures of one timer event each have their own time.
#[test]
fn one_timer_event_twice() {
    let _watched = watched();
    let wait = Duration::from_millis(4);
    let event = after(wait);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let begun = Instant::now();
                event.sync();
                block_on((&event).future());
                assert!(begun.elapsed() >= 2 * wait);
            });
        }
    });
}

/// One sender's event that is performed twice at once sends two messages, each to one receiver.
#[test]
fn one_send_event_twice() {
    let _watched = watched();
    let (tx, rx) = channel::<String>();
    let event = tx.send_evt("again".into());
    let (mut one, mut other) = (pin!((&event).future()), pin!((&event).future()));
    let mut noop = Context::from_waker(Waker::noop());
    assert!(one.as_mut().poll(&mut noop).is_pending());
    assert!(other.as_mut().poll(&mut noop).is_pending());
    assert_eq!(rx.try_recv(), Ok("again".into()));
    assert_eq!(one.as_mut().poll(&mut noop), Poll::Ready(Ok(())));
    assert!(other.as_mut().poll(&mut noop).is_pending());
    assert_eq!(rx.try_recv(), Ok("again".into()));
    assert_eq!(other.as_mut().poll(&mut noop), Poll::Ready(Ok(())));
    assert!(rx.try_recv().is_err());
}
