//! Programs that come to their end under each scheduler that is fair, and cycles that one may take.

use crate::support::{executions, explored, failing, outcomes};
use lisle::fiber::yield_now;
use lisle::sync::{Mutex, RwLock};
use lisle::{select, spawn};
use lisle_check::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use lisle_check::hint::spin_loop;
use lisle_check::{Checker, Verdict};
use std::collections::VecDeque;
use std::sync::Arc;

fn poll<T>(lock: &Mutex<T>, is_so: impl Fn(&mut T) -> bool) {
    while !is_so(&mut lock.lock()) {
        yield_now();
    }
}

fn explore(program: impl Fn() + Send + Sync + 'static) -> Verdict {
    let verdict = Checker::new().executions(20_000).explore(program);
    println!("{verdict}");
    verdict
}

#[test]
fn a_poll_of_what_a_lock_protects() {
    let count = executions(|| {
        let flag = Arc::new(Mutex::new(false));
        let of_other = flag.clone();
        let other = spawn(move || *of_other.lock() = true);
        poll(&flag, |flag| *flag);
        other.join().unwrap();
    });
    assert!(count <= 4, "{count}");
    explored(|| {
        let flag = Arc::new(RwLock::new(false));
        let of_other = flag.clone();
        let other = spawn(move || *of_other.write() = true);
        while !*flag.read() {
            yield_now();
        }
        other.join().unwrap();
    });
    explored(|| {
        let queue = Arc::new(Mutex::new(VecDeque::new()));
        let of_other = queue.clone();
        let other = spawn(move || (0..2).for_each(|n| of_other.lock().push_back(n)));
        for expected in 0..2 {
            let got = loop {
                let first = queue.lock().pop_front();
                match first {
                    Some(got) => break got,
                    None => yield_now(),
                }
            };
            assert_eq!(got, expected);
        }
        other.join().unwrap();
    });
}

#[test]
fn a_choice_with_a_default_polls() {
    explored(|| {
        let (lock, (stop, stopped)) = (Arc::new(Mutex::new(())), lisle::channel::<()>());
        let of_monitor = lock.clone();
        let monitor = spawn(move || {
            loop {
                select! {
                    _ = stopped.recv_evt() => return,
                    default => {
                        drop(of_monitor.lock());
                        yield_now();
                    }
                }
            }
        });
        drop(lock.lock());
        stop.send(()).unwrap();
        monitor.join().unwrap();
    });
}

/// Two fibers ask for a value, and one is to set it.
#[test]
fn those_that_ask_do_not_keep_each_other_from_ending() {
    let count = executions(|| {
        let flag = Arc::new(Mutex::new(false));
        let asking = [(); 2].map(|()| {
            let flag = flag.clone();
            spawn(move || poll(&flag, |flag| *flag))
        });
        *flag.lock() = true;
        let [(), ()] = asking.map(|fiber| fiber.join().unwrap());
    });
    assert!(count < 1_000, "{count}");
}

#[test]
fn those_that_ask_with_nobody_to_set_it_are_a_livelock() {
    let verdict = explore(|| {
        let flag = Arc::new(Mutex::new(false));
        let asking = [(); 2].map(|()| {
            let flag = flag.clone();
            spawn(move || poll(&flag, |flag| *flag))
        });
        let [(), ()] = asking.map(|fiber| fiber.join().unwrap());
    });
    let report = verdict.failure().expect("nobody sets it").to_string();
    assert!(report.contains("a livelock"), "{report}");
    let found = failing(|| {
        let flag = Mutex::new(false);
        poll(&flag, |flag| *flag);
    });
    assert!(found.contains("a livelock"), "{found}");
}

