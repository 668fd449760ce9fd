//! Very many computations that have each performed an effect, and are kept without an answer: the
//! memory that a continuation takes.

use crate::{
    job::{Job, Measured, Outcome, cpu_seconds, resident_bytes},
    peers,
    workload::{Case, Program, Unit, Workload, size},
};
use corosensei::{Coroutine, CoroutineResult};
use genawaiter::{GeneratorState, rc};
use lisle::effect::{Effect, Suspended, finish, handle, perform};
use std::time::Instant;

pub(crate) static WORKLOAD: Workload = Workload {
    name: "effect-suspended",
    about: "computations that have performed an effect and are not answered: resident memory",
    follows: "P. Kołaczkowski's \"How Much Memory Do You Need to Run 1 Million Concurrent Tasks?\", with effects",
    unit: Unit::lower_is_better("bytes/continuation"),
    units: &[],
    cases: &[Case::new("-", &[size("continuations", 100_000, 5_000)]).workers(1)],
    programs: &[
        Program::here("lisle", lisle),
        Program::here("corosensei", corosensei).note(CROWD),
        Program::here("genawaiter", genawaiter).note("a future, in a box"),
        Program::elsewhere("boost-context").note("stacks of 16 KiB without a guard page"),
        Program::elsewhere("go").note("goroutines that wait for the answer at a channel of their own"),
        Program::elsewhere("go-pull").note("iter.Pull"),
        Program::elsewhere("java").note("virtual threads that are parked"),
        Program::elsewhere("libmpeff").note(CROWD),
        Program::elsewhere("ocaml"),
    ],
};

const CROWD: &str = peers::may::CROWD;

/// Measures the memory of `count` suspended computations. `begin` begins the computation with a
/// number, and returns its continuation; `go_on` answers it with its number, which it returns with
/// one added.
///
/// It is done only once after the warm-up, since a second time would find the memory of the first.
fn measure<K>(count: u64, begin: impl Fn(u64) -> K, go_on: impl Fn(K, u64) -> u64) -> Outcome {
    let keep = |count: u64| {
        let before = resident_bytes();
        let all: Vec<K> = (0..count).map(&begin).collect();
        let grown = resident_bytes().saturating_sub(before);
        let sum: u64 = all.into_iter().zip(0..).map(|(one, number)| go_on(one, number)).sum();
        assert_eq!(sum, count * (count + 1) / 2);
        grown
    };
    keep(count.div_ceil(100));
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let grown = keep(count);
    let measured = Measured { operations: count, elapsed: start.elapsed(), cpu_seconds: cpu_seconds() - cpu };
    measured.figure(grown as f64 / count as f64)
}

struct Ask(u64);

impl Effect for Ask {
    type Answer = u64;
}

enum Computation {
    Asks(u64, Suspended<u64, Computation>),
    Ended(u64),
}

fn lisle(job: &Job) -> Outcome {
    let begin = |number| {
        let begun = handle(move || perform(Ask(number)) + 1)
            .returning(Computation::Ended)
            .on(|Ask(asked), k| finish(Computation::Asks(asked, k.keep())))
            .run();
        match begun {
            Computation::Asks(asked, k) if asked == number => k,
            _ => unreachable!("it asks for its number"),
        }
    };
    let go_on = |k: Suspended<u64, Computation>, answer| match k.resume(answer) {
        Computation::Ended(result) => result,
        Computation::Asks(..) => unreachable!("it asks once"),
    };
    peers::runtime(job.workers).run(|| measure(job.param("continuations"), begin, go_on))
}

fn corosensei(job: &Job) -> Outcome {
    let begin = |number| {
        let mut computation = Coroutine::<u64, u64, u64>::new(|yielder, number| yielder.suspend(number) + 1);
        assert!(matches!(computation.resume(number), CoroutineResult::Yield(asked) if asked == number));
        computation
    };
    let go_on = |mut computation: Coroutine<u64, u64, u64>, answer| match computation.resume(answer) {
        CoroutineResult::Return(result) => result,
        CoroutineResult::Yield(_) => unreachable!("it asks once"),
    };
    measure(peers::may::crowd(job.param("continuations")), begin, go_on)
}

fn genawaiter(job: &Job) -> Outcome {
    let begin = |number| {
        let mut computation =
            Box::new(rc::Gen::new(async move |co: rc::Co<u64, u64>| co.yield_(number).await + 1));
        assert!(matches!(computation.resume_with(0), GeneratorState::Yielded(asked) if asked == number));
        computation
    };
    let go_on = |mut computation: Box<rc::Gen<u64, u64, _>>, answer| match computation.resume_with(answer) {
        GeneratorState::Complete(result) => result,
        GeneratorState::Yielded(_) => unreachable!("it asks once"),
    };
    measure(job.param("continuations"), begin, go_on)
}
