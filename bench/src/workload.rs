//! The definition in a file of `workloads/`: one piece of work, its sizes, and a program for each
//! system that can do it.

use crate::job::{Job, Outcome};
use std::time::Duration;

/// One piece of work.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    /// A description in one line.
    pub(crate) about: &'static str,
    /// The published table or program that it follows.
    pub(crate) follows: &'static str,
    /// The unit of the figure that each sample has, and the units of the figures with names.
    pub(crate) unit: Unit,
    pub(crate) units: &'static [(&'static str, Unit)],
    /// Which form of the work, at which size: a plot each.
    pub(crate) cases: &'static [Case],
    pub(crate) programs: &'static [Program],
}

impl Workload {
    /// The unit of the figure of that name.
    pub(crate) fn unit(&self, figure: &str) -> Unit {
        self.units.iter().find(|(name, _)| *name == figure).map_or(self.unit, |(_, unit)| *unit)
    }
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) best: Best,
}

/// The figure of a workload that has the resident memory as one, in MiB. Its samples need not give it.
pub(crate) const RESIDENT: &str = "resident";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Best {
    Lowest,
    Highest,
}

impl Unit {
    pub(crate) const fn lower_is_better(name: &'static str) -> Self {
        Unit { name, best: Best::Lowest }
    }

    pub(crate) const fn higher_is_better(name: &'static str) -> Self {
        Unit { name, best: Best::Highest }
    }
}

/// One form and size of a workload.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    /// `-` where there is only one.
    pub(crate) variant: &'static str,
    pub(crate) params: &'static [Param],
    pub(crate) workers: Workers,
    /// How long a sample of the case takes by itself, on every system.
    pub(crate) lasts: Duration,
}

#[derive(Clone, Copy)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) value: u64,
    /// Its value with `--quick`.
    pub(crate) quick: u64,
}

/// How many cores and threads a case is run with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Workers {
    /// Each number that the user asks for.
    Asked,
    /// This one only: the case is about it.
    Exactly(usize),
}

impl Case {
    pub(crate) const fn new(variant: &'static str, params: &'static [Param]) -> Self {
        Case { variant, params, workers: Workers::Asked, lasts: Duration::ZERO }
    }

    pub(crate) const fn workers(mut self, exactly: usize) -> Self {
        self.workers = Workers::Exactly(exactly);
        self
    }

    /// For a case that goes by the clock: its samples have this much more time before they count as
    /// failed.
    pub(crate) const fn lasts(mut self, seconds: u64) -> Self {
        self.lasts = Duration::from_secs(seconds);
        self
    }

    pub(crate) fn param(&self, name: &str) -> Option<u64> {
        self.params.iter().find(|param| param.name == name).map(|param| param.value)
    }
}

/// A parameter of the measured work, which is the same in a quick run.
pub(crate) const fn param(name: &'static str, value: u64) -> Param {
    Param { name, value, quick: value }
}

/// A parameter that decides how long it takes.
pub(crate) const fn size(name: &'static str, value: u64, quick: u64) -> Param {
    Param { name, value, quick }
}

/// How one system does the work.
pub(crate) struct Program {
    /// The name of one of [`systems`](crate::systems).
    pub(crate) system: &'static str,
    pub(crate) code: Code,
    /// Whether a function of this program starts one of the system's own, which must be built
    /// first.
    pub(crate) starts_own: bool,
    /// Which cases it can do.
    pub(crate) does: fn(&Case) -> bool,
    /// In which cases it does something else than the others, and so is shown beside them and is no
    /// rival of theirs.
    pub(crate) does_something_else: fn(&Case) -> bool,
    /// The difference from the other programs, for readers of the table. Empty if there is none.
    pub(crate) note: &'static str,
}

pub(crate) enum Code {
    /// A function of this program.
    Here(fn(&Job) -> Outcome),
    /// A file of the same name in the system's folder of `peers/`.
    Elsewhere,
}

impl Program {
    pub(crate) const fn here(system: &'static str, code: fn(&Job) -> Outcome) -> Self {
        Program { code: Code::Here(code), starts_own: false, ..Program::elsewhere(system) }
    }

    pub(crate) const fn elsewhere(system: &'static str) -> Self {
        Program {
            system,
            code: Code::Elsewhere,
            starts_own: true,
            does: |_| true,
            does_something_else: |_| false,
            note: "",
        }
    }

    /// Has the system's own program built before the first sample.
    pub(crate) const fn starting_own(mut self) -> Self {
        self.starts_own = true;
        self
    }

    /// Leaves out the cases that the system cannot do.
    pub(crate) const fn only(mut self, does: fn(&Case) -> bool) -> Self {
        self.does = does;
        self
    }

    /// Counts it as a reference in these cases: there it does not do the work of the workload.
    pub(crate) const fn beside(mut self, does_something_else: fn(&Case) -> bool) -> Self {
        self.does_something_else = does_something_else;
        self
    }

    pub(crate) const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }
}
