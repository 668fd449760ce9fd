//! After each kind of failure, a check on the same thread has the right verdict.

use lisle::sync::{IVar, Mutex};
use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
use lisle_check::cell::Cell;
use lisle_check::hint::spin_loop;
use lisle_check::{Checker, Limit, Verdict};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// A program in which an update is lost in some schedules.
fn known_bad() {
    let total = Arc::new(Mutex::new(0));
    let adders = [(); 3].map(|()| {
        let total = total.clone();
        lisle::spawn(move || {
            let before = *total.lock();
            *total.lock() = before + 1;
        })
    });
    let _ = adders.map(|adder| adder.join().unwrap());
    assert_eq!(*total.lock(), 3);
}

/// A program that is right in all of its six schedules.
fn known_good() {
    let total = Arc::new(Mutex::new(0));
    let adders = [(); 3].map(|()| {
        let total = total.clone();
        lisle::spawn(move || *total.lock() += 1)
    });
    let _ = adders.map(|adder| adder.join().unwrap());
    assert_eq!(*total.lock(), 3);
}

/// Asserts that checks on this thread have the right verdicts.
#[track_caller]
fn the_truth_is_told(after: &str) {
    let bad = Checker::new().explore(known_bad);
    let report = bad.failure().unwrap_or_else(|| panic!("after {after}: {bad}")).to_string();
    assert!(report.contains("right: 3"), "after {after}: {report}");
    let good = Checker::new().explore(known_good);
    assert_eq!(good.to_string(), "exhaustive: 6 executions, all end", "after {after}");
    assert!(!std::thread::panicking(), "after {after}");
}

/// Explores a program that fails with `expected`, and then asserts that checks on this thread have
/// the right verdicts.
#[track_caller]
fn after(expected: &str, checker: Checker, program: impl Fn() + Send + Sync + 'static) -> Verdict {
    let verdict = checker.explore(program);
    let text = verdict.to_string();
    assert!(text.contains(expected), "{text}");
    the_truth_is_told(expected);
    verdict
}

#[test]
fn a_panic_of_the_program() {
    after("it is wrong", Checker::new(), || panic!("it is wrong"));
}

#[test]
fn a_panic_of_a_fiber_that_nobody_joins() {
    after("it is wrong", Checker::new(), || drop(lisle::spawn(|| panic!("it is wrong"))));
}

#[test]
fn a_deadlock() {
    after("nothing can go on", Checker::new(), || {
        let (one, other) = (Arc::new(Mutex::new(1)), Arc::new(Mutex::new(2)));
        let (a, b) = (one.clone(), other.clone());
        let crosswise = lisle::spawn(move || *b.lock() + *a.lock());
        assert_eq!(*one.lock() + *other.lock(), 3);
        crosswise.join().unwrap();
    });
}

#[test]
fn a_livelock() {
    after("a livelock", Checker::new(), || {
        let flag = AtomicU32::new(0);
        while flag.load(SeqCst) == 0 {
            spin_loop();
        }
    });
}

#[test]
fn a_data_race() {
    struct Shared(Cell<u32>);
    // SAFETY: the checker finds the race before it happens.
    unsafe impl Sync for Shared {}
    after("a data race", Checker::new(), || {
        let shared = Arc::new(Shared(Cell::new(0)));
        let of_other = shared.clone();
        let other = lisle::spawn(move || of_other.0.set(1));
        shared.0.set(2);
        other.join().unwrap();
    });
}

#[test]
fn too_many_steps() {
    after("does not end", Checker::new().steps(50), || {
        let count = AtomicU32::new(0);
        loop {
            count.fetch_add(1, SeqCst);
        }
    });
}

/// A destructor that waits for a value that nobody puts once all is unwound.
struct WaitsInDrop(Arc<IVar<()>>);

impl Drop for WaitsInDrop {
    fn drop(&mut self) {
        self.0.get();
    }
}

#[test]
fn what_cannot_be_unwound() {
    let verdict = after("could not be unwound", Checker::new(), || {
        let done = Arc::new(IVar::<()>::new());
        let _waits = WaitsInDrop(done.clone());
        let held = Mutex::new(());
        let _held = held.lock();
        drop(held.lock());
        done.put(()).unwrap();
    });
    assert!(verdict.failure().unwrap().blocked().is_some(), "{verdict}");
}

