//! Pauses of garbage-collected heaps: how long threads are kept from their work beside many live objects.

use crate::{
    heap,
    workload::{Case, Program, Unit, Workload, size},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "heap-pauses",
    about: "threads make garbage and replace objects of large tables: the time of a step, which is 20 objects of garbage, and one \
            time in eight a replacement",
    follows: "the tests of latency of collectors, as HyperAlloc",
    unit: MICROSECONDS,
    units: &[
        ("p99", MICROSECONDS),
        ("p99.99", MICROSECONDS),
        ("p99.9999", MICROSECONDS),
        ("longest", MICROSECONDS),
        ("steps", Unit::higher_is_better("million steps/s")),
        heap::MEBIBYTES,
    ],
    cases: &CASES,
    programs: &[
        Program::elsewhere("clock").note("no objects"),
        Program::elsewhere("lisle-heap"),
        Program::elsewhere("box").note("the same in each table"),
        Program::elsewhere("go-heap"),
        Program::elsewhere("java-g1"),
        Program::elsewhere("java-zgc"),
        Program::elsewhere("ocaml-heap"),
    ],
};

const MICROSECONDS: Unit = Unit::lower_is_better("µs");

static CASES: [Case; 3] = {
    let [small, medium, large] = heap::settings(&[size("mib", 1024, 16), size("millis", 2000, 200)]);
    [small.workers(2).lasts(2), medium.workers(2).lasts(2), large.workers(2).lasts(2)]
};
