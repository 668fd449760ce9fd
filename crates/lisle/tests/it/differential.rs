//! Random systems of performers on real threads, domains and executors, against a reference that
//! knows only the rules. The same systems run through chosen schedules in the library's
//! deterministic model, where the rules are stricter. Here the machine determines the schedules.

mod performing;
mod reference;
mod system;

use crate::support::{Cx, Random, scaled, worlds};
use lisle::sync::Condition;
use lisle::{Event, choose};
use performing::Run;
use reference::{Rules, allows, outcomes};
use std::collections::HashSet;
use std::sync::{Arc, LazyLock};
use system::{Done, Generator, Outcome, System};

worlds!(whatever_happens_is_allowed, what_cannot_be_left_waiting_is_not);

/// Returns the number of systems that `LISLE_DIFFERENTIAL` asks for, or else `scaled`.
fn wanted(optimized: usize, debug: usize) -> usize {
    let wanted = std::env::var("LISLE_DIFFERENTIAL").ok().and_then(|count| count.parse().ok());
    wanted.unwrap_or(scaled(optimized, debug)).max(100)
}

/// Returns the system of `seed`. Small systems come first.
fn system(seed: usize, count: usize) -> Arc<System> {
    let mut random = Random::new(seed as u64 + 1);
    let limits = match seed * 3 / count {
        0 => [2, 1, 2, 1],
        1 => [2, 2, 3, 2],
        _ => [4, 2, 4, 3],
    };
    Arc::new(Generator::system(&mut |bound| random.below(bound), limits))
}

/// Performs `system`. With `stop`, performers that still wait then are told to stop. Without it,
/// all are waited for.
async fn performed(cx: &Cx, system: &Arc<System>, stop: Option<usize>) -> Outcome {
    let run = Arc::new(Run::new(system));
    let stopped = Arc::new(Condition::new());
    let performers: Vec<_> = (0..system.performers.len())
        .map(|performer| {
            let (system, run, stopped) = (system.clone(), run.clone(), stopped.clone());
            cx.spawn(move |cx| async move {
                let mut results = Vec::new();
                for op in &system.performers[performer] {
                    let event = run.event(&op.expr);
                    let done = if op.poll {
                        event.poll().map_or(Done::Unready, Done::Value)
                    } else if stop.is_some() {
                        let stopped = stopped.wait_evt().wrap(|()| Done::Stopped);
                        cx.sync(choose((event.wrap(Done::Value), stopped))).await
                    } else {
                        Done::Value(cx.sync(event).await)
                    };
                    run.is_over(op);
                    let ended = done == Done::Stopped;
                    results.push(done);
                    if ended {
                        break;
                    }
                }
                results
            })
        })
        .collect();
    for _ in 0..stop.unwrap_or(0) {
        cx.yield_now().await;
    }
    stopped.signal();
    let results = cx.join_all(performers).await;
    run.outcome(results)
}

/// The performers are stopped at any moment.
async fn whatever_happens_is_allowed(cx: Cx) {
    let count = wanted(1_000, 150);
    for seed in 0..count {
        let system = system(seed, count);
        let outcome = performed(&cx, &system, Some(seed % 16)).await;
        assert!(
            allows(&system, Rules::Free { stop: true }, &outcome),
            "system {seed} of {count} is not allowed {outcome:#?}\n{system:#?}"
        );
    }
}

/// The seed of a system, the system, and all its possible outcomes.
type Enumerated = (usize, Arc<System>, HashSet<Outcome>);

/// Systems in which no performer can be left waiting, in any order.
static ENDING: LazyLock<Vec<Enumerated>> = LazyLock::new(|| {
    let count = wanted(2_000, 300);
    let ending = |seed| {
        let system = system(seed, count);
        match outcomes(&system, Rules::Free { stop: false }, 1_000) {
            Some((possible, false)) => Some((seed, system, possible)),
            _ => None,
        }
    };
    (0..count).filter_map(ending).collect()
});

/// All performers end without being stopped, so no wake is lost.
async fn what_cannot_be_left_waiting_is_not(cx: Cx) {
    assert!(ENDING.len() > 3, "only {} systems always end", ENDING.len());
    for (seed, system, possible) in &*ENDING {
        for _ in 0..5 {
            let outcome = performed(&cx, system, None).await;
            assert!(possible.contains(&outcome), "system {seed} is not allowed {outcome:#?}\n{system:#?}");
        }
    }
}
