//! Fibers and tasks are interchangeable: the possible results of a program do not depend on which
//! of its threads are fibers, and the semantics of tasks has the same results.
//!
//! The semantics is section 3 of KC Sivaramakrishnan, Lukasz Ziarek and Suresh Jagannathan,
//! *Featherweight Threads for Communication*, 2011. It is executed here: `machine.rs` has its
//! rules, and `search.rs` follows all of them. `generator.rs` draws programs, and `runner.rs` runs
//! them with the library. `ledger.rs` decides when a program can make no more progress, so a
//! program has a result even if some of its threads wait forever. `known.rs` has programs whose
//! results are known without any machine.

mod generator;
mod known;
mod ledger;
mod machine;
mod program;
mod runner;
mod search;

use crate::support::{Random, scaled, watched};
use generator::Limits;
use lisle::Runtime;
use program::{Kind, Outcome, Program};
use search::{Found, Steps, outcomes};
use std::collections::HashSet;
use std::sync::LazyLock;

/// A program, and all its possible results.
struct Enumerated {
    number: usize,
    program: Program,
    possible: HashSet<Outcome>,
}

/// Returns the program with this number, among the programs with up to `threads` threads and
/// `operations` operations.
fn program(number: usize, threads: usize, operations: usize) -> Program {
    let mut random = Random::new(number as u64 + 1);
    generator::program(&mut random, Limits { threads, channels: 3, operations })
}

fn fibers(threads: usize) -> Vec<Kind> {
    vec![Kind::Fiber; threads]
}

fn tasks(threads: usize) -> Vec<Kind> {
    vec![Kind::Task; threads]
}

/// Draws the kind of each thread independently.
fn mix(random: &mut Random, threads: usize) -> Vec<Kind> {
    (0..threads).map(|_| [Kind::Fiber, Kind::Task][random.below(2)]).collect()
}

/// Returns all assignments of kinds to threads.
fn all_kinds(threads: usize) -> impl Iterator<Item = Vec<Kind>> {
    let kind = |number: usize, thread: usize| [Kind::Fiber, Kind::Task][number >> thread & 1];
    (0..1 << threads).map(move |number| (0..threads).map(|thread| kind(number, thread)).collect())
}

fn is_stuck(outcome: &Outcome) -> bool {
    outcome.iter().flatten().any(|fate| fate.value.is_none())
}

/// The programs whose results can all be enumerated quickly; they are the majority. Many programs
/// have a single result in which a thread waits forever. Of those only some are used.
static PROGRAMS: LazyLock<Vec<Enumerated>> = LazyLock::new(|| {
    let enumerate = |number| {
        let (threads, operations) = [(2, 6), (3, 8), (4, 10)][number % 3];
        let program = program(number, threads, operations);
        let found = outcomes(&program, &fibers(program.threads), Steps::Essential, 500)?;
        let is_wanted = found.outcomes.len() > 1 || number % 5 == 0 || !found.outcomes.iter().all(is_stuck);
        is_wanted.then_some(Enumerated { number, program, possible: found.outcomes })
    };
    (0..scaled(2_000, 400).max(100)).filter_map(enumerate).collect()
});

/// Some programs have one result and some have many. Threads are left waiting in some results, in
/// all results, and in none.
#[test]
fn the_programs_are_various() {
    let count = |is: &dyn Fn(&Enumerated) -> bool| PROGRAMS.iter().filter(|one| is(one)).count();
    let all = PROGRAMS.len();
    let enough = [
        count(&|one| one.possible.len() == 1),
        count(&|one| one.possible.len() > 1),
        count(&|one| one.possible.len() > 10),
        count(&|one| one.possible.iter().all(is_stuck)),
        count(&|one| one.possible.iter().any(is_stuck) && !one.possible.iter().all(is_stuck)),
        count(&|one| !one.possible.iter().any(is_stuck)),
        count(&|one| one.possible.iter().any(|outcome| outcome.iter().any(Option::is_none))),
    ];
    assert!(enough.iter().all(|count| count * 20 > all), "{enough:?} of {all}");
}

/// The steps that `search.rs` leaves out make no difference.
#[test]
fn only_the_order_of_communications_matters() {
    let count = scaled(1_000, 200).max(50);
    let mut several = 0;
    for number in 0..count {
        let program = program(number, 2 + number % 2, 3);
        let kinds = mix(&mut Random::new(number as u64), program.threads);
        let Some(all) = outcomes(&program, &kinds, Steps::All, 5_000) else { continue };
        let Found { outcomes, states } = outcomes(&program, &kinds, Steps::Essential, all.states).unwrap();
        assert_eq!(outcomes, all.outcomes, "program {number} with {kinds:?}: {program:?}");
        assert!(states <= all.states);
        several += usize::from(outcomes.len() > 1);
    }
    assert!(several * 10 > count, "only {several} of {count} have several results");
}

/// By the semantics, the set of results does not depend on which threads are fibers.
#[test]
fn all_kinds_of_threads_come_to_the_same() {
    for Enumerated { number, program, possible } in PROGRAMS.iter().take(scaled(300, 30)) {
        for kinds in all_kinds(program.threads) {
            let found = outcomes(program, &kinds, Steps::Essential, usize::MAX).unwrap();
            assert_eq!(found.outcomes, *possible, "program {number} with {kinds:?}: {program:?}");
        }
    }
}

/// In the library, every result of a program is possible by the semantics. Conversely, the possible
/// results occur, as far as a few runs can show: two thirds to three quarters of them do.
fn compare(domains: usize, kinds: impl Fn(&mut Random, usize) -> Vec<Kind>) {
    const RUNS: usize = 20;
    let _watched = watched();
    let (mut possible_results, mut seen_results) = (0, 0);
    let programs = &*PROGRAMS;
    Runtime::builder().domains(domains).stall_report(None).run(|| {
        for Enumerated { number, program, possible } in programs {
            let mut random = Random::new(*number as u64 + 1);
            let mut seen = HashSet::new();
            for run in 0..RUNS {
                let kinds = kinds(&mut random, program.threads);
                let outcome = runner::run(program, &kinds, domains, (number * RUNS + run) as u64);
                assert!(
                    possible.contains(&outcome),
                    "program {number} with {kinds:?} cannot come to {outcome:#?}\n{program:?}"
                );
                seen.insert(outcome);
            }
            if possible.len() > 1 {
                possible_results += possible.len().min(RUNS);
                seen_results += seen.len();
            }
        }
    });
    println!("{seen_results} of {possible_results} results have been seen");
    assert!(seen_results * 2 > possible_results, "of {possible_results} only {seen_results} have been seen");
}

macro_rules! on_one_and_two_domains {
    ($($name:ident: $kinds:expr;)*) => {
        $(mod $name {
            use super::*;

            #[test]
            fn one_domain() {
                compare(1, $kinds);
            }

            #[test]
            fn two_domains() {
                compare(2, $kinds);
            }
        })*
    };
}

on_one_and_two_domains! {
    fibers_alone: |_, threads| fibers(threads);
    tasks_alone: |_, threads| tasks(threads);
    any_mix: mix;
}
