//! Each lock excludes: a plain number under it counts all.

use super::*;
use crate::locks::wait::{BackOff, Nothing, Pause, PauseAndYield, Wait};
use std::thread;

/// Three threads on two cores: one of them at least is not running now and then.
fn excludes<M: BlockingMutex>(name: &str) {
    const THREADS: u64 = 3;
    const TIMES: u64 = if cfg!(miri) { 20 } else { 2_000 };
    let mutex = M::new();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..TIMES {
                    mutex.with(|value| {
                        // Read, and written after others had time to do so, too.
                        let before = *value;
                        std::hint::spin_loop();
                        *value = before + 1;
                    });
                }
            });
        }
    });
    mutex.with(|value| assert_eq!(*value, THREADS * TIMES, "{name}"));
}

fn queues_exclude<W: Wait>(name: &str) {
    excludes::<Guarded<Ticket<W>>>(&format!("ticket, {name}"));
    excludes::<Guarded<Mcs<W>>>(&format!("MCS, {name}"));
    excludes::<Guarded<Clh<W>>>(&format!("CLH, {name}"));
    excludes::<Guarded<Hemlock<W>>>(&format!("Hemlock, {name}"));
    excludes::<Guarded<Reciprocating<W>>>(&format!("reciprocating, {name}"));
}

#[test]
fn flags_exclude() {
    excludes::<Guarded<TestAndSet<Nothing>>>("test and set");
    excludes::<Guarded<TestAndTestAndSet<Pause>>>("test and test and set");
    excludes::<Guarded<TestAndTestAndSet<Nothing>>>("test and test and set, without a pause");
    excludes::<Guarded<TryExchange<PauseAndYield>>>("exchange");
    excludes::<Guarded<TryExchange<BackOff>>>("exchange, with back-off");
}

#[test]
fn queues_exclude_that_yield() {
    queues_exclude::<PauseAndYield>("yielding");
}

/// They spin until the kernel runs the next in line, so they are short.
#[test]
fn queues_exclude_that_back_off() {
    queues_exclude::<BackOff>("with back-off");
}

#[test]
fn the_mutexes_of_the_c_library_exclude() {
    excludes::<Guarded<Pthread<Normal>>>("normal");
    excludes::<Guarded<Pthread<Adaptive>>>("adaptive");
}

/// A thread has one spare node of CLH and one grant of Hemlock for all locks.
#[test]
fn one_lock_may_be_held_under_another() {
    fn nested<L: Lock>() {
        let (outer, inner) = (Guarded::<L>::new(), Guarded::<L>::new());
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        outer.with(|a| {
                            inner.with(|b| *b += 1);
                            *a += 1;
                        });
                    }
                });
            }
        });
        assert_eq!([outer.with(|a| *a), inner.with(|b| *b)], [1_000, 1_000]);
    }
    nested::<Mcs<PauseAndYield>>();
    nested::<Clh<PauseAndYield>>();
    nested::<Hemlock<PauseAndYield>>();
    nested::<Reciprocating<PauseAndYield>>();
}
