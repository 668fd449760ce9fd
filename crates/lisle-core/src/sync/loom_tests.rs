//! Loom models of the locks.

use super::mutex::{OVERDUE, Overdue};
use super::{Condition, Condvar, Mutex, MutexGuard, RwLock, RwLockWriteGuard};
use crate::event::Event;
use crate::event::choose;
use crate::event::combinators::basic::never;
use crate::loom_models::{explore, join_all, poll_once, spawn_with, spawn_with_both};
use crate::shim::sync::Arc;
use loom::cell::UnsafeCell;
use std::task::{Context, Waker};

/// Explores `model` with waiters that are told to try again; with waiters for which the lock is kept;
/// and with such waiters where each turn is late at once, so that the next performer takes it back.
fn both_ways(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let model = std::sync::Arc::new(model);
    for (reserves, late) in [(false, false), (true, false), (true, true)] {
        OVERDUE.set(Overdue { reserves, late });
        let model = model.clone();
        explore(preemptions, move || model());
    }
}

/// A count that loom watches: it detects two threads that change the count at the same time.
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

#[test]
fn one_at_a_time_has_the_mutex_and_nobody_is_forgotten() {
    both_ways(3, || {
        let mutex = Arc::new(Mutex::new(Count::new(0)));
        let others = [(); 2].map(|()| spawn_with(&mutex, |mutex| add(&mutex.lock())));
        add(&mutex.lock());
        join_all(others);
        assert_eq!(count(&mutex), 3);
    });
}

/// A waiter that was told to try finds the mutex taken again and waits on.
#[test]
fn one_that_was_overtaken_waits_on() {
    both_ways(3, || {
        let mutex = Arc::new(Mutex::new(Count::new(0)));
        let other = spawn_with(&mutex, |mutex| add(&mutex.lock()));
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
        let other = spawn_with(&mutex, |mutex| add(&mutex.lock()));
        if let Some(guard) = poll_once(mutex.lock_evt()) {
            add(&guard);
        }
        other.join().unwrap();
        count(&mutex);
    });
}

/// The waiter behind the future gets the lock, or the turn, that the future got and did not use.
#[test]
fn a_future_that_is_dropped_passes_on_its_turn() {
    both_ways(2, || {
        let mutex = Arc::new(Mutex::new(Count::new(0)));
        let holder = mutex.lock();
        let mut future = Box::pin(mutex.lock_evt().future());
        assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let behind = spawn_with(&mutex, |mutex| add(&mutex.lock()));
        // A thread does the second of these two, which explores both orders.
        let dropper = spawn_with(&mutex, |mutex| drop(mutex.try_lock()));
        drop(holder);
        drop(future);
        join_all([behind, dropper]);
        assert_eq!(count(&mutex), 1);
    });
}

/// One was told and leaves, while another that has locked looks whether it is time for the waiter
/// behind it.
#[test]
fn a_turn_is_passed_on_beside_one_that_looks_at_the_time() {
    both_ways(3, || {
        let mutex = Arc::new(Mutex::new(Count::new(0)));
        let holder = mutex.lock();
        let mut futures = [(); 2].map(|()| Box::pin(mutex.lock_evt().future()));
        let mut context = Context::from_waker(Waker::noop());
        assert!(futures.iter_mut().all(|future| future.as_mut().poll(&mut context).is_pending()));
        drop(holder);
        let other = spawn_with(&mutex, |mutex| drop(mutex.try_lock()));
        let [told, mut behind] = futures;
        drop(told);
        other.join().unwrap();
        assert!(behind.as_mut().poll(&mut context).is_ready(), "nobody has told it");
    });
}

/// Explores `model` with turns that are late at once, and waiters that are told or for which the lock
/// is kept.
fn late(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let model = std::sync::Arc::new(model);
    for reserves in [false, true] {
        OVERDUE.set(Overdue { reserves, late: true });
        let model = model.clone();
        explore(preemptions, move || model());
    }
}

/// The clock thread takes a turn back at any moment: before its waiter comes, as it comes, after it
/// has had the lock.
#[test]
fn a_late_turn_is_taken_back_while_its_waiter_comes() {
    late(3, || {
        let mutex = Arc::new(Mutex::new(Count::new(0)));
        let holder = mutex.lock();
        let waiter = spawn_with(&mutex, |mutex| add(&mutex.lock()));
        let clock = spawn_with(&mutex, Mutex::see_to_late_turn);
        add(&holder);
        drop(holder);
        join_all([waiter, clock]);
        assert_eq!(count(&mutex), 2);
    });
}

