//! Jobs of unequal length, spawned one after the other and waited for in that order.

use crate::{
    forms::{Numbers, checksum},
    job::{Job, Outcome, timed},
    peers::{self, Executor, TokioMultiThread},
    workload::{Case, Program, Unit, Workload, param, size},
};
use lisle::par::Promise;
use std::{sync::Arc, time::Instant};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "jobs",
    about: "jobs of unequal length are spawned one after the other, and their results waited for in that order",
    follows: "programs that go through a list of promises, as with Domainslib and with futures",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[
        Case::new("-", &[size("jobs", 1_000, 100), param("steps", 20_000)]),
        Case::new("-", &[size("jobs", 10_000, 1_000), param("steps", 60)]),
        Case::new("-", &[size("jobs", 100_000, 10_000), param("steps", 1)]),
    ],
    programs: &[
        Program::here("serial", |job| {
            measure(job, |pieces| checksum(pieces.iter().map(|&piece| compute(piece))))
        }),
        Program::here("lisle", lisle),
        Program::here("rayon", rayon),
        Program::here("tokio-mt", tokio),
        Program::elsewhere("onetbb"),
        Program::elsewhere("openmp"),
        Program::elsewhere("go"),
    ],
};

/// A job: the number that it begins with, and the number of its steps.
type Piece = (u64, u64);

/// From one half to one and a half times as many steps as the case says.
fn all(job: &Job) -> Arc<[Piece]> {
    let steps = u32::try_from(job.param("steps")).expect("steps that can be counted");
    let mut numbers = Numbers::new(1);
    let mut piece = || (u64::from(numbers.next()), u64::from(steps / 2 + numbers.below(steps + 1)));
    (0..job.param("jobs")).map(|_| piece()).collect()
}

/// Each step waits for the one before, and takes about a nanosecond.
fn compute((number, steps): Piece) -> u64 {
    (0..steps).fold(number, |number, _| (number ^ number >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd))
}

fn lisle(job: &Job) -> Outcome {
    let run = |pieces: &[Piece]| {
        lisle::par::scope(|scope| {
            let promises: Vec<_> = pieces.iter().map(|&piece| scope.spawn(move || compute(piece))).collect();
            checksum(promises.into_iter().map(Promise::wait))
        })
    };
    peers::runtime(job.workers).run(|| measure(job, run))
}

/// It has no promises: a job puts its result where it is found when all have ended.
fn rayon(job: &Job) -> Outcome {
    let run = |pieces: &[Piece]| {
        let mut results = vec![0; pieces.len()];
        rayon::scope(|scope| {
            for (result, &piece) in results.iter_mut().zip(pieces) {
                scope.spawn(move |_| *result = compute(piece));
            }
        });
        checksum(results)
    };
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(job.workers).build().expect("threads can be started");
    pool.install(|| measure(job, run))
}

fn tokio(job: &Job) -> Outcome {
    let executor = TokioMultiThread::start(job.workers);
    let pieces = all(job);
    let run = || {
        let pieces = pieces.clone();
        executor.run(async move {
            let start = Instant::now();
            let pieces = pieces.iter().map(|&piece| TokioMultiThread::spawn(async move { compute(piece) }));
            let mut results = Vec::new();
            for piece in pieces.collect::<Vec<_>>() {
                results.push(piece.await);
            }
            let result = checksum(results);
            (start.elapsed(), result)
        })
    };
    let (_, expected) = run();
    let measured = job.measure_whole(
        || (),
        || {
            let (took, result) = run();
            assert_eq!(result, expected);
            took
        },
    );
    Outcome { checksum: Some(expected), ..measured.milliseconds() }
}

fn measure(job: &Job, run: impl Fn(&[Piece]) -> u64) -> Outcome {
    let pieces = all(job);
    let expected = run(&pieces);
    let measured = job.measure_whole(|| (), || timed(|| assert_eq!(run(&pieces), expected)));
    Outcome { checksum: Some(expected), ..measured.milliseconds() }
}
