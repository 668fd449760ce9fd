//! Lisle's checker, with fibers.

use crate::sample::{answer, begun};
use crate::{program, threads::threads};
use lisle_check::Checker;

threads! {
    Fibers: lisle::spawn => lisle::fiber::JoinHandle<()>,
    lisle::sync, lisle_check::atomic, |guard| guard
}

/// Explores without a bound. The executions that make the schedule of a failure shorter take time,
/// but do not count as executions before it was found.
fn explore(checker: &Checker, name: &str) {
    // The panics of a program are the checker's.
    let _ = std::panic::take_hook();
    let verdict = checker.clone().executions(u64::MAX).explore(program::<Fibers>(name));
    let found = verdict.failure().map(ToString::to_string);
    let executions = if found.is_some() { verdict.counts().all() } else { begun() };
    answer(found.as_deref(), true, executions);
}

pub(crate) fn exhaustive(name: &str) {
    explore(&Checker::new(), name);
}

pub(crate) fn random(name: &str, seed: u64) {
    explore(&Checker::new().random(seed), name);
}

pub(crate) fn priorities(name: &str, seed: u64) {
    explore(&Checker::new().priorities(seed, 3), name);
}
