//! The bounds of the other workloads: the time of a cache line from core to core, and the times of
//! the kernel. No system takes part, and no library is used.
//!
//! A message between two workers that are awake cannot be faster than `line-one-word`. A message to
//! a worker that sleeps cannot be faster than `futex` or `event`, which wake it; with one worker
//! both threads share a core, and no core is woken. A fiber's stack takes a `page` when it is first
//! used. Each step of a protocol between cores takes `locked`, also if no other core is there.

use crate::{
    job::{Job, Outcome},
    limits::{self, Pages, Words},
    workload::{Case, Program, Unit, Workload},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: limits::NAME,
    about: "a round trip of two threads by a word, a futex or a descriptor; a page, a locked operation, a system call",
    follows: "core-to-core-latency by N. Viennot, and lmbench by L. McVoy and C. Staelin",
    unit: Unit::lower_is_better("ns"),
    units: &[],
    cases: &[
        Case::new("line-one-word", &[]).workers(2),
        Case::new("line-two-words", &[]).workers(2),
        Case::new("futex", &[]).workers(1),
        Case::new("futex", &[]).workers(2),
        Case::new("event", &[]).workers(1),
        Case::new("event", &[]).workers(2),
        Case::new("page", &[]).workers(1),
        Case::new("page-populated", &[]).workers(1),
        Case::new("page-huge", &[]).workers(1),
        Case::new("locked", &[]).workers(1),
        Case::new("system-call", &[]).workers(1),
    ],
    programs: &[Program::here(limits::NAME, limit)],
};

fn limit(job: &Job) -> Outcome {
    let measured = match job.variant.as_str() {
        "line-one-word" => job.measure(|n| limits::alternate(n, Words::One)),
        "line-two-words" => job.measure(|n| limits::alternate(n, Words::Two)),
        "futex" => job.measure(|n| limits::futexes(n, job.workers)),
        "event" => job.measure(|n| limits::events(n, job.workers)),
        "page" => job.measure(|n| limits::first_touches(n, Pages::Touched)),
        "page-populated" => job.measure(|n| limits::first_touches(n, Pages::Populated)),
        "page-huge" => job.measure(|n| limits::first_touches(n, Pages::Huge)),
        "locked" => job.measure(limits::locked_operations),
        "system-call" => job.measure(limits::system_calls),
        variant => panic!("no variant `{variant}`"),
    };
    measured.nanoseconds()
}
