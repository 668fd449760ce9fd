//! The Mandelbrot set, a thread for each row of the picture.

use crate::{
    forms::{self, Forms, checksum},
    job::Job,
    parts::{by_fibers, by_tasks, in_order},
    workload::{Case, Unit, Workload, param, size},
};
use std::sync::Arc;

pub(crate) static WORKLOAD: Workload = Workload {
    name: "mandelbrot",
    about: "a picture of the Mandelbrot set; a thread for each row, which sends it to the one that puts them together",
    follows: forms::FOLLOWS,
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("-", &[size("side", 1024, 128), param("steps", 128)])],
    programs: &forms::in_four_forms::<Mandelbrot>(),
};

struct Mandelbrot {
    /// How many rows there are, and columns.
    side: usize,
    /// How many steps a point may take to escape.
    steps: u16,
}

/// Its number, and the steps that each of its points took.
type Row = (usize, Vec<u16>);

impl Mandelbrot {
    fn row(&self, y: usize) -> Row {
        let scale = 3.0 / self.side as f64;
        let imaginary = y as f64 * scale - 1.5;
        (y, (0..self.side).map(|x| escape(x as f64 * scale - 2.0, imaginary, self.steps)).collect())
    }

    /// The picture, of rows that come in any order.
    fn picture(&self, rows: impl IntoIterator<Item = Row>) -> u64 {
        checksum(in_order(self.side, rows).into_iter().flatten().map(u64::from))
    }
}

/// After how many steps the point leaves the circle of radius 2, if after fewer than `most`.
pub(super) fn escape(real: f64, imaginary: f64, most: u16) -> u16 {
    let (mut x, mut y) = (0.0, 0.0);
    let mut steps = 0;
    while steps < most {
        let (xx, yy) = (x * x, y * y);
        if xx + yy > 4.0 {
            break;
        }
        y = 2.0 * x * y + imaginary;
        x = xx - yy + real;
        steps += 1;
    }
    steps
}

impl Forms for Mandelbrot {
    fn input(job: &Job) -> Self {
        Mandelbrot { side: job.param("side") as usize, steps: job.param("steps") as u16 }
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
