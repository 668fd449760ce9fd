//! The flock as a world of frames: each agent is a stream that lives over frames, and its step is a
//! foreign call.

use crate::flock::{Boid, Sight, scattered, step};
use crate::grid::Grid;
use crate::shown::Figures;
use lisle_frame::{Domains, Foreign, Input, Stream, World, next_frame};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The world of the agents, and what they see.
pub(crate) struct Flock {
    world: World,
    agents: Vec<Stream<Boid>>,
    /// What the agents see in the next frame. The world has it as well, since streams read inputs.
    sight: Arc<Sight>,
    seen: Input<Arc<Sight>>,
    /// The agents' values after a frame, kept for the memory.
    values: Vec<Boid>,
}

impl Flock {
    /// Makes a world with this many agents. Their steps are run by the domains of this runtime, and
    /// a frame is to take no longer than the budget.
    pub(crate) fn new(agents: usize, budget: Duration) -> Flock {
        let values = scattered(agents);
        let sight = Arc::new(Sight { grid: Grid::of(&values), threat: None });
        let world = World::builder().pool(Domains::current()).budget(budget).build();
        let seen = world.input(sight.clone());
        let step = Foreign::new("step", |sight: Arc<Sight>, me: Boid| step(&sight, me));
        let agent = |mut me: Boid| {
            world.live(me, async move |out| {
                loop {
                    me = step.call((seen.stream().await, me)).await;
                    out.set(me);
                    next_frame().await;
                }
            })
        };
        let agents = values.iter().map(|&boid| agent(boid)).collect();
        Flock { world, agents, sight, seen, values }
    }

    /// Returns the agents by their places.
    pub(crate) fn sight(&self) -> Arc<Sight> {
        self.sight.clone()
    }

    /// Moves all agents on by a frame, and sorts them by their new places. Returns what the world
    /// reports.
    pub(crate) fn frame(&mut self, threat: Option<(f32, f32)>) -> Figures {
        let report = self.world.frame();
        let began = Instant::now();
        let value = |&agent: &Stream<Boid>| self.world.get(agent).expect("no step panics");
        self.values.clear();
        self.values.extend(self.agents.iter().map(value));
        self.sight = Arc::new(Sight { grid: Grid::of(&self.values), threat });
        self.world.set(self.seen, self.sight.clone()).expect("the input is of this world");
        Figures {
            frame: report.frame,
            streams: report.streams,
            calls: report.calls,
            batches: report.batches,
            stalls: report.stalls,
            slowest: report.slowest,
            in_streams: report.in_streams,
            waiting: report.waiting,
            retiring: report.retiring,
            sorting: began.elapsed(),
            ..Figures::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lisle::Runtime;

    const AGENTS: usize = 1_500;
    const FRAMES: usize = 20;
    const THREAT: Option<(f32, f32)> = Some((0.7, 0.4));

    fn by_streams(domains: usize) -> Vec<Boid> {
        Runtime::builder().domains(domains).run(|| {
            let mut flock = Flock::new(AGENTS, Duration::from_secs(1));
            for frame in 1..=FRAMES {
                let figures = flock.frame(THREAT);
                assert_eq!((figures.frame, figures.calls), (frame as u64, AGENTS));
            }
            flock.values
        })
    }

    fn by_a_loop() -> Vec<Boid> {
        let mut agents = scattered(AGENTS);
        for frame in 0..FRAMES {
            // What the world is told after a frame is seen in the next one.
            let sight = Sight { grid: Grid::of(&agents), threat: THREAT.filter(|_| frame > 0) };
            agents = agents.iter().map(|&me| step(&sight, me)).collect();
        }
        agents
    }

    #[test]
    fn any_number_of_domains_makes_the_same_flock_as_a_loop() {
        let expected = by_a_loop();
        for domains in [1, 2, 5] {
            assert!(by_streams(domains) == expected, "with {domains} domains");
        }
    }
}
