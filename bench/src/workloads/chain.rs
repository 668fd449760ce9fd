//! Messages through a chain of relays, a task each. may is not here: its channels have no bound, so
//! nothing holds its producer back.

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
    name: "chain",
    about: "messages from a producer through relays to a consumer, each a task; all sends count",
    follows: "Guile Fibers: messages a second on a chain of fibers",
    unit: Unit::higher_is_better("messages/s"),
    units: &[],
    cases: &[
        Case::new("rendezvous", &[param("relays", 0)]),
        Case::new("rendezvous", &[param("relays", 10)]),
        Case::new("rendezvous", &[param("relays", 100)]),
        Case::new("buffered", &[param("relays", 10)]),
        Case::new("buffered", &[param("relays", 100)]),
    ],
    programs: &[
        Program::here(limits::NAME, limits::messages).note(limits::EACH_CROSSES),
        Program::here("lisle", lisle),
        Program::here("lisle-tasks", futures::<LisleTasks, LisleChannel>),
        Program::here("tokio-ct", futures::<TokioCurrentThread, TokioMpsc>).note("one slot, if not buffered"),
        Program::here("tokio-mt", futures::<TokioMultiThread, TokioMpsc>).note("one slot, if not buffered"),
        Program::here("kanal", futures::<Tokio, Kanal>).note("on tokio"),
        Program::here("flume", futures::<Tokio, Flume>).note("on tokio"),
        Program::here("async-channel", futures::<Tokio, AsyncChannel>)
            .note("on tokio; one slot, if not buffered"),
        Program::here("smol", futures::<Smol, AsyncChannel>).note("one slot, if not buffered"),
        Program::here("threads", threads::<Std>),
        Program::here("crossbeam-channel", threads::<Crossbeam>).note("on threads"),
        Program::elsewhere("go"),
        Program::elsewhere("java"),
        Program::elsewhere("boost-fiber"),
        Program::elsewhere("guile-fibers"),
    ],
};

fn capacity(job: &Job) -> usize {
    if job.variant == "buffered" { 64 } else { 0 }
}

fn sum_below(n: u64) -> u64 {
    n * (n - 1) / 2
}

fn lisle(job: &Job) -> Outcome {
    let relays = job.param("relays");
    let measured = peers::runtime(job.workers).run(|| {
        job.measure(|n| {
            let (first, mut last) = lisle::channel::bounded(capacity(job));
            for _ in 0..relays {
                let (tx, rx) = lisle::channel::bounded(capacity(job));
                let before = std::mem::replace(&mut last, rx);
                drop(lisle::spawn(move || before.iter().for_each(|message| tx.send(message).unwrap())));
            }
            timed(|| {
                drop(lisle::spawn(move || (0..n).for_each(|i| first.send(i).unwrap())));
                assert_eq!(last.iter().sum::<u64>(), sum_below(n));
            })
        })
    });
    measured.per_second(relays + 1)
}

fn futures<E: Executor, C: Channel>(job: &Job) -> Outcome {
    let (relays, capacity) = (job.param("relays"), capacity(job));
    let executor = E::start(job.workers);
    let measured = job.measure(|n| {
        executor.run(async move {
            let (first, mut last) = C::bounded(capacity);
            for _ in 0..relays {
                let (tx, rx) = C::bounded(capacity);
                let mut before = std::mem::replace(&mut last, rx);
                E::detach(async move {
                    while let Some(message) = C::receive(&mut before).await {
                        C::send(&tx, message).await;
                    }
                });
            }
            let start = Instant::now();
            E::detach(async move {
                for i in 0..n {
                    C::send(&first, i).await;
                }
            });
            let mut sum = 0;
            while let Some(message) = C::receive(&mut last).await {
                sum += message;
            }
            assert_eq!(sum, sum_below(n));
            start.elapsed()
        })
    });
    measured.per_second(relays + 1)
}

fn threads<C: BlockingChannel>(job: &Job) -> Outcome {
    let relays = job.param("relays");
    let measured = job.measure(|n| {
        thread::scope(|scope| {
            let (first, mut last) = C::bounded(capacity(job));
            for _ in 0..relays {
                let (tx, rx) = C::bounded(capacity(job));
                let before = std::mem::replace(&mut last, rx);
                scope.spawn(move || {
                    while let Some(message) = C::receive(&before) {
                        C::send(&tx, message);
                    }
                });
            }
            timed(|| {
                scope.spawn(move || (0..n).for_each(|i| C::send(&first, i)));
                let mut sum = 0;
                while let Some(message) = C::receive(&last) {
                    sum += message;
                }
                assert_eq!(sum, sum_below(n));
            })
        })
    });
    measured.per_second(relays + 1)
}