/// As above, where the fiber is in the middle of a panic when it waits.
#[test]
fn what_cannot_be_unwound_since_it_panics() {
    after("could not be unwound", Checker::new(), || {
        let never = Arc::new(IVar::<()>::new());
        let waits = WaitsInDrop(never);
        let other = lisle::spawn(move || {
            let _waits = waits;
            panic!("and waits");
        });
        drop(other.join());
    });
}

/// A fiber that catches its unwinding and goes on.
#[test]
fn what_catches_its_unwinding() {
    let verdict = after("could not be unwound", Checker::new(), || {
        let never = IVar::<()>::new();
        while catch_unwind(AssertUnwindSafe(|| never.get())).is_err() {}
    });
    assert!(verdict.failure().unwrap().blocked().is_some(), "{verdict}");
}

/// As above, once: it returns, though it was given up. That is no execution that has gone well.
#[test]
fn what_catches_its_unwinding_and_returns() {
    let verdict = after("nothing can go on", Checker::new(), || {
        let never = Arc::new(IVar::<()>::new());
        let of_other = never.clone();
        let other = lisle::spawn(move || drop(catch_unwind(AssertUnwindSafe(|| of_other.get()))));
        drop(catch_unwind(AssertUnwindSafe(|| never.get())));
        drop(other.join());
    });
    assert_eq!(verdict.counts().complete, 0, "{verdict}");
}

struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        panic!("a destructor is wrong");
    }
}

#[test]
fn a_panic_of_a_destructor() {
    after("a destructor is wrong", Checker::new(), || drop(PanicsInDrop));
    after("a destructor is wrong", Checker::new(), || {
        let kept = PanicsInDrop;
        lisle::spawn(move || drop(kept));
    });
}

#[test]
fn a_guard_that_is_forgotten() {
    after("nothing can go on", Checker::new(), || {
        let lock = Arc::new(Mutex::new(()));
        std::mem::forget(lock.lock());
        lisle::spawn(move || drop(lock.lock())).join().unwrap();
    });
}

#[test]
fn a_handle_that_is_forgotten() {
    after("nothing can go on", Checker::new(), || {
        let never = IVar::<()>::new();
        std::mem::forget(lisle::spawn(move || *never.get()));
    });
}

/// The executions that are given up are none of the program's. That they cannot be unwound is no
/// fault of it, and they are not counted as executions that have gone well.
#[test]
fn what_is_given_up_and_cannot_be_unwound() {
    let program = |is_good: bool| {
        move || {
            let done = Arc::new(IVar::<()>::new());
            let (tx, rx) = lisle::channel::bounded::<u32>(2);
            let receivers = [(); 2].map(|()| {
                let (rx, done) = (rx.clone(), done.clone());
                lisle::spawn(move || {
                    let _waits = WaitsInDrop(done);
                    lisle::select! {
                        got = rx.recv_evt() => got.is_ok(),
                        _ = lisle::time::after(Duration::from_secs(1)) => false,
                    }
                })
            });
            let senders = [1, 2].map(|n| {
                let tx = tx.clone();
                lisle::spawn(move || tx.send(n).is_ok())
            });
            let _ = senders.map(|sender| sender.join().is_ok());
            done.put(()).unwrap();
            let got = receivers.map(|receiver| receiver.join().unwrap());
            assert!(is_good || got[0] || got[1]);
        }
    };
    let verdict = Checker::new().explore(program(true));
    assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
    the_truth_is_told("what was given up");
    let verdict = Checker::new().explore(program(false));
    let report = verdict.failure().unwrap_or_else(|| panic!("{verdict}")).to_string();
    assert!(report.contains("got[0] || got[1]"), "{report}");
    the_truth_is_told("a failure beside what was given up");
}

#[test]
fn a_program_that_does_not_do_the_same_again() {
    let count = Arc::new(AtomicU64::new(0));
    let explored = catch_unwind(AssertUnwindSafe(|| {
        Checker::new().explore(move || {
            let first = Mutex::new(0);
            (0..count.fetch_add(1, SeqCst)).for_each(|_| *first.lock() += 1);
            known_good();
        })
    }));
    let panic = explored.unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.contains("the program cannot be explored"), "{text}");
    the_truth_is_told("a divergence");
}

#[test]
fn something_from_outside() {
    after("cannot be checked", Checker::new(), || drop(lisle::net::pipe()));
}

#[test]
fn time_that_is_over() {
    let time = Duration::from_millis(50);
    let verdict = Checker::new().time(time).explore(many_orders);
    assert_eq!(verdict.limit(), Some(Limit::Time(time)), "{verdict}");
    the_truth_is_told("a limit of time");
}

