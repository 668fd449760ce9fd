//! Locks, semaphores and condition variables.

use crate::executor::poll_once;
use crate::ways::{WAYS, each_way, perform};
use crate::{rounds, start};
use lisle_core::Event;
use lisle_core::sync::{Condvar, Mutex, RwLock, Semaphore};
use std::pin::pin;
use std::thread::scope;

#[test]
fn a_mutex_is_taken_in_each_way() {
    let mutex = Mutex::new(vec![0]);
    let count = rounds(500, 3);
    scope(|scope| {
        for first in [0, WAYS / 3, 2 * WAYS / 3].map(|offset| start() + offset) {
            let mutex = &mutex;
            scope.spawn(move || {
                each_way(
                    count,
                    first,
                    || mutex.lock_evt(),
                    |mut held| {
                        held[0] += 1;
                        // Entered and left while it is held.
                        assert!(poll_once(pin!(mutex.lock_evt().future())).is_none());
                    },
                );
            });
        }
    });
    assert_eq!(mutex.lock()[0], 3 * count);
}

#[test]
fn a_readers_writer_lock_is_taken_in_each_way() {
    let lock = RwLock::new(vec![0]);
    let count = rounds(500, 3);
    scope(|scope| {
        for first in [start(), start() + WAYS / 2] {
            let lock = &lock;
            scope.spawn(move || each_way(count, first, || lock.write_evt(), |mut held| held[0] += 1));
            scope.spawn(move || {
                each_way(count, first + 1, || lock.read_evt(), |held| assert!(held[0] <= 2 * count));
            });
        }
    });
    assert_eq!(lock.read()[0], 2 * count);
}

#[test]
fn tokens_of_a_semaphore() {
    let semaphore = Semaphore::new(2);
    let count = rounds(500, 3);
    scope(|scope| {
        for first in [start(), start() + WAYS / 2] {
            let semaphore = &semaphore;
            scope.spawn(move || each_way(count, first, || semaphore.acquire_evt(), drop));
            scope.spawn(move || each_way(count, first + 1, || semaphore.acquire_many_evt(2), drop));
        }
    });
    assert!(semaphore.acquire_many_evt(2).poll().is_some(), "each token is given back");
}

#[test]
fn a_condition_variable_wakes_one_and_all() {
    let (mutex, changed) = (Mutex::new(0), Condvar::new());
    let count = rounds(300, 4);
    scope(|scope| {
        for by in 0..2 {
            let (mutex, changed) = (&mutex, &changed);
            scope.spawn(move || {
                for _ in 0..count {
                    *mutex.lock() += 1;
                    if by == 0 { changed.notify_one() } else { changed.notify_all() }
                }
                changed.notify_all();
            });
        }
        scope.spawn(|| {
            let mut held = mutex.lock();
            while *held < 2 * count {
                held = changed.wait(held);
            }
        });
        scope.spawn(|| {
            for way in start()..start() + 2 * WAYS {
                if *mutex.lock() >= count {
                    return;
                }
                // The ways that do not give up wait for a notification. It is sure to come only
                // while the others count.
                if matches!(way % WAYS, 1 | 3 | 5 | 7 | 9 | 13 | 14 | 15 | 18 | 20) {
                    perform(way, changed.notified_evt());
                }
            }
        });
    });
}
