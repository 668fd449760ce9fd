//! The diagonal of a cube of many dimensions: tasks that live for one message.

use crate::{
    job::{Job, Outcome, timed},
    limits,
    peers::{
        self, AsyncChannel, BlockingChannel, Channel, Crossbeam, Executor, Flume, Kanal, LisleChannel,
        LisleTasks, Smol, Std, Tokio, TokioCurrentThread, TokioMpsc, TokioMultiThread,
    },
    workload::{Case, Program, Unit, Workload, param},
};
use std::{thread, time::Instant};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "diagonal",
    about: "for each side of a cube a task sends its square; a task adds them up and takes the root",
    follows: "Guile Fibers' diagonal, with new tasks for each",
    unit: Unit::lower_is_better("ns/diagonal"),
    units: &[],
    cases: &[Case::new("-", &[param("dimensions", 100)])],
    programs: &[
        Program::here(limits::NAME, |job| limits::each_message(job, job.param("dimensions")))
            .note(limits::EACH_CROSSES),
        Program::here("lisle", lisle),
        Program::here("lisle-tasks", futures::<LisleTasks, LisleChannel>),
        Program::here("tokio-ct", futures::<TokioCurrentThread, TokioMpsc>).note("one slot"),
        Program::here("tokio-mt", futures::<TokioMultiThread, TokioMpsc>).note("one slot"),
        Program::here("kanal", futures::<Tokio, Kanal>).note("on tokio"),
        Program::here("flume", futures::<Tokio, Flume>).note("on tokio"),
        Program::here("async-channel", futures::<Tokio, AsyncChannel>).note("on tokio; one slot"),
        Program::here("smol", futures::<Smol, AsyncChannel>).note("one slot"),
        Program::here("may", may).note("unbounded"),
        Program::here("threads", threads::<Std>),
        Program::here("crossbeam-channel", threads::<Crossbeam>).note("on threads"),
        Program::elsewhere("go"),
        Program::elsewhere("java"),
        Program::elsewhere("boost-fiber"),
        Program::elsewhere("guile-fibers"),
    ],
};

/// The lengths of the sides. Their squares add up exactly, in whichever order they come.
fn sides(dimensions: u64) -> impl Iterator<Item = u64> {
    1..=dimensions
}

fn expected(dimensions: u64) -> f64 {
    root(sides(dimensions).map(|side| side * side).sum())
}

fn root(sum: u64) -> f64 {
    (sum as f64).sqrt()
}

fn lisle(job: &Job) -> Outcome {
    fn diagonal(dimensions: u64) -> f64 {
        let (tx, rx) = lisle::channel();
        let collector = lisle::spawn(move || root(rx.iter().take(dimensions as usize).sum()));
        for side in sides(dimensions) {
            let tx = tx.clone();
            lisle::spawn(move || tx.send(side * side).unwrap());
        }
        collector.join().unwrap()
    }

    let dimensions = job.param("dimensions");
    let measured = peers::runtime(job.workers).run(|| {
        job.measure(|n| timed(|| (0..n).for_each(|_| assert_eq!(diagonal(dimensions), expected(dimensions)))))
    });
    measured.nanoseconds()
}

fn futures<E: Executor, C: Channel>(job: &Job) -> Outcome {
    async fn collect<C: Channel>(dimensions: u64, mut squares: C::Receiver) -> f64 {
        let mut sum = 0;
        for _ in 0..dimensions {
            sum += C::receive(&mut squares).await.expect("a square for each side");
        }
        root(sum)
    }

    async fn diagonal<E: Executor, C: Channel>(dimensions: u64) -> f64 {
        let (tx, rx) = C::bounded(0);
        let collector = E::spawn(collect::<C>(dimensions, rx));
        for side in sides(dimensions) {
            let tx = tx.clone();
            E::detach(async move { C::send(&tx, side * side).await });
        }
        collector.await
    }

    let dimensions = job.param("dimensions");
    let executor = E::start(job.workers);
    let measured = job.measure(|n| {
        executor.run(async move {
            let start = Instant::now();
            for _ in 0..n {
                assert_eq!(diagonal::<E, C>(dimensions).await, expected(dimensions));
            }
            start.elapsed()
        })
    });
    measured.nanoseconds()
}

/// may's channels have no bound, and need none here: there are no more messages than tasks.
fn may(job: &Job) -> Outcome {
    fn diagonal(dimensions: u64) -> f64 {
        let (tx, rx) = may::sync::mpsc::channel();
        let collector = peers::may::spawn(move || root(rx.iter().take(dimensions as usize).sum()));
        for side in sides(dimensions) {
            let tx = tx.clone();
            drop(peers::may::spawn(move || tx.send(side * side).unwrap()));
        }
        collector.join().unwrap()
    }

    let dimensions = job.param("dimensions");
    peers::may::start(job.workers);
    let measured = job.measure(|n| {
        peers::may::run(move || {
            timed(|| (0..n).for_each(|_| assert_eq!(diagonal(dimensions), expected(dimensions))))
        })
    });
    measured.nanoseconds()
}

fn threads<C: BlockingChannel>(job: &Job) -> Outcome {
    fn diagonal<C: BlockingChannel>(dimensions: u64) -> f64 {
        thread::scope(|scope| {
            let (tx, rx) = C::bounded(0);
            let collector = scope.spawn(move || {
                root((0..dimensions).map(|_| C::receive(&rx).expect("a square for each side")).sum())
            });
            for side in sides(dimensions) {
                let tx = tx.clone();
                scope.spawn(move || C::send(&tx, side * side));
            }
            collector.join().unwrap()
        })
    }

    let dimensions = job.param("dimensions");
    let measured = job.measure(|n| {
        timed(|| (0..n).for_each(|_| assert_eq!(diagonal::<C>(dimensions), expected(dimensions))))
    });
    measured.nanoseconds()
}
