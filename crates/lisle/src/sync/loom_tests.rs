//! Models of the locks, explored by loom.

use super::mutex::OVERDUE;
use super::{Mutex, MutexGuard};
use crate::event::{Event, choose};
use crate::shim::sync::Arc;
use loom::cell::UnsafeCell;
use loom::thread;
use std::task::{Context, Poll, Waker};

/// Explores `model` with at most `preemptions` forced switches a run.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Explores `model` twice: with waiters that are told to try again, and with waiters that are handed the lock.
fn both_ways(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let model = std::sync::Arc::new(model);
    for overdue in [false, true] {
        OVERDUE.set(overdue);
        let model = model.clone();
        explore(preemptions, move || model());
    }
}

/// A count that loom watches: two that change it at the same time are found out.
type Count = UnsafeCell<u32>;

fn add(guard: &MutexGuard<'_, Count>) {
    guard.with_mut(|count| {
        // SAFETY: the guard is the only one.
        unsafe { *count += 1 };
    });
}

fn count(mutex: &Mutex<Count>) -> u32 {
    let guard = mutex.try_lock().expect("nobody has the lock any more");
    // SAFETY: the guard is the only one.
    guard.with(|count| unsafe { *count })
}

/// Polls a future of `event` once and drops it. Its memory is leaked, so that a committer that comes too late is
/// noticed, see `Lock`.
fn poll_once<E: Event>(event: E) -> Poll<E::Output> {
    let mut place = Box::pin(Some(event.future()));
    let future = place.as_mut().as_pin_mut().expect("just made");
    let outcome = future.poll(&mut Context::from_waker(Waker::noop()));
    place.set(None);
    std::mem::forget(place);
    outcome
}

#[test]
fn one_at_a_time_has_the_mutex_and_nobody_is_forgotten() {
    both_ways(2, || {
        let mutex = Arc::new(Mutex::new(Count::new(0)));
        let others = [(); 2].map(|()| {
            let mutex = mutex.clone();
            thread::spawn(move || add(&mutex.lock()))
        });
        add(&mutex.lock());
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(count(&mutex), 3);
    });
}

/// Who was told to try finds the mutex taken again, and waits on.
#[test]
fn one_that_was_overtaken_waits_on() {
    both_ways(3, || {
        let mutex = Arc::new(Mutex::new(Count::new(0)));
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || add(&mutex.lock())
        });
        add(&mutex.lock());
        add(&mutex.lock());
        other.join().unwrap();
        assert_eq!(count(&mutex), 3);
    });
}

#[test]
fn a_future_that_is_dropped_keeps_nothing() {
    both_ways(3, || {
        let mutex = Arc::new(Mutex::new(Count::new(0)));
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || add(&mutex.lock())
        });
        if let Poll::Ready(guard) = poll_once(mutex.lock_evt()) {
            add(&guard);
        }
        other.join().unwrap();
        count(&mutex);
    });
}

/// The one that waits behind the future gets what the future was given, or told, and did not use.
#[test]
fn a_future_that_is_dropped_passes_on_its_turn() {
    both_ways(2, || {
        let mutex = Arc::new(Mutex::new(Count::new(0)));
        let holder = mutex.lock();
        let mut future = Box::pin(mutex.lock_evt().future());
        assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let behind = thread::spawn({
            let mutex = mutex.clone();
            move || add(&mutex.lock())
        });
        // Both orders of these two are explored by letting a thread do the second.
        let dropper = thread::spawn({
            let mutex = mutex.clone();
            move || drop(mutex.try_lock())
        });
        drop(holder);
        drop(future);
        behind.join().unwrap();
        dropper.join().unwrap();
        assert_eq!(count(&mutex), 1);
    });
}

#[test]
fn a_choice_of_two_mutexes_gets_one() {
    both_ways(2, || {
        let mutexes = [(); 2].map(|()| Arc::new(Mutex::new(Count::new(0))));
        let others = [0, 1].map(|i| {
            let mutex = mutexes[i].clone();
            thread::spawn(move || add(&mutex.lock()))
        });
        add(&choose((mutexes[0].lock_evt(), mutexes[1].lock_evt())).sync());
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(count(&mutexes[0]) + count(&mutexes[1]), 3);
    });
}

/// A choice that is at the head of a queue, and committed elsewhere at the same time, does not keep the next in line
/// from the mutex.
#[test]
fn a_choice_that_went_elsewhere_is_passed_over() {
    both_ways(2, || {
        let mutexes = [(); 2].map(|()| Arc::new(Mutex::new(Count::new(0))));
        let guards = [mutexes[0].lock(), mutexes[1].lock()];
        let chooser = thread::spawn({
            let [a, b] = mutexes.clone();
            move || add(&choose((a.lock_evt(), b.lock_evt())).sync())
        });
        let behind = thread::spawn({
            let a = mutexes[0].clone();
            move || add(&a.lock())
        });
        drop(guards);
        chooser.join().unwrap();
        behind.join().unwrap();
        assert_eq!(count(&mutexes[0]) + count(&mutexes[1]), 2);
    });
}
