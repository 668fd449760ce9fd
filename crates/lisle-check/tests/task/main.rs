//! Programs as values: the interpreters, the table of conflicts, and the examples of the page.

mod conflicts;
mod examples;
mod interpreters;
mod verdicts;

use lisle_check::task::{Asked, Checker, Conflict, InMemory, Outcome, Task, Turns, Verdict, run_in};

/// Checks a program with both kinds of turns, and returns the verdict if they agree.
fn check_both_ways(checker: &Checker, program: &Task) -> Verdict {
    let one = checker.check(program.clone());
    let sets = checker.clone().turns(Turns::EverySet).check(program.clone());
    assert_eq!(one.coverage, sets.coverage);
    assert_eq!(unordered(&one), unordered(&sets), "one at a time:\n{one}\nevery set:\n{sets}");
    let meetings = |verdict: &Verdict| {
        let party = |asked: &Asked| format!("{} {:?}", asked.task, asked.at);
        let pair =
            |conflict: &Conflict| [party(&conflict.first), party(&conflict.second), conflict.why.to_owned()];
        let mut all: Vec<[String; 3]> = verdict.conflicts.iter().map(pair).collect();
        all.sort();
        all
    };
    assert_eq!(meetings(&one), meetings(&sets));
    one
}

fn unordered(verdict: &Verdict) -> Vec<String> {
    let mut all: Vec<String> = verdict.outcomes.iter().map(|one| format!("{:?}", one.outcome)).collect();
    all.sort();
    all
}

/// Runs a program for real, and returns the outcome if the verdict has it.
fn run_among(verdict: &Verdict, world: InMemory, program: &Task) -> Outcome {
    let outcome = run_in(world, program.clone());
    assert!(verdict.allows(&outcome), "it came to {outcome}\nbut the checker says\n{verdict}");
    outcome
}
