//! The Mandelbrot set, a loop over the rows of the picture. Rows through the set take many times as
//! long as rows at the edge.

use super::mandelbrot::escape;
use crate::{
    forms::checksum,
    job::Job,
    loops::{self, Loops},
    peers::{Lisle, Pool, Rayon, Serial},
    workload::{Case, Program, Unit, Workload, param, size},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "mandelbrot-loop",
    about: "a picture of the Mandelbrot set; a loop over the rows, which take from little to very long",
    follows: "the usual test of loops whose steps are unequal",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("-", &[size("width", 4096, 512), size("height", 1024, 128), param("steps", 256)])],
    programs: &[
        Program::here("serial", loops::on::<Mandelbrot, Serial>),
        Program::here("lisle", loops::on::<Mandelbrot, Lisle>),
        Program::here("rayon", loops::on::<Mandelbrot, Rayon>),
        Program::elsewhere("onetbb"),
        Program::elsewhere("openmp").note("schedule(dynamic)"),
        Program::elsewhere("go"),
    ],
};

/// Which points a picture has, and how many steps each may take to escape.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub(super) width: usize,
    pub(super) height: usize,
    steps: u16,
}

impl View {
    pub(super) fn of(job: &Job) -> Self {
        let [width, height] = ["width", "height"].map(|name| job.param(name) as usize);
        View { width, height, steps: job.param("steps") as u16 }
    }

    /// Row `y` of the picture: after how many steps each of its points has escaped.
    pub(super) fn row(self, y: usize, row: &mut [u16]) {
        let [wide, high] = [self.width, self.height].map(|side| 3.0 / side as f64);
        let imaginary = y as f64 * high - 1.5;
        for (x, point) in row.iter_mut().enumerate() {
            *point = escape(x as f64 * wide - 2.0, imaginary, self.steps);
        }
    }
}

struct Mandelbrot {
    view: View,
    picture: Vec<u16>,
}

impl Loops for Mandelbrot {
    fn input(job: &Job) -> Self {
        let view = View::of(job);
        Mandelbrot { view, picture: vec![0; view.width * view.height] }
    }

    fn run<P: Pool>(&mut self) {
        let view = self.view;
        P::rows(&mut self.picture, view.width, |y, row| view.row(y, row));
    }

    fn checksum(&self) -> u64 {
        checksum(self.picture.iter().map(|&steps| u64::from(steps)))
    }
}
