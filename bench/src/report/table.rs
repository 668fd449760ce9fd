//! The tables for the terminal, which are also the files of results: [`results`](super::results)
//! reads them.

use super::{
    numbers::{bytes, number},
    summary::{Line, Stats, Table},
};

pub(crate) fn table(tables: &[Table]) -> String {
    let one = |table: &Table| {
        let rows: String = table.rows.iter().map(|line| row(line) + "\n").collect();
        format!("\n{}\n{}\n{rows}", table.title(), head(table.unit().name, table.has_limit()))
    };
    tables.iter().map(one).collect()
}

/// The line above the rows. With `has_limit` the rows have a column of distances from the limit.
pub(super) fn head(unit: &str, has_limit: bool) -> String {
    columns(unit, ["median", "min", "max", "to best"], has_limit.then_some("to limit"), ["resident", "CPU s"])
}

pub(super) fn row(line: &Line) -> String {
    match &line.result {
        Err(why) => format!("  {:<18} {why}", line.system),
        Ok(stats) => {
            let Stats { median, min, max, behind, to_limit, rss_bytes, cpu_seconds, .. } = *stats;
            let [median, min, max] = [median, min, max].map(number);
            let (behind, resident) = (format!("{behind:.2}"), bytes(rss_bytes));
            let to_limit = to_limit.map(|ratio| format!("{ratio:.2}"));
            let note = if line.note.is_empty() { String::new() } else { format!("  ({})", line.note) };
            let first = [&*median, &*min, &*max, &*behind];
            columns(line.system, first, to_limit.as_deref(), [&*resident, &*format!("{cpu_seconds:.2}")])
                + &note
        }
    }
}

fn columns(
    first: &str,
    [median, min, max, behind]: [&str; 4],
    to_limit: Option<&str>,
    [resident, cpu]: [&str; 2],
) -> String {
    let to_limit = to_limit.map_or(String::new(), |ratio| format!(" {ratio:>8}"));
    format!("  {first:<18} {median:>12} {min:>12} {max:>12} {behind:>8}{to_limit} {resident:>9} {cpu:>7}")
}
