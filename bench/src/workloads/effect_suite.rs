//! The programs of the effect handlers' suite, by handlers, and by their substitutes.

#[path = "effect_suite/chameneos.rs"]
mod chameneos;
#[path = "effect_suite/corosensei.rs"]
mod corosensei;
#[path = "effect_suite/genawaiter.rs"]
mod genawaiter;
#[path = "effect_suite/lisle.rs"]
mod lisle;

use crate::{
    effects::{
        ASKS,
        suite::{self, CASES, is_short},
    },
    job::{Job, Outcome},
    peers,
    workload::{Case, Program, Unit, Workload},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: suite::NAME,
    about: "twelve small programs, each by effects and their handlers; what one of the suite's would resume twice is \
            run anew",
    follows: "the effect handlers' benchmark suite, effect-handlers-bench; and chameneos",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: CASES,
    programs: &[
        Program::here("call", |job| suite::measure(job, |_, n| corosensei::fibonacci(n)))
            .only(has_no_effects),
        Program::here("lisle", |job| in_fiber(job, lisle::resume)),
        Program::here("lisle-in-place", |job| in_fiber(job, lisle::in_place)).only(answers_at_once),
        Program::here("corosensei", |job| suite::measure(job, corosensei::run)).note(ASKS),
        Program::here("genawaiter", |job| suite::measure(job, genawaiter::run))
            .only(is_in_one_function)
            .note("a future that asks and is answered; its recursion takes boxes"),
        Program::elsewhere("boost-context").note(ASKS),
        Program::elsewhere("go")
            .only(is_short)
            .note("a goroutine that asks and is answered, by two channels"),
        Program::elsewhere("go-pull").only(is_in_time).note("iter.Pull, and its answer in a variable"),
        Program::elsewhere("java").only(is_short).note("a virtual thread that is parked for each answer"),
        Program::elsewhere("libmpeff"),
        Program::elsewhere("ocaml"),
    ],
};

fn in_fiber(job: &Job, run: fn(&str, u64) -> u64) -> Outcome {
    peers::runtime(job.workers).run(|| suite::measure(job, run))
}

fn answers_at_once(case: &Case) -> bool {
    lisle::IN_PLACE.contains(&case.variant)
}

fn has_no_effects(case: &Case) -> bool {
    case.variant == "fibonacci-recursive"
}

fn is_in_one_function(case: &Case) -> bool {
    genawaiter::PROGRAMS.contains(&case.variant)
}

/// For systems whose answers take a tenth of a microsecond: most of these programs have a hundred
/// million of them, or more.
fn is_in_time(case: &Case) -> bool {
    const FEW: [&str; 2] = ["chameneos", "iterator"];
    is_short(case) || FEW.contains(&case.variant)
}
