//! Messages that their producer sends without waiting until they are taken: the cost of that,
//! beside sending them synchronously.
//!
//! An asynchronous send is a thread that sends, or the system's own form: with Lisle a message that
//! waits in line, where a limited number may wait. At most a batch of threads is under way: the
//! producer waits for all of a batch before it goes on. With Lisle a batch is a scope; with tokio
//! the producer waits for the last task first, because most often the others have ended by then.

use crate::{
    job::{Job, Outcome, timed},
    limits,
    peers::{self, Channel, Executor, TokioCurrentThread, TokioMpsc, TokioMultiThread},
    workload::{Case, Program, Unit, Workload},
};
use lisle::channel::Sender;
use std::time::Instant;

pub(crate) static WORKLOAD: Workload = Workload {
    name: "async-send",
    about: "messages over a rendezvous channel, each sent by a thread of its own so that the producer need not wait",
    follows: "\"Featherweight Threads for Communication\", table 1: 1 synchronous, 4.96 by fibers, 1.05 by tasks",
    unit: Unit::lower_is_better("ns/message"),
    units: &[],
    cases: &[Case::new("synchronous", &[]), Case::new("asynchronous", &[])],
    programs: &[
        Program::here(limits::NAME, |job| limits::each_message(job, 1)).note(limits::EACH_CROSSES),
        Program::here("lisle", synchronous)
            .note("synchronous, in both tables: what the others are compared with"),
        Program::here("lisle-send-async", in_line).only(is_asynchronous).note("`Sender::send_async`"),
        Program::here("lisle-tasks", tasks).only(is_asynchronous),
        Program::here("lisle-fibers", fibers).only(is_asynchronous),
        Program::here("tokio-ct", futures::<TokioCurrentThread, TokioMpsc>).note("one slot"),
        Program::here("tokio-mt", futures::<TokioMultiThread, TokioMpsc>).note("one slot"),
        Program::elsewhere("go"),
    ],
};

/// How many sends are under way at most.
const BATCH: u64 = 64;

fn is_asynchronous(case: &Case) -> bool {
    case.variant == "asynchronous"
}

fn sum_below(n: u64) -> u64 {
    n * (n - 1) / 2
}

/// How many messages each batch has, for `n` in all.
fn batches(n: u64) -> impl Iterator<Item = std::ops::Range<u64>> {
    (0..n).step_by(BATCH as usize).map(move |first| first..n.min(first + BATCH))
}

/// Measures `produce`, which sends all numbers below the one that it is given. A fiber receives
/// them.
fn measure(job: &Job, produce: impl Fn(u64, &Sender<u64>)) -> Outcome {
    let measured = job.measure(|n| {
        let (tx, rx) = lisle::channel();
        let consumer = lisle::spawn(move || rx.iter().sum::<u64>());
        timed(|| {
            produce(n, &tx);
            drop(tx);
            assert_eq!(consumer.join().unwrap(), sum_below(n));
        })
    });
    measured.nanoseconds()
}

fn synchronous(job: &Job) -> Outcome {
    peers::runtime(job.workers)
        .run(|| measure(job, |n, tx| (0..n).for_each(|message| tx.send(message).unwrap())))
}

fn in_line(job: &Job) -> Outcome {
    peers::runtime(job.workers)
        .run(|| measure(job, |n, tx| (0..n).for_each(|message| drop(tx.send_async(message)))))
}

fn tasks(job: &Job) -> Outcome {
    let produce = |n, tx: &Sender<u64>| {
        for batch in batches(n) {
            lisle::fiber::scope(|scope| {
                for message in batch {
                    drop(scope.spawn_task(async move { tx.send_evt(message).await.unwrap() }));
                }
            });
        }
    };
    peers::runtime(job.workers).run(|| measure(job, produce))
}

fn fibers(job: &Job) -> Outcome {
    let produce = |n, tx: &Sender<u64>| {
        for batch in batches(n) {
            lisle::fiber::scope(|scope| {
                for message in batch {
                    drop(scope.spawn(move || tx.send(message).unwrap()));
                }
            });
        }
    };
    peers::runtime(job.workers).run(|| measure(job, produce))
}

fn futures<E: Executor, C: Channel>(job: &Job) -> Outcome {
    async fn synchronous<C: Channel>(n: u64, tx: &C::Sender) {
        for message in 0..n {
            C::send(tx, message).await;
        }
    }

    async fn asynchronous<E: Executor, C: Channel>(n: u64, tx: &C::Sender) {
        let mut sends = Vec::with_capacity(BATCH as usize);
        for batch in batches(n) {
            sends.extend(batch.map(|message| {
                let tx = tx.clone();
                E::spawn(async move { C::send(&tx, message).await })
            }));
            for send in sends.drain(..).rev() {
                send.await;
            }
        }
    }

    let waits = job.variant == "synchronous";
    let executor = E::start(job.workers);
    let measured = job.measure(|n| {
        executor.run(async move {
            let (tx, mut rx) = C::bounded(0);
            let consumer = E::spawn(async move {
                let mut sum = 0;
                while let Some(message) = C::receive(&mut rx).await {
                    sum += message;
                }
                sum
            });
            let start = Instant::now();
            if waits {
                synchronous::<C>(n, &tx).await;
            } else {
                asynchronous::<E, C>(n, &tx).await;
            }
            drop(tx);
            assert_eq!(consumer.await, sum_below(n));
            start.elapsed()
        })
    });
    measured.nanoseconds()
}
