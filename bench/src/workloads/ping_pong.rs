//! A message there and one back, again and again: the cost of a talk of two tasks.
//!
//! Channels are rendezvous where the system has them. With one message under way at a time a buffer
//! would not be used, so a system without is not at a disadvantage.

use crate::{
    job::{Job, Outcome, timed},
    limits,
    peers::{
        self, AsyncChannel, BlockingChannel, Channel, Crossbeam, Executor, Flume, Kanal, LisleChannel,
        LisleTasks, Smol, Std, Tokio, TokioCurrentThread, TokioMpsc, TokioMultiThread,
    },
    workload::{Case, Program, Unit, Workload},
};
use std::{
    thread,
    time::{Duration, Instant},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "ping-pong",
    about: "a message there and one back over two rendezvous channels",
    follows: "the ping-pong pair of Guile Fibers' and Multi-MLton's evaluations",
    unit: Unit::lower_is_better("ns/round trip"),
    units: &[],
    cases: &[
        Case::new("one-domain", &[]).workers(1),
        Case::new("two-domains", &[]).workers(2),
        Case::new("task-and-thread", &[]).workers(2),
        Case::new("two-threads", &[]).workers(2),
    ],
    programs: &[
        Program::here(limits::NAME, limits::round_trips)
            .only(|case| case.variant != "one-domain")
            .note(limits::EACH_CROSSES),
        Program::here("lisle", lisle),
        Program::here("lisle-tasks", futures::<LisleTasks, LisleChannel>)
            .only(|case| case.variant != "two-threads")
            .note("in two-domains the tasks may come together"),
        Program::here("tokio-ct", futures::<TokioCurrentThread, TokioMpsc>)
            .only(|case| case.variant != "two-domains")
            .note("one slot"),
        Program::here("tokio-mt", futures::<TokioMultiThread, TokioMpsc>).note("one slot"),
        Program::here("kanal", futures::<Tokio, Kanal>).note("on tokio"),
        Program::here("flume", futures::<Tokio, Flume>).note("on tokio"),
        Program::here("async-channel", futures::<Tokio, AsyncChannel>).note("on tokio; one slot"),
        Program::here("smol", futures::<Smol, AsyncChannel>).note("one slot"),
        Program::here("may", may).note("unbounded"),
        Program::here("threads", threads::<Std>).only(|case| case.variant == "two-threads"),
        Program::here("crossbeam-channel", threads::<Crossbeam>).only(|case| case.variant == "two-threads"),
        Program::elsewhere("go"),
        Program::elsewhere("java"),
        Program::elsewhere("boost-fiber"),
        Program::elsewhere("guile-fibers"),
    ],
};

type Ends = (lisle::channel::Sender<u64>, lisle::channel::Receiver<u64>);

fn ends() -> (Ends, Ends) {
    let (ping, pinged) = lisle::channel();
    let (pong, ponged) = lisle::channel();
    ((ping, ponged), (pong, pinged))
}

fn lisle(job: &Job) -> Outcome {
    /// Asks `n` times.
    fn ask(n: u64, (ping, pong): Ends) -> Duration {
        timed(|| {
            for i in 0..n {
                ping.send(i).unwrap();
                assert_eq!(pong.recv(), Ok(i));
            }
        })
    }

    fn answer((pong, ping): Ends) {
        for message in ping {
            pong.send(message).unwrap();
        }
    }

    let measured = match job.variant.as_str() {
        "two-threads" => job.measure(|n| {
            let (asks, answers) = ends();
            thread::scope(|scope| {
                scope.spawn(|| answer(answers));
                ask(n, asks)
            })
        }),
        "task-and-thread" => {
            let runtime = lisle::Runtime::builder().domains(1).start().unwrap();
            job.measure(|n| {
                let (asks, answers) = ends();
                let fiber = runtime.spawn(|| answer(answers));
                let elapsed = ask(n, asks);
                fiber.join().unwrap();
                elapsed
            })
        }
        _ => peers::runtime(job.workers).run(|| {
            job.measure(|n| {
                let (asks, answers) = ends();
                // The other domain, where there are two.
                let fiber = lisle::fiber::spawn_on(job.workers - 1, || answer(answers));
                let elapsed = ask(n, asks);
                fiber.join().unwrap();
                elapsed
            })
        }),
    };
    measured.nanoseconds()
}