/// One that was given the turn does not come, and nobody unlocks: the one behind it has the lock. The
/// first comes late, and has it too.
#[test]
fn a_turn_that_is_not_used_goes_to_the_next() {
    late(3, || {
        let mutex = Arc::new(Mutex::new(Count::new(0)));
        let holder = mutex.lock();
        let mut slow = Box::pin(mutex.lock_evt().future());
        let mut context = Context::from_waker(Waker::noop());
        assert!(slow.as_mut().poll(&mut context).is_pending());
        let mut behind = Box::pin(mutex.lock_evt().future());
        assert!(behind.as_mut().poll(&mut context).is_pending());
        let clock = spawn_with(&mutex, Mutex::see_to_late_turn);
        drop(holder);
        clock.join().unwrap();
        // If the clock thread came before there was a turn.
        mutex.see_to_late_turn();
        let guard = match behind.as_mut().poll(&mut context) {
            std::task::Poll::Ready(guard) => guard,
            std::task::Poll::Pending => panic!("it waits for one that does not come"),
        };
        add(&guard);
        assert!(slow.as_mut().poll(&mut context).is_pending());
        drop(guard);
        assert!(slow.as_mut().poll(&mut context).is_ready(), "it was not told again");
    });
}

/// A turn is taken back from a choice while that is committed elsewhere, or comes, or leaves.
#[test]
fn a_late_turn_is_taken_back_from_a_choice() {
    late(2, || {
        let mutexes = [(); 2].map(|()| Arc::new(Mutex::new(Count::new(0))));
        let guards = [mutexes[0].lock(), mutexes[1].lock()];
        let chooser = spawn_with_both(&mutexes[0], &mutexes[1], |a, b| {
            add(&choose((a.lock_evt(), b.lock_evt())).sync());
        });
        let clock = spawn_with(&mutexes[0], Mutex::see_to_late_turn);
        drop(guards);
        join_all([chooser, clock]);
        assert_eq!(count(&mutexes[0]) + count(&mutexes[1]), 1);
    });
}

/// A choice is dropped while a turn that it has not used is taken back: the turn is used once.
#[test]
fn a_late_turn_is_taken_back_from_one_that_leaves() {
    late(3, || {
        let mutex = Arc::new(Mutex::new(Count::new(0)));
        let holder = mutex.lock();
        let mut leaves = Box::pin(choose((mutex.lock_evt(), never())).future());
        let mut context = Context::from_waker(Waker::noop());
        assert!(leaves.as_mut().poll(&mut context).is_pending());
        let mut behind = Box::pin(mutex.lock_evt().future());
        assert!(behind.as_mut().poll(&mut context).is_pending());
        drop(holder);
        let clock = spawn_with(&mutex, Mutex::see_to_late_turn);
        drop(leaves);
        clock.join().unwrap();
        assert!(behind.as_mut().poll(&mut context).is_ready(), "nobody has told it");
    });
}

#[test]
fn a_choice_of_two_mutexes_gets_one() {
    both_ways(2, || {
        let mutexes = [(); 2].map(|()| Arc::new(Mutex::new(Count::new(0))));
        let others = [0, 1].map(|i| spawn_with(&mutexes[i], |mutex| add(&mutex.lock())));
        add(&choose((mutexes[0].lock_evt(), mutexes[1].lock_evt())).sync());
        join_all(others);
        assert_eq!(count(&mutexes[0]) + count(&mutexes[1]), 3);
    });
}

/// A choice that is at the head of a queue, and is committed elsewhere at the same time, does not
/// keep the next waiter from the mutex.
#[test]
fn a_choice_that_went_elsewhere_is_passed_over() {
    both_ways(2, || {
        let mutexes = [(); 2].map(|()| Arc::new(Mutex::new(Count::new(0))));
        let guards = [mutexes[0].lock(), mutexes[1].lock()];
        let chooser = spawn_with_both(&mutexes[0], &mutexes[1], |a, b| {
            add(&choose((a.lock_evt(), b.lock_evt())).sync());
        });
        let behind = spawn_with(&mutexes[0], |a| add(&a.lock()));
        drop(guards);
        join_all([chooser, behind]);
        assert_eq!(count(&mutexes[0]) + count(&mutexes[1]), 2);
    });
}

/// A reader that comes after a writer waits for it. All are served, in any order of leaving.
#[test]
fn readers_and_writers_take_turns() {
    explore(2, || {
        let lock = Arc::new(RwLock::new(Count::new(0)));
        let reader = lock.read();
        let writer = spawn_with(&lock, |lock| {
            // SAFETY: the guard is the only one.
            lock.write().with_mut(|count| unsafe { *count += 1 });
        });
        // SAFETY: there are only readers now.
        let late = spawn_with(&lock, |lock| lock.read().with(|count| unsafe { *count }));
        // SAFETY: there are only readers now.
        assert_eq!(reader.with(|count| unsafe { *count }), 0);
        drop(reader);
        writer.join().unwrap();
        late.join().unwrap();
        let guard = lock.try_write().expect("all have gone");
        // SAFETY: the guard is the only one.
        assert_eq!(guard.with(|count| unsafe { *count }), 1);
    });
}

