//! An effect and its answer, again and again: the cost of two switches, and of the handlers that
//! lie between.

use crate::{
    job::{Job, Outcome, timed},
    peers,
    workload::{Case, Program, Unit, Workload, param},
};
use corosensei::{CoroutineResult, ScopedCoroutine};
use genawaiter::{
    GeneratorState,
    stack::{Co, let_gen_using},
};
use lisle::effect::{Effect, handle, perform};
use std::{hint::black_box, time::Duration};

/// The clause is given a continuation, and resumes it at once.
const RESUME: &str = "resume";
/// The clause answers as a function does that is called, where the system has such clauses.
const IN_PLACE: &str = "in-place";

pub(crate) static WORKLOAD: Workload = Workload {
    name: "effect-perform",
    about: "a computation performs an effect, and its handler answers at once: through so many other handlers that \
            lie between and do not handle it",
    follows: "K. Sivaramakrishnan and others' \"Retrofitting Effect Handlers onto OCaml\": perform and resume; and \
              its handlers between",
    unit: Unit::lower_is_better("ns/effect"),
    units: &[],
    cases: &[
        Case::new(RESUME, &[param("between", 0)]).workers(1),
        Case::new(RESUME, &[param("between", 1)]).workers(1),
        Case::new(RESUME, &[param("between", 5)]).workers(1),
        Case::new(RESUME, &[param("between", 10)]).workers(1),
        Case::new(IN_PLACE, &[param("between", 0)]).workers(1),
        Case::new(IN_PLACE, &[param("between", 1)]).workers(1),
        Case::new(IN_PLACE, &[param("between", 5)]).workers(1),
        Case::new(IN_PLACE, &[param("between", 10)]).workers(1),
    ],
    programs: &[
        Program::here("call", call).only(is_direct_call).note("of a function behind a pointer"),
        Program::here("lisle", lisle::<false>).only(resumes),
        Program::here("lisle-in-place", lisle::<true>).only(|case| !resumes(case)),
        Program::here("corosensei", corosensei).only(resumes).note(BETWEEN),
        Program::here("genawaiter", genawaiter)
            .only(resumes_directly)
            .note("a future that asks and is answered"),
        Program::elsewhere("boost-context").only(resumes).note(BETWEEN),
        Program::elsewhere("go")
            .only(resumes_directly)
            .note("a goroutine that asks and is answered, by two channels"),
        Program::elsewhere("go-pull").only(resumes_directly).note("iter.Pull, and its answer in a variable"),
        Program::elsewhere("java")
            .only(resumes_directly)
            .note("a virtual thread that is parked for each answer"),
        Program::elsewhere("libmpeff"),
        Program::elsewhere("ocaml").only(resumes),
    ],
};

const BETWEEN: &str = "a coroutine that asks and is answered; those between ask and answer for it";

fn resumes(case: &Case) -> bool {
    case.variant == RESUME
}

fn resumes_directly(case: &Case) -> bool {
    resumes(case) && case.param("between") == Some(0)
}

fn is_direct_call(case: &Case) -> bool {
    !resumes(case) && case.param("between") == Some(0)
}

/// Performs `n` times, and looks whether each number has come back with one added.
fn ask(n: u64, perform: impl Fn(u64) -> u64) -> Duration {
    timed(|| assert_eq!((0..n).map(perform).sum::<u64>(), n * (n + 1) / 2))
}

fn call(job: &Job) -> Outcome {
    let add: fn(u64) -> u64 = black_box(|number| number + 1);
    job.measure(|n| ask(n, |number| black_box(add)(number))).nanoseconds()
}

struct Ask(u64);

impl Effect for Ask {
    type Answer = u64;
}

struct Other;

impl Effect for Other {
    type Answer = ();
}

fn lisle<const IN_PLACE: bool>(job: &Job) -> Outcome {
    /// Performs below `between` handlers of another effect.
    fn below<const IN_PLACE: bool>(between: u64, n: u64) -> Duration {
        if between == 0 {
            return ask(n, |number| perform(Ask(number)));
        }
        let body = || below::<IN_PLACE>(between - 1, n);
        if IN_PLACE {
            handle(body).answer(|Other| ()).run()
        } else {
            handle(body).on(|Other, k| k.resume(())).run()
        }
    }
    let between = job.param("between");
    let performed = |n| {
        let body = || below::<IN_PLACE>(between, n);
        if IN_PLACE {
            handle(body).answer(|Ask(number)| number + 1).run()
        } else {
            handle(body).on(|Ask(number), k| k.resume(number + 1)).run()
        }
    };
    peers::runtime(job.workers).run(|| job.measure(performed)).nanoseconds()
}

fn corosensei(job: &Job) -> Outcome {
    /// Asks below `between` coroutines that do not know the answer.
    fn below(between: u64, n: u64, perform: &dyn Fn(u64) -> u64) -> Duration {
        if between == 0 {
            return ask(n, perform);
        }
        let inner =
            ScopedCoroutine::new(|yielder, _: u64| below(between - 1, n, &|number| yielder.suspend(number)));
        inner.scope(|mut inner| {
            let mut answer = 0;
            loop {
                match inner.resume(answer) {
                    CoroutineResult::Yield(number) => answer = perform(number),
                    CoroutineResult::Return(elapsed) => break elapsed,
                }
            }
        })
    }
    let between = job.param("between");
    let measured = job.measure(|n| {
        let handled = ScopedCoroutine::new(|yielder, _: u64| {
            let perform = |number| yielder.suspend(number);
            if between == 0 { ask(n, perform) } else { below(between, n, &perform) }
        });
        handled.scope(|mut handled| {
            let mut answer = 0;
            loop {
                match handled.resume(answer) {
                    CoroutineResult::Yield(number) => answer = number + 1,
                    CoroutineResult::Return(elapsed) => break elapsed,
                }
            }
        })
    });
    measured.nanoseconds()
}

fn genawaiter(job: &Job) -> Outcome {
    let measured = job.measure(|n| {
        let_gen_using!(handled, |co: Co<'_, u64, u64>| async move {
            let start = std::time::Instant::now();
            let mut sum = 0;
            for number in 0..n {
                sum += co.yield_(number).await;
            }
            assert_eq!(sum, n * (n + 1) / 2);
            start.elapsed()
        });
        let mut answer = 0;
        loop {
            match handled.resume_with(answer) {
                GeneratorState::Yielded(number) => answer = number + 1,
                GeneratorState::Complete(elapsed) => break elapsed,
            }
        }
    });
    measured.nanoseconds()
}
