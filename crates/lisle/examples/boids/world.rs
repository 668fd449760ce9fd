//! The flock.

use crate::flock::{Boid, Sight, scattered, step};
use crate::grid::Grid;
use crate::shown::Figures;
use std::sync::Arc;
use std::time::Instant;

pub(crate) struct Flock {
    agents: Vec<Boid>,
    sight: Arc<Sight>,
    frames: u64,
}

impl Flock {
    pub(crate) fn new(agents: usize) -> Flock {
        let agents = scattered(agents);
        let sight = Arc::new(Sight { grid: Grid::of(&agents), threat: None });
        Flock { agents, sight, frames: 0 }
    }

    pub(crate) fn sight(&self) -> Arc<Sight> {
        self.sight.clone()
    }

    pub(crate) fn frame(&mut self, threat: Option<(f32, f32)>) -> Figures {
        self.frames += 1;
        let began = Instant::now();
        let sight = self.sight.clone();
        for me in &mut self.agents {
            *me = step(&sight, *me);
        }
        let in_streams = began.elapsed();
        let grid = Grid::of(&self.agents);
        self.sight = Arc::new(Sight { grid, threat });
        Figures {
            frame: self.frames,
            streams: self.agents.len(),
            in_streams,
            sorting: began.elapsed() - in_streams,
            ..Figures::default()
        }
    }
}
