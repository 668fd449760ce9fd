//! A file is asked for its size, again and again, as a program does that walks a disk: the cost of
//! each way to a system call that usually need not wait for anything.
//!
//! `call` and `threads` make it where they are, and so does a fiber of `lisle`, which keeps its
//! domain for as long. The others hand it to a pool of threads, as every runtime of futures does
//! with files, or to the kernel's ring. With 64 tasks many calls may be under way: the pools have
//! more to do each time they are woken, and a ring takes 64 at once.

#[path = "stat/file.rs"]
mod file;
#[path = "stat/ring.rs"]
mod ring;

use crate::{
    job::{Job, Outcome, timed},
    peers::{self, Executor, Smol, TokioCurrentThread, TokioMultiThread},
    workload::{Case, Program, Unit, Workload, param},
};
use file::Sized;
use std::{
    fs,
    future::Future,
    io,
    path::{Path, PathBuf},
    thread,
    time::Instant,
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "stat",
    about: "a file is asked for its size, by a call in place, by a pool of threads, or by io_uring",
    follows: "D. Micay's message to rust-dev about 1:1 and M:N scheduling: stat in a loop, 35 times slower",
    unit: Unit::lower_is_better("ns/stat"),
    units: &[],
    cases: &[Case::new("-", &[param("tasks", 1)]), Case::new("-", &[param("tasks", 64)])],
    programs: &[
        Program::here("call", call).only(|case| case.param("tasks") == Some(1)),
        Program::here("lisle", lisle).note("called in the fiber"),
        Program::here("lisle-blocking", blocking).note("`lisle::blocking`, threads beside the domains"),
        Program::here("lisle-uring", ring::fiber).note("io_uring; a fiber waits for its descriptor"),
        Program::here("tokio-ct", futures::<TokioCurrentThread, TokioFiles>)
            .note("threads beside the workers"),
        Program::here("tokio-mt", futures::<TokioMultiThread, TokioFiles>).note("threads beside the workers"),
        Program::here("smol", futures::<Smol, SmolFiles>).note("threads beside the workers"),
        Program::here("threads", threads).note("called in place"),
        Program::here("io-uring", ring::thread).note("one thread, which waits in the kernel"),
        Program::elsewhere("go").note("called in place"),
    ],
};

/// How often each task asks, for `n` of all.
fn shares(n: u64, tasks: u64) -> impl Iterator<Item = u64> {
    (0..tasks).map(move |task| n / tasks + u64::from(task < n % tasks))
}

fn size(path: &Path) -> io::Result<u64> {
    Ok(fs::metadata(path)?.len())
}

/// Asks `times` times, and adds up the sizes.
fn ask(times: u64, mut size: impl FnMut() -> io::Result<u64>) -> u64 {
    (0..times).map(|_| size().expect("the file is there")).sum()
}

fn call(job: &Job) -> Outcome {
    let file = Sized::new();
    job.measure(|n| timed(|| file.check(n, ask(n, || size(file.path()))))).nanoseconds()
}

fn threads(job: &Job) -> Outcome {
    let file = Sized::new();
    let tasks = job.param("tasks");
    let measured = job.measure(|n| {
        timed(|| {
            let sum = thread::scope(|scope| {
                let ask = |times| {
                    scope.spawn({
                        let path = file.path();
                        move || ask(times, || size(path))
                    })
                };
                let threads: Vec<_> = shares(n, tasks).map(ask).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).sum()
            });
            file.check(n, sum);
        })
    });
    measured.nanoseconds()
}

fn lisle(job: &Job) -> Outcome {
    fibers(job, |path| size(&path))
}

fn blocking(job: &Job) -> Outcome {
    fibers(job, |path| lisle::blocking(move || size(&path)))
}

fn fibers(job: &Job, size: fn(PathBuf) -> io::Result<u64>) -> Outcome {
    let file = Sized::new();
    let tasks = job.param("tasks");
    let measured = peers::runtime(job.workers).run(|| {
        job.measure(|n| {
            timed(|| {
                let fibers: Vec<_> = shares(n, tasks)
                    .map(|times| {
                        let path = file.path().to_owned();
                        lisle::spawn(move || ask(times, || size(path.clone())))
                    })
                    .collect();
                file.check(n, fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum());
            })
        })
    });
    measured.nanoseconds()
}

/// How a system of futures asks for the size of a file.
trait Files: 'static {
    fn size(path: &Path) -> impl Future<Output = io::Result<u64>> + Send;
}

struct TokioFiles;

impl Files for TokioFiles {
    async fn size(path: &Path) -> io::Result<u64> {
        Ok(tokio::fs::metadata(path).await?.len())
    }
}

struct SmolFiles;

impl Files for SmolFiles {
    async fn size(path: &Path) -> io::Result<u64> {
        Ok(smol::fs::metadata(path).await?.len())
    }
}

fn futures<E: Executor, F: Files>(job: &Job) -> Outcome {
    async fn ask<F: Files>(times: u64, path: PathBuf) -> u64 {
        let mut sum = 0;
        for _ in 0..times {
            sum += F::size(&path).await.expect("the file is there");
        }
        sum
    }

    let file = Sized::new();
    let tasks = job.param("tasks");
    let executor = E::start(job.workers);
    let measured = job.measure(|n| {
        let path = file.path().to_owned();
        let (sum, elapsed) = executor.run(async move {
            let start = Instant::now();
            let tasks: Vec<_> =
                shares(n, tasks).map(|times| E::spawn(ask::<F>(times, path.clone()))).collect();
            let mut sum = 0;
            for task in tasks {
                sum += task.await;
            }
            (sum, start.elapsed())
        });
        file.check(n, sum);
        elapsed
    });
    measured.nanoseconds()
}
