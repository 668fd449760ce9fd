//! The primes from a chain of filters that grows by one task for each prime.

use crate::{
    forms,
    job::{Job, Measured, Outcome},
    limits,
    peers::{
        self, AsyncChannel, Channel, Executor, Flume, Kanal, Smol, Tokio, TokioCurrentThread, TokioMpsc,
        TokioMultiThread,
    },
    workload::{Case, Program, Unit, Workload, size},
};
use lisle::{
    channel::{Receiver, Sender},
    spawn_task,
};
use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "sieve",
    about: "numbers go through a filter for each prime found; who gets to the end is the next prime",
    follows: "the sieve of Guile Fibers' and Go's examples, and Sieve-primes of the evaluation of parasitic threads",
    unit: Unit::lower_is_better("ms/sieve"),
    units: &[],
    cases: &[Case::new("-", &[size("primes", 3000, 500)])],
    // Not may: with unbounded channels the numbers would pile up in front of the filters. Not
    // threads: there would be thousands of them, at millions of switches by the kernel.
    programs: &[
        Program::here(limits::NAME, limit).note(limits::EACH_CROSSES),
        Program::here("serial", serial),
        Program::here("lisle", lisle),
        Program::here("lisle-tasks", tasks),
        Program::here("tokio-ct", futures::<TokioCurrentThread, TokioMpsc>).note("one slot"),
        Program::here("tokio-mt", futures::<TokioMultiThread, TokioMpsc>).note("one slot"),
        Program::here("kanal", futures::<Tokio, Kanal>).note("on tokio"),
        Program::here("flume", futures::<Tokio, Flume>).note("on tokio"),
        Program::here("async-channel", futures::<Tokio, AsyncChannel>).note("on tokio; one slot"),
        Program::here("smol", futures::<Smol, AsyncChannel>).note("one slot"),
        Program::elsewhere("go"),
        Program::elsewhere("java"),
        Program::elsewhere("boost-fiber"),
        Program::elsewhere("guile-fibers"),
    ],
};

/// Checks and measures `sieve`, which gives the last of a number of primes, and the time to find
/// it.
fn measure(job: &Job, sieve: impl Fn(u64) -> (u64, Duration)) -> Outcome {
    let checked = |primes| {
        let (last, elapsed) = sieve(primes);
        assert_eq!(last, prime(primes));
        elapsed
    };
    let primes = job.param("primes");
    let warm_up = || {
        checked(primes / 10);
    };
    job.measure_whole(warm_up, || checked(primes)).milliseconds()
}

/// The `nth` prime, by trial.
fn prime(nth: u64) -> u64 {
    let is_prime = |n: &u64| (2..).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    (2..).filter(is_prime).nth(nth as usize - 1).expect("there is always another prime")
}

/// As many transfers as the sieve has messages, up to the one with the last prime.
fn limit(job: &Job) -> Outcome {
    let primes = job.param("primes");
    let mut found: Vec<u64> = Vec::with_capacity(primes as usize);
    // A number goes as far as to the first prime that divides it, or to the end, and begins with a
    // message to the first.
    let mut messages = 0;
    let mut numbers = 2_u64..;
    while found.len() < primes as usize {
        let n = numbers.next().expect("there is always another number");
        let passed = found.iter().take_while(|prime| !n.is_multiple_of(**prime)).count();
        messages += passed as u64 + 1;
        if passed == found.len() {
            found.push(n);
        }
    }
    let Outcome { figures, .. } = &limits::each_message(job, messages);
    let measured = Measured { operations: 1, elapsed: Duration::ZERO, cpu_seconds: 0.0 };
    measured.figure(figures[0].value / 1e6)
}

/// Each number is divided by the primes before it until one divides it. This is the work of the
/// filters alone.
fn serial(job: &Job) -> Outcome {
    fn sieve(primes: u64) -> (u64, Duration) {
        let start = Instant::now();
        let mut found: Vec<u64> = Vec::with_capacity(primes as usize);
        let is_next = |found: &[u64], n: u64| found.iter().all(|prime| !n.is_multiple_of(*prime));
        let mut numbers = 2..;
        while found.len() < primes as usize {
            let next = numbers.find(|&n| is_next(&found, n)).expect("there is always another prime");
            found.push(next);
        }
        (found.last().copied().unwrap_or_default(), start.elapsed())
    }

    measure(job, sieve)
}

