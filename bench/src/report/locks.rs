//! The figures of the study of locks: a line for each lock with all its figures, as in the study
//! that this one follows. With a table for each figure, a reader would have to compare twenty
//! tables.
//!
//! The median of the samples stands for each figure; `--json` has their range. The lines differ
//! from the lines of [`table`], so files of results of locks are for reading, and not for `report`.

mod columns;
mod page;
mod time;

pub(super) use page::page;

use super::{
    summary::{Line, Table},
    table,
};
use crate::locks::figures::{SLOWED, readers::WRITES};
use columns::{Column, columns};

/// The tables of one group: a figure each, the throughput first.
struct Contest<'a>(&'a [Table]);

/// All groups of a run, in its order.
fn contests(tables: &[Table]) -> impl Iterator<Item = Contest<'_>> {
    tables.chunk_by(|a, b| a.group.title() == b.group.title()).map(Contest)
}

impl Contest<'_> {
    /// A case that is no contest has only one figure, and a table like other workloads'.
    fn is_plain(&self) -> bool {
        self.0.len() == 1
    }

    fn has(&self, figure: &str) -> bool {
        self.0.iter().any(|table| table.figure == figure)
    }

    fn columns(&self) -> impl Iterator<Item = &'static Column> {
        columns(self.has(WRITES), self.has(SLOWED))
    }

    /// The median of a figure; `None` if the lock has none, such as a fourth wait if there were
    /// three.
    fn median(&self, figure: &str, system: &str) -> Option<f64> {
        self.0.iter().find(|table| table.figure == figure)?.median(system)
    }

    /// The figures of the lock of a line, in the order of the columns; or the reason why there are
    /// none.
    fn cells(&self, line: &Line) -> Result<Vec<String>, String> {
        let throughput = line.result.as_ref().map_err(String::clone)?;
        Ok(self.columns().map(|column| column.of(self, line, throughput)).collect())
    }

    /// The lines, the lock with the highest throughput first.
    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.0.iter().filter(|table| table.figure.is_empty()).flat_map(|table| &table.rows)
    }

    fn text(&self) -> String {
        if self.is_plain() {
            return table::table(self.0);
        }
        let heads = self.row("", self.columns().map(|column| column.head));
        let mut text = format!("\n{}\n{heads}\n", self.0[0].group.title());
        for line in self.lines() {
            text += &match self.cells(line) {
                Ok(cells) => self.row(line.system, cells.iter().map(String::as_str)),
                Err(why) => format!("  {:<NAME$} {why}", line.system),
            };
            text.push('\n');
        }
        text
    }

    fn row<'a>(&self, first: &str, cells: impl Iterator<Item = &'a str>) -> String {
        let mut row = format!("  {first:<NAME$}");
        for (cell, Column { width, .. }) in cells.zip(self.columns()) {
            row += &format!(" {cell:>width$}");
        }
        row.trim_end().to_owned()
    }
}

/// How wide the names of the locks are in a terminal.
const NAME: usize = 23;

/// The tables for the terminal.
pub(super) fn text(tables: &[Table]) -> String {
    contests(tables).map(|contest| contest.text()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks;

    #[test]
    fn the_names_fit() {
        for name in locks::systems() {
            assert!(name.len() <= NAME, "{name}");
        }
    }
}
