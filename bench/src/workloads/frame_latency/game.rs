//! The work of a frame.

use crate::job::Job;
use lisle_frame::{Domains, Foreign, Stream, World, next_frame};

pub(super) struct Game {
    world: World,
    steps: Vec<Stream<u64>>,
    calls: Vec<Stream<u64>>,
}

/// The work of a call: some thousands of instructions, each of which waits for the one before.
fn computed(seed: u64) -> u64 {
    const STEPS: u64 = 1_500;
    (0..STEPS).fold(seed, |number, _| (number ^ number >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd))
}

impl Game {
    /// On the domains of this runtime.
    pub(super) fn new(job: &Job) -> Self {
        let world = World::builder().pool(Domains::current()).build();
        let step = |_| {
            world.live(0, async |out| {
                for frame in 1.. {
                    out.set(frame);
                    next_frame().await;
                }
            })
        };
        let work = Foreign::new("computed", computed);
        let call = |seed| world.stream(async move || work.call(seed).await);
        let steps = (0..job.param("streams")).map(step).collect();
        let calls = (0..job.param("calls")).map(call).collect();
        Game { world, steps, calls }
    }

    pub(super) fn frame(&mut self) {
        self.world.frame();
    }

    /// Checks that each stream has been evaluated in each of `frames` frames.
    pub(super) fn check(&self, frames: usize) {
        for &stream in &self.steps {
            assert_eq!(self.world.get(stream).expect("it steps"), frames as u64);
        }
        for (seed, &stream) in (0..).zip(&self.calls) {
            assert_eq!(self.world.get(stream).expect("it calls"), computed(seed));
        }
    }
}
