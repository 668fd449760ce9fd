//! Very many tasks that wait for a message: the memory that a waiting task takes.
//!
//! All wait at one channel, if the system has one for several receivers. Nothing is sent: they are
//! released by closing it.
//!
//! `beyond-future` leaves out the program's own part: the size of a task's future, which holds its
//! variables and the receive. The rest is the system's part.

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
    cases: &[
        Case::new("-", &[size("tasks", 100_000, 10_000)]).workers(1),
        Case::new("-", &[size("tasks", 1_000_000, 20_000)]).workers(1),
        Case::new("beyond-future", &[size("tasks", 1_000_000, 20_000)]).workers(1),
    ],
    programs: &[
        Program::here("lisle", lisle).only(is_whole),
        Program::here("lisle-tasks", tasks),
        Program::here("tokio-ct", tokio::<TokioCurrentThread>).note("at a broadcast channel"),
        Program::here("tokio-mt", tokio::<TokioMultiThread>).note("at a broadcast channel"),
        Program::here("smol", smol),
        Program::here("may", may).only(is_moderate).note(peers::may::CROWD),
        Program::here("threads", threads)
            .only(is_moderate)
            .note("a tenth as many threads, each with a channel of its own"),
        Program::elsewhere("go").only(is_whole),
        Program::elsewhere("java").only(is_moderate),
        Program::elsewhere("boost-fiber").only(is_moderate),
        Program::elsewhere("guile-fibers").only(is_moderate),
    ],
};

/// For systems whose tasks are no futures.
fn is_whole(case: &Case) -> bool {
    case.variant == "-"
}

/// For systems whose million tasks take more memory, or more of a limited resource, than most
/// machines have to spare.
fn is_moderate(case: &Case) -> bool {
    is_whole(case) && case.param("tasks").is_some_and(|tasks| tasks <= 100_000)
}

/// Between two looks at where the tasks are.
const PAUSE: Duration = Duration::from_millis(10);

/// Where the tasks are. Each has a reference to it, which is part of its memory.
#[derive(Default)]
struct Tasks {
    arrived: AtomicU64,
    left: AtomicU64,
    future_bytes: AtomicU64,
}

impl Tasks {
    /// Called with each future before it is spawned.
    fn note_size<F: Future>(&self, future: F) -> F {
        self.future_bytes.fetch_add(size_of::<F>() as u64, Relaxed);
        future
    }

    /// Called by each task just before it waits.
    fn arrive(&self) {
        self.arrived.fetch_add(1, Relaxed);
    }

    /// Called by each task that has been released.
    fn leave(&self) {
        self.left.fetch_add(1, Relaxed);
    }
}

/// By how many bytes the process has grown, and how many of them are the tasks' futures; 0 where
/// they are none.
struct Grown {
    bytes: u64,
    futures: u64,
}

impl Grown {
    fn since(before: u64, all: &Tasks) -> Self {
        let bytes = resident_bytes().checked_sub(before).expect("tasks that wait take memory");
        Grown { bytes, futures: all.future_bytes.load(Relaxed) }
    }
}

/// Measures `park`, which parks `tasks` tasks, and returns by how much the process has grown then.
///
/// It has to be done only once after the warm-up, since a second time would find the memory of the
/// first.
fn bytes_each(job: &Job, tasks: u64, park: impl Fn(u64) -> Grown) -> Outcome {
    park(tasks.div_ceil(100));
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let Grown { bytes, futures } = park(tasks);
    let measured = Measured { operations: tasks, elapsed: start.elapsed(), cpu_seconds: cpu_seconds() - cpu };
    let left_out = if job.variant == "beyond-future" { futures } else { 0 };
    measured.figure((bytes as f64 - left_out as f64) / tasks as f64)
}

/// For systems in direct style. `spawn_all` spawns the tasks and returns a value that releases them
/// when it is dropped.
fn park<Release>(tasks: u64, sleep: fn(Duration), spawn_all: impl FnOnce(&Arc<Tasks>) -> Release) -> Grown {
    let all = Arc::<Tasks>::default();
    let before = resident_bytes();
    let release = spawn_all(&all);
    while all.arrived.load(Relaxed) < tasks {
        sleep(PAUSE);
    }
    // The last to arrive may have a step to go to its receive.
    sleep(PAUSE);
    let grown = Grown::since(before, &all);
    drop(release);
    while all.left.load(Relaxed) < tasks {
        sleep(PAUSE);
    }
    grown
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
    peers::runtime(job.workers).run(|| bytes_each(job, job.param("tasks"), park))
}

fn tasks(job: &Job) -> Outcome {
    let park = |tasks| {
        park(tasks, lisle::time::sleep, |all| {
            let (tx, rx) = lisle::channel::<()>();
            for _ in 0..tasks {
                let (task, rx) = (all.clone(), rx.clone());
                drop(lisle::spawn_task(all.note_size(async move {
                    task.arrive();
                    assert!(rx.recv_evt().await.is_err(), "nothing is sent");
                    task.leave();
                })));
            }
            tx
        })
    };
    peers::runtime(job.workers).run(|| bytes_each(job, job.param("tasks"), park))
}

/// The counterpart of [`park`] for futures.
fn park_futures<E: Executor, Release: Send>(
    executor: &E,
    tasks: u64,
    spawn_all: impl FnOnce(&Arc<Tasks>) -> Release + Send + 'static,
) -> Grown {
    executor.run(async move {
        let all = Arc::<Tasks>::default();
        let before = resident_bytes();
        let release = spawn_all(&all);
        while all.arrived.load(Relaxed) < tasks {
            E::sleep(PAUSE).await;
        }
        E::sleep(PAUSE).await;
        let grown = Grown::since(before, &all);
        drop(release);
        while all.left.load(Relaxed) < tasks {
            E::sleep(PAUSE).await;
        }
        grown
    })
}

/// Of tokio's channels `broadcast` and `watch` have several receivers, and take the same here. A
/// `oneshot` for each task takes a little more.
fn tokio<E: Executor>(job: &Job) -> Outcome {
    let executor = E::start(job.workers);
    bytes_each(job, job.param("tasks"), |tasks| {
        park_futures(&executor, tasks, move |all| {
            let (tx, _) = tokio::sync::broadcast::channel::<()>(1);
            for _ in 0..tasks {
                let (task, mut rx) = (all.clone(), tx.subscribe());
                E::detach(all.note_size(async move {
                    task.arrive();
                    assert!(rx.recv().await.is_err(), "nothing is sent");
                    task.leave();
                }));
            }
            tx
        })
    })
}

fn smol(job: &Job) -> Outcome {
    let executor = Smol::start(job.workers);
    bytes_each(job, job.param("tasks"), |tasks| {
        park_futures(&executor, tasks, move |all| {
            let (tx, rx) = smol::channel::bounded::<()>(1);
            for _ in 0..tasks {
                let (task, rx) = (all.clone(), rx.clone());
                Smol::detach(all.note_size(async move {
                    task.arrive();
                    assert!(rx.recv().await.is_err(), "nothing is sent");
                    task.leave();
                }));
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
    bytes_each(job, peers::may::crowd(job.param("tasks")), |tasks| {
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
    bytes_each(job, job.param("tasks") / 10, |tasks| {
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