#[test]
fn executions_that_are_over() {
    let verdict = Checker::new().executions(7).explore(many_orders);
    assert_eq!(verdict.limit(), Some(Limit::Executions(7)), "{verdict}");
    the_truth_is_told("a limit of executions");
}

#[test]
fn an_exploration_that_is_interrupted() {
    let path = std::env::temp_dir().join(format!("lisle-check-after-{}.exploration", std::process::id()));
    let count = AtomicU64::new(0);
    let verdict = Checker::new().save_to(&path).explore(move || {
        if count.fetch_add(1, SeqCst) == 20 {
            signal_hook::low_level::raise(signal_hook::consts::SIGINT).unwrap();
        }
        many_orders();
    });
    assert_eq!(verdict.limit(), Some(Limit::Interrupt), "{verdict}");
    std::fs::remove_file(path).unwrap();
    the_truth_is_told("an interrupt");
}

fn many_orders() {
    let total = Arc::new(Mutex::new(0));
    let adders = [(); 10].map(|()| {
        let total = total.clone();
        lisle::spawn(move || *total.lock() += 1)
    });
    let _ = adders.map(|adder| adder.join().unwrap());
}

#[test]
fn somebody_who_is_told_panics() {
    let explored = catch_unwind(AssertUnwindSafe(|| {
        Checker::new().explore_each(known_good, |ending| panic!("{ending:?} is not what it wants"))
    }));
    let panic = explored.unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "Complete is not what it wants");
    the_truth_is_told("a panic of who was told");
}

/// A thread of `std` and a fiber that wait for each other.
#[test]
fn a_thread_that_waits() {
    let (tx, rx) = std::sync::mpsc::channel::<()>();
    let rx = Arc::new(std::sync::Mutex::new(rx));
    let checker = Checker::new().patience(Duration::from_millis(600));
    let verdict = after("a step does not end", checker, move || {
        let rx = rx.clone();
        let waits = std::thread::spawn(move || rx.lock().unwrap().recv().is_err());
        assert!(waits.join().unwrap());
    });
    let report = verdict.failure().unwrap().to_string();
    assert!(report.contains("it waits in the system"), "{report}");
    drop(tx);
}

/// If a step ends after it was taken for one that does not, its thread gives up the rest.
#[test]
fn a_step_that_ends_late() {
    let (count, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (of_program, ends) = (count.clone(), is_over.clone());
    after("a step does not end", Checker::new().patience(Duration::from_millis(600)), move || {
        if of_program.fetch_add(1, SeqCst) == 20 {
            while ends.load(SeqCst) == 0 {
                std::thread::yield_now();
            }
        }
        many_orders();
    });
    is_over.store(1, SeqCst);
    // The thread that is left behind still has the program.
    while Arc::strong_count(&count) > 1 {
        std::thread::yield_now();
    }
    // The checker has run it once more to tell the steps that led there.
    let executions = count.load(SeqCst);
    assert!((21..=25).contains(&executions), "{executions}");
}

#[test]
fn a_step_that_does_not_end() {
    let is_over = Arc::new(AtomicU64::new(0));
    let checker = Checker::new().patience(Duration::from_millis(600));
    let ends = is_over.clone();
    let verdict = after("a step does not end", checker.clone(), move || {
        let lock = Mutex::new(0);
        *lock.lock() += 1;
        while ends.load(SeqCst) == 0 {
            std::hint::spin_loop();
        }
    });
    let report = verdict.failure().unwrap().to_string();
    assert!(report.contains("the program itself has not come to an operation"), "{report}");
    assert!(report.contains("it runs: a loop"), "{report}");
    // The report tells the steps before it.
    assert!(report.contains("lock mutex") && report.contains("after.rs"), "{report}");
    is_over.store(1, SeqCst);
    // A call that waits in the system is told from a loop.
    let (tx, rx) = std::sync::mpsc::channel::<()>();
    let rx = std::sync::Mutex::new(rx);
    let verdict = after("a step does not end", checker, move || {
        let rx = rx.try_lock();
        let other = lisle::spawn(move || ());
        if let Ok(rx) = &rx {
            let _ = rx.recv();
        }
        other.join().unwrap();
    });
    let report = verdict.failure().unwrap().to_string();
    assert!(report.contains("it waits in the system"), "{report}");
    drop(tx);
}
