//! Binary trees in garbage-collected heaps: how long objects take that die young, and how much memory
//! the heap needs for that.

use crate::{
    heap,
    workload::{Case, Program, Unit, Workload, size},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "heap-trees",
    about: "many binary trees of several depths are made, counted and dropped, while a long-lived one stays; each \
            thread makes its share of the same trees",
    follows: "binary-trees of the Computer Language Benchmarks Game",
    unit: Unit::lower_is_better("ms"),
    units: &[heap::MEBIBYTES],
    cases: &CASES,
    programs: &[
        Program::elsewhere("lisle-heap"),
        Program::elsewhere("box").note("the same in each table"),
        Program::elsewhere("arc").note("the same in each table"),
        Program::elsewhere("gc-arena").note("a heap for each thread"),
        Program::elsewhere("dumpster").note("sync, with one worker unsync"),
        Program::elsewhere("boehm"),
        Program::elsewhere("go-heap"),
        Program::elsewhere("java-g1"),
        Program::elsewhere("java-zgc"),
        Program::elsewhere("ocaml-heap"),
    ],
};

static CASES: [Case; 3] = heap::settings(&[size("depth", 18, 12)]);
