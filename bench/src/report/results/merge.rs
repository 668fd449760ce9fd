//! Several runs of the same work: of each figure the median of their medians, with the range of
//! all.

use crate::report::summary::{Line, Stats, Table, median, rank, sorted};

/// The tables of all runs, each title once, in the order in which they come first.
pub(super) fn merge(runs: Vec<Vec<Table>>) -> Vec<Table> {
    let mut same: Vec<Vec<Table>> = Vec::new();
    for table in runs.into_iter().flatten() {
        match same.iter_mut().find(|tables| tables[0].title() == table.title()) {
            Some(tables) => tables.push(table),
            None => same.push(vec![table]),
        }
    }
    same.into_iter().map(one).collect()
}

/// Merges the tables that have the same title.
fn one(mut tables: Vec<Table>) -> Table {
    if tables.len() == 1 {
        // As it is: rounded figures must not be rounded again.
        return tables.remove(0);
    }
    let mut rows: Vec<Line> = Vec::new();
    for line in tables.iter().flat_map(|table| &table.rows) {
        if !rows.iter().any(|row| row.system == line.system) {
            rows.push(row(line.system, &tables));
        }
    }
    let Table { group, figure, .. } = tables.swap_remove(0);
    rank(&mut rows, group.workload.unit(&figure).best);
    Table { group, figure, rows }
}

/// The row of one system. If it failed in some of the runs only, these are left out.
fn row(system: &'static str, tables: &[Table]) -> Line {
    let lines: Vec<&Line> =
        tables.iter().flat_map(|table| &table.rows).filter(|line| line.system == system).collect();
    let all: Vec<Stats> = lines.iter().filter_map(|line| line.result.as_ref().ok().copied()).collect();
    let middle = |value: fn(&Stats) -> f64| median(&sorted(all.iter().map(value)));
    let result = match (all.is_empty(), &lines[0].result) {
        (true, Err(why)) => Err(why.clone()),
        _ => Ok(Stats {
            median: middle(|stats| stats.median),
            min: all.iter().map(|stats| stats.min).fold(f64::INFINITY, f64::min),
            max: all.iter().map(|stats| stats.max).fold(0.0, f64::max),
            p99: None,
            rounds: None,
            rss_bytes: middle(|stats| stats.rss_bytes),
            cpu_seconds: middle(|stats| stats.cpu_seconds),
            behind: 1.0,
            to_limit: None,
        }),
    };
    Line { system, note: lines[0].note.clone(), result }
}