/// For systems of futures.
fn futures<E: Executor, C: Channel>(job: &Job) -> Outcome {
    async fn ask<C: Channel>(n: u64, ping: C::Sender, mut pong: C::Receiver) -> Duration {
        let start = Instant::now();
        for i in 0..n {
            C::send(&ping, i).await;
            assert_eq!(C::receive(&mut pong).await, Some(i));
        }
        start.elapsed()
    }

    async fn answer<C: Channel>(pong: C::Sender, mut ping: C::Receiver) {
        while let Some(message) = C::receive(&mut ping).await {
            C::send(&pong, message).await;
        }
    }

    /// One half of the system's own, the other a plain thread's.
    fn answer_blocking<C: Channel>(pong: &C::Sender, mut ping: C::Receiver) {
        while let Some(message) = C::receive_blocking(&mut ping) {
            C::send_blocking(pong, message);
        }
    }

    fn ask_blocking<C: Channel>(n: u64, ping: &C::Sender, mut pong: C::Receiver) -> Duration {
        timed(|| {
            for i in 0..n {
                C::send_blocking(ping, i);
                assert_eq!(C::receive_blocking(&mut pong), Some(i));
            }
        })
    }

    let ends = || (C::bounded(0), C::bounded(0));
    let measured = match job.variant.as_str() {
        "two-threads" => job.measure(|n| {
            let ((ping, pinged), (pong, ponged)) = ends();
            thread::scope(|scope| {
                scope.spawn(move || answer_blocking::<C>(&pong, pinged));
                let elapsed = ask_blocking::<C>(n, &ping, ponged);
                drop(ping);
                elapsed
            })
        }),
        "task-and-thread" => {
            let executor = E::start(1);
            job.measure(|n| {
                let ((ping, pinged), (pong, ponged)) = ends();
                thread::scope(|scope| {
                    scope.spawn(move || answer_blocking::<C>(&pong, pinged));
                    executor.run(ask::<C>(n, ping, ponged))
                })
            })
        }
        _ => {
            let executor = E::start(job.workers);
            job.measure(|n| {
                executor.run(async move {
                    let ((ping, pinged), (pong, ponged)) = ends();
                    let other = E::spawn(answer::<C>(pong, pinged));
                    let elapsed = ask::<C>(n, ping, ponged).await;
                    other.await;
                    elapsed
                })
            })
        }
    };
    measured.nanoseconds()
}

/// For channels of plain threads.
fn threads<C: BlockingChannel>(job: &Job) -> Outcome {
    let measured = job.measure(|n| {
        let ((ping, pinged), (pong, ponged)) = (C::bounded(0), C::bounded(0));
        thread::scope(|scope| {
            scope.spawn(move || {
                while let Some(message) = C::receive(&pinged) {
                    C::send(&pong, message);
                }
            });
            timed(move || {
                for i in 0..n {
                    C::send(&ping, i);
                    assert_eq!(C::receive(&ponged), Some(i));
                }
            })
        })
    });
    measured.nanoseconds()
}

/// may's channels have no bound; its channels of one sender and one receiver are the fastest. Both
/// sides count: a receiver that is about to wait can miss that the last sender goes.
fn may(job: &Job) -> Outcome {
    use may::sync::spsc;

    fn ask(n: u64, ping: &spsc::Sender<u64>, pong: &spsc::Receiver<u64>) -> Duration {
        timed(|| {
            for i in 0..n {
                ping.send(i).unwrap();
                assert_eq!(pong.recv(), Ok(i));
            }
        })
    }

    fn answer(n: u64, pong: &spsc::Sender<u64>, ping: &spsc::Receiver<u64>) {
        for _ in 0..n {
            pong.send(ping.recv().unwrap()).unwrap();
        }
    }

    peers::may::start(if job.variant == "task-and-thread" { 1 } else { job.workers });
    let measured = job.measure(|n| {
        let (ping, pinged) = spsc::channel();
        let (pong, ponged) = spsc::channel();
        match job.variant.as_str() {
            "two-threads" => {
                let other = thread::spawn(move || answer(n, &pong, &pinged));
                let elapsed = ask(n, &ping, &ponged);
                other.join().unwrap();
                elapsed
            }
            "task-and-thread" => {
                let other = thread::spawn(move || answer(n, &pong, &pinged));
                let elapsed = peers::may::run(move || ask(n, &ping, &ponged));
                other.join().unwrap();
                elapsed
            }
            _ => peers::may::run(move || {
                let other = peers::may::spawn(move || answer(n, &pong, &pinged));
                let elapsed = ask(n, &ping, &ponged);
                other.join().unwrap();
                elapsed
            }),
        }
    });
    measured.nanoseconds()
}
