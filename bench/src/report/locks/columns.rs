//! The columns of a contest's table: their names, their widths, and their contents.

use super::{
    Contest,
    time::{duration, durations},
};
use crate::{
    locks::figures::{
        DURATION, FAIRNESS, IDLE, PERCENTILES, PROCESSOR, SLOWED, SLOWED_RUNNING, WAITS,
        readers::{READER, WRITER, WRITES},
    },
    report::{
        numbers::{number, short},
        summary::{Line, Stats},
    },
};

pub(super) struct Column {
    pub(super) head: &'static str,
    /// In a terminal.
    pub(super) width: usize,
    cell: Cell,
}

/// The content of a column: of the throughput, or the medians of other figures.
enum Cell {
    Median,
    Least,
    Greatest,
    Behind,
    Rate(&'static str),
    Time(&'static str),
    Times([&'static str; 4]),
    Index(&'static str),
    Numbers(&'static [&'static str]),
}

const fn column(head: &'static str, width: usize, cell: Cell) -> Column {
    Column { head, width, cell }
}

/// Of each contest.
static THROUGHPUT: [Column; 5] = [
    column("locks/s", 8, Cell::Median),
    column("min", 8, Cell::Least),
    column("max", 8, Cell::Greatest),
    column("to best", 10, Cell::Behind),
    column("test ms", 11, Cell::Numbers(&[DURATION])),
];

/// Of a contest in which each lock is like the others.
static TIMES: [Column; 7] = [
    column("p50", 7, Cell::Time(PERCENTILES[0].0)),
    column("p90", 7, Cell::Time(PERCENTILES[1].0)),
    column("p99", 7, Cell::Time(PERCENTILES[2].0)),
    column("p99.9", 7, Cell::Time(PERCENTILES[3].0)),
    column("p99.99", 7, Cell::Time(PERCENTILES[4].0)),
    column("four longest waits", 24, Cell::Times(WAITS)),
    column("four longest idle times", 24, Cell::Times(IDLE)),
];

/// Of one in which some read.
static READERS: [Column; 9] = [
    column("writes/s", 8, Cell::Rate(WRITES)),
    column("read p50", 8, Cell::Time(READER.percentiles[0].0)),
    column("read p99", 8, Cell::Time(READER.percentiles[1].0)),
    column("p99.9", 7, Cell::Time(READER.percentiles[2].0)),
    column("four longest read waits", 24, Cell::Times(READER.longest)),
    column("write p50", 9, Cell::Time(WRITER.percentiles[0].0)),
    column("write p99", 9, Cell::Time(WRITER.percentiles[1].0)),
    column("p99.9", 7, Cell::Time(WRITER.percentiles[2].0)),
    column("four longest write waits", 24, Cell::Times(WRITER.longest)),
];

/// Of each contest.
static SHARES: [Column; 2] =
    [column("fairness", 8, Cell::Index(FAIRNESS)), column("ns CPU", 11, Cell::Numbers(&[PROCESSOR]))];

/// The losses of a bystander.
static BYSTANDER: [Column; 1] =
    [column("bystander: slowed, running", 0, Cell::Numbers(&[SLOWED, SLOWED_RUNNING]))];

/// The columns of such a contest.
pub(super) fn columns(has_readers: bool, has_bystander: bool) -> impl Iterator<Item = &'static Column> {
    let times: &[Column] = if has_readers { &READERS } else { &TIMES };
    let bystander: &[Column] = if has_bystander { &BYSTANDER } else { &[] };
    THROUGHPUT.iter().chain(times).chain(&SHARES).chain(bystander)
}

impl Column {
    /// Its text for the lock of a line with that throughput. Empty if it has no such figure.
    pub(super) fn of(&self, contest: &Contest, line: &Line, throughput: &Stats) -> String {
        let median = |figure: &&str| contest.median(figure, line.system);
        let one = |figure: &str, text: fn(f64) -> String| median(&figure).map_or(String::new(), text);
        match &self.cell {
            Cell::Median => short(throughput.median),
            Cell::Least => short(throughput.min),
            Cell::Greatest => short(throughput.max),
            Cell::Behind => format!("{:.2}", throughput.behind),
            Cell::Rate(figure) => one(figure, short),
            Cell::Time(figure) => one(figure, duration),
            Cell::Times(figures) => durations(&figures.iter().filter_map(median).collect::<Vec<_>>()),
            Cell::Index(figure) => one(figure, |index| format!("{index:.3}")),
            Cell::Numbers(figures) => {
                figures.iter().filter_map(median).map(number).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_as_wide_as_its_head() {
        for column in columns(false, false).chain(columns(true, false)) {
            assert!(column.head.len() <= column.width, "{}", column.head);
        }
    }

    #[test]
    fn what_a_bystander_suffers_is_last() {
        assert_eq!(columns(false, true).last().unwrap().head, BYSTANDER[0].head);
        assert_eq!(columns(false, true).count(), columns(false, false).count() + 1);
    }
}
