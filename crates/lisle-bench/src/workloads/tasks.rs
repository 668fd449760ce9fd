//! Tasks of unequal length, spawned one after the other and waited for in that order.

use crate::{
    forms::{Numbers, checksum},
    job::{Job, Outcome, timed},
    peers::{self, Executor, TokioMultiThread},
    workload::{Case, Program, Unit, Workload, param, size},
};
use lisle::par::Promise;
use std::{sync::Arc, time::Instant};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "tasks",
    about: "tasks of unequal length are spawned one after the other, and their results waited for in that order",
    follows: "what programs do that go through a list of promises, as those of Domainslib and of futures",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[
        Case::new("-", &[size("tasks", 1_000, 100), param("steps", 20_000)]),
        Case::new("-", &[size("tasks", 10_000, 1_000), param("steps", 60)]),
        Case::new("-", &[size("tasks", 100_000, 10_000), param("steps", 1)]),
    ],
    programs: &[
        Program::here("serial", |job| {
            measure(job, |tasks| checksum(tasks.iter().map(|&task| compute(task))))
        }),
        Program::here("lisle", lisle),
        Program::here("rayon", rayon),
        Program::here("tokio-mt", tokio),
        Program::elsewhere("onetbb"),
        Program::elsewhere("openmp"),
        Program::elsewhere("go"),
    ],
};

/// What a task is to do: a number to begin with, and how many steps to take.
type Task = (u64, u64);

/// From one half to one and a half times as many steps as the case says.
fn all(job: &Job) -> Arc<[Task]> {
    let steps = u32::try_from(job.param("steps")).expect("steps that can be counted");
    let mut numbers = Numbers::new(1);
    let mut task = || (u64::from(numbers.next()), u64::from(steps / 2 + numbers.below(steps + 1)));
    (0..job.param("tasks")).map(|_| task()).collect()
}

/// Each step waits for the one before, and takes about a nanosecond.
fn compute((number, steps): Task) -> u64 {
    (0..steps).fold(number, |number, _| (number ^ number >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd))
}

fn lisle(job: &Job) -> Outcome {
    let run = |tasks: &[Task]| {
        lisle::par::scope(|scope| {
            let promises: Vec<_> = tasks.iter().map(|&task| scope.spawn(move || compute(task))).collect();
            checksum(promises.into_iter().map(Promise::wait))
        })
    };
    peers::runtime(job.workers).run(|| measure(job, run))
}

/// It has no promises: a task puts its result where it is found when all have ended.
fn rayon(job: &Job) -> Outcome {
    let run = |tasks: &[Task]| {
        let mut results = vec![0; tasks.len()];
        rayon::scope(|scope| {
            for (result, &task) in results.iter_mut().zip(tasks) {
                scope.spawn(move |_| *result = compute(task));
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
    let tasks = all(job);
    let run = || {
        let tasks = tasks.clone();
        executor.run(async move {
            let start = Instant::now();
            let tasks = tasks.iter().map(|&task| TokioMultiThread::spawn(async move { compute(task) }));
            let mut results = Vec::new();
            for task in tasks.collect::<Vec<_>>() {
                results.push(task.await);
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

fn measure(job: &Job, run: impl Fn(&[Task]) -> u64) -> Outcome {
    let tasks = all(job);
    let expected = run(&tasks);
    let measured = job.measure_whole(|| (), || timed(|| assert_eq!(run(&tasks), expected)));
    Outcome { checksum: Some(expected), ..measured.milliseconds() }
}
