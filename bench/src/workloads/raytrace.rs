//! A picture of a small scene by ray tracing, a thread for each row.

#[path = "raytrace/scene.rs"]
mod scene;
#[path = "raytrace/vector.rs"]
mod vector;

use crate::{
    forms::{self, Forms, checksum},
    job::Job,
    parts::{by_fibers, by_tasks, in_order},
    workload::{Case, Unit, Workload, size},
};
use scene::Scene;
use std::sync::Arc;
use vector::Vector;

pub(crate) static WORKLOAD: Workload = Workload {
    name: "raytrace",
    about: "a picture of twenty balls with shadows and reflections; a thread for each row, which sends it to the one \
            that puts them together",
    follows: "Raytrace of the evaluation of parasitic threads: 256 messages",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("-", &[size("side", 256, 64)])],
    programs: &forms::in_four_forms::<Raytrace>(),
};

struct Raytrace {
    /// How many rows there are, and columns.
    side: usize,
    scene: Scene,
}

/// Its number, and its pixels: red, green and blue, a byte each.
type Row = (usize, Vec<u32>);

impl Raytrace {
    fn row(&self, y: usize) -> Row {
        (y, (0..self.side).map(|x| self.pixel(x, y)).collect())
    }

    fn pixel(&self, x: usize, y: usize) -> u32 {
        let place = |nth: usize| (nth as f64 + 0.5) / self.side as f64 - 0.5;
        let eye = Vector(0.0, 2.0, -8.0);
        let colour = self.scene.colour(eye, Vector(place(x), -place(y) - 0.15, 1.0).unit());
        let byte = |part: f64| (part.min(1.0) * 255.0 + 0.5) as u32;
        byte(colour.0) << 16 | byte(colour.1) << 8 | byte(colour.2)
    }

    /// The picture, of rows that come in any order.
    fn picture(&self, rows: impl IntoIterator<Item = Row>) -> u64 {
        checksum(in_order(self.side, rows).into_iter().flatten().map(u64::from))
    }
}

impl Forms for Raytrace {
    fn input(job: &Job) -> Self {
        Raytrace { side: job.param("side") as usize, scene: Scene::new() }
    }

    fn serial(&self) -> u64 {
        self.picture((0..self.side).map(|y| self.row(y)))
    }

    fn fibers(self: &Arc<Self>) -> u64 {
        let this = self.clone();
        self.picture(by_fibers(self.side, move |y| this.row(y)))
    }

    fn tasks(self: &Arc<Self>) -> u64 {
        let this = self.clone();
        self.picture(by_tasks(self.side, move |y| this.row(y)))
    }
}
