//! The sum of very many numbers: as much as the memory gives.

use crate::{
    forms::Numbers,
    job::{Job, Outcome},
    loops::{self, Loops},
    peers::{Lisle, Number, Pool, Rayon, Serial},
    workload::{Case, Program, Unit, Workload, size},
};

const SIZE: &[crate::workload::Param] = &[size("numbers", 64 << 20, 1 << 20)];

pub(crate) static WORKLOAD: Workload = Workload {
    name: "sum",
    about: "the sum of 64 million numbers in an array, of 64 bits each",
    follows: "the usual first loop of a library for loops",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("u64", SIZE), Case::new("f64", SIZE)],
    programs: &[
        Program::here("serial", on::<Serial>),
        Program::here("lisle", on::<Lisle>),
        Program::here("rayon", on::<Rayon>),
        Program::elsewhere("onetbb"),
        Program::elsewhere("openmp"),
        Program::elsewhere("go"),
    ],
};

fn on<P: Pool>(job: &Job) -> Outcome {
    match job.variant.as_str() {
        "u64" => loops::on::<Sum<u64>, P>(job),
        _ => loops::on::<Sum<f64>, P>(job),
    }
}

struct Sum<T> {
    numbers: Vec<T>,
    sum: T,
}

/// Whole numbers: so a sum of floats is the same in each order.
trait Whole: Number + From<u32> {
    fn whole(self) -> u64;
}

impl Whole for u64 {
    fn whole(self) -> u64 {
        self
    }
}

impl Whole for f64 {
    fn whole(self) -> u64 {
        self as u64
    }
}

impl<T: Whole> Loops for Sum<T> {
    fn input(job: &Job) -> Self {
        let mut numbers = Numbers::new(1);
        let numbers = (0..job.param("numbers")).map(|_| numbers.below(1 << 20).into()).collect();
        Sum { numbers, sum: T::default() }
    }

    fn run<P: Pool>(&mut self) {
        self.sum = P::sum(&self.numbers);
    }

    fn checksum(&self) -> u64 {
        self.sum.whole()
    }
}
