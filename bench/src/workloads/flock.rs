//! A flock: each of 50,000 birds looks at the birds around it in each frame, as a game's agents do.
//! The birds around are found in a grid, which is built anew for each frame.
//!
//! With one worker there is the thread of the frame and no other. With more, that thread is one of
//! them. All systems build the same grid in the same way, on one thread.

#[path = "flock/bevy.rs"]
mod bevy;
#[path = "flock/birds.rs"]
mod birds;
#[path = "flock/lisle.rs"]
mod lisle;

use crate::{
    frames,
    job::{Job, Outcome},
    peers::{Lisle, Pool, Rayon, Serial},
    workload::{Case, Program, Workload, size},
};
use birds::Run;

pub(crate) static WORKLOAD: Workload = Workload {
    name: "flock",
    about: "50,000 birds, each of which looks at those around it in a frame",
    follows: "Craig Reynolds, \"Flocks, Herds, and Schools\", 1987: a game's agents, with a grid that is built for each frame",
    unit: frames::UNIT,
    units: frames::UNITS,
    cases: &[Case::new("-", &[size("birds", 50_000, 2_000)])],
    programs: &[
        Program::here("serial", looped::<Serial>),
        Program::here("lisle", lisle::each).note("a stream for each bird, to whose calls the grid is lent"),
        Program::here("lisle-chunks", lisle::chunks).note("a stream for each 256 birds"),
        Program::here("lisle-loop", looped::<Lisle>).note("a loop over the birds"),
        Program::here("rayon", looped::<Rayon>).note("a loop over the birds"),
        Program::here("bevy-ecs", bevy::bevy).note("a parallel query over the entities"),
    ],
};

/// One loop over all birds in each frame.
fn looped<P: Pool>(job: &Job) -> Outcome {
    let (run, birds) = Run::new(job);
    P::run(job.workers, || {
        run.measure(
            birds,
            |birds, grid| {
                grid.build(birds.iter().copied());
                let grid = &*grid;
                P::each(birds, |_, bird| *bird = grid.step(*bird));
            },
            |birds| birds.clone(),
        )
    })
}