fn lisle(job: &Job) -> Outcome {
    fn sieve(primes: u64) -> (u64, Duration) {
        let start = Instant::now();
        let (numbers, mut tail) = lisle::channel::<u64>();
        let generator = numbers.clone();
        lisle::spawn(move || (2..).try_for_each(|n| generator.send(n)));
        let mut last = tail.recv().unwrap();
        for _ in 1..primes {
            let (tx, rx) = lisle::channel();
            let before = mem::replace(&mut tail, rx);
            lisle::spawn(move || {
                before.iter().filter(|n| !n.is_multiple_of(last)).try_for_each(|n| tx.send(n))
            });
            last = tail.recv().unwrap();
        }
        let elapsed = start.elapsed();
        // The end runs down the chain: a filter that finds its channel closed goes, and thereby
        // closes the next.
        numbers.close();
        tail.iter().for_each(drop);
        (last, elapsed)
    }

    peers::runtime(job.workers).run(|| forms::told(0.1, || measure(job, sieve)))
}

fn tasks(job: &Job) -> Outcome {
    async fn generate(numbers: Sender<u64>) {
        for n in 2.. {
            // Not asynchronous, as the next has to have the number before anything goes on: to be
            // 64 ahead takes a sixth longer.
            if numbers.send_evt(n).await.is_err() {
                break;
            }
        }
    }

    async fn filter(prime: u64, before: Receiver<u64>, after: Sender<u64>) {
        while let Ok(n) = before.recv_evt().await {
            if !n.is_multiple_of(prime) && after.send_evt(n).await.is_err() {
                break;
            }
        }
    }

    fn sieve(primes: u64) -> (u64, Duration) {
        let start = Instant::now();
        let (numbers, mut tail) = lisle::channel::<u64>();
        spawn_task(generate(numbers.clone()));
        let mut last = tail.recv().unwrap();
        for _ in 1..primes {
            let (tx, rx) = lisle::channel();
            spawn_task(filter(last, mem::replace(&mut tail, rx), tx));
            last = tail.recv().unwrap();
        }
        let elapsed = start.elapsed();
        // The end runs down the chain, as it does with fibers.
        numbers.close();
        tail.iter().for_each(drop);
        (last, elapsed)
    }

    peers::runtime(job.workers).run(|| forms::told(0.1, || measure(job, sieve)))
}

fn futures<E: Executor, C: Channel>(job: &Job) -> Outcome {
    async fn filter<C: Channel>(prime: u64, mut before: C::Receiver, after: C::Sender) {
        while let Some(n) = C::receive(&mut before).await {
            if !n.is_multiple_of(prime) {
                C::send(&after, n).await;
            }
        }
    }

    async fn sieve<E: Executor, C: Channel>(primes: u64) -> (u64, Duration) {
        let enough = Arc::new(AtomicBool::new(false));
        let start = Instant::now();
        let (numbers, mut tail) = C::bounded(0);
        let stop = enough.clone();
        E::detach(async move {
            let mut n = 2;
            while !stop.load(Ordering::Relaxed) {
                C::send(&numbers, n).await;
                n += 1;
            }
        });
        let mut last = C::receive(&mut tail).await.expect("there is always another prime");
        for _ in 1..primes {
            let (tx, rx) = C::bounded(0);
            let before = mem::replace(&mut tail, rx);
            E::detach(filter::<C>(last, before, tx));
            last = C::receive(&mut tail).await.expect("there is always another prime");
        }
        let elapsed = start.elapsed();
        // A generator that ends closes its channel, and the end runs down the chain.
        enough.store(true, Ordering::Relaxed);
        while C::receive(&mut tail).await.is_some() {}
        (last, elapsed)
    }

    let executor = E::start(job.workers);
    measure(job, |primes| executor.run(sieve::<E, C>(primes)))
}
