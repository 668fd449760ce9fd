//! Threads of the standard library's scopes that borrow from fibers. The fibers run on the thread
//! that calls `run`.

use super::{Loan, OnDrop, from_foreign_code, is_set, lends_until_it_is_given_back, quiet_panic, set};
use crate::support::watched;
use lisle::fiber::spawn_on;
use lisle::sync::Condition;
use lisle::{Builder, Event, Report, Runtime, channel, never};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Returns a builder of a runtime that has no time for its end, and that detects deadlocks although
/// there are other threads.
fn hasty(domains: usize) -> Builder {
    Runtime::builder().domains(domains).closed_world(true).shutdown_deadline(Duration::ZERO)
}

fn lend_to_a_thread(loan: &Loan) {
    thread::scope(|threads| {
        threads.spawn(|| loan.borrow());
        loan.lend();
    });
}

#[test]
fn a_runtime_does_not_end_while_a_thread_borrows() {
    for domains in [1, 2] {
        lends_until_it_is_given_back(domains, lend_to_a_thread);
    }
}

thread_local! {
    static SUM: AtomicU32 = const { AtomicU32::new(0) };
}

/// Lets a thread add up the numbers that it receives, in a variable of the calling fiber and in a
/// thread-local of the calling thread. The last number is sent while the fiber is unwound.
fn adds_up(begun: &Condition, total: &AtomicU32) {
    SUM.with(|of_thread| {
        let own = AtomicU32::new(0);
        let _reads = OnDrop(|| total.store(own.load(Ordering::SeqCst), Ordering::SeqCst));
        thread::scope(|threads| {
            let (tx, rx) = channel::<u32>();
            let own = &own;
            threads.spawn(move || {
                for number in rx {
                    own.fetch_add(number, Ordering::SeqCst);
                    of_thread.fetch_add(number, Ordering::SeqCst);
                }
            });
            tx.send(1).unwrap();
            begun.signal();
            let _sends = OnDrop(move || tx.send(2).unwrap());
            never::<()>().sync();
        });
    });
}

fn sum() -> u32 {
    SUM.with(|sum| sum.swap(0, Ordering::SeqCst))
}

#[test]
fn threads_of_a_fiber_that_is_unwound_go_on_to_their_end() {
    let _watched = watched();
    for domains in [1, 2] {
        let (begun, total) = (Arc::new(Condition::new()), Arc::new(AtomicU32::new(0)));
        hasty(domains).run(|| {
            let (begins, told) = (begun.clone(), total.clone());
            drop(spawn_on(0, move || adds_up(&begins, &told)));
            begun.wait();
        });
        assert_eq!((total.load(Ordering::SeqCst), sum()), (3, 3));
    }
}

/// This holds for the function's own fiber and for another one.
#[test]
fn a_deadlock_is_given_back_when_the_threads_have_ended() {
    let _watched = watched();
    for domains in [1, 2] {
        for own in [true, false] {
            let (begun, total) = (Arc::new(Condition::new()), Arc::new(AtomicU32::new(0)));
            let outcome = hasty(domains).try_run(|| {
                if own {
                    adds_up(&begun, &total);
                } else {
                    let (begins, told) = (begun.clone(), total.clone());
                    spawn_on(0, move || adds_up(&begins, &told)).join().unwrap();
                }
            });
            let deadlock = outcome.unwrap_err();
            assert_eq!(deadlock.waiting().fibers.len(), if own { 1 } else { 2 }, "{deadlock}");
            assert_eq!((total.load(Ordering::SeqCst), sum()), (3, 3));
        }
    }
}

/// The fiber waits for a thread that borrows, and cannot be unwound in the meantime. Nothing ends
/// unless the receiver of the report acts on it.
#[test]
fn what_cannot_end_after_a_deadlock_is_told_of() {
    let _watched = watched();
    let waits: [fn(&mut dyn FnMut()); 3] = [
        |wait| from_foreign_code(wait),
        |wait| {
            let panics = || {
                let _waits = OnDrop(wait);
                quiet_panic()
            };
            catch_unwind(AssertUnwindSafe(panics)).unwrap_err();
        },
        // This one can be unwound, and catches that.
        |wait| while catch_unwind(AssertUnwindSafe(&mut *wait)).is_err() {},
    ];
    for domains in [1, 2] {
        for wait in waits {
            let (told, release) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Condition::new()));
            let (tells, releases) = (told.clone(), release.clone());
            let builder = hasty(domains).on_report(move |report| {
                if let Report::Staying(fibers) = report {
                    tells.lock().unwrap().extend_from_slice(fibers);
                    releases.signal();
                }
            });
            let ended = AtomicBool::new(false);
            let outcome = builder.try_run(|| {
                let (tx, rx) = channel::<()>();
                thread::scope(|threads| {
                    threads.spawn(|| {
                        release.wait();
                        tx.send(()).unwrap();
                        set(&ended);
                    });
                    wait(&mut || rx.recv().unwrap());
                });
            });
            assert!(outcome.is_err() && is_set(&ended));
            let told = told.lock().unwrap();
            assert!(told.len() == 1 && told[0].contains("plain_threads.rs:"), "{told:?}");
        }
    }
}
