//! A cache in a garbage-collected heap, which all threads change: its objects grow old, and die old.

use crate::{
    heap,
    workload::{Case, Program, Unit, Workload, size},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "heap-lru",
    about: "a cache of a million entries, shared behind a mutex: half of the keys that are asked for are not there, and take the \
            place of the oldest",
    follows: "no published program",
    unit: Unit::lower_is_better("ns/look-up"),
    units: &[heap::MEBIBYTES],
    cases: &CASES,
    programs: &[
        Program::elsewhere("lisle-heap"),
        Program::elsewhere("box").note("a vector, its values in boxes; the same in each table"),
        Program::elsewhere("go-heap"),
        Program::elsewhere("java-g1"),
        Program::elsewhere("java-zgc"),
        Program::elsewhere("ocaml-heap"),
    ],
};

static CASES: [Case; 3] = heap::settings(&[size("entries", 1_000_000, 20_000)]);
