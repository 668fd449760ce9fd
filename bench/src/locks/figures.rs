//! The figures of a contest: the three that a study of locks asks for, in the order of the tables.
//!
//! A sample holds two contests: one without clocks, of which are the throughput, the fairness and
//! the processor time, and one with clocks, of which are all times.

pub(crate) mod readers;

use super::{
    bystander::Computed,
    contest::{Outcome as Contested, has_bystander, has_readers},
    longest::{KEPT, Longest},
    waits::Waits,
};
use crate::{
    job::{Figure, Job, Outcome},
    peers::cannot,
    workload::Unit,
};

/// How many locks of each performer are a test.
const TEST: u64 = 16_384;

/// How long a test takes at the throughput that was measured.
pub(crate) const DURATION: &str = "test";
/// Of the waits for the lock.
pub(crate) const PERCENTILES: [(&str, f64); 5] =
    [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p99.9", 99.9), ("p99.99", 99.99)];
/// The longest waits.
pub(crate) const WAITS: [&str; KEPT] =
    ["longest wait", "2nd longest wait", "3rd longest wait", "4th longest wait"];
/// The longest times for which the lock lay idle though somebody wanted it.
pub(crate) const IDLE: [&str; KEPT] =
    ["longest idle time", "2nd longest idle time", "3rd longest idle time", "4th longest idle time"];
/// Jain's index of how often each performer has had the lock: 1 if all as often, 1/n if one of n
/// always.
pub(crate) const FAIRNESS: &str = "fairness";
/// Processor time of the whole process for each lock, without a bystander's.
pub(crate) const PROCESSOR: &str = "processor time";
/// How many times as long a bystander's work takes.
pub(crate) const SLOWED: &str = "bystander";
/// And the factor of its time on a core, without its share of the cores.
pub(crate) const SLOWED_RUNNING: &str = "bystander, running";

/// The throughput has no name: it is a contest's main figure.
pub(crate) const THROUGHPUT: Unit = Unit::higher_is_better("locks/s");

const TIME: Unit = Unit::lower_is_better("ns");
const TIMES: Unit = Unit::lower_is_better("times as long");

pub(crate) const UNITS: &[(&str, Unit)] = &[
    (DURATION, Unit::lower_is_better("ms")),
    (PERCENTILES[0].0, TIME),
    (PERCENTILES[1].0, TIME),
    (PERCENTILES[2].0, TIME),
    (PERCENTILES[3].0, TIME),
    (PERCENTILES[4].0, TIME),
    (WAITS[0], TIME),
    (WAITS[1], TIME),
    (WAITS[2], TIME),
    (WAITS[3], TIME),
    (IDLE[0], TIME),
    (IDLE[1], TIME),
    (IDLE[2], TIME),
    (IDLE[3], TIME),
    (FAIRNESS, Unit::higher_is_better("Jain's index")),
    (PROCESSOR, Unit::lower_is_better("ns/lock")),
    (SLOWED, TIMES),
    (SLOWED_RUNNING, TIMES),
];

/// Holds both contests, and returns their results.
pub(crate) fn of_contests(
    job: &Job,
    counted: impl FnOnce(&Job) -> Contested,
    timed: impl FnOnce(&Job) -> Contested,
) -> Outcome {
    let alone = has_bystander(job).then(|| Computed::alone(job.target / 4));
    // A counted figure needs a shorter run than a rare event.
    let counted = counted(&Job { target: job.target / 2, ..job.clone() });
    let timed = timed(job);
    let mut figures = throughput(&counted);
    if has_readers(job) {
        figures.extend(readers::figures(&counted, &timed));
    } else {
        figures.extend(times(&timed));
    }
    if let (Some(alone), Some(beside)) = (&alone, &counted.bystander) {
        let [slowed, running] = beside.slowed(alone);
        figures.extend([figure(SLOWED, slowed), figure(SLOWED_RUNNING, running)]);
    }
    counted.measured().figures(figures)
}

fn figure(name: &str, value: f64) -> Figure {
    Figure { name: name.to_owned(), value, p99: None }
}

fn throughput(contested: &Contested) -> Vec<Figure> {
    let locks: Vec<u64> = contested.seen.iter().map(|seen| seen.locks).collect();
    if contested.locks() == 0 {
        cannot(&format!("nobody has had the lock for {:.1} s", contested.elapsed.as_secs_f64()));
    }
    let all = contested.locks() as f64;
    let rate = all / contested.elapsed.as_secs_f64();
    let test = (TEST * locks.len() as u64) as f64 / rate * 1e3;
    vec![
        figure("", rate),
        figure(DURATION, test),
        figure(FAIRNESS, jain(&locks)),
        figure(PROCESSOR, contested.cpu_seconds * 1e9 / all),
    ]
}

fn times(contested: &Contested) -> Vec<Figure> {
    let (mut waits, mut idle) = (Waits::new(), Longest::default());
    for seen in &contested.seen {
        waits.merge(&seen.waits);
        idle.merge(&seen.longest_idle);
    }
    percentiles(&PERCENTILES, &waits)
        .chain(named(&WAITS, waits.longest()))
        .chain(named(&IDLE, idle.times()))
        .collect()
}

/// The percentiles of the waits, if there were any.
fn percentiles<'a>(names: &'a [(&str, f64)], waits: &'a Waits) -> impl Iterator<Item = Figure> + 'a {
    names.iter().filter_map(|&(name, percent)| Some(figure(name, waits.percentile(percent)? as f64)))
}

/// As many as there are.
fn named(names: &[&str; KEPT], times: impl Iterator<Item = u64>) -> impl Iterator<Item = Figure> {
    names.iter().zip(times).map(|(name, time)| figure(name, time as f64))
}

/// How even shares are: the square of their sum, by their number and the sum of their squares
/// (Jain, Chiu and Hawe, "A quantitative measure of fairness and discrimination", 1984).
fn jain(shares: &[u64]) -> f64 {
    let sum: f64 = shares.iter().map(|&share| share as f64).sum();
    let squares: f64 = shares.iter().map(|&share| (share as f64).powi(2)).sum();
    sum * sum / (shares.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_as_much_or_one_has_all() {
        assert_eq!(jain(&[7, 7, 7, 7]), 1.0);
        assert_eq!(jain(&[9, 0, 0, 0]), 0.25);
        assert_eq!(jain(&[1, 3]), 0.8);
    }

    #[test]
    fn each_figure_has_a_unit() {
        let names = [DURATION, FAIRNESS, PROCESSOR, SLOWED, SLOWED_RUNNING];
        let names = names.into_iter().chain(WAITS).chain(IDLE).chain(PERCENTILES.map(|(name, _)| name));
        for name in names {
            assert!(UNITS.iter().any(|(known, _)| *known == name), "{name}");
        }
    }
}
