//! The strategies that do not reduce, and the uses of schedules.

use std::collections::HashSet;

use lisle_check::explore::{
    Bounded, Counts, Decision, Divided, Drawn, Ending, Exhaustive, Family, Kind, Object, Observed,
    Priorities, Process, Random, Recorded, Replay, ResumeError, Schedule, Strategy, shrink,
};
use lisle_check::forward_reports;

use crate::brute::truth;
use crate::counts::{last_zero, philosophers, readers};
use crate::random_programs::{EVERYTHING, program};
use crate::toy::{Final, Machine, Op, Program};

/// Two processes that each read a variable and write one more: one of the two may be lost.
fn lost_update() -> Program {
    Program { processes: vec![vec![Op::Read(0), Op::WriteRegister(0)]; 2] }
}

/// Returns the program's ending under this schedule, and the schedule that was really run.
fn replay(program: &Program, schedule: &Schedule) -> (Ending, Final, Schedule) {
    let mut strategy = Recorded::new(Replay::new(schedule.clone()));
    let mut machine = Machine::new();
    assert!(strategy.begin());
    let ending = machine.run(program, &mut strategy);
    assert!(!strategy.begin());
    (ending, machine.seen(), strategy.schedule())
}

/// Runs all executions of the strategy, and returns the observable states at the ends.
fn all_finals(program: &Program, strategy: &mut dyn Strategy) -> HashSet<Final> {
    let mut machine = Machine::new();
    let mut finals = HashSet::new();
    while strategy.begin() {
        if machine.run(program, strategy) != Ending::Stopped {
            finals.insert(machine.seen());
        }
    }
    finals
}

#[test]
fn enough_preemptions_are_all_schedules() {
    for seed in 0..60 {
        let program = program(EVERYTHING, &mut fastrand::Rng::with_seed(seed));
        let Some(truth) = truth(&program, 500) else {
            continue;
        };
        let mut strategy = Bounded::new(u32::MAX);
        assert_eq!(all_finals(&program, &mut strategy), truth.finals, "seed {seed}: {program:?}");
        assert!(strategy.is_exhaustive());
    }
}

#[test]
fn preemptions_are_counted() {
    // Six interleavings: two without a preemption, two with one, two with two.
    let program = Program { processes: vec![vec![Op::Write(0, 1), Op::Write(0, 2)]; 2] };
    for (most, complete) in [(0, 2), (1, 4), (2, 6)] {
        let mut strategy = Bounded::new(most);
        all_finals(&program, &mut strategy);
        assert_eq!(strategy.counts().complete, complete, "up to {most}");
        assert_eq!(strategy.explored_bound(), Some(most));
        assert_eq!(strategy.is_exhaustive(), most == 2);
    }
    let lost = |finals: HashSet<Final>| finals.iter().any(|end| end.variables[0] == 1);
    assert!(!lost(all_finals(&lost_update(), &mut Bounded::new(0))));
    assert!(lost(all_finals(&lost_update(), &mut Bounded::new(1))));
}

#[test]
fn each_execution_can_be_replayed_from_its_token() {
    for seed in 0..200 {
        let program = program(EVERYTHING, &mut fastrand::Rng::with_seed(seed));
        let in_turn =
            [Drawn::Bounded { most: 1 }, Drawn::Random { seed }, Drawn::Priorities { seed, depth: 3 }];
        let strategies: [Box<dyn Strategy>; 2] =
            [Box::new(Exhaustive::new()), Box::new(Divided::new(&in_turn, 20))];
        for strategy in strategies {
            let mut strategy = Recorded::new(strategy);
            let mut machine = Machine::new();
            while strategy.begin() && strategy.counts().all() < 20 {
                let ending = machine.run(&program, &mut strategy);
                if ending == Ending::Stopped {
                    continue;
                }
                let schedule: Schedule = strategy.schedule().to_string().parse().unwrap();
                assert_eq!(schedule, strategy.schedule());
                assert_eq!(replay(&program, &schedule), (ending, machine.seen(), schedule));
            }
        }
    }
}

#[test]
fn a_seed_determines_the_schedules() {
    let program = philosophers(3);
    let makers: [fn(u64) -> Box<dyn Strategy>; 3] = [
        |seed| Box::new(Random::new(seed, 20)),
        |seed| Box::new(Priorities::new(seed, 20, 3)),
        |seed| Box::new(Divided::new(&[Drawn::Random { seed }, Drawn::Priorities { seed, depth: 2 }], 20)),
    ];
    for make in makers {
        let schedules = |seed| {
            let mut strategy = Recorded::new(make(seed));
            let mut machine = Machine::new();
            let mut schedules = Vec::new();
            while strategy.begin() {
                machine.run(&program, &mut strategy);
                schedules.push(strategy.schedule());
            }
            schedules
        };
        assert_eq!(schedules(1).len(), 20);
        assert_eq!(schedules(1), schedules(1));
        assert_ne!(schedules(1), schedules(2));
    }
}

#[test]
fn priorities_keep_their_promise() {
    // The deadlock needs two orders: each of the two takes its first lock before the other's
    // second.
    let program = philosophers(2);
    let mut strategy = Priorities::new(7, 4000, 2);
    let mut machine = Machine::new();
    while strategy.begin() {
        machine.run(&program, &mut strategy);
    }
    let Counts { blocked, complete, .. } = strategy.counts();
    assert_eq!(strategy.probability(), 1.0 / 16.0);
    assert!(blocked as f64 / (blocked + complete) as f64 > strategy.probability(), "{blocked} of 4000");
}

