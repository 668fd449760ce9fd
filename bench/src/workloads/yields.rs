//! Two tasks on one worker that give way to each other: the time of a scheduler from one task to
//! the next.

use crate::{
    job::{Job, Outcome, timed},
    peers::{self, Executor, LisleTasks, Smol, TokioCurrentThread, TokioMultiThread},
    workload::{Case, Program, Unit, Workload},
};
use std::{thread, time::Instant};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "yield",
    about: "two tasks on one worker yield to each other",
    follows: "Boost.Fiber: the overhead of yielding",
    unit: Unit::lower_is_better("ns/yield"),
    units: &[],
    cases: &[Case::new("-", &[]).workers(1)],
    programs: &[
        Program::here("lisle", lisle),
        Program::here("lisle-tasks", futures::<LisleTasks>),
        Program::here("tokio-ct", futures::<TokioCurrentThread>),
        Program::here("tokio-mt", futures::<TokioMultiThread>),
        Program::here("smol", futures::<Smol>),
        Program::here("may", may),
        Program::here("threads", threads).note("sched_yield, which the kernel may ignore"),
        Program::elsewhere("go"),
        Program::elsewhere("java"),
        Program::elsewhere("boost-fiber"),
        Program::elsewhere("guile-fibers"),
    ],
};

/// How the yields are divided.
fn halves(n: u64) -> [u64; 2] {
    [n / 2, n - n / 2]
}

/// Yields `times` times, and returns the count.
fn give_way(times: u64, yield_now: fn()) -> u64 {
    (0..times).map(|_| yield_now()).count() as u64
}

fn lisle(job: &Job) -> Outcome {
    let measured = peers::runtime(job.workers).run(|| {
        job.measure(|n| {
            timed(|| {
                let both =
                    halves(n).map(|half| lisle::spawn(move || give_way(half, lisle::fiber::yield_now)));
                assert_eq!(both.map(|fiber| fiber.join().unwrap()).iter().sum::<u64>(), n);
            })
        })
    });
    measured.nanoseconds()
}

fn futures<E: Executor>(job: &Job) -> Outcome {
    async fn give_way<E: Executor>(times: u64) -> u64 {
        let mut done = 0;
        while done < times {
            E::yield_now().await;
            done += 1;
        }
        done
    }

    let executor = E::start(job.workers);
    let measured = job.measure(|n| {
        executor.run(async move {
            let start = Instant::now();
            let [one, other] = halves(n).map(|half| E::spawn(give_way::<E>(half)));
            assert_eq!(one.await + other.await, n);
            start.elapsed()
        })
    });
    measured.nanoseconds()
}

/// A third coroutine spawns both, and then waits: may's workers look for new coroutines only when
/// all of theirs wait. So a coroutine that yields does not let the coroutines begin that it has
/// spawned.
fn may(job: &Job) -> Outcome {
    peers::may::start(job.workers);
    let measured = job.measure(|n| {
        peers::may::run(move || {
            timed(|| {
                let both = halves(n)
                    .map(|half| peers::may::spawn(move || give_way(half, may::coroutine::yield_now)));
                assert_eq!(both.map(|coroutine| coroutine.join().unwrap()).iter().sum::<u64>(), n);
            })
        })
    });
    measured.nanoseconds()
}

fn threads(job: &Job) -> Outcome {
    let measured = job.measure(|n| {
        timed(|| {
            let both = halves(n).map(|half| thread::spawn(move || give_way(half, thread::yield_now)));
            assert_eq!(both.map(|thread| thread.join().unwrap()).iter().sum::<u64>(), n);
        })
    });
    measured.nanoseconds()
}
