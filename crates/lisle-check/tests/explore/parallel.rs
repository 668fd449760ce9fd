//! The counts do not depend on the number of workers.

use lisle_check::explore::{Counts, Exhaustive, Family, Strategy};

use crate::counts::{explore, last_zero, philosophers, readers};
use crate::random_programs::{EVERYTHING, Mix, NOTHING, program};
use crate::toy::{Machine, Program};

/// Explores the program with this many workers, each on a thread of its own, none of them at an even speed.
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
    let count = if cfg!(debug_assertions) { 50 } else { 500 };
    for seed in 0..count {
        for (name, mix) in [("variables", variables), ("everything", EVERYTHING)] {
            let program = program(mix, &mut fastrand::Rng::with_seed(seed));
            let alone = explore(&program);
            let together = explore_with(&program, 2);
            // How many are redundant may depend on the order, if what a step does depends on values.
            let distinct = |counts: Counts| Counts { redundant: 0, ..counts };
            assert_eq!(distinct(together), distinct(alone), "{name}, seed {seed}: {program:?}");
        }
    }
}
