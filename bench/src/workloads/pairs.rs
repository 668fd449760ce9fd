//! Many ping-pongs at once: a scheduler that always has a task to run.
//!
//! The task that asks spawns the one that answers. So each system may keep the two together, if it
//! knows how.

use crate::{
    job::{Job, Outcome, timed},
    limits,
    peers::{
        self, AsyncChannel, BlockingChannel, Channel, Crossbeam, Executor, Flume, Kanal, LisleChannel,
        LisleTasks, Smol, Std, Tokio, TokioCurrentThread, TokioMpsc, TokioMultiThread,
    },
    workload::{Case, Program, Unit, Workload, param},
};
use std::{sync::Barrier, thread, time::Instant};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "pairs",
    about: "pairs of tasks, each pair at a ping-pong over two rendezvous channels of its own",
    follows: "Guile Fibers' ping-pong by many pairs",
    unit: Unit::higher_is_better("messages/s"),
    units: &[],
    cases: &[
        Case::new("-", &[param("pairs", 10)]),
        Case::new("-", &[param("pairs", 100)]),
        Case::new("-", &[param("pairs", 1000)]),
    ],
    programs: &[
        Program::here(limits::NAME, limits::messages).note(limits::EACH_CROSSES),
        Program::here("lisle", lisle),
        Program::here("lisle-tasks", futures::<LisleTasks, LisleChannel>),
        Program::here("tokio-ct", futures::<TokioCurrentThread, TokioMpsc>).note("one slot"),
        Program::here("tokio-mt", futures::<TokioMultiThread, TokioMpsc>).note("one slot"),
        Program::here("kanal", futures::<Tokio, Kanal>).note("on tokio"),
        Program::here("flume", futures::<Tokio, Flume>).note("on tokio"),
        Program::here("async-channel", futures::<Tokio, AsyncChannel>).note("on tokio; one slot"),
        Program::here("smol", futures::<Smol, AsyncChannel>).note("one slot"),
        Program::here("may", may).note("unbounded"),
        Program::here("threads", threads::<Std>).only(few),
        Program::here("crossbeam-channel", threads::<Crossbeam>).only(few).note("on threads"),
        Program::elsewhere("go"),
        Program::elsewhere("java"),
        Program::elsewhere("boost-fiber"),
        Program::elsewhere("guile-fibers"),
    ],
};

/// With two thousand threads most of a sample would be their start and end.
fn few(case: &Case) -> bool {
    case.param("pairs").is_some_and(|pairs| pairs <= 100)
}

/// How many round trips each pair makes, for `n` of all.
fn shares(n: u64, pairs: u64) -> impl Iterator<Item = u64> {
    (0..pairs).map(move |pair| n / pairs + u64::from(pair < n % pairs))
}

fn lisle(job: &Job) -> Outcome {
    fn pair(trips: u64) {
        let (ping, pinged) = lisle::channel();
        let (pong, ponged) = lisle::channel();
        lisle::spawn(move || pinged.iter().try_for_each(|message| pong.send(message)));
        for i in 0..trips {
            ping.send(i).unwrap();
            assert_eq!(ponged.recv(), Ok(i));
        }
    }

    let pairs = job.param("pairs");
    let measured = peers::runtime(job.workers).run(|| {
        job.measure(|n| {
            timed(|| {
                let fibers: Vec<_> =
                    shares(n, pairs).map(|trips| lisle::spawn(move || pair(trips))).collect();
                fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
            })
        })
    });
    measured.per_second(2)
}

fn futures<E: Executor, C: Channel>(job: &Job) -> Outcome {
    async fn pair<E: Executor, C: Channel>(trips: u64) {
        let (ping, mut pinged) = C::bounded(0);
        let (pong, mut ponged) = C::bounded(0);
        E::detach(async move {
            while let Some(message) = C::receive(&mut pinged).await {
                C::send(&pong, message).await;
            }
        });
        for i in 0..trips {
            C::send(&ping, i).await;
            assert_eq!(C::receive(&mut ponged).await, Some(i));
        }
    }

    let pairs = job.param("pairs");
    let executor = E::start(job.workers);
    let measured = job.measure(|n| {
        executor.run(async move {
            let start = Instant::now();
            let tasks: Vec<_> = shares(n, pairs).map(|trips| E::spawn(pair::<E, C>(trips))).collect();
            for task in tasks {
                task.await;
            }
            start.elapsed()
        })
    });
    measured.per_second(2)
}

/// may's channels have no bound, and need none here: one message is under way. Its channels of one
/// sender and one receiver are the fastest.
fn may(job: &Job) -> Outcome {
    use may::sync::spsc;

    fn pair(trips: u64) {
        let (ping, pinged) = spsc::channel();
        let (pong, ponged) = spsc::channel();
        drop(peers::may::spawn(move || {
            // Counted: a receiver that is about to wait can miss that the last sender goes.
            pinged.iter().take(trips as usize).for_each(|message| pong.send(message).unwrap());
        }));
        for i in 0..trips {
            ping.send(i).unwrap();
            assert_eq!(ponged.recv(), Ok(i));
        }
    }

    let pairs = job.param("pairs");
    peers::may::start(job.workers);
    // Room for all stacks. Otherwise stacks beyond the default of 1,000 would be mapped and
    // unmapped in each run.
    may::config().set_pool_capacity(2 * pairs as usize + 1);
    let measured = job.measure(|n| {
        peers::may::run(move || {
            timed(|| {
                let coroutines: Vec<_> =
                    shares(n, pairs).map(|trips| peers::may::spawn(move || pair(trips))).collect();
                coroutines.into_iter().for_each(|coroutine| coroutine.join().unwrap());
            })
        })
    });
    measured.per_second(2)
}

/// Threads take long to start, beside their work, so all are there before the clock starts.
fn threads<C: BlockingChannel>(job: &Job) -> Outcome {
    let pairs = job.param("pairs");
    let measured = job.measure(|n| {
        let all_there = Barrier::new(pairs as usize + 1);
        thread::scope(|scope| {
            let asking: Vec<_> = shares(n, pairs)
                .map(|trips| {
                    let (ping, pinged) = C::bounded(0);
                    let (pong, ponged) = C::bounded(0);
                    scope.spawn(move || {
                        while let Some(message) = C::receive(&pinged) {
                            C::send(&pong, message);
                        }
                    });
                    let all_there = &all_there;
                    scope.spawn(move || {
                        all_there.wait();
                        for i in 0..trips {
                            C::send(&ping, i);
                            assert_eq!(C::receive(&ponged), Some(i));
                        }
                    })
                })
                .collect();
            all_there.wait();
            timed(|| asking.into_iter().for_each(|thread| thread.join().unwrap()))
        })
    });
    measured.per_second(2)
}
