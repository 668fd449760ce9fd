//! What the threads of a program were, and how much they said to each other: the seed's table 2, for the rows that tell.

use crate::{
    job::Threads,
    runner::{Findings, Found, Group},
};
use std::fmt::Write;

/// The table, or nothing if no row tells.
pub(crate) fn table(findings: &Findings) -> String {
    let rows = findings.groups.iter().flat_map(|(group, all)| all.iter().map(move |found| (group, found)));
    let lines: String = rows.filter_map(|(group, found)| line(group, found)).collect();
    if lines.is_empty() {
        return lines;
    }
    let heads = ["fibers", "tasks", "reified", "inflated", "migrations", "messages", "bytes", "largest"];
    let mut text = format!("\nThreads and messages of one run\n  {:<40}", "");
    for head in heads {
        let _ = write!(text, " {head:>11}");
    }
    text + "\n" + &lines
}

fn line(group: &Group, found: &Found) -> Option<String> {
    let Threads { fibers, tasks, reified, inflated, migrations, messages, mean_bytes, largest_bytes } =
        found.samples.last()?.threads?;
    let name = format!("{}, {}, {} w", group.workload.name, found.row.program.system, group.workers);
    let mut line = format!("  {name:<40}");
    for number in [fibers, tasks, reified, inflated, migrations, messages, mean_bytes, largest_bytes] {
        let _ = write!(line, " {number:>11}");
    }
    Some(line + "\n")
}
