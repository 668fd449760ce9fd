//! Thousands of random programs, each compared with all of its interleavings.

use std::collections::HashSet;

use lisle_check::explore::{Ending, Exhaustive, Reduction, Strategy};

use crate::brute::truth;
use crate::toy::{LEFT, Machine, Op, Op::*, Program};

/// The possible steps of the programs of a test.
#[derive(Clone, Copy)]
pub(crate) struct Mix {
    pub(crate) variables: bool,
    pub(crate) locks: bool,
    pub(crate) tries: bool,
    pub(crate) shares: bool,
    pub(crate) channels: bool,
    pub(crate) choices: bool,
    pub(crate) spawns: bool,
    pub(crate) groups: bool,
}

pub(crate) const NOTHING: Mix = Mix {
    variables: false,
    locks: false,
    tries: false,
    shares: false,
    channels: false,
    choices: false,
    spawns: false,
    groups: false,
};

pub(crate) fn program(mix: Mix, random: &mut fastrand::Rng) -> Program {
    let count = random.usize(2..=4);
    let mut processes: Vec<Vec<Op>> = (0..count).map(|_| code(mix, random)).collect();
    if mix.spawns {
        for child in 1..count {
            let parent = random.usize(0..child);
            let place = random.usize(0..=processes[parent].len());
            processes[parent].insert(place, Op::Spawn(child));
            if random.bool() {
                let place = random.usize(place + 1..=processes[parent].len());
                processes[parent].insert(place, Op::Join(child));
            }
        }
    }
    Program { processes }
}

fn code(mix: Mix, random: &mut fastrand::Rng) -> Vec<Op> {
    let mut code = Vec::new();
    let mut held = Vec::new();
    for _ in 0..random.usize(1..=3) {
        let kind = random.usize(0..6);
        let one = random.usize(0..2);
        match kind {
            0 if mix.locks => {
                code.push(Op::Lock(one + 2));
                held.push(Op::Unlock(one + 2));
            }
            1 if mix.tries => {
                code.push(Op::Try(one));
                held.push(Op::Unlock(one));
            }
            2 if mix.shares => {
                let exclusive = random.bool();
                code.push(if exclusive { Op::Lock(4) } else { Op::Share(4) });
                held.push(if exclusive { Op::Unlock(4) } else { Op::Unshare(4) });
            }
            3 if mix.channels => code.push(if random.bool() { Op::Send(one) } else { Op::Receive(one) }),
            0 | 5 if mix.groups => code.push(if random.bool() { Op::Leave } else { Op::Read(LEFT) }),
            4 if mix.choices => code.push(Op::Choose(2)),
            _ if mix.variables => code.push(match random.usize(0..5) {
                0 => Op::Write(one, random.i64(1..4)),
                1 => Op::Add(one, 1),
                2 => Op::Fetch(one),
                3 => Op::WriteRegister(one),
                _ => Op::Read(one),
            }),
            _ => {}
        }
        if random.bool() {
            code.extend(held.pop());
        }
    }
    while let Some(op) = held.pop() {
        code.push(op);
    }
    code
}

/// Compares `count` programs. `redundant` says whether redundant executions are allowed.
fn compare(name: &str, mix: Mix, count: u64, reduction: Reduction, redundant: bool) {
    let mut machine = Machine::new();
    let (mut compared, mut classes, mut wasted) = (0, 0, 0);
    // Brute force takes its time without optimisation.
    let count = if cfg!(debug_assertions) { count / 10 } else { count };
    for seed in 0..count {
        let program = program(mix, &mut fastrand::Rng::with_seed(seed));
        let Some(truth) = truth(&program, 4000) else {
            continue;
        };
        let mut strategy = Exhaustive::with_reduction(reduction);
        let mut finals = HashSet::new();
        while strategy.begin() {
            if machine.run(&program, &mut strategy) != Ending::Stopped {
                finals.insert(machine.seen());
            }
            assert!(strategy.counts().all() < 10_000, "seed {seed}: {program:?}");
        }
        assert_eq!(strategy.divergence(), None, "seed {seed}: {program:?}");
        let counts = strategy.counts();
        assert!(finals == truth.finals, "seed {seed}: {counts:?}, not {truth:?}: {program:?}");
        // Which of several that leave comes near the last is no part of a class, but a part of
        // their labels.
        if !mix.groups {
            assert_eq!(
                (counts.complete, counts.blocked),
                (truth.complete, truth.blocked),
                "seed {seed}: {counts:?}: {program:?}"
            );
        }
        assert!(redundant || counts.redundant == 0, "seed {seed}: {counts:?}: {program:?}");
        compared += 1;
        classes += counts.distinct();
        wasted += counts.redundant;
    }
    println!("{name}: {compared} programs, {classes} classes, {wasted} redundant executions");
    assert!(compared > count / 3);
}