#[test]
fn a_failing_schedule_becomes_short() {
    let program = lost_update();
    let mut strategy = Recorded::new(Random::new(3, 1000));
    let mut machine = Machine::new();
    while strategy.begin() {
        machine.run(&program, &mut strategy);
        if machine.seen().variables[0] == 1 {
            break;
        }
    }
    let fails = |schedule: &Schedule| {
        let (_, seen, run) = replay(&program, schedule);
        (seen.variables[0] == 1).then_some(run)
    };
    let shrunk = shrink(strategy.schedule(), 100, fails);
    // One read, then a switch to the other process is all that it takes.
    assert_eq!((shrunk.departures(), shrunk.len()), (1, 2));
    assert_eq!(fails(&shrunk), Some(shrunk));
}

#[test]
fn an_exploration_goes_on_where_it_was_saved() {
    for program in [readers(6), last_zero(5), philosophers(4)] {
        let mut strategy = Exhaustive::new();
        let mut machine = Machine::new();
        let mut explored = 0.0;
        while strategy.begin() {
            machine.run(&program, &mut strategy);
            if strategy.counts().all().is_multiple_of(7) {
                let bytes = strategy.save(&Family::new());
                strategy = Exhaustive::resume(&bytes).unwrap().0;
                assert!(strategy.explored() > 0.0 && strategy.explored() <= 1.0);
            }
            explored = strategy.explored();
        }
        assert_eq!(explored, 1.0);
        assert_eq!(strategy.counts(), crate::counts::explore(&program));
    }
}

#[test]
fn what_is_no_exploration_is_refused() {
    let bytes = Exhaustive::new().save(&Family::new());
    assert_eq!(Exhaustive::resume(b"something").unwrap_err(), ResumeError::Format);
    assert_eq!(Exhaustive::resume(&bytes[..bytes.len() - 1]).unwrap_err(), ResumeError::Damaged);
    assert_eq!(Exhaustive::resume(&bytes[..10]).unwrap_err(), ResumeError::Damaged);
}

#[test]
fn numbers_of_processes_are_saved() {
    let mut family = Family::new();
    let child = family.child(Process::ROOT, 0);
    let grandchild = family.child(child, 0);
    let bytes = Exhaustive::new().save(&family);
    let mut resumed = Exhaustive::resume(&bytes).unwrap().1;
    assert_eq!(resumed.child(Process::ROOT, 0), child);
    assert_eq!(resumed.child(child, 0), grandchild);
}

#[test]
fn writers_and_a_reader_as_observed() {
    let mut factorial = 1;
    for n in 1..=4 {
        let writers = (1..=n).map(|i| vec![Op::Write(0, i)]);
        let program = Program { processes: std::iter::once(vec![Op::Read(0)]).chain(writers).collect() };
        let mut strategy = Observed::new(Exhaustive::new());
        all_finals(&program, &mut strategy);
        factorial *= n as u64 + 1;
        assert_eq!(strategy.distinct(), n as u64 + 1);
        assert_eq!(strategy.counts().complete, factorial);
    }
}

#[test]
fn as_observed_nothing_is_taken_apart_or_together() {
    // Each class of these is observed: each order of two steps that do not commute shows in a read.
    for (program, count) in [(readers(5), 32), (last_zero(4), 28)] {
        let mut strategy = Observed::new(Exhaustive::new());
        all_finals(&program, &mut strategy);
        assert_eq!((strategy.distinct(), strategy.counts().complete), (count, count));
    }
}

#[test]
fn a_program_that_does_something_else_is_noticed() {
    let mut strategy = Exhaustive::new();
    let mut executions = 0;
    while strategy.begin() {
        // Process 0 touches another object each time; the others make sure that there are several
        // times.
        let mut left = vec![Process(0), Process(1), Process(2)];
        let mut ending = Ending::Complete;
        while !left.is_empty() {
            let Decision::Run(process) = strategy.next(None, &left) else {
                ending = Ending::Stopped;
                break;
            };
            left.retain(|&other| other != process);
            let object = if process == Process(0) { 100 + executions } else { 0 };
            strategy.access(Object(object), Kind::Write);
        }
        strategy.end(ending);
        executions += 1;
    }
    let divergence = strategy.divergence().expect("process 0 does something else each time");
    assert_eq!((divergence.step, divergence.process), (0, Process(0)));
    assert!(divergence.to_string().contains("step 0 (process 0)"));
}

/// Ends each execution after some steps, as a program does that fails or hits a bound.
struct Short<S> {
    strategy: S,
    most: u32,
    steps: u32,
    stopped: bool,
}

impl<S: Strategy> Short<S> {
    fn run(&mut self, program: &Program) {
        let mut machine = Machine::new();
        while self.begin() {
            machine.run(program, self);
        }
    }
}

impl<S: Strategy> Strategy for Short<S> {
    fn begin(&mut self) -> bool {
        (self.steps, self.stopped) = (0, false);
        self.strategy.begin()
    }

    fn next(&mut self, running: Option<Process>, runnable: &[Process]) -> Decision {
        if self.steps == self.most {
            self.stopped = true;
            return Decision::Stop;
        }
        self.steps += 1;
        self.strategy.next(running, runnable)
    }

    fn choose(&mut self, process: Process, ways: u32) -> u32 {
        self.strategy.choose(process, ways)
    }

    fn end(&mut self, ending: Ending) {
        self.strategy.end(if self.stopped { Ending::Endless } else { ending });
    }

    forward_reports!(self => self.strategy);
}

#[test]
fn executions_may_end_anywhere() {
    for seed in 0..100 {
        let program = program(EVERYTHING, &mut fastrand::Rng::with_seed(seed));
        for most in 0..12 {
            let mut short = Short { strategy: Exhaustive::new(), most, steps: 0, stopped: false };
            short.run(&program);
            assert_eq!(short.strategy.divergence(), None, "seed {seed}, {most} steps: {program:?}");
            assert!(short.strategy.is_finished());
        }
    }
}
