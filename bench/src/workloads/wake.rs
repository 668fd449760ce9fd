//! A message from a plain thread to a task whose worker has gone to sleep: how long it takes until
//! the task runs.
//!
//! The thread has a core for itself and busy-waits between its messages, so that it never sleeps.
//! On this core the kernel could run the worker at once, in the place of the thread; therefore the
//! worker is kept to the other core.

use crate::{
    job::{Figure, Job, Measured, Outcome, cpu_seconds},
    limits::{self, Bell},
    peers::{
        self, AsyncChannel, BlockingChannel, Channel, Crossbeam, Executor, Flume, Kanal, LisleChannel,
        LisleTasks, Smol, Std, Tokio, TokioCurrentThread, TokioMpsc, TokioMultiThread,
    },
    workload::{Case, Program, Unit, Workload},
};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::{
    hint::spin_loop,
    sync::{
        Arc,
        atomic::{
            AtomicU64,
            Ordering::{Acquire, Release},
        },
    },
    thread,
    time::{Duration, Instant},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "wake",
    about: "a thread sends to a task of an idle runtime: the time until the task has the message",
    follows: "schbench: percentiles of the time to wake up",
    unit: Unit::lower_is_better("ns"),
    units: &[
        ("p50", Unit::lower_is_better("ns")),
        ("p99", Unit::lower_is_better("ns")),
        ("p99.9", Unit::lower_is_better("ns")),
    ],
    cases: &[Case::new("-", &[]).workers(2)],
    programs: &[
        Program::here(limits::NAME, limit).note("a thread that sleeps at a futex"),
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
        Program::here("crossbeam-channel", threads::<Crossbeam>).note("between threads"),
        Program::elsewhere("go"),
        Program::elsewhere("java"),
        Program::elsewhere("boost-fiber"),
        Program::elsewhere("guile-fibers"),
    ],
};

/// For how long the receiver is left alone before each message.
const IDLE: Duration = Duration::from_micros(50);

/// The message after the last. Closing the channel would say the same, but a coroutine of may that
/// is about to wait misses it.
const END: u64 = u64::MAX;

/// Keeps this thread, and the threads that it starts from now on, to the first core of the process.
/// Returns the last one, which is the sender's.
fn split_cores() -> CpuSet {
    let ours = sched_getaffinity(None).expect("a process may ask where it may run");
    let mut cores = (0..CpuSet::MAX_CPU).filter(|&core| ours.is_set(core));
    let first = cores.next().expect("a process runs somewhere");
    keep_to(&only(first));
    only(cores.next_back().unwrap_or(first))
}

fn only(core: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(core);
    set
}

fn keep_to(cores: &CpuSet) {
    sched_setaffinity(None, cores).expect("these cores are the process's own");
}

/// Messages for a while: the common state of the two sides.
struct Exchange {
    sender_core: CpuSet,
    period: Duration,
    epoch: Instant,
    /// How many messages have come.
    received: Arc<AtomicU64>,
}

/// The records of the receiving side.
struct Receipts {
    epoch: Instant,
    received: Arc<AtomicU64>,
    latencies: Vec<u64>,
}

impl Exchange {
    /// Runs both sides, the receiver on this thread, and returns the latencies.
    fn run(self, send: impl FnMut(u64) + Send, receive: impl FnOnce(Receipts) -> Receipts) -> Vec<u64> {
        let receipts = Receipts {
            epoch: self.epoch,
            received: self.received.clone(),
            latencies: Vec::with_capacity(self.period.div_duration_f64(IDLE) as usize + 1),
        };
        thread::scope(|scope| {
            let sender = scope.spawn(move || self.send(send));
            let latencies = receive(receipts).latencies;
            assert_eq!(latencies.len() as u64, sender.join().unwrap());
            latencies
        })
    }

    /// The plain thread: sends time stamps, and returns how many.
    fn send(&self, mut send: impl FnMut(u64)) -> u64 {
        keep_to(&self.sender_core);
        let start = Instant::now();
        let mut sent = 0;
        while start.elapsed() < self.period {
            let receipt = Instant::now();
            while receipt.elapsed() < IDLE {
                spin_loop();
            }
            send(nanoseconds(self.epoch));
            sent += 1;
            while self.received.load(Acquire) < sent {
                spin_loop();
            }
        }
        send(END);
        sent
    }
}

