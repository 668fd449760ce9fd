//! The outcomes of a program, found by exploring it and by chance.

use lisle_check::{Checker, Verdict};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

/// Returns the results of a program without failures in the executions of a checker.
pub(crate) fn outcomes<T>(
    checker: Checker,
    program: impl Fn() -> T + Send + Sync + 'static,
) -> (BTreeSet<T>, Verdict)
where
    T: Ord + Send + 'static,
{
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let of_program = seen.clone();
    let verdict = checker.explore(move || {
        let outcome = program();
        of_program.lock().unwrap().insert(outcome);
    });
    assert!(verdict.failure().is_none(), "{verdict}");
    (Arc::into_inner(seen).unwrap().into_inner().unwrap(), verdict)
}

/// How many executions a program that was made by chance is given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Executions {
    /// A program that has more schedules is not compared.
    pub(crate) explored: u64,
    pub(crate) by_chance: u64,
}

/// Asserts of 60 programs, made from numbers, that exploring finds all that sampling finds.
///
/// The environment may ask for more: `LISLE_CHECK_PROGRAMS` says how many, `LISLE_CHECK_FIRST` from
/// which on.
pub(crate) fn exploring_finds_all_that_sampling_finds<T, P>(executions: Executions, make: impl Fn(u64) -> P)
where
    T: Ord + Debug + Send + 'static,
    P: Fn() -> T + Clone + Send + Sync + 'static,
{
    let from_environment = |name| std::env::var(name).ok().map(|value| value.parse::<u64>().unwrap());
    let count = from_environment("LISLE_CHECK_PROGRAMS").unwrap_or(60);
    let first = from_environment("LISLE_CHECK_FIRST").unwrap_or(0);
    let mut explored = 0;
    for seed in first..first + count {
        let program = make(seed);
        let (all, verdict) = outcomes(Checker::new().executions(executions.explored), program.clone());
        if verdict.is_exhaustive() {
            explored += 1;
            // No loop waits there: random schedules are fair by themselves.
            let sampling = Checker::new().random(seed).rounds(u32::MAX).executions(executions.by_chance);
            let (by_chance, _) = outcomes(sampling, program);
            let missed: Vec<_> = by_chance.difference(&all).collect();
            assert!(missed.is_empty(), "seed {seed}: {missed:?} are not in {all:?}");
        }
    }
    assert!(explored > count / 2, "{explored}");
}
