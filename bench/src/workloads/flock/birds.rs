//! The birds and their grid, for all systems, and their expected positions.

use crate::{
    forms::{Numbers, checksum},
    frames::Frames,
    job::{Job, Outcome},
};

/// How far a bird looks: a cell of the grid is as wide.
const SIGHT: f32 = 1.0;
/// How many birds there are in a cell, on average.
const DENSITY: f32 = 1.2;
/// How near is too near.
const NEAR: f32 = 0.3;
/// The time of a frame.
const TIME: f32 = 0.016;
const FASTEST: f32 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bird {
    place: [f32; 2],
    velocity: [f32; 2],
}

/// The birds by the cells that they are in.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// How many cells there are on each side. The world has no edges.
    side: usize,
    /// Where the birds of each cell begin, and where the last ones end.
    starts: Vec<u32>,
    birds: Vec<Bird>,
}

impl Grid {
    /// Makes an empty grid, for `birds` birds.
    pub(super) fn new(birds: usize) -> Self {
        let side = ((birds as f32 / DENSITY).sqrt() as usize).max(3);
        Grid { side, starts: vec![0; side * side + 1], birds: Vec::with_capacity(birds) }
    }

    fn cell(&self, place: [f32; 2]) -> usize {
        let [x, y] = place.map(|along| ((along / SIGHT) as usize).min(self.side - 1));
        y * self.side + x
    }

    /// Puts the birds into their cells, in their order.
    pub(super) fn build(&mut self, birds: impl Iterator<Item = Bird> + Clone) {
        self.starts.fill(0);
        for bird in birds.clone() {
            let cell = self.cell(bird.place);
            self.starts[cell + 1] += 1;
        }
        for cell in 1..self.starts.len() {
            self.starts[cell] += self.starts[cell - 1];
        }
        let last = self.starts.len() - 1;
        let count = self.starts[last] as usize;
        self.birds.resize(count, Bird { place: [0.0; 2], velocity: [0.0; 2] });
        for bird in birds {
            let cell = self.cell(bird.place);
            self.birds[self.starts[cell] as usize] = bird;
            self.starts[cell] += 1;
        }
        // Each has been moved to where the next begins.
        self.starts.copy_within(..last, 1);
        self.starts[0] = 0;
    }

    /// Returns a bird after a frame.
    pub(super) fn step(&self, bird: Bird) -> Bird {
        let width = self.side as f32 * SIGHT;
        let (mut count, mut apart, mut heading, mut centre) = (0.0_f32, [0.0; 2], [0.0; 2], [0.0; 2]);
        let [x, y] = bird.place.map(|along| ((along / SIGHT) as usize).min(self.side - 1));
        for row in [y + self.side - 1, y, y + 1] {
            for column in [x + self.side - 1, x, x + 1] {
                let cell = row % self.side * self.side + column % self.side;
                for other in &self.birds[self.starts[cell] as usize..self.starts[cell + 1] as usize] {
                    let away = [0, 1].map(|axis| shortest(other.place[axis] - bird.place[axis], width));
                    let square = away[0] * away[0] + away[1] * away[1];
                    if square == 0.0 || square > SIGHT * SIGHT {
                        continue;
                    }
                    count += 1.0;
                    for axis in [0, 1] {
                        centre[axis] += away[axis];
                        heading[axis] += other.velocity[axis];
                        if square < NEAR * NEAR {
                            apart[axis] -= away[axis] / square;
                        }
                    }
                }
            }
        }
        let mut velocity = bird.velocity;
        if count > 0.0 {
            for axis in [0, 1] {
                let towards = centre[axis] / count * 0.5 + (heading[axis] / count - velocity[axis]) * 0.8;
                velocity[axis] += (towards + apart[axis] * 0.1) * TIME;
            }
        }
        let speed = (velocity[0] * velocity[0] + velocity[1] * velocity[1]).sqrt();
        if speed > FASTEST {
            velocity = velocity.map(|along| along / speed * FASTEST);
        }
        let place = [0, 1].map(|axis| (bird.place[axis] + velocity[axis] * TIME).rem_euclid(width));
        Bird { place, velocity }
    }
}

/// Returns the shortest way, in a world without edges.
fn shortest(way: f32, width: f32) -> f32 {
    if way > width / 2.0 {
        way - width
    } else if way < -width / 2.0 {
        way + width
    } else {
        way
    }
}

/// The frames of a sample. The birds after the first frame are compared with the other systems'.
/// After the last, they must be where one loop brings them.
pub(super) struct Run {
    frames: Frames,
    first: Vec<Bird>,
    checksum: u64,
}

impl Run {
    /// Returns a run, and the birds that it begins with.
    pub(super) fn new(job: &Job) -> (Self, Vec<Bird>) {
        let count = job.param("birds") as usize;
        let width = Grid::new(count).side as f32 * SIGHT;
        let mut numbers = Numbers::new(1);
        let mut next = || numbers.below(1 << 20) as f32 / (1 << 20) as f32;
        let bird = |_| Bird {
            place: [next() * width, next() * width],
            velocity: [next() * 2.0 - 1.0, next() * 2.0 - 1.0],
        };
        let birds: Vec<Bird> = (0..count).map(bird).collect();
        (Run { frames: Frames::new(job), first: birds.clone(), checksum: 0 }, birds)
    }

    /// Measures frames. `frame` gets a grid that it may build; `all` returns the birds in their order.
    pub(super) fn measure<W>(
        mut self,
        mut world: W,
        mut frame: impl FnMut(&mut W, &mut Grid),
        mut all: impl FnMut(&mut W) -> Vec<Bird>,
    ) -> Outcome {
        let mut grid = Grid::new(self.first.len());
        while self.frames.goes_on() {
            self.frames.time(|| frame(&mut world, &mut grid));
            if self.frames.count() == 1 {
                self.checksum = sum(&all(&mut world));
            }
        }
        let mut birds = self.first;
        for _ in 0..self.frames.count() {
            grid.build(birds.iter().copied());
            birds.iter_mut().for_each(|bird| *bird = grid.step(*bird));
        }
        assert!(all(&mut world) == birds, "the birds are elsewhere");
        Outcome { checksum: Some(self.checksum), ..self.frames.outcome() }
    }
}

fn sum(birds: &[Bird]) -> u64 {
    checksum(birds.iter().flat_map(|bird| {
        let [x, y] = bird.place.map(|along| u64::from(along.to_bits()));
        [x, y]
    }))
}
