//! A computation under a handler that performs nothing: the cost to begin and to end one.

use crate::{
    job::{Job, Outcome, timed},
    peers,
    workload::{Case, Program, Unit, Workload},
};
use corosensei::{CoroutineResult, ScopedCoroutine, stack::DefaultStack};
use genawaiter::{
    GeneratorState,
    stack::{Co, let_gen_using},
};
use lisle::effect::{Effect, handle};
use std::{hint::black_box, time::Duration};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "effect-create",
    about: "a computation under a handler begins, performs no effect and ends, again and again",
    follows: "K. Sivaramakrishnan and others' \"Retrofitting Effect Handlers onto OCaml\": a handler that is set up \
              and returned from",
    unit: Unit::lower_is_better("ns/computation"),
    units: &[],
    cases: &[Case::new("-", &[]).workers(1)],
    programs: &[
        Program::here("call", |job| measure(job, black_box(add))).note("of a function behind a pointer"),
        Program::here("lisle", lisle),
        Program::here("lisle-in-place", lisle_in_place),
        Program::here("corosensei", corosensei).note("on a stack that is kept"),
        Program::here("genawaiter", |job| measure(job, genawaiter)).note("a future"),
        Program::elsewhere("boost-context").note("on a stack that is kept"),
        Program::elsewhere("go").note("a goroutine, and a channel for its result"),
        Program::elsewhere("go-pull").note("iter.Pull"),
        Program::elsewhere("java").note("a virtual thread that is joined"),
        Program::elsewhere("libmpeff"),
        Program::elsewhere("ocaml"),
    ],
};

fn add(number: u64) -> u64 {
    number + 1
}

/// Measures `handled`, which adds one to a number, under a handler.
fn measure(job: &Job, mut handled: impl FnMut(u64) -> u64) -> Outcome {
    job.measure(|n| time(n, &mut handled)).nanoseconds()
}

fn time(n: u64, handled: &mut impl FnMut(u64) -> u64) -> Duration {
    timed(|| assert_eq!((0..n).map(|number| handled(black_box(number))).sum::<u64>(), n * (n + 1) / 2))
}

struct Ask;

impl Effect for Ask {
    type Answer = u64;
}

fn lisle(job: &Job) -> Outcome {
    let handled = |number| handle(|| add(number)).on(|Ask, k| k.resume(0)).run();
    peers::runtime(job.workers).run(|| measure(job, handled))
}

fn lisle_in_place(job: &Job) -> Outcome {
    let handled = |number| handle(|| add(number)).answer(|Ask| 0).run();
    peers::runtime(job.workers).run(|| measure(job, handled))
}

fn corosensei(job: &Job) -> Outcome {
    let mut stack = DefaultStack::default();
    measure(job, |number| {
        let handled =
            ScopedCoroutine::with_stack(&mut stack, |_: &corosensei::Yielder<(), ()>, ()| add(number));
        handled.scope(|mut handled| match handled.resume(()) {
            CoroutineResult::Return(number) => number,
            CoroutineResult::Yield(()) => unreachable!("it does not yield"),
        })
    })
}

fn genawaiter(number: u64) -> u64 {
    let_gen_using!(handled, |_co: Co<'_, ()>| async move { add(number) });
    match handled.resume() {
        GeneratorState::Complete(number) => number,
        GeneratorState::Yielded(()) => unreachable!("it does not yield"),
    }
}
