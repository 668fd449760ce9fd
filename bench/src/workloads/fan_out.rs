//! One producer, many consumers at one channel: a pool that works off a queue.

use crate::{
    job::{Job, Outcome, timed},
    limits,
    peers::{
        self, AsyncChannel, BlockingChannel, Channel, Crossbeam, Executor, Flume, Kanal, LisleChannel,
        LisleTasks, SharedChannel, Smol, Std, Tokio, TokioCurrentThread, TokioMpsc, TokioMultiThread,
    },
    workload::{Case, Program, Unit, Workload, param},
};
use std::{
    iter,
    sync::{Arc, Mutex},
    thread,
    time::Instant,
};

/// tokio's channels have one receiver. The other ways are a lock around it, which is slower, and
/// async-channel, which has a row of its own.
const IN_TURN: &str = "a channel for each consumer, of one slot or 64, served in turn";

pub(crate) static WORKLOAD: Workload = Workload {
    name: "fan-out",
    about: "messages from one producer to many consumers that receive from the same channel",
    follows: "Guile Fibers' fan-out",
    unit: Unit::higher_is_better("messages/s"),
    units: &[],
    cases: &[
        Case::new("rendezvous", &[param("consumers", 10)]),
        Case::new("rendezvous", &[param("consumers", 100)]),
        Case::new("buffered", &[param("consumers", 10)]),
    ],
    programs: &[
        Program::here(limits::NAME, limits::messages).note(limits::EACH_CROSSES),
        Program::here("lisle", lisle),
        Program::here("lisle-tasks", futures_shared::<LisleTasks, LisleChannel>),
        Program::here("tokio-ct", futures_in_turn::<TokioCurrentThread, TokioMpsc>).note(IN_TURN),
        Program::here("tokio-mt", futures_in_turn::<TokioMultiThread, TokioMpsc>).note(IN_TURN),
        Program::here("kanal", futures_shared::<Tokio, Kanal>).note("on tokio"),
        Program::here("flume", futures_shared::<Tokio, Flume>).note("on tokio"),
        Program::here("async-channel", futures_shared::<Tokio, AsyncChannel>)
            .note("on tokio; one slot, if not buffered"),
        Program::here("smol", futures_shared::<Smol, AsyncChannel>).note("one slot, if not buffered"),
        Program::here("threads", threads::<Locked>).note("a lock around the receiver"),
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
    let consumers = job.param("consumers");
    let measured = peers::runtime(job.workers).run(|| {
        job.measure(|n| {
            let (tx, rx) = lisle::channel::bounded(capacity(job));
            let consume = |rx: lisle::channel::Receiver<u64>| lisle::spawn(move || rx.iter().sum::<u64>());
            let consumers: Vec<_> = (0..consumers).map(|_| consume(rx.clone())).collect();
            timed(|| {
                (0..n).for_each(|i| tx.send(i).unwrap());
                drop(tx);
                let sums = consumers.into_iter().map(|fiber| fiber.join().unwrap());
                assert_eq!(sums.sum::<u64>(), sum_below(n));
            })
        })
    });
    measured.per_second(1)
}

/// The producer's ends, which it uses in turn, and an end for each consumer.
type Ends<S, R> = (Vec<S>, Vec<R>);

fn futures_shared<E: Executor, C: SharedChannel>(job: &Job) -> Outcome {
    futures::<E, C>(job, |consumers| {
        let (tx, rx) = C::bounded(capacity(job));
        (vec![tx], vec![rx; consumers])
    })
}

fn futures_in_turn<E: Executor, C: Channel>(job: &Job) -> Outcome {
    futures::<E, C>(job, |consumers| iter::repeat_with(|| C::bounded(capacity(job))).take(consumers).unzip())
}

fn futures<E: Executor, C: Channel>(
    job: &Job,
    ends: impl Fn(usize) -> Ends<C::Sender, C::Receiver>,
) -> Outcome {
    async fn consume<C: Channel>(mut receiver: C::Receiver) -> u64 {
        let mut sum = 0;
        while let Some(message) = C::receive(&mut receiver).await {
            sum += message;
        }
        sum
    }

    let consumers = job.param("consumers") as usize;
    let executor = E::start(job.workers);
    let measured = job.measure(|n| {
        let (senders, receivers) = ends(consumers);
        executor.run(async move {
            let consumers: Vec<_> =
                receivers.into_iter().map(|receiver| E::spawn(consume::<C>(receiver))).collect();
            let start = Instant::now();
            for (i, sender) in (0..n).zip(senders.iter().cycle()) {
                C::send(sender, i).await;
            }
            drop(senders);
            let mut sum = 0;
            for consumer in consumers {
                sum += consumer.await;
            }
            assert_eq!(sum, sum_below(n));
            start.elapsed()
        })
    });
    measured.per_second(1)
}

/// The standard library's channel with its receiver behind a lock, as in the thread pool of the
/// Rust book.
struct Locked;

impl BlockingChannel for Locked {
    type Sender = <Std as BlockingChannel>::Sender;
    type Receiver = Arc<Mutex<<Std as BlockingChannel>::Receiver>>;

    fn bounded(capacity: usize) -> (Self::Sender, Self::Receiver) {
        let (tx, rx) = Std::bounded(capacity);
        (tx, Arc::new(Mutex::new(rx)))
    }

    fn send(sender: &Self::Sender, message: u64) {
        Std::send(sender, message);
    }

    fn receive(receiver: &Self::Receiver) -> Option<u64> {
        Std::receive(&receiver.lock().unwrap())
    }
}

fn threads<C: BlockingChannel<Receiver: Clone>>(job: &Job) -> Outcome {
    let consumers = job.param("consumers");
    let measured = job.measure(|n| {
        thread::scope(|scope| {
            let (tx, rx) = C::bounded(capacity(job));
            let consume =
                |rx: C::Receiver| scope.spawn(move || iter::from_fn(|| C::receive(&rx)).sum::<u64>());
            let consumers: Vec<_> = (0..consumers).map(|_| consume(rx.clone())).collect();
            timed(|| {
                (0..n).for_each(|i| C::send(&tx, i));
                drop(tx);
                let sums = consumers.into_iter().map(|thread| thread.join().unwrap());
                assert_eq!(sums.sum::<u64>(), sum_below(n));
            })
        })
    });
    measured.per_second(1)
}
