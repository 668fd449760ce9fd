//! The counts do not depend on the number of workers.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

use lisle_check::explore::{
    Counts, Divided, Drawn, Exhaustive, Family, Priorities, Random, Recorded, Schedule, Strategy,
};

use crate::counts::{explore, last_zero, philosophers, readers};
use crate::random_programs::{EVERYTHING, Mix, NOTHING, program};
use crate::toy::{Machine, Program};

/// Explores the program with this many workers, each on a thread of its own, none of them at an
/// even speed.
fn explore_with(program: &Program, workers: usize) -> Counts {
    let first = Exhaustive::new();
    let all: Vec<Exhaustive> = (0..workers).map(|_| first.worker()).collect();
    std::thread::scope(|scope| {
        for mut worker in all {
            scope.spawn(move || {
                let mut machine = Machine::new();
                while worker.begin() {
                    machine.run(program, &mut worker);
                    (0..fastrand::u32(..1000)).for_each(|_| std::hint::spin_loop());
                    if fastrand::u32(..3) == 0 {
                        std::thread::yield_now();
                    }
                }
            });
        }
    });
    assert_eq!(first.divergence(), None);
    assert!(first.is_finished());
    first.counts()
}

#[test]
fn known_programs() {
    for program in [readers(8), last_zero(7), philosophers(4)] {
        let alone = explore(&program);
        for workers in 1..=3 {
            assert_eq!(explore_with(&program, workers), alone, "{workers} workers");
        }
    }
}

/// A branch must not be made longer while a worker runs it. That is a matter of moments.
#[test]
fn whatever_the_speed_of_the_workers() {
    let mut mended = philosophers(4);
    // The first one takes the other fork first.
    mended.processes[0].swap(0, 1);
    for program in [philosophers(4), mended] {
        let alone = explore(&program);
        for _ in 0..100 {
            for workers in 2..=3 {
                assert_eq!(explore_with(&program, workers), alone, "{workers} workers");
            }
        }
    }
}

#[test]
fn an_exploration_is_saved_and_goes_on_with_two() {
    for program in [readers(8), last_zero(6), philosophers(5)] {
        let mut strategy = Exhaustive::new();
        let mut machine = Machine::new();
        for round in 0..20 {
            let worker = strategy.worker();
            std::thread::scope(|scope| {
                for mut worker in [worker, strategy.worker()] {
                    let program = &program;
                    scope.spawn(move || {
                        let mut machine = Machine::new();
                        for _ in 0..round {
                            if worker.begin() {
                                machine.run(program, &mut worker);
                            }
                        }
                    });
                }
            });
            strategy = Exhaustive::resume(&strategy.save(&Family::new())).unwrap().0;
        }
        while strategy.begin() {
            machine.run(&program, &mut strategy);
        }
        assert_eq!(strategy.counts(), explore(&program));
    }
}

#[test]
fn random_programs() {
    let variables = Mix { variables: true, locks: true, channels: true, ..NOTHING };
    let choices = Mix { variables: true, choices: true, ..NOTHING };
    let count = if cfg!(debug_assertions) { 50 } else { 500 };
    for seed in 0..count {
        for (name, mix) in [("variables", variables), ("choices", choices), ("everything", EVERYTHING)] {
            let program = program(mix, &mut fastrand::Rng::with_seed(seed));
            let alone = explore(&program);
            let together = explore_with(&program, 2 + seed as usize % 2);
            // With choices, how many are redundant depends on the order.
            let distinct = |counts: Counts| Counts { redundant: 0, ..counts };
            assert_eq!(distinct(together), distinct(alone), "{name}, seed {seed}: {program:?}");
        }
    }
}

#[test]
fn a_limit_is_kept() {
    let program = readers(8);
    for (workers, most) in [(1, 7), (2, 1), (2, 30), (3, 50)] {
        let first = Exhaustive::new();
        first.limit(most);
        std::thread::scope(|scope| {
            for mut worker in (0..workers).map(|_| first.worker()) {
                let program = &program;
                scope.spawn(move || {
                    let mut machine = Machine::new();
                    while worker.begin() {
                        machine.run(program, &mut worker);
                    }
                });
            }
        });
        assert_eq!(first.counts().all(), most, "{workers} workers");
        assert!(!first.is_finished());
    }
}

