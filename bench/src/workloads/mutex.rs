//! One mutex and many tasks that want it for a moment: how many a second have it, and how long each
//! waits.
//!
//! The two aims conflict: a mutex that always goes to the task that has waited longest makes each
//! task wait for a wake.

use crate::{
    job::{Figure, Job, Outcome, timed},
    limits,
    peers::{
        self, AsyncLock, AsyncMutex, BlockingMutex, Executor, LisleMutex, ParkingLot, Smol, StdMutex, Tokio,
        TokioMutex,
    },
    workload::{Case, Program, Unit, Workload, param},
};
use std::{
    hint::spin_loop,
    mem,
    sync::{Arc, Barrier},
    thread,
    time::{Duration, Instant},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "mutex",
    about: "tasks add to a number under one mutex, in a loop; or hold it for a microsecond, and tell how long they waited",
    follows: "parking_lot's benchmark of mutexes",
    unit: Unit::higher_is_better("locks/s"),
    units: &[
        ("p50", Unit::lower_is_better("ns")),
        ("p99", Unit::lower_is_better("ns")),
        ("longest", Unit::lower_is_better("ns")),
    ],
    cases: &[
        Case::new("add", &[param("tasks", 1)]),
        Case::new("add", &[param("tasks", 2)]),
        Case::new("add", &[param("tasks", 8)]),
        Case::new("add", &[param("tasks", 64)]),
        Case::new("wait", &[param("tasks", 2)]),
        Case::new("wait", &[param("tasks", 8)]),
        Case::new("wait", &[param("tasks", 64)]),
    ],
    programs: &[
        Program::here(limits::NAME, limits::messages)
            .only(|case| case.variant == "add" && case.param("tasks") != Some(1))
            .note("the lock's line goes to another core each time"),
        Program::here("lisle", lisle),
        Program::here("lisle-threads", threads::<LisleMutex>).note("the same mutex, between threads"),
        Program::here("tokio-mt", futures::<Tokio, TokioMutex>),
        Program::here("smol", futures::<Smol, AsyncLock>),
        Program::here("threads", threads::<StdMutex>),
        Program::here("parking_lot", threads::<ParkingLot>).note("on threads"),
    ],
};

/// For how long a task holds the mutex that tells how long it has waited.
const HOLD: Duration = Duration::from_micros(1);

/// The records of a task: how long it waited, each time, in nanoseconds. Empty if nobody asks.
type Waits = Vec<u64>;

/// How often each task locks, for `n` of all.
fn shares(n: u64, tasks: u64) -> impl Iterator<Item = u64> {
    (0..tasks).map(move |task| n / tasks + u64::from(task < n % tasks))
}

fn hold() {
    let start = Instant::now();
    while start.elapsed() < HOLD {
        spin_loop();
    }
}

/// Measures `run`, which locks a given number of times in all, tells how long the tasks waited if
/// it is asked to, and how long all of it took.
fn measure(job: &Job, mut run: impl FnMut(u64, bool) -> (Duration, Waits)) -> Outcome {
    let asks = job.variant == "wait";
    let mut waits = Vec::new();
    let measured = job.measure(|n| {
        let (elapsed, told) = run(n, asks);
        waits = told;
        elapsed
    });
    if !asks {
        return measured.per_second(1);
    }
    waits.sort_unstable();
    let percentile = |percent: f64| {
        let rank = (percent / 100.0 * waits.len() as f64).ceil() as usize;
        waits[rank.max(1) - 1] as f64
    };
    let figure = |name: &str, percent| Figure {
        name: name.to_owned(),
        value: percentile(percent),
        p99: Some(percentile(99.0)),
    };
    measured.figures(vec![figure("p50", 50.0), figure("p99", 99.0), figure("longest", 100.0)])
}

/// The loop of a task that waits in place.
fn add(mutex: &impl BlockingMutex, times: u64, asks: bool) -> Waits {
    if !asks {
        (0..times).for_each(|_| mutex.with(|value| *value += 1));
        return Vec::new();
    }
    let add = |_| {
        let start = Instant::now();
        mutex.with(|value| {
            let waited = start.elapsed();
            hold();
            *value += 1;
            waited.as_nanos() as u64
        })
    };
    (0..times).map(add).collect()
}

async fn add_async(mutex: &impl AsyncMutex, times: u64, asks: bool) -> Waits {
    if !asks {
        for _ in 0..times {
            mutex.with(|value| *value += 1).await;
        }
        return Vec::new();
    }
    let mut waits = Vec::with_capacity(times as usize);
    for _ in 0..times {
        let start = Instant::now();
        let waited = mutex.with(|value| {
            let waited = start.elapsed();
            hold();
            *value += 1;
            waited.as_nanos() as u64
        });
        waits.push(waited.await);
    }
    waits
}

fn lisle(job: &Job) -> Outcome {
    let tasks = job.param("tasks");
    peers::runtime(job.workers).run(|| {
        measure(job, |n, asks| {
            let mutex = Arc::new(<LisleMutex as BlockingMutex>::new());
            let mut waits = Vec::new();
            let elapsed = timed(|| {
                let fibers: Vec<_> = shares(n, tasks)
                    .map(|times| {
                        let mutex = mutex.clone();
                        lisle::spawn(move || add(&*mutex, times, asks))
                    })
                    .collect();
                fibers.into_iter().for_each(|fiber| waits.extend(fiber.join().unwrap()));
            });
            assert_eq!(*mutex.lock(), n);
            (elapsed, waits)
        })
    })
}

fn futures<E: Executor, M: AsyncMutex>(job: &Job) -> Outcome {
    let tasks = job.param("tasks");
    let executor = E::start(job.workers);
    measure(job, |n, asks| {
        executor.run(async move {
            let mutex = Arc::new(M::new());
            let start = Instant::now();
            let tasks: Vec<_> = shares(n, tasks)
                .map(|times| {
                    let mutex = mutex.clone();
                    E::spawn(async move { add_async(&*mutex, times, asks).await })
                })
                .collect();
            let mut waits = Vec::new();
            for task in tasks {
                waits.extend(task.await);
            }
            let elapsed = start.elapsed();
            mutex.with(|value| assert_eq!(*value, n)).await;
            (elapsed, waits)
        })
    })
}

/// Threads take long to start, beside their work, so all are there before the clock starts.
fn threads<M: BlockingMutex>(job: &Job) -> Outcome {
    let tasks = job.param("tasks");
    measure(job, |n, asks| {
        let mutex = M::new();
        let all_there = Barrier::new(tasks as usize + 1);
        let mut waits = Vec::new();
        let elapsed = thread::scope(|scope| {
            let threads: Vec<_> = shares(n, tasks)
                .map(|times| {
                    let (mutex, all_there) = (&mutex, &all_there);
                    scope.spawn(move || {
                        all_there.wait();
                        add(mutex, times, asks)
                    })
                })
                .collect();
            all_there.wait();
            timed(|| threads.into_iter().for_each(|thread| waits.extend(thread.join().unwrap())))
        });
        mutex.with(|value| assert_eq!(*value, n));
        (elapsed, mem::take(&mut waits))
    })
}
