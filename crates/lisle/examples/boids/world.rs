//! The flock as a world of frames. Each agent is a stream, and its step is a foreign call. One more
//! stream reads all agents, and gives the grid that they see in the next frame.

use crate::flock::{Boid, Sight, step};
use crate::grid::Grid;
use lisle_frame::{Domains, Foreign, Input, Report, Stream, World};
use std::sync::Arc;
use std::time::Duration;

/// The world of the agents.
pub(crate) struct Flock {
    world: World,
    threat: Input<Option<(f32, f32)>>,
    sight: Stream<Arc<Sight>>,
}

impl Flock {
    /// Makes a world of these agents. The domains of this runtime run the steps, and a frame is to take
    /// no longer than the budget.
    pub(crate) fn new(agents: Vec<Boid>, budget: Duration) -> Flock {
        let world = World::builder().pool(Domains::current()).budget(budget).build();
        let step = Foreign::new("step", |sight: Arc<Sight>, me: Boid| step(&sight, me));
        let threat = world.input(None);

        // The agents see each other as they were in the frame before. Otherwise each agent would wait for
        // all others.
        let before = world.delay(Arc::new(Sight { grid: Grid::of(&agents), threat: None }));
        let seen = before.stream();
        let flock = world.list(agents.len(), |at| {
            let mut me = agents[at];
            async move || {
                me = step.call((seen.await, me)).await;
                me
            }
        });
        let sight = world.stream(async move || {
            let grid = Grid::of(&flock.values().await);
            Arc::new(Sight { grid, threat: threat.stream().await })
        });
        before.follow(sight);
        Flock { world, threat, sight }
    }

    /// Moves all agents by one frame.
    pub(crate) fn frame(&mut self, threat: Option<(f32, f32)>) -> Report {
        self.world.set(self.threat, threat).expect("the input is of this world");
        self.world.frame()
    }

    /// Returns the agents after the last frame, by their places.
    pub(crate) fn sight(&self) -> Arc<Sight> {
        self.world.get(self.sight).expect("no step panics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flock::scattered;
    use lisle::Runtime;

    const AGENTS: usize = 1_500;
    const FRAMES: usize = 20;
    const THREAT: Option<(f32, f32)> = Some((0.7, 0.4));

    fn by_streams(domains: usize) -> Vec<Boid> {
        Runtime::builder().domains(domains).run(|| {
            let mut flock = Flock::new(scattered(AGENTS), Duration::from_secs(1));
            for frame in 1..=FRAMES {
                let report = flock.frame(THREAT);
                assert_eq!((report.frame, report.calls), (frame as u64, AGENTS));
            }
            flock.sight().grid.boids().to_vec()
        })
    }

    fn by_a_loop() -> Vec<Boid> {
        let mut agents = scattered(AGENTS);
        for frame in 0..FRAMES {
            // A message to the world after a frame is seen in the next frame.
            let sight = Sight { grid: Grid::of(&agents), threat: THREAT.filter(|_| frame > 0) };
            agents = agents.iter().map(|&me| step(&sight, me)).collect();
        }
        Grid::of(&agents).boids().to_vec()
    }

    #[test]
    fn any_number_of_domains_makes_the_same_flock_as_a_loop() {
        let expected = by_a_loop();
        for domains in [1, 2, 5] {
            assert!(by_streams(domains) == expected, "with {domains} domains");
        }
    }
}
