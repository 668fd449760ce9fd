//! Bodies that attract each other, by the algorithm of Barnes and Hut: far ones count together, by
//! a tree.

#[path = "barnes_hut/tree.rs"]
mod tree;

use crate::{
    forms::{self, Forms, Numbers, checksum},
    job::Job,
    parts::{by_fibers, by_tasks},
    workload::{Case, Unit, Workload, param, size},
};
use std::sync::Arc;
use tree::{Body, Sky, Vector};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "barnes-hut",
    about: "n bodies in a tree; in each step a thread for each body, which sends how it is pulled",
    follows: forms::FOLLOWS,
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("-", &[param("bodies", 1024), size("steps", 8, 1)])],
    programs: &forms::in_four_forms::<BarnesHut>(),
};

struct BarnesHut {
    bodies: Vec<Body>,
    steps: usize,
}

impl BarnesHut {
    /// All steps. `pulls` gives each body's number and how it is pulled, in any order.
    fn run<P: IntoIterator<Item = (usize, Vector)>>(&self, mut pulls: impl FnMut(Arc<Sky>) -> P) -> u64 {
        let mut bodies = self.bodies.clone();
        for _ in 0..self.steps {
            let mut moved = bodies.clone();
            for (body, pull) in pulls(Arc::new(Sky::new(bodies))) {
                moved[body].accelerate(pull);
            }
            bodies = moved;
        }
        checksum(bodies.iter().flat_map(|body| body.position).map(f64::to_bits))
    }
}

impl Forms for BarnesHut {
    fn input(job: &Job) -> Self {
        let mut numbers = Numbers::new(3);
        let mut place = || [(); 3].map(|()| f64::from(numbers.next()) / 4_294_967_296.0);
        let bodies = (0..job.param("bodies")).map(|_| Body { position: place(), velocity: [0.0; 3] });
        BarnesHut { bodies: bodies.collect(), steps: job.param("steps") as usize }
    }

    fn serial(&self) -> u64 {
        self.run(|sky| (0..sky.bodies()).map(move |body| (body, sky.pull(body))))
    }

    fn fibers(self: &Arc<Self>) -> u64 {
        self.run(|sky| by_fibers(sky.bodies(), move |body| (body, sky.pull(body))))
    }

    fn tasks(self: &Arc<Self>) -> u64 {
        self.run(|sky| by_tasks(sky.bodies(), move |body| (body, sky.pull(body))))
    }
}
