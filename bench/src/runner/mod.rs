//! Takes the samples: plans them, runs each in a process of its own, and gathers their answers.

mod child;
pub(crate) mod cores;
mod interrupt;
mod plan;
pub(crate) mod process;
mod programs;
mod progress;
mod sample;
mod vary;

pub(crate) use plan::{Group, Plan, Row};
pub(crate) use sample::sample_if_asked;

use crate::job::Outcome;
use programs::Programs;
use progress::Progress;
use std::{
    io::{self, Write},
    process::Command,
    sync::Once,
    time::{Duration, Instant},
};

/// Runs a command on one core, for `limit` at most. Ctrl-C ends it with us.
pub(crate) fn alone(mut command: Command, limit: Duration) -> io::Result<process::Ended> {
    static WATCH: Once = Once::new();
    WATCH.call_once(interrupt::watch);
    child::pin(&mut command, 1);
    process::run(&mut command, limit)
}

/// The results of a run.
pub(crate) struct Findings {
    pub(crate) rounds: u32,
    pub(crate) warnings: Vec<String>,
    pub(crate) groups: Vec<(Group, Vec<Found>)>,
}

/// The outcome of one row.
pub(crate) struct Found {
    pub(crate) row: Row,
    pub(crate) samples: Vec<Outcome>,
    /// Why there are fewer than asked.
    pub(crate) failure: Option<String>,
}

/// Runs the plan. A failure is reported in its row and stops nothing else.
pub(crate) fn run(plan: &Plan) -> Findings {
    interrupt::watch();
    for warning in &plan.warnings {
        let _ = writeln!(io::stderr(), "lisle-bench: warning: {warning}");
    }
    let progress = Progress::new(plan);
    let programs = Programs::prepare(plan, &progress);
    let groups = plan.groups.iter().map(|group| (group.clone(), measure(group, plan, &programs, &progress)));
    Findings { rounds: plan.rounds, warnings: plan.warnings.clone(), groups: groups.collect() }
}

fn measure(group: &Group, plan: &Plan, programs: &Programs, progress: &Progress) -> Vec<Found> {
    progress.group(group);
    let mut all: Vec<Found> =
        group.rows.iter().map(|&row| Found { row, samples: Vec::new(), failure: None }).collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    let mut spent = vec![Duration::ZERO; all.len()];
    let mut checksum = None;
    for _ in 0..plan.rounds {
        for &row in &order {
            let found = &mut all[row];
            if found.failure.is_none() && spent[row] < plan.share {
                let start = Instant::now();
                progress.sample(group, found.row.program.system);
                let command = programs.command(&found.row);
                let limit = plan.limit + group.case.lasts;
                let outcome = command.and_then(|command| child::sample(command, group, plan.target, limit));
                match outcome.and_then(|outcome| agree(&mut checksum, outcome)) {
                    Ok(outcome) => found.samples.push(outcome),
                    Err(failure) => found.failure = Some(failure),
                }
                spent[row] += start.elapsed();
            }
            progress.done();
        }
        // There and back, so that none always comes after the same other one.
        order.reverse();
    }
    all
}

/// Compares the checksum of an outcome with the first checksum of its group.
fn agree(expected: &mut Option<u64>, outcome: Outcome) -> Result<Outcome, String> {
    match (outcome.checksum, *expected) {
        (Some(checksum), Some(expected)) if checksum != expected => Err(format!(
            "the result is wrong: its checksum is {checksum:#x}, that of the others {expected:#x}"
        )),
        (checksum, _) => {
            *expected = expected.or(checksum);
            Ok(outcome)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_that_is_not_that_of_the_first_is_wrong() {
        let outcome = |checksum| Outcome {
            figures: Vec::new(),
            operations: 1,
            cpu_seconds: 0.0,
            rss_bytes: 0,
            checksum,
            threads: None,
        };
        let mut expected = None;
        let mut agrees = |checksum| agree(&mut expected, outcome(checksum)).is_ok();
        assert!(agrees(None) && agrees(Some(7)) && agrees(None) && agrees(Some(7)) && !agrees(Some(8)));
    }
}
