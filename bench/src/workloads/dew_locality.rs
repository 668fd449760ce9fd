//! Calls in a row, all on the same memory: the cost of a call on another core than the call before.

use super::dew::{lisle, looped};
use crate::{
    frames,
    peers::{Lisle, Rayon, Serial},
    workload::{Case, Program, Workload, param, size},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "dew-locality",
    about: "1,000 streams, each of which makes 30 calls in a row in a frame, on the same small chunk of memory",
    follows: "\"Implementation of Parallelism\", the section on cache locality",
    unit: frames::UNIT,
    units: frames::UNITS,
    cases: &[Case::new("memory", &[size("streams", 1_000, 200), param("in-a-row", 30), param("chunk", 100)])],
    programs: &[
        Program::here("serial", looped::<Serial>),
        Program::here("lisle", lisle::in_a_row).note("each call is awaited before the next"),
        Program::here("lisle-homed", lisle::homed).note("each call is awaited before the next"),
        Program::here("lisle-chain", lisle::chain),
        Program::here("lisle-loop", looped::<Lisle>).note(ROWS),
        Program::here("rayon", looped::<Rayon>).note(ROWS),
        Program::elsewhere("onetbb").note(ROWS),
        Program::elsewhere("onetbb-affinity").note(ROWS),
    ],
};

const ROWS: &str = "the calls of a stream are made by one worker";
