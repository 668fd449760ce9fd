//! Bodies that attract each other, each all the others: a loop over the bodies in each step.

use crate::{
    forms::{Numbers, checksum},
    job::Job,
    loops::{self, Loops},
    peers::{Lisle, Pool, Rayon, Serial},
    workload::{Case, Program, Unit, Workload, param, size},
};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const SIZE: &[crate::workload::Param] = &[size("bodies", 2048, 256), param("steps", 8)];

pub(crate) static WORKLOAD: Workload = Workload {
    name: "nbody",
    about: "bodies that attract each other; the velocity of each is changed in the array for each of the others, or once",
    follows: "n-body of the Benchmarks Game, with many bodies",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("in-place", SIZE), Case::new("in-locals", SIZE)],
    programs: &[
        Program::here("serial", loops::on::<Nbody, Serial>),
        Program::here("lisle", loops::on::<Nbody, Lisle>),
        Program::here("rayon", loops::on::<Nbody, Rayon>),
        Program::elsewhere("onetbb").note("keeps bodies to threads: affinity_partitioner"),
        Program::elsewhere("openmp"),
        Program::elsewhere("go"),
    ],
};

/// How long a step is.
const TIME: f64 = 0.001;

/// Keeps bodies that meet from flying off, and a body from attracting itself.
const SOFTENING: f64 = 0.01;

struct Nbody {
    steps: u64,
    in_place: bool,
    first: Vec<Body>,
    bodies: Vec<Body>,
    velocities: Vec<Velocity>,
}

#[derive(Clone)]
struct Body {
    place: [f64; 3],
    mass: f64,
}

/// Atomic, so that a compiler which sees that nobody else has it writes it all the same.
struct Velocity([AtomicU64; 3]);

impl Velocity {
    fn get(&self) -> [f64; 3] {
        [0, 1, 2].map(|axis| f64::from_bits(self.0[axis].load(Relaxed)))
    }

    fn set(&self, velocity: [f64; 3]) {
        for (own, value) in self.0.iter().zip(velocity) {
            own.store(value.to_bits(), Relaxed);
        }
    }
}

/// A velocity after the pull of `other` on the body at `place`.
fn pulled(velocity: [f64; 3], place: &[f64; 3], other: &Body) -> [f64; 3] {
    let [x, y, z] = [0, 1, 2].map(|axis| place[axis] - other.place[axis]);
    let square = x * x + y * y + z * z + SOFTENING;
    let pull = TIME / (square * square.sqrt()) * other.mass;
    [velocity[0] - x * pull, velocity[1] - y * pull, velocity[2] - z * pull]
}

impl Loops for Nbody {
    fn input(job: &Job) -> Self {
        let mut numbers = Numbers::new(1);
        let mut next = || f64::from(numbers.below(1 << 20)) / f64::from(1 << 20);
        let body = |_| {
            let place = [next(), next(), next()];
            Body { place, mass: next() }
        };
        let bodies: Vec<Body> = (0..job.param("bodies")).map(body).collect();
        let velocities = bodies.iter().map(|_| Velocity([0, 0, 0].map(AtomicU64::new))).collect();
        let in_place = job.variant == "in-place";
        Nbody { steps: job.param("steps"), in_place, first: bodies.clone(), bodies, velocities }
    }

    fn reset(&mut self) {
        self.bodies.clone_from(&self.first);
        self.velocities.iter().for_each(|velocity| velocity.set([0.0; 3]));
    }

    fn run<P: Pool>(&mut self) {
        for _ in 0..self.steps {
            let bodies = &self.bodies;
            if self.in_place {
                P::each(&mut self.velocities, |nth, velocity| {
                    let place = &bodies[nth].place;
                    bodies.iter().for_each(|other| velocity.set(pulled(velocity.get(), place, other)));
                });
            } else {
                P::each(&mut self.velocities, |nth, velocity| {
                    let pull = |velocity, other| pulled(velocity, &bodies[nth].place, other);
                    velocity.set(bodies.iter().fold(velocity.get(), pull));
                });
            }
            // A two-thousandth of the work: no loop for the pool.
            for (body, velocity) in self.bodies.iter_mut().zip(&self.velocities) {
                for (place, velocity) in body.place.iter_mut().zip(velocity.get()) {
                    *place += TIME * velocity;
                }
            }
        }
    }

    fn checksum(&self) -> u64 {
        checksum(self.bodies.iter().flat_map(|body| body.place.map(f64::to_bits)))
    }
}
