//! Gathering a message from each of several producers, again and again.
//!
//! `threads`: a thread for each receive, the way to make a choice of all from threads. An end of a
//! channel goes along with its receive and comes back with the message, which costs less than
//! sharing it. `together`: without threads, by the system's own wait for all of several events;
//! where it has none, one after the other.

use crate::{
    job::{Job, Measured, Outcome, timed},
    peers::{self, Channel, Executor, TokioCurrentThread, TokioMpsc, TokioMultiThread},
    workload::{Case, Param, Program, Unit, Workload, param, size},
};
use ::futures::future::join_all;
use lisle::{
    Event,
    channel::{Receiver, Sender},
    event::choose_all,
};
use std::time::{Duration, Instant};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "choose-all",
    about: "a consumer gathers a message from each of several producers, round by round",
    follows: "\"Featherweight Threads for Communication\", figure 10: by tasks in half the time of fibers",
    unit: Unit::lower_is_better("ns/message"),
    units: &[],
    cases: &[
        Case::new("threads", &[param("producers", 2), MESSAGES]),
        Case::new("threads", &[param("producers", 4), MESSAGES]),
        Case::new("threads", &[param("producers", 8), MESSAGES]),
        Case::new("threads", &[param("producers", 16), MESSAGES]),
        Case::new("together", &[param("producers", 2), MESSAGES]),
        Case::new("together", &[param("producers", 4), MESSAGES]),
        Case::new("together", &[param("producers", 8), MESSAGES]),
        Case::new("together", &[param("producers", 16), MESSAGES]),
    ],
    programs: &[
        Program::here("lisle-tasks", tasks).only(by_threads),
        Program::here("lisle-fibers", fibers).only(by_threads),
        Program::here("lisle", in_turn).only(together).note("one after the other"),
        Program::here("lisle-choose-all", all).only(together).note("`choose_all`"),
        Program::here("tokio-ct", futures::<TokioCurrentThread, TokioMpsc>)
            .note("one slot; together: join_all"),
        Program::here("tokio-mt", futures::<TokioMultiThread, TokioMpsc>)
            .note("one slot; together: join_all"),
        Program::elsewhere("go").note("together: one after the other"),
    ],
};

/// From each producer.
const MESSAGES: Param = size("messages", 100_000, 1_000);

fn by_threads(case: &Case) -> bool {
    case.variant == "threads"
}

fn together(case: &Case) -> bool {
    case.variant == "together"
}

/// The sum of each producer's messages.
fn sum_below(n: u64) -> u64 {
    n * (n - 1) / 2
}

/// Measures `run`, in which each producer sends a number of messages, with a hundredth of them as a
/// warm-up.
fn measure(job: &Job, run: impl Fn(u64, u64) -> Duration) -> Outcome {
    let (producers, messages) = (job.param("producers"), job.param("messages"));
    let warm_up = || {
        run(producers, messages.div_ceil(100));
    };
    let measured = job.measure_whole(warm_up, || run(producers, messages));
    Measured { operations: measured.operations * producers * messages, ..measured }.nanoseconds()
}

/// Measures `gather`, which receives a number of rounds and returns the sum, beside producers that
/// are fibers.
fn measure_fibers(job: &Job, gather: fn(u64, Vec<Receiver<u64>>) -> u64) -> Outcome {
    fn produce(messages: u64, tx: Sender<u64>) {
        lisle::spawn(move || (0..messages).for_each(|message| tx.send(message).unwrap()));
    }

    let run = |producers, messages| {
        timed(|| {
            let receivers = (0..producers)
                .map(|_| {
                    let (tx, rx) = lisle::channel();
                    produce(messages, tx);
                    rx
                })
                .collect();
            assert_eq!(gather(messages, receivers), producers * sum_below(messages));
        })
    };
    peers::runtime(job.workers).run(|| measure(job, run))
}

fn tasks(job: &Job) -> Outcome {
    measure_fibers(job, |rounds, mut receivers| {
        let mut tasks = Vec::with_capacity(receivers.len());
        let mut sum = 0;
        for _ in 0..rounds {
            tasks.extend(receivers.drain(..).map(|rx| {
                lisle::spawn_task(async move {
                    let message = rx.recv_evt().await.unwrap();
                    (rx, message)
                })
            }));
            receivers.extend(tasks.drain(..).map(|task| {
                let (rx, message) = task.join().unwrap();
                sum += message;
                rx
            }));
        }
        sum
    })
}

fn fibers(job: &Job) -> Outcome {
    measure_fibers(job, |rounds, mut receivers| {
        let mut fibers = Vec::with_capacity(receivers.len());
        let mut sum = 0;
        for _ in 0..rounds {
            fibers.extend(receivers.drain(..).map(|rx| {
                lisle::spawn(move || {
                    let message = rx.recv().unwrap();
                    (rx, message)
                })
            }));
            receivers.extend(fibers.drain(..).map(|fiber| {
                let (rx, message) = fiber.join().unwrap();
                sum += message;
                rx
            }));
        }
        sum
    })
}

fn in_turn(job: &Job) -> Outcome {
    measure_fibers(job, |rounds, receivers| {
        (0..rounds).flat_map(|_| &receivers).map(|rx| rx.recv().unwrap()).sum()
    })
}

fn all(job: &Job) -> Outcome {
    measure_fibers(job, |rounds, receivers| {
        let messages = choose_all(receivers.iter().map(Receiver::recv_evt).collect::<Vec<_>>());
        (0..rounds).map(|_| messages.sync().into_iter().map(Result::unwrap).sum::<u64>()).sum()
    })
}

fn futures<E: Executor, C: Channel>(job: &Job) -> Outcome {
    async fn by_tasks<E: Executor, C: Channel>(rounds: u64, mut receivers: Vec<C::Receiver>) -> u64 {
        let mut tasks = Vec::with_capacity(receivers.len());
        let mut sum = 0;
        for _ in 0..rounds {
            tasks.extend(receivers.drain(..).map(|mut rx| {
                E::spawn(async move {
                    let message = C::receive(&mut rx).await.unwrap();
                    (rx, message)
                })
            }));
            for task in tasks.drain(..) {
                let (rx, message) = task.await;
                receivers.push(rx);
                sum += message;
            }
        }
        sum
    }

    async fn by_joining<C: Channel>(rounds: u64, mut receivers: Vec<C::Receiver>) -> u64 {
        let mut sum = 0;
        for _ in 0..rounds {
            let messages = join_all(receivers.iter_mut().map(C::receive)).await;
            sum += messages.into_iter().map(Option::unwrap).sum::<u64>();
        }
        sum
    }

    let joins = job.variant == "together";
    let executor = E::start(job.workers);
    measure(job, |producers, messages| {
        executor.run(async move {
            let start = Instant::now();
            let mut receivers = Vec::new();
            for _ in 0..producers {
                let (tx, rx) = C::bounded(0);
                receivers.push(rx);
                E::detach(async move {
                    for message in 0..messages {
                        C::send(&tx, message).await;
                    }
                });
            }
            let sum = if joins {
                by_joining::<C>(messages, receivers).await
            } else {
                by_tasks::<E, C>(messages, receivers).await
            };
            assert_eq!(sum, producers * sum_below(messages));
            start.elapsed()
        })
    })
}
