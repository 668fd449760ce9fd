//! The game of life on a torus: as many loops as generations, each of a fifth of a millisecond.

use crate::{
    forms::{Numbers, checksum},
    job::Job,
    loops::{self, Loops},
    peers::{Lisle, Pool, Rayon, Serial},
    workload::{Case, Program, Unit, Workload, size},
};
use std::mem::swap;

pub(crate) static WORKLOAD: Workload = Workload {
    name: "life",
    about: "the game of life on a torus; each generation is a loop over the rows",
    follows: "rayon's demo `life`",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("-", &[size("side", 1024, 256), size("generations", 512, 64)])],
    programs: &[
        Program::here("serial", loops::on::<Life, Serial>),
        Program::here("lisle", loops::on::<Life, Lisle>),
        Program::here("rayon", loops::on::<Life, Rayon>),
        Program::elsewhere("onetbb").note("keeps rows to threads: affinity_partitioner"),
        Program::elsewhere("openmp"),
        Program::elsewhere("go"),
    ],
};

struct Life {
    side: usize,
    generations: u64,
    first: Vec<u8>,
    /// A cell is a byte, 1 if it lives.
    now: Vec<u8>,
    next: Vec<u8>,
}

/// Row `y` of the next generation.
fn row(now: &[u8], y: usize, next: &mut [u8]) {
    let side = next.len();
    let at = |y: usize| &now[y % side * side..][..side];
    let [above, here, below] = [at(y + side - 1), at(y), at(y + 1)];
    let between = above.windows(3).zip(here.windows(3)).zip(below.windows(3));
    for (((above, here), below), cell) in between.zip(&mut next[1..]) {
        let beside = here[0] + here[2];
        *cell = lives(here[1], above[0] + above[1] + above[2] + beside + below[0] + below[1] + below[2]);
    }
    for (left, x, right) in [(side - 1, 0, 1), (side - 2, side - 1, 0)] {
        let around = [left, x, right].map(|x| above[x] + below[x]).iter().sum::<u8>();
        next[x] = lives(here[x], around + here[left] + here[right]);
    }
}

/// Returns whether a cell lives next: `cell` tells whether it lives now, `around` how many
/// neighbours do.
fn lives(cell: u8, around: u8) -> u8 {
    u8::from((around | cell) == 3)
}

impl Loops for Life {
    fn input(job: &Job) -> Self {
        let side = job.param("side") as usize;
        let mut numbers = Numbers::new(1);
        let first: Vec<u8> = (0..side * side).map(|_| u8::from(numbers.below(4) == 0)).collect();
        let generations = job.param("generations");
        Life { side, generations, now: first.clone(), next: first.clone(), first }
    }

    fn reset(&mut self) {
        self.now.copy_from_slice(&self.first);
    }

    fn run<P: Pool>(&mut self) {
        for _ in 0..self.generations {
            let now = &self.now;
            P::rows(&mut self.next, self.side, |y, next| row(now, y, next));
            swap(&mut self.now, &mut self.next);
        }
    }

    fn checksum(&self) -> u64 {
        checksum(self.now.iter().map(|&cell| u64::from(cell)))
    }
}
