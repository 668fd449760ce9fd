//! Loops that ask again and again for a value that may still be old.

use lisle::spawn;
use lisle_check::atomic::{AtomicBool, AtomicU32, Ordering};
use lisle_check::cell::Cell;
use lisle_check::hint::spin_loop;
use lisle_check::{Checker, Verdict};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Slot {
    message: Cell<u32>,
    is_full: AtomicBool,
    other: AtomicBool,
}

// SAFETY: the checker checks each access before it is made.
unsafe impl Sync for Slot {}

fn explore(program: impl Fn() + Send + Sync + 'static) -> Verdict {
    let verdict = Checker::new().executions(100_000).explore(program);
    println!("{verdict}");
    verdict
}

fn publish(store: Ordering, load: Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let slot = Arc::new(Slot::default());
        let of_sender = slot.clone();
        let sender = spawn(move || {
            of_sender.message.set(42);
            of_sender.is_full.store(true, store);
        });
        while !slot.is_full.load(load) {
            spin_loop();
        }
        assert_eq!(slot.message.get(), 42);
        sender.join().unwrap();
    }
}

#[test]
fn a_message_that_is_waited_for_in_a_loop() {
    let verdict = explore(publish(Release, Acquire));
    assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
    for (store, load) in [(Relaxed, Acquire), (Release, Relaxed)] {
        let verdict = explore(publish(store, load));
        assert!(verdict.failure().is_some_and(|failure| failure.race().is_some()), "{verdict}");
    }
}

/// Each of two fibers says that it is there, and waits for the other one. Their first loads may
/// read old values.
#[test]
fn what_is_old_is_not_seen_for_ever() {
    let verdict = explore(|| {
        let slot = Arc::new(Slot::default());
        let of_other = slot.clone();
        let other = spawn(move || {
            of_other.other.store(true, Relaxed);
            while !of_other.is_full.load(Relaxed) {
                spin_loop();
            }
        });
        slot.is_full.store(true, Relaxed);
        while !slot.other.load(Relaxed) {
            spin_loop();
        }
        other.join().unwrap();
    });
    assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
    assert!(verdict.counts().complete < 100, "{verdict}");
}

#[test]
fn who_gives_up_may_see_what_is_old_each_time() {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let of_program = seen.clone();
    let verdict = explore(move || {
        let flags = Arc::new([const { AtomicU32::new(0) }; 2]);
        let fibers = [0, 1].map(|me| {
            let flags = flags.clone();
            spawn(move || {
                flags[me].store(1, Relaxed);
                for _ in 0..3 {
                    if flags[1 - me].load(Relaxed) == 1 {
                        return true;
                    }
                    spin_loop();
                }
                false
            })
        });
        let result = fibers.map(|fiber| fiber.join().unwrap());
        of_program.lock().unwrap().insert(result);
    });
    assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
    assert_eq!(seen.lock().unwrap().len(), 4, "both, either one, or none sees the other");
}

#[test]
fn a_lock_that_is_waited_for_in_a_loop() {
    let program = |acquire: Ordering| {
        move || {
            let slot = Arc::new(Slot::default());
            let fibers = [(); 2].map(|()| {
                let slot = slot.clone();
                spawn(move || {
                    while slot.is_full.compare_exchange(false, true, acquire, Relaxed).is_err() {
                        spin_loop();
                    }
                    slot.message.set(slot.message.get() + 1);
                    slot.is_full.store(false, Release);
                })
            });
            let [(), ()] = fibers.map(|fiber| fiber.join().unwrap());
            assert_eq!(slot.message.get(), 2);
        }
    };
    let verdict = explore(program(Acquire));
    assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
    assert!(explore(program(Relaxed)).failure().is_some_and(|failure| failure.race().is_some()));
}

/// A failed try has stored the value that the lock had.
#[test]
fn a_lock_whose_tries_store() {
    let program = |fibers: usize, looks_first: bool| {
        move || {
            let slot = Arc::new(Slot::default());
            let take = move |lock: &AtomicBool| {
                let is_taken = looks_first && lock.load(Relaxed);
                !is_taken && !lock.swap(true, Acquire)
            };
            let fibers: Vec<_> = (0..fibers)
                .map(|_| {
                    let slot = slot.clone();
                    spawn(move || {
                        while !take(&slot.is_full) {
                            spin_loop();
                        }
                        slot.message.set(slot.message.get() + 1);
                        slot.is_full.store(false, Release);
                    })
                })
                .collect();
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        }
    };
    for (fibers, looks_first, most) in [(2, false, 8), (2, true, 18)] {
        let verdict = explore(program(fibers, looks_first));
        assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
        assert!(verdict.counts().all() <= most, "{verdict}");
    }
    assert!(explore(program(3, false)).failure().is_none());
}

#[test]
fn a_livelock_is_one_under_weak_orders_as_well() {
    let verdict = explore(|| {
        let slot = Arc::new(Slot::default());
        let of_other = slot.clone();
        let other = spawn(move || of_other.other.store(true, Relaxed));
        while !slot.is_full.load(Relaxed) {
            spin_loop();
        }
        other.join().unwrap();
    });
    assert!(!verdict.failure().unwrap().spins().is_empty(), "{verdict}");
}
