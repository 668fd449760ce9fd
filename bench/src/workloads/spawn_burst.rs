//! Very many tasks at once, which do next to nothing: the cost of a task in a crowd.

use crate::{
    job::{Job, Measured, Outcome, timed},
    peers::{self, Executor, LisleTasks, Smol, TokioCurrentThread, TokioMultiThread},
    workload::{Case, Program, Unit, Workload, size},
};
use std::time::{Duration, Instant};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "spawn-burst",
    about: "one task spawns all the others, then waits for all of them",
    follows: "Boost.Fiber: time per fiber, of a million",
    unit: Unit::lower_is_better("ns/task"),
    units: &[],
    cases: &[Case::new("-", &[size("tasks", 1_000_000, 100_000)])],
    programs: &[
        Program::here("lisle", lisle),
        Program::here("lisle-tasks", futures::<LisleTasks>),
        Program::here("tokio-ct", futures::<TokioCurrentThread>),
        Program::here("tokio-mt", futures::<TokioMultiThread>),
        Program::here("smol", futures::<Smol>),
        Program::here("may", may).note(peers::may::CROWD),
        Program::elsewhere("go"),
        Program::elsewhere("java"),
        Program::elsewhere("boost-fiber"),
        Program::elsewhere("guile-fibers"),
    ],
};

/// Measures bursts of `tasks` tasks.
fn bursts(job: &Job, tasks: u64, burst: impl Fn(u64) -> Duration) -> Outcome {
    let warm_up = || {
        burst(tasks.div_ceil(100));
    };
    let measured = job.measure_whole(warm_up, || burst(tasks));
    Measured { operations: measured.operations * tasks, ..measured }.nanoseconds()
}

/// The handles are joined in the order in which the fibers begin, so most have a result when they
/// are asked for it.
fn lisle(job: &Job) -> Outcome {
    let burst = |tasks| {
        timed(|| {
            let fibers: Vec<_> = (0..tasks).map(|_| lisle::spawn(|| 1_u64)).collect();
            assert_eq!(fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum::<u64>(), tasks);
        })
    };
    peers::runtime(job.workers).run(|| bursts(job, job.param("tasks"), burst))
}

/// A list of handles here too: it costs less than a set of tasks (tokio's `JoinSet`) or a future
/// that polls them all (`join_all`), which tell which task ends first.
fn futures<E: Executor>(job: &Job) -> Outcome {
    let executor = E::start(job.workers);
    let burst = |tasks| {
        executor.run(async move {
            let start = Instant::now();
            let handles: Vec<_> = (0..tasks).map(|_| E::spawn(async { 1_u64 })).collect();
            let mut total = 0;
            for handle in handles {
                total += handle.await;
            }
            assert_eq!(total, tasks);
            start.elapsed()
        })
    };
    bursts(job, job.param("tasks"), burst)
}

fn may(job: &Job) -> Outcome {
    let tasks = peers::may::crowd(job.param("tasks"));
    peers::may::start(job.workers);
    peers::may::keep_stacks(tasks);
    let burst = |tasks| {
        peers::may::run(move || {
            timed(|| {
                let handles: Vec<_> = (0..tasks).map(|_| peers::may::spawn(|| 1_u64)).collect();
                assert_eq!(handles.into_iter().map(|handle| handle.join().unwrap()).sum::<u64>(), tasks);
            })
        })
    };
    bursts(job, tasks, burst)
}
