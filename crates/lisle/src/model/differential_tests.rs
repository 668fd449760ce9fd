//! Random systems in the deterministic model, against a reference that knows only the rules.
//!
//! Time passes only when no fiber can run: a performer that still waits after an hour must have
//! been unable to continue. Each outcome that the strict rules allow happens. The strict rules take a
//! performance to begin in one step. The model may also let other fibers run where a guard or a nack
//! does something, so each outcome that happens follows the free rules.

#[path = "../../tests/it/differential/performing.rs"]
mod performing;
#[path = "../../tests/it/differential/reference.rs"]
#[allow(dead_code, reason = "the free rules are for real threads")]
mod reference;
#[path = "../../tests/it/differential/system.rs"]
mod system;

use super::run;
use crate::shim::random::Random;
use crate::time::after;
use crate::{Event, choose};
use performing::{HOUR, Run};
use reference::{Rules, allows, outcomes};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use system::{Done, Generator, Outcome, System};

/// Returns the number of systems that `LISLE_DIFFERENTIAL` asks for, or else `count` divided by
/// `LISLE_TEST_SCALE`. At least 50.
fn wanted(count: u64) -> u64 {
    let number = |name| std::env::var(name).ok().and_then(|count| count.parse::<u64>().ok());
    number("LISLE_DIFFERENTIAL").unwrap_or(count / number("LISLE_TEST_SCALE").unwrap_or(1).max(1)).max(50)
}

/// Returns the random system of `seed`. `limits` are the largest numbers of performers, of
/// performances of each, of leaves of each, and of channels.
fn system(seed: u64, limits: [usize; 4]) -> System {
    let random = Random::seeded(seed);
    Generator::system(&mut |bound| (random.next() >> 16) as usize % bound, limits)
}

/// Performs `system` in the schedule of `seed`. `stop` ends performances after an hour; it is not
/// needed if no performer can be left waiting.
fn performed(system: &Arc<System>, seed: u64, stop: bool) -> Outcome {
    let outcome = Arc::new(Mutex::new(None));
    let (system, result) = (system.clone(), outcome.clone());
    run(seed, move || {
        let run = Arc::new(Run::new(&system));
        let fibers: Vec<_> = (0..system.performers.len())
            .map(|performer| {
                let (system, run) = (system.clone(), run.clone());
                crate::spawn(move || perform(&system, &run, performer, stop))
            })
            .collect();
        let results = fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect();
        *result.lock().unwrap() = Some(run.outcome(results));
    });
    Arc::into_inner(outcome).unwrap().into_inner().unwrap().unwrap()
}

fn perform(system: &System, run: &Run, performer: usize, stop: bool) -> Vec<Done> {
    let mut results = Vec::new();
    for op in &system.performers[performer] {
        let event = run.event(&op.expr);
        let done = if op.poll {
            event.poll().map_or(Done::Unready, Done::Value)
        } else if stop {
            choose((event.wrap(Done::Value), after(HOUR).wrap(|()| Done::Stopped))).sync()
        } else {
            Done::Value(event.sync())
        };
        run.is_over(op);
        results.push(done);
        if results.last() == Some(&Done::Stopped) {
            break;
        }
    }
    results
}

/// Prints which case failed if `check` panics.
fn case<R>(seed: u64, schedule: u64, system: &System, check: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| {
        eprintln!("system {seed}, schedule {schedule}:\n{system:#?}");
        resume_unwind(panic)
    })
}

/// Every outcome is one that the rules allow.
#[test]
fn whatever_happens_is_allowed() {
    let count = wanted(1_200);
    for seed in 0..count {
        let limits = match seed * 4 / count {
            0 => [2, 1, 2, 1],
            1 => [2, 2, 3, 2],
            2 => [3, 2, 4, 3],
            _ => [4, 3, 5, 3],
        };
        let system = Arc::new(system(seed, limits));
        for schedule in 0..2 {
            case(seed, schedule, &system, || {
                let outcome = performed(&system, schedule, true);
                assert!(allows(&system, Rules::Free { stop: true }, &outcome), "not allowed: {outcome:#?}");
            });
        }
    }
}

/// Every outcome that the rules allow happens in some schedule.
#[test]
fn whatever_is_allowed_happens() {
    let count = wanted(1_200) / 50;
    let mut all = 0;
    for seed in 0..count {
        let system = Arc::new(system(seed, [3, 2, 3, 2]));
        let Some((possible, stuck)) = outcomes(&system, Rules::Strict, 2_000) else { continue };
        if possible.len() > 12 {
            continue;
        }
        all += possible.len();
        let mut seen = HashSet::new();
        for schedule in 0..10_000 {
            case(seed, schedule, &system, || {
                let outcome = performed(&system, schedule, stuck);
                assert!(possible.contains(&outcome), "not allowed: {outcome:#?}");
                seen.insert(outcome);
            });
            if seen.len() == possible.len() {
                break;
            }
        }
        let missing: Vec<_> = possible.difference(&seen).collect();
        assert!(missing.is_empty(), "system {seed} never came to {missing:#?}\n{system:#?}");
    }
    assert!(all as u64 >= count, "hardly anything was compared");
}

/// The reference does not accept everything.
#[test]
fn the_reference_refuses_what_cannot_be() {
    let mut refused = 0;
    for seed in 0..200 {
        let system = Arc::new(system(seed, [3, 2, 3, 2]));
        let outcome = performed(&system, seed, true);
        for (performer, results) in outcome.results.iter().enumerate() {
            for (place, done) in results.iter().enumerate() {
                let mut wrong = outcome.clone();
                // A message that was never sent, or a performance that stopped or failed where it
                // did not, or the reverse.
                wrong.results[performer][place] = match done {
                    Done::Value(value) if value.len() > 1 => Done::Value(vec![value[0], 9_999]),
                    Done::Value(_) => Done::Unready,
                    Done::Unready | Done::Stopped => Done::Value(vec![9_999]),
                };
                assert!(!allows(&system, Rules::Strict, &wrong), "system {seed}: {wrong:#?}");
                refused += 1;
            }
        }
    }
    assert!(refused > 200);
}
