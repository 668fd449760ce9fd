//! Loops that ask again and again until something is so.

use crate::support::{executions, explored, failing, outcomes};
use lisle::fiber::yield_now;
use lisle::sync::Mutex;
use lisle_check::Checker;
use lisle_check::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use lisle_check::hint::spin_loop;
use std::sync::Arc;

fn shared<T>(value: T) -> (Arc<T>, Arc<T>) {
    let value = Arc::new(value);
    (value.clone(), value)
}

#[test]
fn a_flag_that_another_sets_is_waited_for() {
    // The loop asks before, or waits: twice in vain is the most.
    let count = executions(|| {
        let (flag, of_other) = shared(AtomicBool::new(false));
        drop(lisle::spawn(move || of_other.store(true, SeqCst)));
        while !flag.load(SeqCst) {
            yield_now();
        }
    });
    assert!(count <= 4, "{count}");
    explored(|| {
        let (flag, of_other) = shared(AtomicBool::new(false));
        let spins = lisle::spawn(move || {
            while !of_other.load(SeqCst) {
                spin_loop();
            }
        });
        flag.store(true, SeqCst);
        spins.join().unwrap();
    });
}

#[test]
fn a_flag_that_nobody_sets_is_a_livelock() {
    let verdict = Checker::new().explore(|| {
        let flag = AtomicBool::new(false);
        while !flag.load(SeqCst) {
            yield_now();
        }
    });
    let failure = verdict.failure().expect("it never ends");
    let [spin] = failure.spins() else { panic!("{failure}") };
    assert_eq!(spin.spawned_at(), None);
    assert_eq!(spin.reads_at().len(), 1);
    assert_eq!(spin.asks_at().line(), spin.reads_at()[0].line() + 1);
    let report = failure.to_string();
    assert!(report.starts_with("a livelock"), "{report}");
    assert!(report.contains("nobody alive will change what it reads"), "{report}");
    // The schedule can be run again by its token.
    assert!(report.contains("the schedule:"), "{report}");
}

#[test]
fn a_livelock_shows_in_some_schedules_only() {
    let program = || {
        let (turn, of_other) = shared(AtomicU32::new(0));
        let other = lisle::spawn(move || of_other.store(1, SeqCst));
        // A lost wake-up: this store overwrites the other fiber's.
        turn.store(0, SeqCst);
        while turn.load(SeqCst) != 1 {
            spin_loop();
        }
        other.join().unwrap();
    };
    let found = Checker::new().explore(program);
    let failure = found.failure().expect("the store is lost in one order");
    assert_eq!(failure.spins().len(), 1);
    let again = Checker::new().replay(&failure.token()).unwrap().explore(program);
    assert_eq!(again.failure().unwrap().spins().len(), 1, "{again}");
    let sampled = Checker::new().random(3).executions(200).explore(program);
    assert_eq!(sampled.failure().unwrap().spins().len(), 1, "{sampled}");
    let bounded = Checker::new().preemptions(2).explore(program);
    assert_eq!(bounded.failure().unwrap().spins().len(), 1, "{bounded}");
}

#[test]
fn those_that_wait_for_each_others_flags_are_all_named() {
    let found = failing(|| {
        let (flags, of_other) = shared([AtomicBool::new(false), AtomicBool::new(false)]);
        drop(lisle::spawn(move || {
            while !of_other[0].load(SeqCst) {
                yield_now();
            }
            of_other[1].store(true, SeqCst);
        }));
        while !flags[1].load(SeqCst) {
            yield_now();
        }
        flags[0].store(true, SeqCst);
    });
    assert_eq!(found.matches("asks again and again").count(), 2, "{found}");
}

#[test]
fn a_loop_that_gives_up_does_all_that_it_can_do() {
    let program = || {
        let (flag, of_other) = shared((AtomicBool::new(false), AtomicU32::new(0)));
        let other = lisle::spawn(move || {
            let before = of_other.1.load(SeqCst);
            of_other.0.store(true, SeqCst);
            before
        });
        let mut tries = 0;
        while tries < 3 && !flag.0.load(SeqCst) {
            tries += 1;
            yield_now();
        }
        flag.1.store(1, SeqCst);
        (tries, other.join().unwrap())
    };
    // It finds the flag set after 0, 1, 2 tries, or gives up, and the other sees that it has or
    // not.
    let found = outcomes(program);
    assert_eq!(found, [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1)]);
    // A loop that asks often gives up when nothing else can run.
    let patient = |most: u32, rounds| {
        outcomes_with(Checker::new().rounds(rounds), move || {
            let (flag, of_other) = shared(AtomicBool::new(false));
            drop(lisle::spawn(move || of_other.load(SeqCst)));
            let mut tries = 0;
            while tries < most && !flag.load(SeqCst) {
                tries += 1;
                yield_now();
            }
            tries
        })
    };
    assert_eq!(patient(100, 10), [100]);
    assert_eq!(patient(5, 10), [5]);
}

fn outcomes_with<T: Ord + Send + 'static>(
    checker: Checker,
    program: impl Fn() -> T + Send + Sync + 'static,
) -> Vec<T> {
    let seen = Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let told = seen.clone();
    let verdict = checker.explore(move || {
        let result = program();
        told.lock().unwrap().insert(result);
    });
    assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    seen.into_iter().collect()
}

