//! The product of two matrices: rows that take the same time, and much of it.

use crate::{
    forms::{Numbers, checksum},
    job::Job,
    loops::{self, Loops},
    peers::{Lisle, Pool, Rayon, Serial},
    workload::{Case, Program, Unit, Workload, size},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "matmul",
    about: "the product of two matrices of 64-bit floats; a loop over the rows, each row by row of the second",
    follows: "the usual three loops, in the order i, k, j",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("-", &[size("side", 1024, 192)])],
    programs: &[
        Program::here("serial", loops::on::<Matmul, Serial>),
        Program::here("lisle", loops::on::<Matmul, Lisle>),
        Program::here("rayon", loops::on::<Matmul, Rayon>),
        Program::elsewhere("onetbb"),
        Program::elsewhere("openmp"),
        Program::elsewhere("go"),
    ],
};

struct Matmul {
    side: usize,
    left: Vec<f64>,
    right: Vec<f64>,
    product: Vec<f64>,
}

/// A row of the product.
fn row(left: &[f64], right: &[f64], product: &mut [f64]) {
    product.fill(0.0);
    for (factor, right) in left.iter().zip(right.chunks_exact(product.len())) {
        for (sum, other) in product.iter_mut().zip(right) {
            *sum += factor * other;
        }
    }
}

impl Loops for Matmul {
    fn input(job: &Job) -> Self {
        let side = job.param("side") as usize;
        let mut numbers = Numbers::new(1);
        let mut matrix = || (0..side * side).map(|_| f64::from(numbers.below(100)) / 7.0).collect();
        Matmul { side, left: matrix(), right: matrix(), product: vec![0.0; side * side] }
    }

    fn run<P: Pool>(&mut self) {
        let Matmul { side, ref left, ref right, ref mut product } = *self;
        P::rows(product, side, |y, product| row(&left[y * side..][..side], right, product));
    }

    fn checksum(&self) -> u64 {
        checksum(self.product.iter().map(|number| number.to_bits()))
    }
}
