//! Very many tasks that wait for a message: the memory that a waiting task takes.
//!
//! All wait at one channel, if the system has one for several receivers. Nothing is sent: they are released by
//! closing it.

use crate::{
    job::{Job, Measured, Outcome, cpu_seconds, resident_bytes},
    peers::{self, Executor, Smol, TokioCurrentThread, TokioMultiThread},
    workload::{Case, Program, Unit, Workload, size},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "parked",
    about: "tasks that wait in a receive: resident memory",
    follows: "P. Kołaczkowski's \"How Much Memory Do You Need to Run 1 Million Concurrent Tasks?\"",
    unit: Unit::lower_is_better("bytes/task"),
    units: &[],
    cases: &[Case::new("-", &[size("tasks", 100_000, 10_000)]).workers(1)],
    programs: &[
        Program::here("lisle", lisle),
        Program::here("tokio-ct", tokio::<TokioCurrentThread>).note("at a broadcast channel"),
        Program::here("tokio-mt", tokio::<TokioMultiThread>).note("at a broadcast channel"),
        Program::here("smol", smol),
        Program::here("may", may).note(peers::may::CROWD),
        Program::here("threads", threads).note("a tenth as many threads, each with a channel of its own"),
        Program::elsewhere("go"),
        Program::elsewhere("java"),
        Program::elsewhere("boost-fiber"),
        Program::elsewhere("guile-fibers"),
    ],
};

/// Between two looks at where the tasks are.
const PAUSE: Duration = Duration::from_millis(10);

/// Where the tasks are. Each has a reference to it, which is part of its memory.
#[derive(Default)]
struct Tasks {
    arrived: AtomicU64,
    left: AtomicU64,
}

impl Tasks {
    /// Called by each task just before it waits.
    fn arrive(&self) {
        self.arrived.fetch_add(1, Relaxed);
    }

    /// Called by each task that has been released.
    fn leave(&self) {
        self.left.fetch_add(1, Relaxed);
    }
}

/// Measures `park`, which parks so many tasks, and returns by how many bytes the process has grown then.
///
/// It has to be done only once after the warm-up, since a second time would find the memory of the first.
fn bytes_each(tasks: u64, park: impl Fn(u64) -> u64) -> Outcome {
    park(tasks.div_ceil(100));
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let bytes = park(tasks);
    let measured = Measured { operations: tasks, elapsed: start.elapsed(), cpu_seconds: cpu_seconds() - cpu };
    measured.figure(bytes as f64 / tasks as f64)
}

fn growth_since(before: u64) -> u64 {
    resident_bytes().checked_sub(before).expect("tasks that wait take memory")
}

/// For systems in direct style. `spawn_all` spawns the tasks and returns what releases them when it is dropped.
fn park<Release>(tasks: u64, sleep: fn(Duration), spawn_all: impl FnOnce(&Arc<Tasks>) -> Release) -> u64 {
    let all = Arc::<Tasks>::default();
    let before = resident_bytes();
    let release = spawn_all(&all);
    while all.arrived.load(Relaxed) < tasks {
        sleep(PAUSE);
    }
    // The last to arrive may have a step to go to its receive.
    sleep(PAUSE);
    let bytes = growth_since(before);
    drop(release);
    while all.left.load(Relaxed) < tasks {
        sleep(PAUSE);
    }
    bytes
}

fn lisle(job: &Job) -> Outcome {
    let park = |tasks| {
        park(tasks, lisle::time::sleep, |all| {
            let (tx, rx) = lisle::channel::<()>();
            for _ in 0..tasks {
                let (all, rx) = (all.clone(), rx.clone());
                drop(lisle::spawn(move || {
                    all.arrive();
                    assert!(rx.recv().is_err(), "nothing is sent");
                    all.leave();
                }));
            }
            tx
        })
    };
    peers::runtime(job.workers).run(|| bytes_each(job.param("tasks"), park))
}

/// The counterpart of [`park`] for futures.
fn park_futures<E: Executor, Release: Send>(
    executor: &E,
    tasks: u64,
    spawn_all: impl FnOnce(&Arc<Tasks>) -> Release + Send + 'static,
) -> u64 {
    executor.run(async move {
        let all = Arc::<Tasks>::default();
        let before = resident_bytes();
        let release = spawn_all(&all);
        while all.arrived.load(Relaxed) < tasks {
            E::sleep(PAUSE).await;
        }
        E::sleep(PAUSE).await;
        let bytes = growth_since(before);
        drop(release);
        while all.left.load(Relaxed) < tasks {
            E::sleep(PAUSE).await;
        }
        bytes
    })
}

/// Of tokio's channels `broadcast` and `watch` have several receivers, and take the same here. A `oneshot` for
/// each task takes a little more.
fn tokio<E: Executor>(job: &Job) -> Outcome {
    let executor = E::start(job.workers);
    bytes_each(job.param("tasks"), |tasks| {
        park_futures(&executor, tasks, move |all| {
            let (tx, _) = tokio::sync::broadcast::channel::<()>(1);
            for _ in 0..tasks {
                let (all, mut rx) = (all.clone(), tx.subscribe());
                E::detach(async move {
                    all.arrive();
                    assert!(rx.recv().await.is_err(), "nothing is sent");
                    all.leave();
                });
            }
            tx
        })
    })
}

fn smol(job: &Job) -> Outcome {
    let executor = Smol::start(job.workers);
    bytes_each(job.param("tasks"), |tasks| {
        park_futures(&executor, tasks, move |all| {
            let (tx, rx) = smol::channel::bounded::<()>(1);
            for _ in 0..tasks {
                let (all, rx) = (all.clone(), rx.clone());
                Smol::detach(async move {
                    all.arrive();
                    assert!(rx.recv().await.is_err(), "nothing is sent");
                    all.leave();
                });
            }
            tx
        })
    })
}

fn may(job: &Job) -> Outcome {
    use may::sync::mpmc;

    peers::may::start(job.workers);
    // No stacks are there before, which would not count.
    peers::may::keep_stacks(1);
    bytes_each(peers::may::crowd(job.param("tasks")), |tasks| {
        park(tasks, thread::sleep, |all| {
            let (tx, rx) = mpmc::channel::<()>();
            for _ in 0..tasks {
                let (all, rx) = (all.clone(), rx.clone());
                drop(peers::may::spawn(move || {
                    all.arrive();
                    assert!(rx.recv().is_err(), "nothing is sent");
                    all.leave();
                }));
            }
            tx
        })
    })
}

/// A receiver of the standard library is for one thread.
fn threads(job: &Job) -> Outcome {
    bytes_each(job.param("tasks") / 10, |tasks| {
        park(tasks, thread::sleep, |all| {
            let spawn = |_| {
                let (tx, rx) = mpsc::sync_channel::<()>(0);
                let all = all.clone();
                let body = move || {
                    all.arrive();
                    assert!(rx.recv().is_err(), "nothing is sent");
                    all.leave();
                };
                if let Err(error) = thread::Builder::new().spawn(body) {
                    peers::cannot(&format!("the system does not allow {tasks} threads: {error}"));
                }
                tx
            };
            (0..tasks).map(spawn).collect::<Vec<_>>()
        })
    })
}
