//! The Mandelbrot set, a thread for each row of the picture.

use crate::{
    forms::{self, Forms, checksum},
    job::Job,
    workload::{Case, Unit, Workload, param, size},
};
use lisle::{parasite::inflate, spawn_parasite};
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

/// The steps that each point of a row took.
type Row = Vec<u16>;

impl Mandelbrot {
    fn row(&self, y: usize) -> Row {
        let scale = 3.0 / self.side as f64;
        let imaginary = y as f64 * scale - 1.5;
        (0..self.side).map(|x| self.escape(x as f64 * scale - 2.0, imaginary)).collect()
    }

    /// After how many steps the point leaves the circle of radius 2.
    fn escape(&self, real: f64, imaginary: f64) -> u16 {
        let (mut x, mut y) = (0.0, 0.0);
        let mut steps = 0;
        while steps < self.steps {
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

    /// The picture, of rows that come in any order.
    fn picture(&self, rows: impl Iterator<Item = (usize, Row)>) -> u64 {
        let mut picture = vec![Row::new(); self.side];
        rows.for_each(|(y, row)| picture[y] = row);
        checksum(picture.iter().flatten().map(|&steps| u64::from(steps)))
    }
}

impl Forms for Mandelbrot {
    fn input(job: &Job) -> Self {
        Mandelbrot { side: job.param("side") as usize, steps: job.param("steps") as u16 }
    }

    fn serial(&self) -> u64 {
        self.picture((0..self.side).map(|y| (y, self.row(y))))
    }

    fn hosts(self: &Arc<Self>) -> u64 {
        let (tx, rx) = lisle::channel();
        for y in 0..self.side {
            let (this, tx) = (self.clone(), tx.clone());
            lisle::spawn(move || tx.send((y, this.row(y))).unwrap());
        }
        drop(tx);
        self.picture(rx.iter())
    }

    fn parasites(self: &Arc<Self>) -> u64 {
        let (tx, rx) = lisle::channel();
        for y in 0..self.side {
            let (this, tx) = (self.clone(), tx.clone());
            spawn_parasite(async move {
                inflate().await;
                tx.send_evt((y, this.row(y))).await.unwrap();
            });
        }
        drop(tx);
        self.picture(rx.iter())
    }
}