#[test]
fn variables() {
    compare("variables", Mix { variables: true, ..NOTHING }, 1000, Reduction::Optimal, false);
}

#[test]
fn source_sets() {
    compare("source sets", Mix { variables: true, ..NOTHING }, 1000, Reduction::Source, true);
}

#[test]
fn locks() {
    compare("locks", Mix { variables: true, locks: true, ..NOTHING }, 1000, Reduction::Optimal, false);
}

#[test]
fn spawns() {
    let mix = Mix { variables: true, locks: true, spawns: true, ..NOTHING };
    compare("spawns", mix, 1000, Reduction::Optimal, false);
}

#[test]
fn tries() {
    let mix = Mix { variables: true, tries: true, ..NOTHING };
    compare("tries", mix, 1000, Reduction::Optimal, false);
}

#[test]
fn shares() {
    let mix = Mix { variables: true, shares: true, ..NOTHING };
    compare("shares", mix, 1000, Reduction::Optimal, false);
}

#[test]
fn channels() {
    let mix = Mix { variables: true, channels: true, ..NOTHING };
    compare("channels", mix, 1000, Reduction::Optimal, false);
}

#[test]
fn choices() {
    let mix = Mix { variables: true, choices: true, ..NOTHING };
    compare("choices", mix, 2500, Reduction::Optimal, true);
}

/// The rest of the first race belongs to a branch that only a later step of the execution leads to.
#[test]
fn what_has_run_after_a_race_is_part_of_its_reversal() {
    compare_one(&[
        &[Try(0)],
        &[Share(4), Unshare(4), Share(4)],
        &[Write(0, 1), Try(0)],
        &[Lock(4), WriteRegister(0)],
    ]);
}

/// Each of these once missed a class. In the first, a later step of the execution goes in one way
/// only; in the second, the reversal forgets what the first steps lead to; in the others, a sleeper
/// has a step that is no part of the reversal.
#[test]
fn choices_that_once_missed_a_class() {
    compare_one(&[&[WriteRegister(0), Add(1, 1)], &[Choose(2)], &[Write(0, 3), Read(1), Choose(2)]]);
    compare_one(&[&[Write(1, 2), Read(1)], &[Fetch(0)], &[Fetch(1)], &[Choose(2)]]);
    compare_one(&[&[Add(1, 1), Choose(2)], &[Add(0, 1)], &[Choose(2)], &[Choose(2), Choose(2), Add(1, 1)]]);
    compare_one(&[
        &[Choose(2), Fetch(0)],
        &[Choose(2), Choose(2)],
        &[Write(1, 2), WriteRegister(1)],
        &[Choose(2), Add(0, 1)],
    ]);
}

/// Compares one program with all its interleavings.
fn compare_one(processes: &[&[Op]]) {
    let program = Program { processes: processes.iter().map(|code| code.to_vec()).collect() };
    let truth = truth(&program, 200_000).expect("it is small");
    let mut strategy = Exhaustive::new();
    let mut machine = Machine::new();
    while strategy.begin() {
        machine.run(&program, &mut strategy);
    }
    let counts = strategy.counts();
    assert_eq!((counts.complete, counts.blocked), (truth.complete, truth.blocked), "{program:?}");
}

#[test]
fn groups() {
    let mix = Mix { variables: true, groups: true, ..NOTHING };
    compare("groups", mix, 2000, Reduction::Optimal, true);
    compare("groups and locks", Mix { locks: true, spawns: true, ..mix }, 2000, Reduction::Optimal, true);
}

/// All that the language has, but for groups, of which the classes are not counted.
pub(crate) const EVERYTHING: Mix = Mix {
    variables: true,
    locks: true,
    tries: true,
    shares: true,
    channels: true,
    choices: true,
    spawns: true,
    ..NOTHING
};

#[test]
fn everything() {
    compare("everything", EVERYTHING, 1000, Reduction::Optimal, true);
}
