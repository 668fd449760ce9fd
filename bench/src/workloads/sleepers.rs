//! Very many tasks that sleep at the same time: the cost of timers. The clock tells little here,
//! since all tasks sleep; the processor's time tells it.

use crate::{
    job::{Job, Measured, Outcome, timed},
    peers::{self, Executor, LisleTasks, Smol, TokioCurrentThread, TokioMultiThread},
    workload::{Case, Program, Unit, Workload, size},
};
use std::time::{Duration, Instant};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "sleepers",
    about: "tasks that each sleep for 0.5 to 1.5 s, all at once: processor time",
    follows: "P. Kołaczkowski's \"How Much Memory Do You Need to Run 1 Million Concurrent Tasks?\"",
    unit: Unit::lower_is_better("ns of CPU/sleeper"),
    units: &[],
    cases: &[Case::new("-", &[size("tasks", 1_000_000, 100_000)]).workers(1)],
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

/// How long the sleeper of that number sleeps.
fn nap(i: u64) -> Duration {
    Duration::from_millis(500 + i * 7919 % 1000)
}

/// Measures `tasks` sleepers: processor time for each, to be spawned, to sleep and to be waited
/// for.
fn sleepers(job: &Job, tasks: u64, sleep_all: impl Fn(u64) -> Duration) -> Outcome {
    let warm_up = || {
        sleep_all(tasks.div_ceil(100));
    };
    let measured = job.measure_whole(warm_up, || sleep_all(tasks));
    let measured = Measured { operations: measured.operations * tasks, ..measured };
    measured.figure(measured.cpu_seconds * 1e9 / measured.operations as f64)
}

fn lisle(job: &Job) -> Outcome {
    let sleep_all = |tasks| {
        timed(|| {
            let sleeper = |i| {
                lisle::spawn(move || {
                    lisle::time::sleep(nap(i));
                    1_u64
                })
            };
            let fibers: Vec<_> = (0..tasks).map(sleeper).collect();
            assert_eq!(fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum::<u64>(), tasks);
        })
    };
    peers::runtime(job.workers).run(|| sleepers(job, job.param("tasks"), sleep_all))
}

fn futures<E: Executor>(job: &Job) -> Outcome {
    let executor = E::start(job.workers);
    let sleep_all = |tasks| {
        executor.run(async move {
            let sleeper = |i| {
                E::spawn(async move {
                    E::sleep(nap(i)).await;
                    1_u64
                })
            };
            let start = Instant::now();
            let handles: Vec<_> = (0..tasks).map(sleeper).collect();
            let mut woken = 0;
            for handle in handles {
                woken += handle.await;
            }
            assert_eq!(woken, tasks);
            start.elapsed()
        })
    };
    sleepers(job, job.param("tasks"), sleep_all)
}

fn may(job: &Job) -> Outcome {
    let tasks = peers::may::crowd(job.param("tasks"));
    peers::may::start(job.workers);
    peers::may::keep_stacks(tasks);
    let sleep_all = |tasks| {
        peers::may::run(move || {
            timed(|| {
                let sleeper = |i| {
                    peers::may::spawn(move || {
                        may::coroutine::sleep(nap(i));
                        1_u64
                    })
                };
                let handles: Vec<_> = (0..tasks).map(sleeper).collect();
                assert_eq!(handles.into_iter().map(|handle| handle.join().unwrap()).sum::<u64>(), tasks);
            })
        })
    };
    sleepers(job, tasks, sleep_all)
}
