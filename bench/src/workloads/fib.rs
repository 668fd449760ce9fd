//! A Fibonacci number by forks and joins: in each call, or only in the first few levels of calls.

use crate::{
    job::{Job, Outcome, timed},
    peers::{Chili, Lisle, Pool, Rayon},
    workload::{Case, Program, Unit, Workload, size},
};
use std::hint::black_box;

const ALL: &str = "every-call";
const FEW: &str = "cut-off";

pub(crate) static WORKLOAD: Workload = Workload {
    name: "fib",
    about: "a Fibonacci number by recursion; both calls are forked and joined, always or above a cut-off",
    follows: "the benchmark of Cilk, and since then of everything that forks",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[
        Case::new(ALL, &[size("n", 32, 22)]),
        Case::new(ALL, &[size("n", 42, 27)]),
        Case::new(FEW, &[size("n", 45, 35), size("cut-off", 37, 27)]),
    ],
    programs: &[
        Program::here("serial", |job| measure(job, |n, _| serial(n))),
        Program::here("lisle", on::<Lisle>),
        Program::here("rayon", on::<Rayon>),
        Program::here("chili", chili),
        Program::elsewhere("onetbb").only(in_time),
        Program::elsewhere("openmp").only(in_time),
        Program::elsewhere("go").only(|case| case.variant == FEW),
    ],
};

/// Systems with a record for each task take minutes for the 433 million of the largest.
fn in_time(case: &Case) -> bool {
    case.variant == FEW || case.param("n") == Some(32)
}

fn serial(n: u64) -> u64 {
    if n < 2 { n } else { serial(n - 1) + serial(n - 2) }
}

fn fork<P: Pool>(n: u64, cut_off: u64) -> u64 {
    if n < 2 {
        return n;
    }
    if n <= cut_off {
        return serial(n);
    }
    P::join(move || fork::<P>(n - 1, cut_off), move || fork::<P>(n - 2, cut_off), |one, two| one + two)
}

fn on<P: Pool>(job: &Job) -> Outcome {
    P::run(job.workers, || measure(job, fork::<P>))
}

fn chili(job: &Job) -> Outcome {
    fn fork(n: u64, cut_off: u64, scope: &mut chili::Scope<'_>) -> u64 {
        if n < 2 {
            return n;
        }
        if n <= cut_off {
            return serial(n);
        }
        let (one, two) = scope.join(|scope| fork(n - 1, cut_off, scope), |scope| fork(n - 2, cut_off, scope));
        one + two
    }
    Chili::run(job.workers, |scope| measure(job, |n, cut_off| fork(n, cut_off, scope)))
}

/// Warms up with a tenth of the work: the whole may take longer than a sample should.
fn measure(job: &Job, mut fib: impl FnMut(u64, u64) -> u64) -> Outcome {
    let n = job.param("n");
    let cut_off = if job.variant == FEW { job.param("cut-off") } else { 0 };
    let expected = number(n);
    let warm_up = n - 5;
    let result = fib(warm_up, cut_off);
    assert_eq!(result, number(warm_up));
    let whole = || timed(|| assert_eq!(fib(black_box(n), cut_off), expected));
    Outcome { checksum: Some(expected), ..job.measure_whole(|| (), whole).milliseconds() }
}

/// The number itself.
fn number(n: u64) -> u64 {
    (0..n).fold((0, 1), |(own, next), _| (next, own + next)).0
}