/// Locks that spin, by how they are taken.
fn spin_lock(take: fn(&AtomicBool) -> bool) -> u64 {
    executions(move || {
        let lock = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
        let add = move |lock: &(AtomicBool, AtomicU32)| {
            while !take(&lock.0) {
                spin_loop();
            }
            lock.1.store(lock.1.load(SeqCst) + 1, SeqCst);
            lock.0.store(false, SeqCst);
        };
        let of_other = lock.clone();
        let other = lisle::spawn(move || add(&of_other));
        add(&lock);
        other.join().unwrap();
        assert_eq!(lock.1.load(SeqCst), 2);
    })
}

#[test]
fn locks_that_spin_exclude_each_other() {
    let exchange = spin_lock(|lock| lock.compare_exchange(false, true, SeqCst, SeqCst).is_ok());
    let swap = spin_lock(|lock| !lock.swap(true, SeqCst));
    let look_first = spin_lock(|lock| !lock.load(SeqCst) && !lock.swap(true, SeqCst));
    assert_eq!(exchange, swap);
    assert!(exchange < 20 && look_first < 60, "{exchange} {look_first}");
}

#[test]
fn tries_of_locks_and_channels_are_asked_again() {
    explored(|| {
        let (lock, of_other) = shared(Mutex::new(0));
        let other = lisle::spawn(move || *of_other.lock() += 1);
        let mut count = loop {
            match lock.try_lock() {
                Some(count) => break count,
                None => yield_now(),
            }
        };
        *count += 1;
        drop(count);
        other.join().unwrap();
    });
    explored(|| {
        let (tx, rx) = lisle::channel();
        drop(lisle::spawn(move || tx.send(7)));
        let received = loop {
            match rx.try_recv() {
                Ok(received) => break received,
                Err(_) => yield_now(),
            }
        };
        assert_eq!(received, 7);
    });
    let found = failing(|| {
        let lock = Mutex::new(0);
        let _held = lock.lock();
        while lock.try_lock().is_none() {
            yield_now();
        }
    });
    assert!(found.contains("a livelock"), "{found}");
    explored(|| {
        let other = lisle::spawn(|| ());
        while !other.is_finished() {
            yield_now();
        }
    });
}

#[test]
fn peterson_excludes() {
    explored(|| {
        #[derive(Default)]
        struct Peterson {
            wants: [AtomicBool; 2],
            turn: AtomicU32,
            inside: AtomicU32,
        }
        let enter = |at: usize, peterson: &Peterson| {
            peterson.wants[at].store(true, SeqCst);
            peterson.turn.store(1 - at as u32, SeqCst);
            while peterson.wants[1 - at].load(SeqCst) && peterson.turn.load(SeqCst) == 1 - at as u32 {
                spin_loop();
            }
            assert_eq!(peterson.inside.fetch_add(1, SeqCst), 0);
            peterson.inside.fetch_sub(1, SeqCst);
            peterson.wants[at].store(false, SeqCst);
        };
        let (peterson, of_other) = shared(Peterson::default());
        let other = lisle::spawn(move || enter(1, &of_other));
        enter(0, &peterson);
        other.join().unwrap();
    });
}

#[test]
fn yields_that_look_at_nothing_cost_nothing() {
    let count = executions(|| {
        let other = lisle::spawn(|| (0..50).for_each(|_| yield_now()));
        (0..50).for_each(|_| yield_now());
        other.join().unwrap();
    });
    assert_eq!(count, 1);
    let found = failing(|| {
        let unseen = std::sync::atomic::AtomicBool::new(false);
        while !unseen.load(SeqCst) {
            yield_now();
        }
    });
    assert!(found.contains("looks at nothing that a check can see"), "{found}");
}

#[test]
fn tasks_ask_again() {
    explored(|| {
        let (flag, of_other) = shared(AtomicBool::new(false));
        let spins = lisle::spawn_task(async move {
            while !of_other.load(SeqCst) {
                lisle::task::yield_now().await;
            }
        });
        flag.store(true, SeqCst);
        spins.join().unwrap();
    });
    let found = failing(|| {
        let spins = lisle::spawn_task(async {
            let flag = AtomicBool::new(false);
            while !flag.load(SeqCst) {
                lisle::task::yield_now().await;
            }
        });
        spins.join().unwrap();
    });
    assert!(found.contains("a livelock"), "{found}");
}

#[test]
fn several_changes_wake_in_any_order() {
    let found = outcomes(|| {
        let state = Arc::new([const { AtomicU32::new(0) }; 2]);
        for at in 0..2 {
            let state = state.clone();
            drop(lisle::spawn(move || state[at].store(1, SeqCst)));
        }
        loop {
            let seen = [state[0].load(SeqCst), state[1].load(SeqCst)];
            if seen != [0, 0] {
                return seen;
            }
            yield_now();
        }
    });
    assert_eq!(found, [[0, 1], [1, 0], [1, 1]]);
}

#[test]
fn what_changes_for_ever_is_named() {
    let verdict = Checker::new().steps(2_000).explore(|| {
        let (turn, of_other) = shared(AtomicU32::new(0));
        let change = |turn: &AtomicU32| {
            while turn.load(SeqCst) < u32::MAX {
                turn.fetch_xor(1, SeqCst);
                yield_now();
            }
        };
        drop(lisle::spawn(move || change(&of_other)));
        change(&turn);
    });
    let report = verdict.failure().expect("it has no end").to_string();
    assert!(report.contains("these steps repeat for ever:"), "{report}");
    assert!(report.contains("1 step of the program itself"), "{report}");
}