#[test]
fn a_writer_excludes_writers_and_goes_on_as_a_reader() {
    explore(2, || {
        let lock = Arc::new(RwLock::new(Count::new(0)));
        let others = [(); 2].map(|()| {
            spawn_with(&lock, |lock| {
                let writer = lock.write();
                let written = writer.with_mut(|count| {
                    // SAFETY: the guard is the only one.
                    unsafe { *count += 1 };
                    // SAFETY: as above.
                    unsafe { *count }
                });
                let reader = RwLockWriteGuard::downgrade(writer);
                // SAFETY: there are only readers now.
                assert_eq!(reader.with(|count| unsafe { *count }), written);
            })
        });
        // SAFETY: there are only readers now.
        assert!(lock.read().with(|count| unsafe { *count }) <= 2);
        join_all(others);
        assert!(lock.try_write().is_some());
    });
}

/// A reader stays until another has been admitted, which waits behind a writer that gives up.
#[test]
fn a_writer_that_gives_up_lets_readers_in() {
    explore(2, || {
        let lock = Arc::new(RwLock::new(Count::new(0)));
        let reader = lock.read();
        let leaver = spawn_with(&lock, |lock| drop(poll_once(lock.write_evt())));
        let late = spawn_with(&lock, |lock| drop(lock.read()));
        late.join().unwrap();
        drop(reader);
        leaver.join().unwrap();
        assert!(lock.try_write().is_some());
    });
}

/// The writer may be given the lock at the very moment at which it gives up.
#[test]
fn a_writer_that_is_dropped_keeps_nothing() {
    explore(2, || {
        let lock = Arc::new(RwLock::new(Count::new(0)));
        let leaver = spawn_with(&lock, |lock| drop(poll_once(lock.write_evt())));
        let late = spawn_with(&lock, |lock| drop(lock.write()));
        drop(lock.read());
        join_all([leaver, late]);
        assert!(lock.try_write().is_some());
    });
}

/// A choice is decided for something else at the very moment at which it begins to wait for the
/// lock.
#[test]
fn a_writer_that_has_got_something_else_keeps_no_reader_out() {
    explore(2, || {
        let lock = RwLock::new(());
        let other = Arc::new(Condition::new());
        let teller = spawn_with(&other, |other| {
            other.signal();
        });
        let reader = lock.read();
        choose((other.wait_evt(), lock.write_evt().wrap(|_| ()))).sync();
        assert!(lock.try_read().is_some());
        drop(reader);
        join_all([teller]);
    });
}

/// One thread waits for a token without a limit, the other until a condition is signalled, which
/// stands for a time limit. A notification at that very moment reaches the first, which then takes
/// the token.
#[test]
fn a_notification_against_a_time_limit() {
    // There are four threads, each with two locks to take.
    explore(1, || {
        let tokens = Arc::new(Mutex::new(0));
        let changed = Arc::new(Condvar::new());
        let limit = Arc::new(Condition::new());
        let timer = spawn_with(&limit, |limit| limit.signal());
        let impatient = spawn_with_both(&tokens, &changed, move |tokens, changed| {
            let guard = tokens.lock();
            if *guard == 0 {
                let notified = changed.notified_evt();
                drop(guard);
                if choose((notified.wrap(|()| true), limit.wait_evt().wrap(|()| false))).sync() {
                    // The notification is for the other thread, then.
                    changed.notify_one();
                }
            }
        });
        let giver = spawn_with_both(&tokens, &changed, |tokens, changed| {
            *tokens.lock() += 1;
            changed.notify_one();
        });
        *changed.wait_while(tokens.lock(), |tokens| *tokens == 0) -= 1;
        join_all([impatient, giver]);
        timer.join().unwrap();
    });
}

/// A future that was notified and is dropped passes the notification on.
#[test]
fn a_dropped_future_passes_its_notification_on() {
    explore(2, || {
        let tokens = Arc::new(Mutex::new(0));
        let changed = Arc::new(Condvar::new());
        let dropper = spawn_with_both(&tokens, &changed, |tokens, changed| {
            drop(poll_once(changed.wait_evt(tokens.lock())));
        });
        let giver = spawn_with_both(&tokens, &changed, |tokens, changed| {
            *tokens.lock() += 1;
            changed.notify_one();
        });
        *changed.wait_while(tokens.lock(), |tokens| *tokens == 0) -= 1;
        join_all([dropper, giver]);
    });
}
