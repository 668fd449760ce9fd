//! The figures of the study of locks: a line for each lock with all that is known of it, in the way
//! of the tables that the study follows. A table for each figure would have a reader compare across
//! twenty of them.
//!
//! The median of the samples stands for each figure; `--json` has their range. As the lines are not
//! those of [`table`], files of results of locks are for reading, and not for `report`.

mod page;
mod time;

pub(super) use page::page;

use super::{
    numbers::{number, short},
    summary::{Line, Stats, Table},
    table,
};
use crate::locks::figures::{
    DURATION, FAIRNESS, IDLE, PERCENTILES, PROCESSOR, SLOWED, SLOWED_RUNNING, WAITS,
};
use time::{duration, durations};

/// The tables of one group: a figure each, that of the throughput first.
struct Contest<'a>(&'a [Table]);

/// All groups of a run, in its order.
fn contests(tables: &[Table]) -> impl Iterator<Item = Contest<'_>> {
    tables.chunk_by(|a, b| a.group.title() == b.group.title()).map(Contest)
}

/// What the columns are called.
const HEADS: [&str; 15] = [
    "locks/s",
    "min",
    "max",
    "to best",
    "test ms",
    "p50",
    "p90",
    "p99",
    "p99.9",
    "p99.99",
    "four longest waits",
    "four longest idle times",
    "fairness",
    "ns CPU",
    "",
];

/// How wide they are in a terminal.
const WIDTHS: [usize; 15] = [8, 8, 8, 10, 11, 7, 7, 7, 7, 7, 24, 24, 8, 11, 0];

/// With a bystander, what it has suffered is in the last column.
const BYSTANDER: &str = "bystander: slowed, running";

impl Contest<'_> {
    /// Of a case that is no contest there is only one figure, and a table as of any other workload.
    fn is_plain(&self) -> bool {
        self.0.len() == 1
    }

    fn has_bystander(&self) -> bool {
        self.0.iter().any(|table| table.figure == SLOWED)
    }

    fn heads(&self) -> [&'static str; 15] {
        let mut heads = HEADS;
        if self.has_bystander() {
            heads[14] = BYSTANDER;
        }
        heads
    }

    /// The median of a figure; `None` if the lock has none, as of waits that did not happen.
    fn median(&self, figure: &str, system: &str) -> Option<f64> {
        self.0.iter().find(|table| table.figure == figure)?.median(system)
    }

    /// What is known of the lock of a line, in the order of the heads; or why nothing is.
    fn cells(&self, line: &Line) -> Result<[String; 15], String> {
        let Stats { median, min, max, behind, .. } = *line.result.as_ref().map_err(String::clone)?;
        let of = |figure: &str| self.median(figure, line.system);
        let four = |names: [&str; 4]| durations(&names.map(&of).into_iter().flatten().collect::<Vec<_>>());
        let [p50, p90, p99, p999, p9999] =
            PERCENTILES.map(|(figure, _)| of(figure).map_or(String::new(), duration));
        let slowed = [SLOWED, SLOWED_RUNNING].map(|figure| of(figure).map(number));
        Ok([
            short(median),
            short(min),
            short(max),
            format!("{behind:.2}"),
            of(DURATION).map_or(String::new(), number),
            p50,
            p90,
            p99,
            p999,
            p9999,
            four(WAITS),
            four(IDLE),
            of(FAIRNESS).map_or(String::new(), |index| format!("{index:.3}")),
            of(PROCESSOR).map_or(String::new(), number),
            slowed.into_iter().flatten().collect::<Vec<_>>().join(", "),
        ])
    }

    /// The lines, the lock with the highest throughput first.
    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.0.iter().filter(|table| table.figure.is_empty()).flat_map(|table| &table.rows)
    }

    fn text(&self) -> String {
        if self.is_plain() {
            return table::table(self.0);
        }
        let mut text = format!("\n{}\n{}\n", self.0[0].group.title(), columns("", &self.heads()));
        for line in self.lines() {
            text += &match self.cells(line) {
                Ok(cells) => columns(line.system, &cells.each_ref().map(String::as_str)),
                Err(why) => format!("  {:<18} {why}", line.system),
            };
            text.push('\n');
        }
        text
    }
}

fn columns(first: &str, cells: &[&str; 15]) -> String {
    let mut line = format!("  {first:<18}");
    for (cell, width) in cells.iter().zip(WIDTHS) {
        line += &format!(" {cell:>width$}");
    }
    line.trim_end().to_owned()
}

/// The tables for the terminal.
pub(super) fn text(tables: &[Table]) -> String {
    contests(tables).map(|contest| contest.text()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_as_wide_as_its_head() {
        for (head, width) in HEADS.iter().zip(WIDTHS) {
            assert!(head.len() <= width, "{head}");
        }
    }
}
