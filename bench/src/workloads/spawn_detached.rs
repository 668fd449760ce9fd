//! Very many tasks that do nothing and that nobody joins, until the last of them has run: whether a
//! thread of the operating system is light enough.
//!
//! With one worker all of it is pinned to one core. With two, the kernel may begin a thread on the
//! other one, and a scheduler may hand tasks over to it.

use crate::{
    job::{Job, Measured, Outcome, timed},
    peers::{self, Executor, LisleTasks, Smol, TokioCurrentThread, TokioMultiThread},
    workload::{Case, Program, Unit, Workload, size},
};
use futures::channel::oneshot;
use std::{
    io::ErrorKind,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::AcqRel},
    },
    thread,
    time::{Duration, Instant},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "spawn-detached",
    about: "one task spawns all the others, which do nothing and are not joined; until the last has run",
    follows: "D. Micay's message to rust-dev about 1:1 and M:N scheduling: 100,000 threads and tasks",
    unit: Unit::lower_is_better("ns/task"),
    units: &[],
    cases: &[Case::new("-", &[size("tasks", 100_000, 10_000)])],
    programs: &[
        Program::here("lisle", lisle),
        Program::here("lisle-tasks", futures::<LisleTasks>),
        Program::here("tokio-ct", futures::<TokioCurrentThread>),
        Program::here("tokio-mt", futures::<TokioMultiThread>),
        Program::here("smol", futures::<Smol>),
        Program::here("may", may).note(peers::may::CROWD),
        Program::here("threads", threads)
            .note("of the operating system; it waits where the system has no more"),
        Program::elsewhere("go"),
    ],
};

/// How many have not run.
struct Left(AtomicU64);

impl Left {
    fn new(tasks: u64) -> Arc<Self> {
        Arc::new(Left(AtomicU64::new(tasks)))
    }

    /// Called by each. Returns `true` to the last one.
    fn leave(&self) -> bool {
        self.0.fetch_sub(1, AcqRel) == 1
    }
}

/// Measures `spawn_all`, which spawns a number of tasks and waits until all have run.
fn measure(job: &Job, tasks: u64, spawn_all: impl Fn(u64) -> Duration) -> Outcome {
    let warm_up = || {
        spawn_all(tasks.div_ceil(100));
    };
    let measured = job.measure_whole(warm_up, || spawn_all(tasks));
    Measured { operations: measured.operations * tasks, ..measured }.nanoseconds()
}

fn lisle(job: &Job) -> Outcome {
    let spawn_all = |tasks| {
        timed(|| {
            let (left, all) = (Left::new(tasks), Arc::new(lisle::sync::Latch::new(1)));
            for _ in 0..tasks {
                let (left, all) = (left.clone(), all.clone());
                drop(lisle::spawn(move || {
                    if left.leave() {
                        all.count_down();
                    }
                }));
            }
            all.wait();
        })
    };
    peers::runtime(job.workers).run(|| measure(job, job.param("tasks"), spawn_all))
}

fn futures<E: Executor>(job: &Job) -> Outcome {
    let executor = E::start(job.workers);
    measure(job, job.param("tasks"), |tasks| {
        executor.run(async move {
            let start = Instant::now();
            let (last, all) = oneshot::channel();
            let (left, last) = (Left::new(tasks), Arc::new(Mutex::new(Some(last))));
            for _ in 0..tasks {
                let (left, last) = (left.clone(), last.clone());
                E::detach(async move {
                    if left.leave() {
                        let last = last.lock().unwrap().take().expect("there is one last");
                        last.send(()).expect("it is waited for");
                    }
                });
            }
            all.await.expect("the last one sends");
            start.elapsed()
        })
    })
}

fn may(job: &Job) -> Outcome {
    let tasks = peers::may::crowd(job.param("tasks"));
    peers::may::start(job.workers);
    peers::may::keep_stacks(tasks);
    measure(job, tasks, |tasks| {
        peers::may::run(move || {
            timed(|| {
                let left = Left::new(tasks);
                let (last, all) = may::sync::mpsc::channel();
                for _ in 0..tasks {
                    let (left, last) = (left.clone(), last.clone());
                    drop(peers::may::spawn(move || {
                        if left.leave() {
                            last.send(()).expect("it is waited for");
                        }
                    }));
                }
                all.recv().expect("the last one sends");
            })
        })
    })
}

fn threads(job: &Job) -> Outcome {
    measure(job, job.param("tasks"), |tasks| {
        timed(|| {
            let left = Left::new(tasks);
            let spawner = thread::current();
            for _ in 0..tasks {
                spawn_thread(&left, &spawner);
            }
            while left.0.load(std::sync::atomic::Ordering::Acquire) > 0 {
                thread::park();
            }
        })
    })
}

/// Spawns a thread, as soon as the system allows it. The system limits the threads of a process,
/// and may still count threads that have ended.
fn spawn_thread(left: &Arc<Left>, spawner: &thread::Thread) {
    loop {
        let (left, spawner) = (left.clone(), spawner.clone());
        let body = move || {
            if left.leave() {
                spawner.unpark();
            }
        };
        match thread::Builder::new().spawn(body) {
            Ok(_) => return,
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(1)),
            Err(error) => panic!("there are no threads: {error}"),
        }
    }
}
