//! Statistics of the threads of a program and their messages: table 2 of the paper that
//! [`forms`](crate::forms) follows, for the rows that have them.

use crate::{
    job::Threads,
    runner::{Findings, Found, Group},
};
use std::fmt::Write;

/// The threads of one row of a run.
pub(super) struct Entry {
    pub(super) workload: &'static str,
    pub(super) system: &'static str,
    pub(super) workers: usize,
    pub(super) threads: Threads,
}

pub(super) const TITLE: &str = "Threads and messages of one run";

/// The heads of an entry's numbers, in their order.
pub(super) const HEADS: [&str; 8] =
    ["fibers", "tasks", "reified", "inflated", "migrations", "messages", "bytes", "largest"];

/// The table, or nothing if no row tells.
pub(crate) fn table(findings: &Findings) -> String {
    let rows = findings.groups.iter().flat_map(|(group, all)| all.iter().map(move |found| (group, found)));
    let lines: String = rows.filter_map(|(group, found)| Some(line(&entry(group, found)?) + "\n")).collect();
    if lines.is_empty() { lines } else { format!("\n{TITLE}\n{}\n{lines}", head()) }
}

fn entry(group: &Group, found: &Found) -> Option<Entry> {
    Some(Entry {
        workload: group.workload.name,
        system: found.row.program.system,
        workers: group.workers,
        threads: found.samples.last()?.threads?,
    })
}

/// The line above the entries.
pub(super) fn head() -> String {
    columns("", HEADS)
}

pub(super) fn line(entry: &Entry) -> String {
    let name = format!("{}, {}, {} w", entry.workload, entry.system, entry.workers);
    columns(&name, entry.numbers())
}

fn columns<T: std::fmt::Display>(name: &str, cells: [T; 8]) -> String {
    let mut line = format!("  {name:<40}");
    for cell in cells {
        let _ = write!(line, " {cell:>11}");
    }
    line
}

impl Entry {
    /// In the order of [`HEADS`].
    pub(super) fn numbers(&self) -> [u64; 8] {
        let Threads { fibers, tasks, reified, inflated, migrations, messages, mean_bytes, largest_bytes } =
            self.threads;
        [fibers, tasks, reified, inflated, migrations, messages, mean_bytes, largest_bytes]
    }
}
