//! A task and its result, one at a time: the cost of a task that another waits for.

use crate::{
    job::{Job, Outcome, timed},
    peers::{self, Executor, LisleTasks, Smol, TokioCurrentThread, TokioMultiThread},
    workload::{Case, Program, Unit, Workload},
};
use std::{
    thread,
    time::{Duration, Instant},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "spawn-join",
    about: "a task spawns another and waits for the number that it returns, again and again",
    follows: "Boost.Fiber: the overhead of creating and joining",
    unit: Unit::lower_is_better("ns/task"),
    units: &[],
    cases: &[Case::new("-", &[])],
    programs: &[
        Program::here("lisle", lisle),
        Program::here("lisle-tasks", futures::<LisleTasks>),
        Program::here("tokio-ct", futures::<TokioCurrentThread>),
        Program::here("tokio-mt", futures::<TokioMultiThread>),
        Program::here("smol", futures::<Smol>),
        Program::here("may", may),
        Program::here("threads", threads),
        Program::elsewhere("go"),
        Program::elsewhere("java"),
        Program::elsewhere("boost-fiber"),
        Program::elsewhere("guile-fibers"),
    ],
};

fn sum_below(n: u64) -> u64 {
    n * (n - 1) / 2
}

/// Times `n` calls of `spawn_and_join`, each of which returns the number it is given by way of a
/// task.
fn time(n: u64, spawn_and_join: impl Fn(u64) -> u64) -> Duration {
    timed(|| assert_eq!((0..n).map(spawn_and_join).sum::<u64>(), sum_below(n)))
}

fn lisle(job: &Job) -> Outcome {
    let measured = peers::runtime(job.workers)
        .run(|| job.measure(|n| time(n, |i| lisle::spawn(move || i).join().unwrap())));
    measured.nanoseconds()
}

fn futures<E: Executor>(job: &Job) -> Outcome {
    let executor = E::start(job.workers);
    let measured = job.measure(|n| {
        executor.run(async move {
            let start = Instant::now();
            let mut sum = 0;
            for i in 0..n {
                sum += E::spawn(async move { i }).await;
            }
            assert_eq!(sum, sum_below(n));
            start.elapsed()
        })
    });
    measured.nanoseconds()
}

fn may(job: &Job) -> Outcome {
    peers::may::start(job.workers);
    let measured =
        job.measure(|n| peers::may::run(move || time(n, |i| peers::may::spawn(move || i).join().unwrap())));
    measured.nanoseconds()
}

fn threads(job: &Job) -> Outcome {
    job.measure(|n| time(n, |i| thread::spawn(move || i).join().unwrap())).nanoseconds()
}
