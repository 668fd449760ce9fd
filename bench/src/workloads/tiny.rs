//! A loop of about a microsecond, again and again: the cost of a loop as such, where it does not
//! pay.

use crate::{
    forms::Numbers,
    job::{Job, Outcome, timed},
    peers::{Lisle, Pool, Rayon, Serial},
    workload::{Case, Program, Unit, Workload, param},
};
use std::hint::black_box;

pub(crate) static WORKLOAD: Workload = Workload {
    name: "tiny",
    about: "a loop over a few hundred numbers, mixed and added up, that takes one thread about a microsecond",
    follows: "the overhead of a parallel loop as EPCC's benchmarks of OpenMP ask for it",
    unit: Unit::lower_is_better("ns/loop"),
    units: &[],
    cases: &[Case::new("-", &[param("numbers", 1024)])],
    programs: &[
        Program::here("serial", on::<Serial>),
        Program::here("lisle", on::<Lisle>),
        Program::here("rayon", on::<Rayon>),
        Program::elsewhere("onetbb"),
        Program::elsewhere("openmp"),
    ],
};

/// Work for some instructions, the finish of MurmurHash. Half of the bits, so that sums do not
/// overflow.
fn mixed(number: &u64) -> u64 {
    let number = (number ^ number >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let number = (number ^ number >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    number >> 32
}

fn on<P: Pool>(job: &Job) -> Outcome {
    let mut numbers = Numbers::new(1);
    let numbers: Vec<u64> = (0..job.param("numbers")).map(|_| u64::from(numbers.next())).collect();
    let expected: u64 = numbers.iter().map(mixed).sum();
    P::run(job.workers, || {
        let one = || assert_eq!(P::sum_of(black_box(&numbers[..]), mixed), expected);
        let measured = job.measure(|n| timed(|| (0..n).for_each(|_| one())));
        Outcome { checksum: Some(expected), ..measured.nanoseconds() }
    })
}
