//! Rollback networking: in each frame a game is saved and goes one frame on, and then goes seven frames back
//! and forward again, as if an input of another player had come late. That is the session with which `ggrs`
//! tests games.
//!
//! `steady`: the same things all the time. `come-and-go`: in each frame a hundredth of them goes, and as many come.

#[path = "rollback/bevy.rs"]
mod bevy;
#[path = "rollback/lisle.rs"]
mod lisle;
#[path = "rollback/plain.rs"]
mod plain;
#[path = "rollback/session.rs"]
mod session;

use crate::{
    frames,
    workload::{Case, Param, Program, Workload, size},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "rollback",
    about: "20,000 things are saved, go back seven frames, and forward again, in each frame",
    follows: "the synchronization test of `ggrs`: each frame is a late input of another player",
    unit: frames::UNIT,
    units: frames::UNITS,
    cases: &[Case::new(STEADY, &[THINGS]).workers(1), Case::new(COME_AND_GO, &[THINGS]).workers(1)],
    programs: &[
        Program::here("serial", plain::plain).note("a row of structs, which is copied"),
        Program::here("lisle", lisle::lisle),
        Program::here("bevy-ecs", bevy::bevy)
            .note("entities, whose components are copied, as `bevy_ggrs` does"),
    ],
};

const THINGS: Param = size("things", 20_000, 1_000);
const STEADY: &str = "steady";
const COME_AND_GO: &str = "come-and-go";
