//! A thread that does not wait, beside a plain call of the function that it runs: the cost of a
//! thread as such.
//!
//! `joined`: each is waited for before the next one. `detached`: nobody waits for any of them, and
//! their spawner lets them run each time that it has spawned some, so that they do not become a
//! crowd: that is `spawn-burst`.

use crate::{
    job::{Job, Outcome, timed},
    peers::{self, Executor, Smol, TokioCurrentThread, TokioMultiThread},
    workload::{Case, Program, Unit, Workload},
};
use std::{
    hint::black_box,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "task-call",
    about: "a thread that does not wait, beside a plain call of what it runs",
    follows: "\"Featherweight Threads for Communication\", 5.2: 46 tasks in the time of a fiber",
    unit: Unit::lower_is_better("ns/thread"),
    units: &[],
    cases: &[Case::new("joined", &[]).workers(1), Case::new("detached", &[]).workers(1)],
    programs: &[
        Program::here("call", call),
        Program::here("lisle-tasks", tasks),
        Program::here("lisle", lisle),
        Program::here("tokio-ct", futures::<TokioCurrentThread>),
        Program::here("tokio-mt", futures::<TokioMultiThread>),
        Program::here("smol", futures::<Smol>),
        Program::elsewhere("go"),
    ],
};

/// How many threads are spawned before the detached threads get to run.
const BATCH: u64 = 64;

/// The work of every thread: a function that is really called, with an argument that the compiler
/// does not know.
#[inline(never)]
fn work(i: u64) -> u64 {
    black_box(i)
}

/// The sum of the results of threads that nobody waits for, and how many of them have ended.
///
/// There is one worker, so they write one after the other. Adding atomically would cost more than a
/// call.
static SUM: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

fn work_detached(i: u64) {
    let add = |total: &AtomicU64, value| total.store(total.load(Relaxed) + value, Relaxed);
    add(&SUM, work(i));
    add(&ENDED, 1);
}

fn sum_below(n: u64) -> u64 {
    n * (n - 1) / 2
}

fn start_counting() {
    SUM.store(0, Relaxed);
    ENDED.store(0, Relaxed);
}

fn check_count(n: u64) {
    assert_eq!((ENDED.load(Relaxed), SUM.load(Relaxed)), (n, sum_below(n)));
}

/// Whether a batch is full, so that its threads are to run now.
fn is_batch(spawned: u64, n: u64) -> bool {
    spawned.is_multiple_of(BATCH) || spawned == n
}

/// Times `n` threads in direct style: `joined` returns the result of `work`, `detached` only has it
/// done.
fn measure(job: &Job, joined: impl Fn(u64) -> u64, detached: impl Fn(u64), let_run: impl Fn()) -> Outcome {
    let run_joined = |n| timed(|| assert_eq!((0..n).map(&joined).sum::<u64>(), sum_below(n)));
    let run_detached = |n| {
        start_counting();
        let elapsed = timed(|| {
            for i in 0..n {
                detached(i);
                while is_batch(i + 1, n) && ENDED.load(Relaxed) <= i {
                    let_run();
                }
            }
        });
        check_count(n);
        elapsed
    };
    let measured = match job.variant.as_str() {
        "joined" => job.measure(run_joined),
        _ => job.measure(run_detached),
    };
    measured.nanoseconds()
}

fn call(job: &Job) -> Outcome {
    measure(job, work, work_detached, || unreachable!("a call has ended when it returns"))
}

fn tasks(job: &Job) -> Outcome {
    peers::runtime(job.workers).run(|| {
        measure(
            job,
            |i| lisle::spawn_task(async move { work(i) }).join().unwrap(),
            |i| drop(lisle::spawn_task(async move { work_detached(i) })),
            lisle::fiber::yield_now,
        )
    })
}

fn lisle(job: &Job) -> Outcome {
    peers::runtime(job.workers).run(|| {
        measure(
            job,
            |i| lisle::spawn(move || work(i)).join().unwrap(),
            |i| drop(lisle::spawn(move || work_detached(i))),
            lisle::fiber::yield_now,
        )
    })
}

fn futures<E: Executor>(job: &Job) -> Outcome {
    async fn joined<E: Executor>(n: u64) -> Duration {
        let start = Instant::now();
        let mut sum = 0;
        for i in 0..n {
            sum += E::spawn(async move { work(i) }).await;
        }
        assert_eq!(sum, sum_below(n));
        start.elapsed()
    }

    async fn detached<E: Executor>(n: u64) -> Duration {
        start_counting();
        let start = Instant::now();
        for i in 0..n {
            E::detach(async move { work_detached(i) });
            while is_batch(i + 1, n) && ENDED.load(Relaxed) <= i {
                E::yield_now().await;
            }
        }
        let elapsed = start.elapsed();
        check_count(n);
        elapsed
    }

    let executor = E::start(job.workers);
    let measured = match job.variant.as_str() {
        "joined" => job.measure(|n| executor.run(joined::<E>(n))),
        _ => job.measure(|n| executor.run(detached::<E>(n))),
    };
    measured.nanoseconds()
}
