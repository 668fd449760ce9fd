//! Half a million streams that do very little: the cost of a stream in a frame, on one core.
//!
//! `simple`: each takes a step of its own. `shuffled`: the same, after each has been removed and
//! made again in a random order, as after a long game. `tree`: of seven streams one reads two, and
//! each of these two others. `two-others`: each reads two random streams that were made before it.

#[path = "streams/bevy.rs"]
mod bevy;
#[path = "streams/lisle.rs"]
mod lisle;
#[path = "streams/plain.rs"]
mod plain;
#[path = "streams/plan.rs"]
mod plan;
#[path = "streams/tokio.rs"]
mod tokio;

use crate::{
    frames,
    job::{Job, Outcome},
    workload::{Case, Param, Program, Workload, param, size},
};
use plan::{Plan, Run};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "streams",
    about: "500,000 streams, each of which takes a small step in a frame, or reads two others",
    follows: "\"Implementation of Parallelism\": half a million simple streams within the time of a game's frame",
    unit: frames::UNIT,
    units: frames::UNITS,
    cases: &[
        Case::new(SIMPLE, &[STREAMS, param("bytes", 16)]).workers(1),
        Case::new(SIMPLE, &[STREAMS, param("bytes", 64)]).workers(1),
        Case::new(SHUFFLED, &[STREAMS, param("bytes", 16)]).workers(1),
        Case::new(SHUFFLED, &[STREAMS, param("bytes", 64)]).workers(1),
        Case::new(TREE, &[STREAMS]).workers(1),
        Case::new(TWO_OTHERS, &[STREAMS]).workers(1),
    ],
    programs: &[
        Program::here("serial", plain::plain).note("a loop over structs written by hand"),
        Program::here("lisle", lisle::lisle),
        Program::here("bevy-ecs", bevy::bevy).note("a system over the entities"),
        Program::here("tokio-ct", tokio::tokio)
            .only(is_simple)
            .note("a task for each, all woken for a frame"),
        Program::elsewhere("go").only(is_simple).note("a goroutine for each, all woken for a frame"),
    ],
};

const STREAMS: Param = size("streams", 500_000, 50_000);

const SIMPLE: &str = "simple";
const SHUFFLED: &str = "shuffled";
const TREE: &str = "tree";
const TWO_OTHERS: &str = "two-others";

/// For systems whose tasks read no other in the middle of a frame, and have no place that could be
/// taken again.
fn is_simple(case: &Case) -> bool {
    case.variant == SIMPLE
}

/// Calls `function` with the words of state that the case says.
macro_rules! of_size {
    ($job:ident, $function:ident) => {
        match $job.params.get("bytes") {
            Some(64) => $function::<8>($job),
            _ => $function::<2>($job),
        }
    };
}
use of_size;