impl Receipts {
    /// A message has come. Is it a time stamp?
    fn note(&mut self, message: u64) -> bool {
        if message == END {
            return false;
        }
        self.latencies.push(nanoseconds(self.epoch) - message);
        self.received.store(self.latencies.len() as u64, Release);
        true
    }
}

/// Returns a time stamp.
fn nanoseconds(epoch: Instant) -> u64 {
    epoch.elapsed().as_nanos() as u64
}

/// Measures `run`, which runs an exchange and returns the latencies.
fn percentiles(job: &Job, sender_core: CpuSet, run: impl Fn(Exchange) -> Vec<u64>) -> Outcome {
    let exchange = |period| Exchange { sender_core, period, epoch: Instant::now(), received: Arc::default() };
    run(exchange(job.target / 4));
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let mut latencies = run(exchange(3 * job.target));
    let (elapsed, cpu_seconds) = (start.elapsed(), cpu_seconds() - cpu);
    latencies.sort_unstable();
    let percentile = |percent: f64| {
        let rank = (percent / 100.0 * latencies.len() as f64).ceil() as usize;
        latencies[rank.max(1) - 1] as f64
    };
    let figure = |name: &str, percent| Figure {
        name: name.to_owned(),
        value: percentile(percent),
        p99: Some(percentile(99.0)),
    };
    let figures = vec![figure("p50", 50.0), figure("p99", 99.0), figure("p99.9", 99.9)];
    Measured { operations: latencies.len() as u64, elapsed, cpu_seconds }.figures(figures)
}

fn lisle(job: &Job) -> Outcome {
    let sender_core = split_cores();
    let runtime = lisle::Runtime::builder().domains(1).start().unwrap();
    percentiles(job, sender_core, |exchange| {
        let (tx, rx) = lisle::channel();
        let receive = |mut receipts: Receipts| {
            runtime.run(move || {
                while receipts.note(rx.recv().unwrap()) {}
                receipts
            })
        };
        exchange.run(move |stamp| tx.send(stamp).unwrap(), receive)
    })
}

fn futures<E: Executor, C: Channel>(job: &Job) -> Outcome {
    let sender_core = split_cores();
    let executor = E::start(1);
    percentiles(job, sender_core, |exchange| {
        let (tx, mut rx) = C::bounded(0);
        let receive = |mut receipts: Receipts| {
            executor.run(async move {
                while receipts.note(C::receive(&mut rx).await.unwrap()) {}
                receipts
            })
        };
        exchange.run(move |stamp| C::send_blocking(&tx, stamp), receive)
    })
}

/// A thread that sleeps in the kernel at a word, as all others do in the end.
fn limit(job: &Job) -> Outcome {
    let sender_core = split_cores();
    percentiles(job, sender_core, |exchange| {
        let (bell, message) = (Bell::default(), AtomicU64::new(0));
        let mut rung = 0;
        let ring = |stamp| {
            message.store(stamp, Release);
            rung += 1;
            bell.ring(rung);
        };
        exchange.run(ring, |mut receipts| {
            let mut heard = 1;
            loop {
                bell.wait(heard);
                if !receipts.note(message.load(Acquire)) {
                    return receipts;
                }
                heard += 1;
            }
        })
    })
}

/// may's channels have no bound; its channels of one sender and one receiver are the fastest.
fn may(job: &Job) -> Outcome {
    let sender_core = split_cores();
    peers::may::start(1);
    percentiles(job, sender_core, |exchange| {
        let (tx, rx) = may::sync::spsc::channel();
        let receive = |mut receipts: Receipts| {
            peers::may::run(move || {
                while receipts.note(rx.recv().unwrap()) {}
                receipts
            })
        };
        exchange.run(move |stamp| tx.send(stamp).unwrap(), receive)
    })
}

/// For channels of plain threads.
fn threads<C: BlockingChannel>(job: &Job) -> Outcome {
    let sender_core = split_cores();
    percentiles(job, sender_core, |exchange| {
        let (tx, rx) = C::bounded(0);
        let receive = |mut receipts: Receipts| {
            while receipts.note(C::receive(&rx).unwrap()) {}
            receipts
        };
        exchange.run(move |stamp| C::send(&tx, stamp), receive)
    })
}