/// Runs the drawn executions with this many workers, and returns them by their numbers.
fn drawn(program: &Program, strategy: &Divided, workers: usize) -> BTreeMap<u64, Schedule> {
    let schedules = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for worker in (0..workers).map(|_| strategy.worker()) {
            scope.spawn(|| {
                let number = worker.number();
                let mut worker = Recorded::new(worker);
                let mut machine = Machine::new();
                while worker.begin() {
                    machine.run(program, &mut worker);
                    let number = number.load(Relaxed);
                    assert!(schedules.lock().unwrap().insert(number, worker.schedule()).is_none());
                }
            });
        }
    });
    schedules.into_inner().unwrap()
}

#[test]
fn what_is_drawn_does_not_depend_on_the_number_of_workers() {
    let program = philosophers(4);
    for seed in 0..10 {
        let strategies = [
            Drawn::Random { seed },
            Drawn::Priorities { seed, depth: 2 },
            Drawn::Bounded { most: 1 },
            Drawn::Priorities { seed, depth: 3 },
        ];
        for strategies in [&strategies[..], &strategies[..1], &strategies[1..2], &strategies[2..3]] {
            let alone = Divided::new(strategies, 200);
            let all = drawn(&program, &alone, 1);
            for workers in 2..=3 {
                let together = Divided::new(strategies, 200);
                assert_eq!(drawn(&program, &together, workers), all, "{workers} workers draw {strategies:?}");
                assert_eq!(together.counts(), alone.counts());
            }
        }
    }
}

#[test]
fn the_first_failure_is_the_first_by_number() {
    let program = philosophers(3);
    for seed in 0..30 {
        let strategies = [Drawn::Random { seed }, Drawn::Priorities { seed, depth: 2 }];
        let alone = Divided::new(&strategies, 10_000);
        alone.end_with_failure();
        let last = *drawn(&program, &alone, 1).last_key_value().unwrap().0;
        assert_eq!((alone.counts().blocked, alone.counts().all()), (1, last + 1));
        for workers in 2..=3 {
            let together = Divided::new(&strategies, 10_000);
            together.end_with_failure();
            drawn(&program, &together, workers);
            assert_eq!(together.counts(), alone.counts(), "{workers} workers, seed {seed}");
        }
    }
}

#[test]
fn what_is_drawn_is_saved_and_goes_on() {
    let program = philosophers(4);
    let strategies = [Drawn::Priorities { seed: 1, depth: 2 }, Drawn::Bounded { most: 1 }];
    let whole = Divided::new(&strategies, 200);
    let all = drawn(&program, &whole, 1);
    let mut parts = BTreeMap::new();
    let mut strategy = Divided::new(&strategies, 0);
    for most in [1, 2, 30, 75, 200] {
        strategy.limit(most);
        parts.append(&mut drawn(&program, &strategy, 2));
        strategy = Divided::resume(&strategy.save()).unwrap();
    }
    assert_eq!(parts, all);
    assert_eq!(strategy.counts(), whole.counts());
    assert!(Divided::resume(b"something").is_none());
}

#[test]
fn one_worker_draws_what_the_strategies_do_alone() {
    let program = philosophers(4);
    let strategies: [(Drawn, Box<dyn Strategy>); 2] = [
        (Drawn::Random { seed: 3 }, Box::new(Random::new(3, 50))),
        (Drawn::Priorities { seed: 3, depth: 3 }, Box::new(Priorities::new(3, 50, 3))),
    ];
    for (of_several, alone) in strategies {
        let mut alone = Recorded::new(alone);
        let mut schedules = Vec::new();
        let mut machine = Machine::new();
        while alone.begin() {
            machine.run(&program, &mut alone);
            schedules.push(alone.schedule());
        }
        let divided = drawn(&program, &Divided::new(&[of_several], 50), 1);
        assert_eq!(divided.into_values().collect::<Vec<_>>(), schedules);
    }
}