/// A lock protects the count, which says whose turn it is. The players' rounds all look alike.
fn alternate(turns: u32, with_observer: bool) -> impl Fn() -> Option<u32> + Send + Sync + 'static {
    move || {
        let count = Arc::new(Mutex::new(0));
        let players = [0, 1].map(|me| {
            let count = count.clone();
            spawn(move || {
                poll(&count, |count| {
                    if *count < turns && *count % 2 == me {
                        *count += 1;
                    }
                    *count == turns
                });
            })
        });
        let seen = with_observer.then(|| *count.lock());
        let [(), ()] = players.map(|player| player.join().unwrap());
        assert_eq!(*count.lock(), turns);
        seen
    }
}

#[test]
fn what_a_lock_protects_may_change_though_nobody_sees_it() {
    assert_eq!(outcomes(alternate(3, false)), [None]);
    assert_eq!(outcomes(alternate(60, false)), [None]);
}

#[test]
fn all_that_can_be_seen_between_few_rounds_is_seen() {
    assert_eq!(outcomes(alternate(3, true)), [0, 1, 2, 3].map(Some));
}

#[test]
fn a_loop_that_counts_under_a_lock_does_all_that_it_can_do() {
    // It ends by itself, after more rounds than a loop may ask in vain.
    let found = outcomes(|| {
        let count = Arc::new(Mutex::new(0));
        let of_other = count.clone();
        let other = spawn(move || {
            poll(&of_other, |count| {
                *count += 1;
                *count == 15
            });
        });
        let seen = *count.lock();
        other.join().unwrap();
        seen
    });
    assert_eq!(found, (0..=15).collect::<Vec<_>>());
}

/// Two philosophers who give their fork back if the other one is taken.
fn polite(tries: u32) -> impl Fn() + Send + Sync + 'static {
    move || {
        let forks = Arc::new([Mutex::new(()), Mutex::new(())]);
        let philosophers = [0, 1].map(|me| {
            let forks = forks.clone();
            spawn(move || {
                for _ in 0..tries {
                    let first = forks[me].lock();
                    if forks[1 - me].try_lock().is_some() {
                        return;
                    }
                    drop(first);
                    yield_now();
                }
            })
        });
        let [(), ()] = philosophers.map(|philosopher| philosopher.join().unwrap());
    }
}

#[test]
fn two_that_give_way_to_each_other_for_ever_are_found() {
    let verdict = explore(polite(u32::MAX));
    let failure = verdict.failure().expect("each is in the way of the other one, again and again");
    let report = failure.to_string();
    assert!(report.contains("these steps repeat for ever:"), "{report}");
    let again = Checker::new().replay(&failure.token()).unwrap().explore(polite(u32::MAX));
    assert!(again.failure().is_some(), "{again}");
    assert!(explore(polite(2)).failure().is_none());
}

/// The same with flags.
#[test]
fn two_that_withdraw_their_flags_are_found() {
    let verdict = explore(|| {
        let flags = Arc::new([const { AtomicBool::new(false) }; 2]);
        let fibers = [0, 1].map(|me| {
            let flags = flags.clone();
            spawn(move || {
                loop {
                    flags[me].store(true, SeqCst);
                    if !flags[1 - me].load(SeqCst) {
                        break;
                    }
                    flags[me].store(false, SeqCst);
                    spin_loop();
                }
                flags[me].store(false, SeqCst);
            })
        });
        let [(), ()] = fibers.map(|fiber| fiber.join().unwrap());
    });
    let report = verdict.failure().expect("neither goes first").to_string();
    assert!(report.contains("these steps repeat for ever:"), "{report}");
}

#[test]
fn a_store_of_what_is_there_changes_nothing() {
    let count = executions(|| {
        let (ready, go) = (AtomicBool::new(false), AtomicU32::new(0));
        let shared = Arc::new((ready, go));
        let of_other = shared.clone();
        let other = spawn(move || of_other.1.store(1, SeqCst));
        while shared.1.load(SeqCst) == 0 {
            shared.0.store(false, SeqCst);
            yield_now();
        }
        other.join().unwrap();
    });
    assert!(count <= 5, "{count}");
}
