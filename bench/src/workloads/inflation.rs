//! A burst of computations that are too long for the thread that spawns them to wait for: do they
//! come to run in parallel?
//!
//! Each is a loop of about two milliseconds that does not wait for anything. As a task it runs on
//! its spawner's stack, until the spawner is charged for such tasks: then the next ones are
//! scheduled by themselves.

use crate::{
    job::{Job, Outcome, timed},
    peers::{self, Executor, TokioCurrentThread, TokioMultiThread},
    workload::{Case, Program, Unit, Workload, param, size},
};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "inflation",
    about: "a burst of threads that compute for 2 ms each: fibers, and tasks with and without inflation",
    follows: "\"Featherweight Threads for Communication\", figure 9",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("-", &[size("threads", 200, 20), param("steps", 1_000_000)])],
    programs: &[
        Program::here("serial", serial),
        Program::here("lisle", lisle),
        Program::here("lisle-tasks", tasks),
        Program::here("lisle-inline", inline).note("each from a spawner that has not been charged"),
        Program::here("tokio-ct", futures::<TokioCurrentThread>),
        Program::here("tokio-mt", futures::<TokioMultiThread>),
        Program::elsewhere("go"),
    ],
};

/// Xorshift: a chain of which each step needs the result of the one before, and several cannot be
/// made one.
#[inline(never)]
fn compute(steps: u64) -> u64 {
    (0..steps).fold(black_box(1), |x: u64, _| {
        let x = x ^ x << 13;
        let x = x ^ x >> 7;
        x ^ x << 17
    })
}

/// Measures `burst`, which has a number of threads compute a number of steps each, and returns the
/// sum of their results.
fn measure(job: &Job, burst: impl Fn(u64, u64) -> u64) -> Outcome {
    let (threads, steps) = (job.param("threads"), job.param("steps"));
    let result = compute(steps);
    let run = |threads| timed(|| assert_eq!(burst(threads, steps), result.wrapping_mul(threads)));
    let warm_up = || {
        run(threads.div_ceil(100));
    };
    job.measure_whole(warm_up, || run(threads)).milliseconds()
}

fn sum(results: impl Iterator<Item = u64>) -> u64 {
    results.fold(0, u64::wrapping_add)
}

/// The computations alone.
fn serial(job: &Job) -> Outcome {
    measure(job, |threads, steps| sum((0..threads).map(|_| compute(steps))))
}

fn lisle(job: &Job) -> Outcome {
    peers::runtime(job.workers).run(|| {
        measure(job, |threads, steps| {
            let fibers: Vec<_> = (0..threads).map(|_| lisle::spawn(move || compute(steps))).collect();
            sum(fibers.into_iter().map(|fiber| fiber.join().unwrap()))
        })
    })
}

fn tasks(job: &Job) -> Outcome {
    let spawn = |steps| lisle::spawn_task(async move { compute(steps) });
    peers::runtime(job.workers).run(|| {
        measure(job, |threads, steps| {
            let tasks: Vec<_> = (0..threads).map(|_| spawn(steps)).collect();
            sum(tasks.into_iter().map(|task| task.join().unwrap()))
        })
    })
}

/// A fiber or a task is charged for the tasks that it spawns itself. So each task is spawned by a
/// fiber that has spawned none before. This adds a fiber for every 2 ms.
fn inline(job: &Job) -> Outcome {
    let spawn = |steps| {
        let task = lisle::spawn_task(async move { compute(steps) });
        assert!(task.is_inline(), "nobody has been charged");
        task.join().unwrap()
    };
    peers::runtime(job.workers).run(|| {
        measure(job, |threads, steps| {
            sum((0..threads).map(|_| lisle::spawn(move || spawn(steps)).join().unwrap()))
        })
    })
}

fn futures<E: Executor>(job: &Job) -> Outcome {
    async fn burst<E: Executor>(threads: u64, steps: u64) -> (u64, Duration) {
        let start = Instant::now();
        let tasks: Vec<_> = (0..threads).map(|_| E::spawn(async move { compute(steps) })).collect();
        let mut total = 0_u64;
        for task in tasks {
            total = total.wrapping_add(task.await);
        }
        (total, start.elapsed())
    }

    let (threads, steps) = (job.param("threads"), job.param("steps"));
    let result = compute(steps);
    let executor = E::start(job.workers);
    let run = |threads| {
        let (total, elapsed) = executor.run(burst::<E>(threads, steps));
        assert_eq!(total, result.wrapping_mul(threads));
        elapsed
    };
    let warm_up = || {
        run(threads.div_ceil(100));
    };
    job.measure_whole(warm_up, || run(threads)).milliseconds()
}
