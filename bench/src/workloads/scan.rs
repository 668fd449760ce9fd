//! The sums of very many numbers up to each: a loop in which each step needs the one before, unless
//! it is done twice.

use crate::{
    forms::{Numbers, checksum},
    job::{Job, Outcome},
    loops::{self, Loops},
    peers::{Lisle, Number, Pool, Rayon, Serial},
    workload::{Case, Program, Unit, Workload, size},
};

const SIZE: &[crate::workload::Param] = &[size("numbers", 64 << 20, 1 << 20)];

pub(crate) static WORKLOAD: Workload = Workload {
    name: "scan",
    about: "the sums of an array's first 1, 2, 3, ... numbers, into another array",
    follows: "oneTBB's parallel_scan, std::inclusive_scan",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("u32", SIZE), Case::new("u64", SIZE)],
    programs: &[
        Program::here("serial", on::<Serial>),
        Program::here("lisle", on::<Lisle>),
        Program::here("rayon", on::<Rayon>).note("has no scan: two passes over pieces, by hand"),
        Program::elsewhere("onetbb"),
        Program::elsewhere("openmp"),
    ],
};

fn on<P: Pool>(job: &Job) -> Outcome {
    match job.variant.as_str() {
        "u32" => loops::on::<Scan<u32>, P>(job),
        _ => loops::on::<Scan<u64>, P>(job),
    }
}

struct Scan<T> {
    numbers: Vec<T>,
    sums: Vec<T>,
}

impl<T: Number + From<u32> + Into<u64>> Loops for Scan<T> {
    fn input(job: &Job) -> Self {
        let count = job.param("numbers") as usize;
        let mut numbers = Numbers::new(1);
        // The sum of all is below 2^32.
        Scan {
            numbers: (0..count).map(|_| numbers.below(64).into()).collect(),
            sums: vec![T::default(); count],
        }
    }

    fn run<P: Pool>(&mut self) {
        P::scan(&self.numbers, &mut self.sums);
    }

    fn checksum(&self) -> u64 {
        checksum(self.sums.iter().map(|&sum| sum.into()))
    }
}
