//! The studies of all locks: a workload each. Only the command `locks` runs them.

use super::{
    figures::{THROUGHPUT, UNITS, readers},
    programs::{CONDVARS, PROGRAMS, RWLOCKS},
};
use crate::workload::{Case, Program, Unit, Workload, param};

/// With which the names of these workloads begin.
pub(crate) const PREFIX: &str = "lock-";

/// The case without a contest.
pub(crate) const ALONE: &str = "alone";

/// The case in which a thread computes beside the contest.
pub(crate) const BESIDE: &str = "beside";

/// The case in which each performer reads nine times for each time that it writes.
pub(crate) const MIX: &str = "mix";

/// The case in which one performer writes and all others read.
pub(crate) const WRITER: &str = "writer";

/// The case in which each performer notifies the next.
pub(crate) const RING: &str = "ring";

/// The case in which each performer notifies all, and the next goes on.
pub(crate) const HERD: &str = "herd";

/// The case in which half of the performers put something in one place and half take it out.
pub(crate) const QUEUE: &str = "queue";

const FOLLOWS: &str =
    "\"Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really is\" by Malte Skarupke";

/// The studies, in the order of the report.
pub(crate) static ALL: &[&Workload] = &[
    &Workload {
        name: "lock-alone",
        about: "one performer locks and unlocks, and nobody else wants the lock",
        follows: FOLLOWS,
        unit: Unit::lower_is_better("ns/lock"),
        units: &[],
        cases: &[Case::new(ALONE, &[]).workers(1)],
        programs: PROGRAMS,
    },
    &contest(
        "lock-contended",
        "performers lock, and have nothing else to do, some work (0.4 µs), or much (8 µs) between two locks",
        &[
            Case::new("nothing", &[param("threads", 2)]),
            Case::new("nothing", &[param("threads", 4)]),
            Case::new("nothing", &[param("threads", 16)]),
            Case::new("nothing", &[param("threads", 64)]),
            Case::new("some", &[param("threads", 2)]),
            Case::new("some", &[param("threads", 4)]),
            Case::new("some", &[param("threads", 16)]),
            Case::new("some", &[param("threads", 64)]),
            Case::new("much", &[param("threads", 2)]),
            Case::new("much", &[param("threads", 4)]),
            Case::new("much", &[param("threads", 16)]),
            Case::new("much", &[param("threads", 64)]),
        ],
    ),
    &contest(
        "lock-holder",
        "one performer holds the lock for 80 µs and rests as long; the others have some work between two locks",
        &[
            Case::new("long", &[param("threads", 2)]),
            Case::new("long", &[param("threads", 4)]),
            Case::new("long", &[param("threads", 16)]),
        ],
    ),
    &contest(
        "lock-bystanders",
        "performers lock, and have nothing else to do; a thread beside them multiplies matrices",
        &[
            Case::new(BESIDE, &[param("threads", 1)]),
            Case::new(BESIDE, &[param("threads", 2)]),
            Case::new(BESIDE, &[param("threads", 4)]),
            Case::new(BESIDE, &[param("threads", 16)]),
        ],
    ),
    &contest(
        "lock-policies",
        "threads lock, and have nothing else to do: usual ones, all of them batch, or every second nice or idle",
        &[
            Case::new("other", &[param("threads", 4)]),
            Case::new("other", &[param("threads", 16)]),
            Case::new("batch", &[param("threads", 4)]),
            Case::new("batch", &[param("threads", 16)]),
            Case::new("nice", &[param("threads", 4)]),
            Case::new("nice", &[param("threads", 16)]),
            Case::new("idle", &[param("threads", 4)]),
            Case::new("idle", &[param("threads", 16)]),
        ],
    ),
    &Workload {
        units: readers::UNITS,
        ..among(
            RWLOCKS,
            "parking_lot's benchmark of readers-writer locks",
            "lock-readers",
            "performers hold a readers-writer lock for 0.4 µs: each reads nine times for each time that it \
             writes, or one writes and all others read",
            &[
                Case::new(MIX, &[param("threads", 2)]),
                Case::new(MIX, &[param("threads", 4)]),
                Case::new(MIX, &[param("threads", 16)]),
                Case::new(MIX, &[param("threads", 64)]),
                Case::new(WRITER, &[param("threads", 2)]),
                Case::new(WRITER, &[param("threads", 4)]),
                Case::new(WRITER, &[param("threads", 16)]),
                Case::new(WRITER, &[param("threads", 64)]),
            ],
        )
    },
    &among(
        CONDVARS,
        "the thread ring of the Computer Language Benchmarks Game",
        "lock-handover",
        "performers wait for their turn at condition variables: in a ring, in a herd of which all are \
         notified, or at a queue of one place",
        &[
            Case::new(RING, &[param("threads", 2)]),
            Case::new(RING, &[param("threads", 4)]),
            Case::new(RING, &[param("threads", 16)]),
            Case::new(RING, &[param("threads", 64)]),
            Case::new(HERD, &[param("threads", 4)]),
            Case::new(HERD, &[param("threads", 16)]),
            Case::new(HERD, &[param("threads", 64)]),
            Case::new(QUEUE, &[param("threads", 2)]),
            Case::new(QUEUE, &[param("threads", 4)]),
            Case::new(QUEUE, &[param("threads", 16)]),
            Case::new(QUEUE, &[param("threads", 64)]),
        ],
    ),
];

const fn contest(name: &'static str, about: &'static str, cases: &'static [Case]) -> Workload {
    among(PROGRAMS, FOLLOWS, name, about, cases)
}

const fn among(
    programs: &'static [Program],
    follows: &'static str,
    name: &'static str,
    about: &'static str,
    cases: &'static [Case],
) -> Workload {
    Workload { name, about, follows, unit: THROUGHPUT, units: UNITS, cases, programs }
}
