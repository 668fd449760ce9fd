//! The outcome of a real run is one of the outcomes that the checker has found.

use crate::{check_both_ways, run_among};
use lisle_check::steps;
use lisle_check::task::{
    Checker, End, InMemory, Memory, MemoryCell, Op, Outcome, Possible, Record, Task, World, answer, append,
    die, exit, fork, fork_on, fork_value, give, join, mem, mutex, print, read_file, read_line, run_in,
    sequence, sleep,
};
use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

/// A step of a task that was drawn at random.
fn step(draw: u32, places: [MemoryCell<u32>; 2], lock: lisle_check::task::Mutex) -> Op {
    let place = places[(draw / 16 % 2) as usize];
    match draw % 8 {
        0 => place.store(draw / 32 % 3),
        1 => place.load().and_then(move |n| places[0].store(n)),
        2 => place.fetch_add(1).map(drop),
        3 => lock.with(place.load().and_then(move |n| place.store(n + 1))),
        4 => print(if (draw / 32).is_multiple_of(2) { "x" } else { "y" }),
        5 => append("file", "z"),
        6 => read_file("file").and_then(move |text| place.store(text.map_or(9, |text| text.len() as u32))),
        _ => place.compare_exchange(0, 5).map(drop),
    }
}

fn random_program(draws: [u32; 6]) -> Task {
    steps! {
        let a = mem(0);
        let b = mem(0);
        let lock = mutex();
        let one = fork_value(step(draws[0], [a, b], lock).then(step(draws[1], [a, b], lock)));
        let two = fork_value(step(draws[2], [a, b], lock).then(step(draws[3], [a, b], lock)));
        step(draws[4], [a, b], lock);
        join((one, two));
        if draws[5].is_multiple_of(2) { die() } else { exit(1) }
    }
}

#[test]
fn random_programs_run_as_the_checker_says_and_turns_agree() {
    let mut state = 0x2545_f491_u32;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state >> 4
    };
    let mut verdicts = BTreeSet::new();
    for _ in 0..60 {
        let program = random_program(std::array::from_fn(|_| draw()));
        let world = InMemory::new().with_file("file", "");
        let verdict = check_both_ways(&Checker::new().world(world.clone()), &program);
        verdicts.insert((verdict.outcomes.len() > 1, !verdict.conflicts.is_empty()));
        run_among(&verdict, world.clone(), &program);
        let x86 = Checker::new().world(world).memory(Memory::TotalStoreOrder);
        let weaker = check_both_ways(&x86, &program);
        let also = |possible: &Possible| !possible.outcome.is_orderly() || weaker.allows(&possible.outcome);
        assert!(verdict.outcomes.iter().all(also), "it has all that sequential consistency has");
    }
    assert!(verdicts.len() >= 3, "programs of several sorts: {verdicts:?}");
}

#[test]
fn input_is_read_line_by_line() {
    let program = steps! {
        let one = read_line();
        let two = read_line();
        let none = read_line();
        answer((one, two, none))
    };
    let world = InMemory::new().with_line("a").with_line("b");
    let verdict = check_both_ways(&Checker::new().world(world.clone()), &program);
    let expected = (Some("a".to_owned()), Some("b".to_owned()), None::<String>);
    assert_eq!(verdict.assert_ok().answer_as(), Some(&expected));
    assert_eq!(run_among(&verdict, world, &program).answer_as(), Some(&expected));
}

#[test]
fn after_an_exit_nothing_happens() {
    fn chatter() -> Task {
        print("x").and_then(|()| chatter())
    }
    let program = fork(chatter()).then(sleep(Duration::from_millis(5))).then(exit(7));
    let outcome = run_in(InMemory::new(), program);
    assert_eq!(outcome.exit_code(), Some(7));
}

#[test]
fn affinity_is_a_hint_that_counts_round() {
    let program = fork_on(1_000_001, print("a").then(die())).then(die());
    let verdict = check_both_ways(&Checker::new(), &program);
    run_among(&verdict, InMemory::new(), &program);
}

#[test]
fn a_thousand_tasks_run() {
    let program = mem(0_u64).and_then(|sum| {
        let forks = (0..1_000).map(|n| fork_value(sum.fetch_add(n).map(drop))).collect();
        sequence(forks).and_then(join).then(sum.load()).and_then(answer)
    });
    assert_eq!(run_in(InMemory::new(), program).answer_as(), Some(&499_500_u64));
}

/// A world whose printer is broken.
struct Broken;

impl World for Broken {
    fn print(&self, _: &str) -> io::Result<()> {
        Err(io::Error::other("no paper"))
    }

    fn read_line(&self) -> io::Result<Option<String>> {
        Ok(None)
    }

    fn append(&self, _: &str, _: &str) -> io::Result<()> {
        panic!("on fire")
    }

    fn read_file(&self, _: &str) -> io::Result<Option<String>> {
        Ok(None)
    }

    fn record(&self) -> Record {
        Record::default()
    }
}

#[test]
fn errors_and_panics_of_the_world_are_faults() {
    let what = |outcome: Outcome| match outcome.end {
        End::Fault(fault) => fault.what,
        end => panic!("{end}"),
    };
    assert_eq!(what(run_in(Broken, print("a").then(die()))), "cannot print: no paper");
    assert_eq!(what(run_in(Broken, append("a", "b").then(die()))), "panicked: on fire");
    assert_eq!(
        what(run_in(Broken, give(()).then(fork(print("a").then(die()))).then(die()))),
        "cannot print: no paper"
    );
}
